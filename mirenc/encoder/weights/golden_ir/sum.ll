
define i32 @sum(ptr %values, i32 %count) {
entry:
  %none = icmp slt i32 %count, 1
  br i1 %none, label %exit, label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %total = phi i32 [ 0, %entry ], [ %more, %loop ]
  %at = getelementptr inbounds i32, ptr %values, i32 %i
  %value = load i32, ptr %at
  %more = add nsw i32 %total, %value
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, %count
  br i1 %done, label %exit, label %loop
exit:
  %result = phi i32 [ 0, %entry ], [ %more, %loop ]
  ret i32 %result
}
