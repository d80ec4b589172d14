"""What LLVM makes of one loop under each hint."""

import pytest

from mirenc.base.child_process import ChildProcess, EndedError
from mirenc.llvm import IRModule, parse_ir
from mirenc.llvm.analysis.regions import Region, regions_of
from mirenc.llvm.passes.look_ahead import look_ahead
from mirenc.llvm.passes.loop_hint import PLAIN, Hint

# Two loops of one function, `%first` and `%second`, the second of which stores; and one that calls the function.
LOOPS = """
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@scale = internal global float 3.000000e+00

define float @work(ptr noalias %a, ptr noalias %b, i64 %n) {
entry:
  br label %first
first:
  %i = phi i64 [ 0, %entry ], [ %i.next, %first ]
  %h = phi i64 [ 1, %entry ], [ %h.next, %first ]
  %h.next = xor i64 %h, %i
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %between, label %first
between:
  %s = load float, ptr @scale
  br label %second
second:
  %j = phi i64 [ 0, %between ], [ %j.next, %second ]
  %p = getelementptr float, ptr %a, i64 %j
  %q = getelementptr float, ptr %b, i64 %j
  %x = load float, ptr %q
  %y = fmul float %x, %s
  store float %y, ptr %p
  %j.next = add nuw nsw i64 %j, 1
  %over = icmp eq i64 %j.next, %n
  br i1 %over, label %out, label %second
out:
  %r = sitofp i64 %h.next to float
  ret float %r
}

define void @caller(ptr %a, ptr %b) {
  %r = call float @work(ptr %a, ptr %b, i64 8)
  store float %r, ptr @scale
  ret void
}
"""
HINTS = (None, PLAIN, Hint(4, 1), Hint(4, 2), Hint(8, 1))


def second(text: str = LOOPS) -> tuple[IRModule, Region]:
    module = parse_ir(text)
    return module, next(one for one in regions_of(module, "loop").regions if one.header == "%second")


def test_wider_vectors_take_fewer_instructions_an_element() -> None:
    module, loop = second()
    default, plain, four, twice, eight = look_ahead(module, loop, HINTS, 256)
    assert default
    assert plain
    assert four
    assert twice
    assert eight
    assert plain.hint == PLAIN
    assert plain.vector is None
    assert plain.scalar
    assert [code.hint for code in (four, twice, eight)] == [Hint(4, 1), Hint(4, 2), Hint(8, 1)]
    assert default.hint.width == 8
    assert [code.vector.bits for code in (four, eight, default) if code.vector] == [128, 256, 256]
    of_vector = [(code.vector, code.hint.width * code.hint.count) for code in (four, twice, eight)]
    each = [vector.instructions / elements for vector, elements in of_vector if vector]
    assert each[0] > each[1] > each[2]
    # What each entry pays for, in no loop.
    assert all(code.around.depth == 0 and code.around.instructions > 0 for code in (four, eight))
    assert plain.unrolled > 1  # LLVM's own unrolling of a loop that it may not vectorise


def test_the_other_loop_is_left_alone() -> None:
    module, loop = second()
    first = next(one for one in regions_of(module, "loop").regions if one.header == "%first")
    mine, other = (look_ahead(module, one, [Hint(4, 2)], 128)[0] for one in (loop, first))
    assert mine
    assert other
    assert mine.vector
    assert mine.vector.counts[:2].tolist() == [2, 2]  # loads and stores: two vectors of four
    assert other.vector
    assert other.vector.counts[:2].tolist() == [0, 0]


def test_vectors_of_aarch64_have_128_bits() -> None:
    module, loop = second(
        LOOPS.replace("x86_64", "aarch64").replace(
            '"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"',
            '"e-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128"',
        )
    )
    (four,) = look_ahead(module, loop, [Hint(4, 1)], 128)
    if four is not None:  # an llvmlite may be built without it
        assert four.vector
        assert four.vector.bits == 128


def test_a_processor_that_is_not_known() -> None:
    module, loop = second()
    assert look_ahead(module, loop, HINTS, 64) == [None] * len(HINTS)


def test_one_hint_that_does_not_end_costs_that_one(monkeypatch: pytest.MonkeyPatch) -> None:
    module, loop = second()
    expected = look_ahead(module, loop, HINTS, 128)
    receive, calls = ChildProcess._receive, []

    def fails_once(self: ChildProcess, timeout: float) -> object:
        answer = receive(self, timeout)
        if answer and "choices" in answer[0]:
            calls.append(1)
            if len(calls) == 3:
                raise EndedError("timeout", "not done within 60 s")
        return answer

    monkeypatch.setattr(ChildProcess, "_receive", fails_once)
    forecasts = look_ahead(module, loop, HINTS, 128)
    assert [one is None for one in forecasts] == [False, False, True, False, False]
    assert [one.hint for one in forecasts if one] == [
        one.hint for place, one in enumerate(expected) if one and place != 2
    ]
