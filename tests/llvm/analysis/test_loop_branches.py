"""How much of a loop's conditional code an iteration runs."""

import pytest

from mirenc.llvm import IRModule, parse_ir, regions_of
from mirenc.llvm.analysis.loop_branches import Taken, taken_branches

# A branch to two instructions or past them, then a switch to one of one, two and three.
LOOP = """
define void @f(ptr %p, i64 %n) {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr i32, ptr %p, i64 %i
  %x = load i32, ptr %at
  %less = icmp slt i32 %x, 3
  br i1 %less, label %then, label %join{first}
then:
  br label %join
join:
  switch i32 %x, label %latch [ i32 1, label %one
    i32 2, label %two ]{second}
one:
  store i32 0, ptr %at
  br label %latch
two:
  store i32 1, ptr %at
  store i32 2, ptr %at
  br label %latch
latch:
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %head, label %done{last}
done:
  ret void
}}
"""
NODES = """
!0 = !{!"branch_weights", i32 1, i32 3}
!1 = !{!"branch_weights", i32 5, i32 3, i32 2}
"""


def read(**marks: str) -> IRModule:
    return parse_ir(LOOP.format(**({"first": "", "second": "", "last": ""} | marks)) + NODES)


def taken(module: IRModule) -> Taken | None:
    return taken_branches(module, regions_of(module, "loop").regions[0])


def test_means_by_hand() -> None:
    """Of 1 + 2 + 3 conditional instructions a quarter, 0.3 and 0.2 of the iterations run each."""
    branches = taken(read(first=", !prof !0", second=", !prof !1"))
    assert branches is not None
    assert branches.share == pytest.approx((0.25 * 1 + 0.3 * 2 + 0.2 * 3) / 6)
    assert branches.rarer == pytest.approx(0.25 + 0.5)
    # How often the loop ends says nothing of its branches.
    assert taken(read(first=", !prof !0", second=", !prof !1", last=", !prof !0")) == branches


def test_what_nobody_weighed_is_not_known() -> None:
    assert taken(read()) is None
    assert taken(read(first=", !prof !0")) is None
    assert taken(read(first=", !prof !0", last=", !prof !0")) is None


def test_a_branch_that_no_iteration_comes_to_needs_no_weights() -> None:
    text = LOOP.format(first=", !prof !0", second="", last="").replace("label %join, !prof", "label %latch, !prof")
    never = '\n!0 = !{!"branch_weights", i32 0, i32 9}\n'
    assert taken(parse_ir(text + never)) == Taken(0.0, 0.0)


def test_a_loop_without_branches_or_around_another() -> None:
    module = parse_ir(
        """
define void @f(i64 %n) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %k, %end ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %next, %inner ]
  %next = add i64 %j, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %inner, label %end, !prof !0
end:
  %k = add i64 %i, 1
  %more = icmp ult i64 %k, %n
  br i1 %more, label %outer, label %done, !prof !0
done:
  ret void
}
!0 = !{!"branch_weights", i32 1, i32 3}
"""
    )
    assert [taken_branches(module, loop) for loop in regions_of(module, "loop").regions] == [None, None]
