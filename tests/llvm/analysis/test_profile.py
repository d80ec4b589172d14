"""How often blocks ran, by a profile: against counters of a run."""

import numpy as np
import pytest

from mirenc.llvm import parse_ir
from mirenc.llvm.analysis.profile import Flow, profiled_flow

NEST = """
define void @nest(i1 %c, i32 %x) !prof !0 {
entry:
  br label %outer
outer:
  br label %inner
inner:
  br i1 %c, label %inner, label %after, !prof !1
after:
  switch i32 %x, label %latch [
    i32 1, label %one
    i32 2, label %two
  ], !prof !2
one:
  br label %latch
two:
  br label %latch
latch:
  br i1 %c, label %outer, label %out, !prof !3
out:
  ret void
}

define void @never() {
  ret void
}

!0 = !{!"function_entry_count", i64 7}
!1 = !{!"branch_weights", i32 3000, i32 1000}
!2 = !{!"branch_weights", i32 5, i32 3, i32 2}
!3 = !{!"branch_weights", i32 9, i32 1}
"""


def flow_of(text: str) -> Flow:
    flow = profiled_flow(parse_ir(text))
    assert flow is not None
    return flow


def test_flow_goes_by_the_shares_of_each_branch_whatever_its_scale() -> None:
    flow = flow_of(NEST)
    #       entry outer inner after one two latch out, and the function that has no count
    expected = [7, 70, 280, 70, 21, 14, 70, 7, 0]
    np.testing.assert_allclose(flow.blocks, expected, rtol=1e-6)
    assert flow.known.all()
    # What goes into a block is what runs in it.
    module = parse_ir(NEST)
    into = np.bincount(module.arrays.successor, weights=flow.edges, minlength=module.block_count)
    into[0] += 7
    np.testing.assert_allclose(into, flow.blocks, atol=1e-6)


def test_ways_that_nobody_counted_share_evenly_and_are_not_told() -> None:
    flow = flow_of(NEST.replace(", !prof !2", ""))
    np.testing.assert_allclose(flow.blocks[3:7], [70, 70 / 3, 70 / 3, 70], rtol=1e-6)
    assert flow.known.tolist() == [True, True, True, False, True, True, True, True, True]


def test_a_loop_that_nothing_leaves_does_not_run_for_ever() -> None:
    flow = flow_of(NEST.replace("i32 9, i32 1}", "i32 9, i32 0}"))
    assert flow.blocks[6] == pytest.approx(7e9, rel=1e-3)


def test_a_call_that_may_throw_goes_on() -> None:
    throws = """
declare void @g()
declare i32 @p(...)
define void @f() personality ptr @p !prof !0 {
  invoke void @g() to label %on unwind label %off
on:
  ret void
off:
  %l = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %l
}
!0 = !{!"function_entry_count", i64 7}
"""
    flow = flow_of(throws)
    np.testing.assert_allclose(flow.blocks, [7, 7, 0], atol=1e-6)
    assert flow.known.all()


def test_a_loop_without_a_way_out_has_no_flow() -> None:
    endless = """
define void @f() !prof !0 {
  br label %again
again:
  br label %again
}
define void @g() !prof !0 {
  ret void
}
!0 = !{!"function_entry_count", i64 7}
"""
    flow = flow_of(endless)
    assert flow.blocks.tolist() == [0, 0, 7]


def test_no_profile_no_flow() -> None:
    assert profiled_flow(parse_ir(NEST.replace(" !prof !0", ""))) is None  # weights alone may be somebody's guess
    assert profiled_flow(parse_ir(NEST.replace("function_entry_count", "synthetic_function_entry_count"))) is None
