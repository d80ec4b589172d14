"""Small modules with typed pointers that LLVM 10 and LLVM 22 both read, one rule of the graph each.

A compiler writes some of these seldom: the corners where a builder of graphs goes wrong first. Instructions for which
the graph has no rule of their own (casts, vectors, atomics, ...) are in the fixtures.
Loads, stores and allocas state their alignment: LLVM 22 prints one where LLVM 10 does not.
"""

from __future__ import annotations

CASES = {
    "unreachable blocks": """
define i32 @f(i32 %x) {
entry:
  br label %live
dead:
  %d = add i32 %x, 1
  br i1 true, label %live, label %dead2
dead2:
  ret i32 %d
live:
  %p = phi i32 [ %x, %entry ], [ %d, %dead ]
  ret i32 %p
}
define void @g() {
  call i32 @f(i32 0)
  ret void
}""",
    "dead loop": """
define void @f() {
  ret void
a:
  br label %b
b:
  br label %a
}""",
    "switch with duplicate targets": """
define i32 @f(i32 %x) {
  switch i32 %x, label %d [
    i32 0, label %a
    i32 1, label %a
    i32 2, label %d
    i32 7, label %b
  ]
a:
  br label %d
b:
  switch i32 %x, label %d [
  ]
d:
  %p = phi i32 [ 1, %0 ], [ 1, %0 ], [ 2, %a ], [ 3, %b ]
  ret i32 %p
}""",
    "branch with equal targets": """
define void @f(i1 %c) {
  br i1 %c, label %a, label %a
a:
  br i1 undef, label %b, label %a
b:
  ret void
}""",
    "invoke and landingpad": """
@type = external constant i8*
declare i32 @personality(...)
declare void @may_throw(i32)
declare i32 @gives(i32)
define i32 @f(i32 %x) personality i32 (...)* @personality {
  %v = invoke i32 @gives(i32 %x) to label %next unwind label %caught
next:
  invoke void @may_throw(i32 %v) to label %done unwind label %caught
done:
  call void @may_throw(i32 1)
  ret i32 %v
caught:
  %pad = landingpad { i8*, i32 } cleanup
    catch i8** @type catch i8* null filter [1 x i8**] [i8** @type]
  %code = extractvalue { i8*, i32 } %pad, 1
  %is = icmp eq i32 %code, 3
  br i1 %is, label %here, label %on
here:
  ret i32 %code
on:
  resume { i8*, i32 } %pad
}""",
    "indirect call": """
@table = internal constant [2 x i32 (i32)*] [i32 (i32)* @a, i32 (i32)* @b], align 8
define internal i32 @a(i32 %x) {
  ret i32 %x
}
define internal i32 @b(i32 %x) {
  ret i32 0
}
define i32 @f(i32 (i32)* %g, i64 %i, i32 (i32)** %slot) {
  %r = call i32 %g(i32 4)
  %p = getelementptr inbounds [2 x i32 (i32)*], [2 x i32 (i32)*]* @table, i64 0, i64 %i
  %h = load i32 (i32)*, i32 (i32)** %p, align 8
  %s = call i32 %h(i32 %r)
  %t = call i32 asm "mov $1, $0", "=r,r"(i32 %s)
  store i32 (i32)* %h, i32 (i32)** %slot, align 8
  ret i32 %t
}""",
    "recursion, direct and mutual": """
define i32 @fact(i32 %n) {
  %zero = icmp eq i32 %n, 0
  br i1 %zero, label %one, label %more
one:
  ret i32 1
more:
  %m = sub i32 %n, 1
  %r = call i32 @fact(i32 %m)
  %p = mul i32 %n, %r
  ret i32 %p
}
define i1 @even(i32 %n) {
  %r = tail call i1 @odd(i32 %n)
  ret i1 %r
}
define i1 @odd(i32 %n) {
  %r = tail call i1 @even(i32 %n)
  ret i1 %r
}""",
    "calls of declared functions": """
declare i32 @printf(i8*, ...)
declare void @never_called()
@format = private unnamed_addr constant [4 x i8] c"%*d\\00", align 1
define i32 @f(i32 %x) {
  %r = call i32 (i8*, ...) @printf(
    i8* getelementptr inbounds ([4 x i8], [4 x i8]* @format, i64 0, i64 0), i32 %x, i32 %x)
  %s = call i32 (i8*, ...) @printf(
    i8* getelementptr inbounds ([4 x i8], [4 x i8]* @format, i64 0, i64 1))
  ret i32 %s
}""",
    "function pointers as operands": """
declare void @take(void ()*, i8*)
declare void @other()
define void @f(i1 %c, void ()** %slot) {
  call void @take(void ()* @other, i8* bitcast (void (i1, void ()**)* @f to i8*))
  store void ()* @other, void ()** %slot, align 8
  %p = select i1 %c, void ()* @other, void ()* null
  %e = icmp eq void ()* %p, @other
  call void %p()
  ret void
}""",
    "call through a cast": """
declare i32 @old(...)
define i32 @f(i32 %x) {
  %r = call i32 bitcast (i32 (...)* @old to i32 (i32)*)(i32 %x)
  ret i32 %r
}""",
    "one function, no exit": """
define void @f() {
  br label %loop
loop:
  br label %loop
}
define void @g() {
  call void @f()
  call void @h()
  ret void
}
define void @h() {
  unreachable
}""",
    "self loop": """
define i32 @f(i32 %n) {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %out
out:
  ret i32 %i
}
define void @g(i1 %c) {
  br label %loop
loop:
  br i1 %c, label %loop, label %loop
}""",
    "several exits": """
define i32 @f(i32 %x) {
  switch i32 %x, label %a [
    i32 1, label %b
    i32 2, label %c
  ]
a:
  ret i32 1
b:
  unreachable
c:
  ret i32 3
}
define i32 @g() {
  %a = call i32 @f(i32 1)
  %b = call i32 @f(i32 1)
  ret i32 %b
}""",
    "globals and constant expressions": """
%pair = type { i32, i8* }
@g = global i32 5, align 4
@p = internal global %pair { i32 1, i8* null }, align 8
@far = addrspace(3) global [4 x i32] zeroinitializer, align 4
@fixed = addrspace(2) constant [2 x float] [float 1.0, float 0.5], align 4
@out = external global [0 x i8]
@name = alias i32, i32* @g
define i64 @f(%pair* %q) {
  store i32 1, i32* @g, align 4
  store i32 1, i32* @name, align 4
  store i8* getelementptr inbounds ([0 x i8], [0 x i8]* @out, i64 0, i64 8),
    i8** getelementptr inbounds (%pair, %pair* @p, i32 0, i32 1), align 8
  store i32* @g, i32** bitcast (%pair* @p to i32**), align 8
  store i64 ptrtoint (i32* @g to i64), i64* inttoptr (i64 4096 to i64*), align 8
  %a = load i32,
    i32 addrspace(3)* getelementptr inbounds (
      [4 x i32], [4 x i32] addrspace(3)* @far, i64 0, i64 2), align 4
  %b = load [2 x float], [2 x float] addrspace(2)* @fixed, align 4
  %c = load %pair, %pair* @p, align 8
  store %pair %c, %pair* %q, align 8
  store %pair { i32 7, i8* null }, %pair* %q, align 8
  %d = sub i64 ptrtoint (i32* @g to i64), ptrtoint (%pair* @p to i64)
  ret i64 %d
}""",
    "equal constants": """
define double @f(i32* %a, i8* %b, i64 %n) {
  %x = add i64 %n, 1
  %y = add i64 %x, 1
  %z = add i32 1, 1
  %c = icmp eq i32* %a, null
  %d = icmp eq i8* %b, null
  %e = fadd double 1.0, 1.0
  %f = fadd double %e, 0x7FF0000000000000
  %g = fsub double -0.0, %f
  ret double %g
}""",
    "phi": """
define i32 @f(i1 %c, i32 %x) {
entry:
  br i1 %c, label %a, label %b
a:
  br label %join
b:
  br label %join
join:
  %p = phi i32 [ %x, %a ], [ %x, %b ]
  %q = phi i32 [ 0, %a ], [ 0, %b ]
  %r = phi i8* [ null, %a ], [ blockaddress(@f, %a), %b ]
  %s = add i32 %p, %p
  ret i32 %s
}""",
    "indirect branch": """
define void @f(i32 %i) {
  %p = getelementptr inbounds [2 x i8*], [2 x i8*]* @labels, i32 0, i32 %i
  %a = load i8*, i8** %p, align 8
  indirectbr i8* %a, [label %one, label %two, label %one]
one:
  ret void
two:
  br label %one
}
@labels = internal constant [2 x i8*]
  [i8* blockaddress(@f, %one), i8* blockaddress(@f, %two)], align 8""",
    "operand bundles and variadic definitions": """
declare void @g(i32)
define void @f(i32 %x, ...) {
  call void @g(i32 %x) [ "deopt"(i32 %x, i8* null), "tag"() ]
  call void (i32, ...) @f(i32 %x, i32 1, double 2.0)
  ret void
}""",
    "names that need quotes": """
%"class.a b*" = type { i32 }
@"odd, name" = global %"class.a b*" zeroinitializer, align 4
define void @"f(i32*)"(%"class.a b*"* %"x y", i32 %n) {
  %"1 2" = getelementptr %"class.a b*", %"class.a b*"* %"x y", i32 0, i32 0
  store i32 %n, i32* %"1 2", align 4
  %z = load %"class.a b*", %"class.a b*"* @"odd, name", align 4
  store %"class.a b*" %z, %"class.a b*"* %"x y", align 4
  call void @"f(i32*)"(%"class.a b*"* @"odd, name", i32 0)
  ret void
}""",
    "callbr, ifunc and metadata operands": """
@chosen = ifunc i32 (i32), i32 (i32)* ()* @choose
define internal i32 (i32)* @choose() {
  ret i32 (i32)* null
}
declare i64 @llvm.read_register.i64(metadata)
define i64 @f(i32 %x) {
  %a = call i32 @chosen(i32 %x)
  callbr void asm sideeffect "", "r"(i32 %a) to label %on []
on:
  %b = call i64 @llvm.read_register.i64(metadata !0)
  ret i64 %b
}
!0 = !{!"rsp"}""",
    "funclets": """
declare i32 @personality(...)
declare void @may_throw()
define void @f() personality i32 (...)* @personality {
  invoke void @may_throw() to label %done unwind label %dispatch
dispatch:
  %cs = catchswitch within none [label %handler] unwind label %cleanup
handler:
  %cp = catchpad within %cs [i8* null, i32 64, i8* null]
  call void @may_throw() [ "funclet"(token %cp) ]
  catchret from %cp to label %done
cleanup:
  %cl = cleanuppad within none []
  cleanupret from %cl unwind to caller
done:
  ret void
}""",
}
