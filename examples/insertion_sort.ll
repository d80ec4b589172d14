; ModuleID = 'insertion_sort.c'
source_filename = "insertion_sort.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; Function Attrs: nounwind uwtable
define dso_local void @insertion_sort(ptr nocapture noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = icmp sgt i32 %1, 1
  br i1 %3, label %4, label %6

4:                                                ; preds = %2
  %5 = zext nneg i32 %1 to i64
  br label %7

6:                                                ; preds = %7, %2
  tail call void @report(i32 noundef %1) #4
  ret void

7:                                                ; preds = %4, %7
  %8 = phi i64 [ 1, %4 ], [ %15, %7 ]
  %9 = getelementptr inbounds i32, ptr %0, i64 %8
  %10 = load i32, ptr %9, align 4, !tbaa !5
  %11 = trunc nuw nsw i64 %8 to i32
  %12 = tail call fastcc i32 @position(ptr noundef %0, i32 noundef %11, i32 noundef %10)
  tail call fastcc void @shift_right(ptr noundef %0, i32 noundef %12, i32 noundef %11)
  %13 = sext i32 %12 to i64
  %14 = getelementptr inbounds i32, ptr %0, i64 %13
  store i32 %10, ptr %14, align 4, !tbaa !5
  %15 = add nuw nsw i64 %8, 1
  %16 = icmp eq i64 %15, %5
  br i1 %16, label %6, label %7, !llvm.loop !9
}

; Function Attrs: nofree noinline norecurse nosync nounwind memory(argmem: read) uwtable
define internal fastcc i32 @position(ptr nocapture noundef readonly %0, i32 noundef %1, i32 noundef %2) unnamed_addr #1 {
  %4 = icmp sgt i32 %1, 0
  br i1 %4, label %5, label %17

5:                                                ; preds = %3
  %6 = zext nneg i32 %1 to i64
  br label %7

7:                                                ; preds = %5, %12
  %8 = phi i64 [ 0, %5 ], [ %13, %12 ]
  %9 = getelementptr inbounds i32, ptr %0, i64 %8
  %10 = load i32, ptr %9, align 4, !tbaa !5
  %11 = icmp sgt i32 %10, %2
  br i1 %11, label %15, label %12

12:                                               ; preds = %7
  %13 = add nuw nsw i64 %8, 1
  %14 = icmp eq i64 %13, %6
  br i1 %14, label %17, label %7, !llvm.loop !11

15:                                               ; preds = %7
  %16 = trunc nuw nsw i64 %8 to i32
  br label %17

17:                                               ; preds = %12, %15, %3
  %18 = phi i32 [ 0, %3 ], [ %16, %15 ], [ %1, %12 ]
  ret i32 %18
}

; Function Attrs: nofree noinline norecurse nosync nounwind memory(argmem: readwrite) uwtable
define internal fastcc void @shift_right(ptr nocapture noundef %0, i32 noundef %1, i32 noundef %2) unnamed_addr #2 {
  %4 = icmp sgt i32 %2, %1
  br i1 %4, label %5, label %29

5:                                                ; preds = %3
  %6 = sext i32 %2 to i64
  %7 = sext i32 %1 to i64
  %8 = sub nsw i64 %6, %7
  %9 = icmp ult i64 %8, 8
  br i1 %9, label %10, label %12

10:                                               ; preds = %27, %5
  %11 = phi i64 [ %6, %5 ], [ %14, %27 ]
  br label %30

12:                                               ; preds = %5
  %13 = and i64 %8, -8
  %14 = sub nsw i64 %6, %13
  br label %15

15:                                               ; preds = %15, %12
  %16 = phi i64 [ 0, %12 ], [ %25, %15 ]
  %17 = sub i64 %6, %16
  %18 = getelementptr i32, ptr %0, i64 %17
  %19 = getelementptr i8, ptr %18, i64 -16
  %20 = getelementptr i8, ptr %18, i64 -32
  %21 = load <4 x i32>, ptr %19, align 4, !tbaa !5
  %22 = load <4 x i32>, ptr %20, align 4, !tbaa !5
  %23 = getelementptr i8, ptr %18, i64 -12
  %24 = getelementptr i8, ptr %18, i64 -28
  store <4 x i32> %21, ptr %23, align 4, !tbaa !5
  store <4 x i32> %22, ptr %24, align 4, !tbaa !5
  %25 = add nuw i64 %16, 8
  %26 = icmp eq i64 %25, %13
  br i1 %26, label %27, label %15, !llvm.loop !12

27:                                               ; preds = %15
  %28 = icmp eq i64 %8, %13
  br i1 %28, label %29, label %10

29:                                               ; preds = %30, %27, %3
  ret void

30:                                               ; preds = %10, %30
  %31 = phi i64 [ %35, %30 ], [ %11, %10 ]
  %32 = getelementptr i32, ptr %0, i64 %31
  %33 = getelementptr i8, ptr %32, i64 -4
  %34 = load i32, ptr %33, align 4, !tbaa !5
  store i32 %34, ptr %32, align 4, !tbaa !5
  %35 = add nsw i64 %31, -1
  %36 = icmp sgt i64 %35, %7
  br i1 %36, label %30, label %29, !llvm.loop !15
}

declare void @report(i32 noundef) local_unnamed_addr #3

attributes #0 = { nounwind uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { nofree noinline norecurse nosync nounwind memory(argmem: read) uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #2 = { nofree noinline norecurse nosync nounwind memory(argmem: readwrite) uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #3 = { "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #4 = { nounwind }

!llvm.module.flags = !{!0, !1, !2, !3}
!llvm.ident = !{!4}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = !{i32 7, !"PIE Level", i32 2}
!3 = !{i32 7, !"uwtable", i32 2}
!4 = !{!"Debian clang version 19.1.7 (3~deb12u1)"}
!5 = !{!6, !6, i64 0}
!6 = !{!"int", !7, i64 0}
!7 = !{!"omnipotent char", !8, i64 0}
!8 = !{!"Simple C/C++ TBAA"}
!9 = distinct !{!9, !10}
!10 = !{!"llvm.loop.mustprogress"}
!11 = distinct !{!11, !10}
!12 = distinct !{!12, !10, !13, !14}
!13 = !{!"llvm.loop.isvectorized", i32 1}
!14 = !{!"llvm.loop.unroll.runtime.disable"}
!15 = distinct !{!15, !10, !14, !13}
