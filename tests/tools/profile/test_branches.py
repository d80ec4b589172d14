"""What is written about branches and loops, worked by hand."""

from __future__ import annotations

import numpy as np

from mirenc.llvm import parse_ir
from mirenc.llvm.analysis.loops import find_loops
from mirenc.tools.profile.branches import FEATURES, WAY, branches_of
from mirenc.tools.profile.loops import LOOP_FEATURES, OWN, describe_loops, of_loops

CODE = """
declare void @abort()
define i32 @sum(ptr %p, i32 %n) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %next ]
  %s = phi i32 [ 0, %entry ], [ %t, %next ]
  %c = icmp slt i32 %i, %n
  br i1 %c, label %body, label %out
body:
  %a = getelementptr i32, ptr %p, i32 %i
  %v = load i32, ptr %a
  %e = icmp slt i32 %v, 0
  br i1 %e, label %bad, label %next
bad:
  call void @abort()
  unreachable
next:
  %j = add i32 %i, 1
  %t = add i32 %s, %v
  br label %head
out:
  ret i32 %s
}
define void @twice(ptr %p) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %k, %latch ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %m, %inner ]
  store i32 %j, ptr %p
  %m = add i32 %j, 1
  %c = icmp eq i32 %m, 100
  br i1 %c, label %latch, label %inner
latch:
  %k = add i32 %i, 1
  %d = icmp ult i32 %k, 7
  br i1 %d, label %outer, label %out
out:
  ret void
}
define i32 @pick(i32 %n) {
  %c = icmp eq i32 %n, 7
  br i1 %c, label %same, label %same
same:
  ret i32 %n
}
"""


def test_features_of_branches_worked_out_by_hand() -> None:
    branches = branches_of(parse_ir(CODE))
    assert branches.block.tolist() == [1, 2, 8, 9]  # where both ways are one there is nothing to tell
    assert branches.features.shape == (4, len(FEATURES))
    head, body, *_ = (dict(zip(FEATURES, row, strict=True)) for row in branches.features.tolist())
    of_head = ("depth", "is_header", "slt", "is_icmp", "first_phi", "second_argument", "counter", "two_values")
    assert [head[name] for name in (*of_head, "second_leaves", "second_way_returns")] == [1] * 10
    assert head["loop_exits"] == 2  # and where the program ends
    assert [head[name] for name in ("first_leaves", "constant", "first_dead", "expected")] == [0] * 4
    of_body = ("first_dead", "first_leaves", "second_to_latch", "constant", "zero", "width", "first_load")
    assert [body[name] for name in of_body] == [1, 1, 1, 1, 1, 32, 1]
    assert body["first_calls"] == body["first_error"] == np.float32(np.log1p(1))
    assert [body[name] for name in ("second_calls", "second_dead", "first_to_latch", "is_header")] == [0] * 4
    assert branches_of(parse_ir("define void @f() {\n  ret void\n}\n")).features.shape[0] == 0


def test_features_of_loops_worked_out_by_hand() -> None:
    module = parse_ir(CODE)
    branches = branches_of(module)
    loops = describe_loops(module, branches)
    assert find_loops(module).header.tolist() == [1, 7, 8]
    assert loops.constant.tolist() == [0, 7, 100]
    assert of_loops(module, branches.block).tolist() == [True, True, True, True]  # one ends the program
    assert of_loops(module, np.array([0, 3])).tolist() == [False, False]
    # The first is left at its head; the outer one at its end, not where the inner one goes on.
    assert (loops.exit.tolist(), loops.out.tolist()) == ([0, 3, 2], [False, False, True])
    first, outer, inner = (dict(zip(LOOP_FEATURES, row, strict=True)) for row in loops.features.tolist())
    names = ("depth", "exits", "inner", "loops", "header_phi", "pointers")
    assert [[one[name] for name in names] for one in (first, outer, inner)] == [
        [1, 2, 0, 1, 2, 0],
        [1, 1, 1, 2, 1, 0],
        [2, 1, 0, 2, 1, 0],
    ]
    assert [round(np.expm1(one["trip_count"])) for one in (first, outer, inner)] == [0, 7, 100]
    assert (outer["store"], outer["header_store"], inner["header_store"]) == (np.log1p(1), 0, 1)
    assert (inner["first_leaves"], inner["second_leaves"], inner["eq"]) == (1, 0, 1)
    # The way out is the first of all, whichever it is in the IR.
    row = branches.features[0].tolist()
    assert (
        loops.features[0, len(OWN) :].tolist() == row[len(WAY) : 2 * len(WAY)] + row[: len(WAY)] + row[2 * len(WAY) :]
    )
    nothing = parse_ir("define void @f() {\n  ret void\n}\n")
    assert describe_loops(nothing, branches_of(nothing)).features.shape == (0, len(LOOP_FEATURES))
