"""Counts of a run: texts read by hand, and counts by line as samples of blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mirenc.base.errors import IRFileError
from mirenc.llvm import parse_ir
from mirenc.tools.profile.counts import Counters, LineSamples, _solve, line_samples, read_profile


def test_counters_are_known_by_function_and_hash(tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    path.write_text(
        "# IR level Instrumentation Flag\n:ir\na.c;f\n# Func Hash:\n7\n# Num Counters:\n2\n# Counter Values:\n3\n0\n"
        "# Num Value Kinds:\n1\n# ValueKind = IPVK_MemOPSize:\n1\n# NumValueSites:\n1\n1\n8:3\n\n"
        "g\n# Func Hash:\n9\n# Num Counters:\n1\n# Counter Values:\n5\n\n"
    )
    profile = read_profile(path)
    assert isinstance(profile, Counters)
    assert profile.functions == {("f", 7): {"a.c;f": [3, 0]}, ("g", 9): {"g": [5]}}


def test_samples_of_inlined_copies_are_added_to_the_function() -> None:
    profile = LineSamples.from_text(
        "f:1000:10\n 1: 10\n 2: 400 g:390 h:10\n 2.1: 500\n 3: g:60\n  0: 20\n  1: h:40\n   4: 40\n !Attributes: 1\n"
        "g:5:5\n 0: 5\n"
    )
    # Of a line its largest count; where something is inlined, what its first sample says.
    assert profile.functions == {"f": {1: 10, 2: 500, 3: 20}, "g": {0: 25, 1: 40}, "h": {4: 40}}


def test_a_block_has_the_count_of_the_line_that_fewest_share() -> None:
    lines = [np.array(block_lines) for block_lines in ([1], [1, 2], [], [3])]
    samples, rate = line_samples(lines, [{1: 100.0, 2: 40.0}] * 3 + [None], np.array([0, 0, 0, 1]))
    # Means 70: a block of a line of its own counts as 100 samples a 70 executions, one of two as a sixteenth of that.
    np.testing.assert_allclose(rate, [100 / 70 / 16, 100 / 70, 0, 0])
    np.testing.assert_allclose(samples, [100 * 100 / 70 / 16, 40 * 100 / 70, 0, 0])


LOOP = """define void @work(i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %next = add i64 %i, 1
  br label %head
end:
  ret void
}
"""


@pytest.mark.parametrize("runs", [3, 5_000, 100_000_000])
def test_counters_that_leave_nothing_open_are_solved_exactly(runs: int) -> None:
    module, samples, rate = parse_ir(LOOP), np.zeros(4), np.zeros(4)
    for block, count in ((0, 1), (2, runs)):  # entry and body: as LLVM counts, off a spanning tree
        samples[block], rate[block] = 1e6 * count, 1e6
    solved = _solve(module, 0, samples, rate)
    assert solved is not None
    blocks, edges = solved
    assert blocks == {0: 1, 1: runs + 1, 2: runs, 3: 1}
    assert edges == {0: 1, 1: runs, 2: 1, 3: runs}  # entry to head, head to body and end, body to head


def test_counters_that_leave_something_open_or_contradict_are_not_solved() -> None:
    module, nothing = parse_ir(LOOP), np.zeros(4)
    assert _solve(module, 0, nothing, nothing) is None
    samples = np.array([5.0, 3.0, 0.0, 0.0])  # the head cannot run less than the entry
    assert _solve(module, 0, samples, np.array([1.0, 1.0, 0.0, 0.0])) is None


@pytest.mark.parametrize(
    "text", [":ir\na\n# Func Hash:\n12\n", ":ir\na\n# Func Hash:\n12\n2\n5\n", ":ir\na\n# Func Hash:\nx\n1\n5\n"]
)
def test_counters_that_are_cut_off_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(IRFileError, match=r"x\.txt: is cut off.*llvm-profdata merge -text"):
        read_profile(tmp_path / "x.txt")
