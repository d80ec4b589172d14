"""IR as clang -O0 writes it: variables in memory, and optnone with noinline on every function."""

SUM = """
define dso_local i32 @sum(i32 %n) #0 {
  %p = alloca i32
  %total = alloca i32
  %i = alloca i32
  store i32 %n, ptr %p
  store i32 0, ptr %total
  store i32 0, ptr %i
  br label %head
head:
  %1 = load i32, ptr %i
  %2 = load i32, ptr %p
  %3 = icmp slt i32 %1, %2
  br i1 %3, label %body, label %end
body:
  %4 = load i32, ptr %total
  %5 = load i32, ptr %i
  %6 = call i32 @square(i32 %5)
  %7 = add i32 %4, %6
  store i32 %7, ptr %total
  %8 = add i32 %5, 1
  store i32 %8, ptr %i
  br label %head
end:
  %9 = load i32, ptr %total
  ret i32 %9
}

define internal i32 @square(i32 %x) #0 {
  %p = alloca i32
  store i32 %x, ptr %p
  %1 = load i32, ptr %p
  %2 = mul i32 %1, %1
  ret i32 %2
}

attributes #0 = { noinline nounwind optnone uwtable }
"""

_NAME = "v" * 400
# A loop that passes unroll: a text of 2 kB becomes one of more than 16 kB.
GROWS = f"""
@{_NAME} = global i32 0

define void @grow() {{
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  store volatile i32 1, ptr @{_NAME}
  store volatile i32 2, ptr @{_NAME}
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 30
  br i1 %done, label %end, label %loop
end:
  ret void
}}
"""
