
@message = private constant [6 x i8] c"hello\00"
declare i32 @puts(ptr)
define void @greet() {
  %ignored = call i32 @puts(ptr @message)
  ret void
}
