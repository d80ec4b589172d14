"""Trip counts: worked by hand, and against LLVM's estimates by a profile."""

from pathlib import Path

import pytest
from llvm_trip_counts import committed

from mirenc.llvm import parse_ir, regions_of
from mirenc.llvm.analysis.trip_counts import (
    TripCount,
    constant_trip_counts,
    estimated_trip_counts,
    known_trip_count,
    profiled_iterations,
)
from mirenc.llvm.inputs.compile_source import compile_source
from mirenc.llvm.inputs.dialect import SCALAR_LOOPS

# Headers of loops, and how often they run.
LOOPS = {
    "int i = 0; i < 1000; i++": 1000,
    "int i = 0; i < 1000; i += 7": 143,
    "int i = 3; i <= 1000; i += 7": 143,
    "int i = 100; i > 0; i--": 100,
    "int i = 100; i >= 0; i -= 8": 13,
    "unsigned i = 5; i != 25; i += 4": 5,
    "unsigned char i = 250; i != 4; i++": 10,
    "long i = -5; i < 5; i++": 10,
    "unsigned i = 64; i--;": 64,
    "short i = 0; i < 300; i += 3": 100,
    "int i = 0; i + 3 < 1000; i += 5": 200,
    "int i = 0; i < n; i++": 0,
    "int i = n; i < 1000; i++": 0,
    "int i = 1; i < 1000; i *= 2": 0,
    "int i = 0; i < 1000 && a[i]; i++": 0,
}


@pytest.mark.needs("C compiler")
def test_trip_counts_of_c_loops(compiler: str, tmp_path: Path) -> None:
    lines = [f"void f{n}(volatile int *a, int n) {{\n  for ({loop})\n    a[0] = 1;\n}}" for n, loop in enumerate(LOOPS)]
    (tmp_path / "loops.c").write_text("\n".join(lines))
    text = compile_source(tmp_path / "loops.c", "c", dialect=SCALAR_LOOPS).decode()
    assert constant_trip_counts(parse_ir(text)) == [*LOOPS.values()]


COUNTING = """
define void @f(ptr %p) {{
entry:
  br label %again
again:
  %i = phi i8 [ {start}, %entry ], [ %next, %again ]
  store volatile i8 %i, ptr %p
  %next = add i8 %i, {step}
  %c = icmp {predicate} i8 {compared}, {limit}
  br i1 %c, label %{first}, label %{second}
out:
  ret void
}}
"""


@pytest.mark.parametrize(
    ("start", "step", "predicate", "compared", "limit", "leaves_first", "count"),
    [
        (0, 1, "ne", "%next", 16, False, 16),
        (0, 1, "eq", "%next", 16, True, 16),
        (0, 1, "eq", "%i", 16, True, 17),
        (0, 1, "eq", "%i", 16, False, 1),
        (16, 1, "eq", "%i", 16, False, 2),
        (0, 3, "ne", "%next", 16, False, 0),  # wraps around, or never ends
        (0, -1, "ult", "%next", -16, True, 17),  # -17 is the first one below
        (-1, -1, "ugt", "%next", 127, False, 128),
        (0, 1, "sgt", "%next", 5, True, 6),
        (9, 1, "slt", "%next", 5, False, 1),
        (0, -1, "slt", "%next", 5, False, 0),
    ],
)
def test_trip_counts_of_counters(
    start: int, step: int, predicate: str, compared: str, limit: int, leaves_first: bool, count: int
) -> None:
    first, second = ("out", "again") if leaves_first else ("again", "out")
    text = COUNTING.format(**locals())
    loop_last = text.replace("out:\n  ret void\n", "").replace("again:", "out:\n  ret void\nagain:")
    assert [constant_trip_counts(parse_ir(each)) for each in (text, loop_last)] == [[count], [count]]


@pytest.mark.parametrize(
    ("beside", "limit", "count"),
    [
        ("or disjoint i8 %next, 2", 50, 12),  # 6, 10, ... and 50 is none below
        ("or disjoint i8 %next, 2", 51, 13),
        ("add nuw i8 %i, 3", 50, 13),  # 3, 7, ... 51
        ("or i8 %next, 2", 50, 12),  # so before LLVM 18; a multiple of four has no bit of two
        ("or i8 %next, 3", 50, 12),  # 7, 11, ... and 51 is none below
        ("or i8 %next, 4", 50, 0),  # may add nothing
        ("or i8 %next, 6", 50, 0),
        ("add i8 %other, 2", 50, 0),
    ],
)
def test_counters_with_a_constant_beside_them(beside: str, limit: int, count: int) -> None:
    text = COUNTING.format(
        start=0, step=4, predicate="ult", compared="%beside", limit=limit, first="again", second="out"
    )
    text = text.replace("  %c =", f"  %other = load i8, ptr %p\n  %beside = {beside}\n  %c =")
    module = parse_ir(text)
    assert constant_trip_counts(module) == [count]


PROFILED = """
define void @f(ptr %a, i64 %n) !prof !2 {
entry:
  br label %top
top:
  %i = phi i64 [ 0, %entry ], [ %i.next, %body ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %bottom, !prof !0
body:
  %i.next = add i64 %i, 1
  br label %top
bottom:
  %j = phi i64 [ 0, %top ], [ %j.next, %bottom ]
  %j.next = add i64 %j, 1
  %done = icmp eq i64 %j.next, %n
  br i1 %done, label %out, label %bottom, !prof !1
out:
  ret void
}

!0 = !{!"branch_weights", i32 120, i32 10}
!1 = !{!"branch_weights", !"expected", i32 5, i32 20}
!2 = !{!"function_entry_count", i64 10}
"""


def test_iterations_of_a_whole_profile() -> None:
    module = parse_ir(PROFILED)
    iterations = {one.header: profiled_iterations(module, one) for one in regions_of(module, "loop").regions}
    # Left at its head, after as many rounds as there are ways back; left at its end, one more.
    assert iterations == {"%top": pytest.approx(120), "%bottom": pytest.approx(50)}
    # Without weights; and with weights that no run gave.
    for bare in (PROFILED.replace(", !prof !0", "").replace(", !prof !1", ""), PROFILED.replace(" !prof !2", "")):
        module = parse_ir(bare)
        assert [profiled_iterations(module, one) for one in regions_of(module, "loop").regions] == [0, 0]


def test_of_a_loop_with_two_ways_out_both_count() -> None:
    early = PROFILED.replace(
        "  %i.next = add i64 %i, 1\n  br label %top\n",
        "  %i.next = add i64 %i, 1\n  %hit = icmp eq i64 %i, 99\n  br i1 %hit, label %out, label %top, !prof !3\n",
    )
    module = parse_ir(f'{early}!3 = !{{!"branch_weights", i32 5, i32 115}}\n')
    top = regions_of(module, "loop").regions[0]
    # Of its 10 entries it is left 10 times by the one for 5 by the other.
    assert profiled_iterations(module, top) == pytest.approx(10 * 130 / 15)
    assert estimated_trip_counts(module)[0] == (24, "branch weights")  # LLVM looks at the latch alone: 115 / 5 + 1
    # Where one of them has no weights, nobody knows.
    assert profiled_iterations(parse_ir(early.replace(", !prof !0", "").replace("!prof !3", "!prof !1")), top) == 0


@pytest.mark.parametrize("name", committed())
def test_estimates_are_llvms(name: str) -> None:
    text, counts = committed()[name]
    module = parse_ir(text)
    estimates = zip(regions_of(module, "loop").regions, estimated_trip_counts(module), strict=True)
    assert {(loop.symbol, loop.header): one.iterations for loop, one in estimates} == counts
    assert any(counts.values()) or "O0" in name


def latch(prof: str = "", loop: str = "", *, more: str = "%more") -> TripCount:
    """What is known of a loop whose latch leaves by its second way, and has such nodes."""
    attached = f"{', !prof !0' if prof else ''}{', !llvm.loop !1' if loop else ''}"
    nodes = [f"!0 = {prof}"] * bool(prof) + [f"!1 = distinct !{{!1, {loop}}}"] * bool(loop)
    module = parse_ir(
        "define void @f(i1 %more) {\n  br label %h\nh:\n  %i = phi i32 [ 0, %0 ], [ %n, %h ]\n"
        "  %n = add i32 %i, 1\n  %less = icmp ult i32 %n, 9\n"
        f"  br i1 {more}, label %h, label %x{attached}\nx:\n  ret void\n}}\n" + "\n".join(nodes) + "\n"
    )
    return known_trip_count(module, regions_of(module, "loop").regions[0])


ESTIMATED = "llvm.loop.estimated_trip_count"


@pytest.mark.parametrize(
    ("prof", "loop", "known"),
    [
        ('!{!"branch_weights", i32 5, i32 2}', "", (4, "branch weights")),  # a half is rounded up
        ('!{!"branch_weights", i32 0, i32 7}', "", (1, "branch weights")),
        ('!{!"branch_weights", i32 7, i32 0}', "", (0, "")),  # never left
        ('!{!"branch_weights", !"expected", i32 2000, i32 1}', "", (2001, "branch weights of a hint")),
        # LLVM prints the upper half of 32 bits with a sign; and more than 32 bits are cut.
        ('!{!"branch_weights", i32 -2147483648, i32 1}', "", (2**31 + 1, "branch weights")),
        ('!{!"branch_weights", i64 4294967303, i64 2}', "", (5, "branch weights")),
        ('!{!"branch_weights", i32 -1, i32 1}', "", (2**32 - 1, "branch weights")),  # LLVM 22 stops there
        ("", f'!{{!"{ESTIMATED}", i32 7}}', (7, ESTIMATED)),
        ('!{!"branch_weights", i32 5, i32 2}', f'!{{!"{ESTIMATED}", i32 7}}', (7, ESTIMATED)),
        ('!{!"branch_weights", i32 5, i32 2}', f'!{{!"{ESTIMATED}", i32 0}}', (0, "")),
        ('!{!"branch_weights", i32 5, i32 2}', '!{!"llvm.loop.unroll.count", i32 7}', (4, "branch weights")),
        ("", "", (0, "")),
    ],
)
def test_what_a_latch_tells(prof: str, loop: str, known: tuple[int, str]) -> None:
    assert latch(prof, loop) == known
    # Constants are right, whatever was profiled.
    assert latch(prof, loop, more="%less") == (9, "constants")
