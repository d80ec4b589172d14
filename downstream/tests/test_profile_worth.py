"""``downstream/profile/worth.py`` and ``verified.py``: variants by hand, figures by hand, one program end to end."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "downstream" / "profile"
TEXT = """
define void @f(i1 %a, i32 %n) #0 !prof !3 {
  br i1 %a, label %1, label %2, !prof !4, !llvm.loop !9

1:
  switch i32 %n, label %2 [
    i32 1, label %2
  ], !prof !5

2:
  ret void
}

!llvm.module.flags = !{!0, !1, !2}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 1, !"ProfileSummary", !6}
!3 = !{!"function_entry_count", i64 7}
!4 = !{!"branch_weights", i32 5, i32 1}
!5 = !{!"branch_weights", i32 1, i32 2, i32 3}
"""
CODE = """
#include <stdio.h>
int main(int argc, char **argv) {
  int total = 0;
  for (int i = 0; i < 50000; i++)
    if (i % 16 == argc * 3) total += printf("%d", i) > 9; else total -= i & 5;
  return printf(" %d\\\\n", total) < 0;
}
"""
RECIPE = """
[[program]]
name = "tiny"
folder = "tiny"
build = "$CC -MD -MF one.d -c one.c && $CC -o one one.o"
run = "./one"
"""
# As valgrind, but that it counts bytes of output.
VALGRIND = """#!/bin/sh
shift
log=$(echo "${1#--log-file=}" | sed s/%p/$$/); jumps=$(echo "${2#--callgrind-out-file=}" | sed s/%p/$$/); shift 2
"$@" > $0.said; code=$?
cat $0.said
count=$(wc -c < $0.said)
echo "Command: $1
I   refs:   1,$count
I1  misses:  7
Mispredicts:  3 (2 cond + 1 ind)" > $log
printf 'jump=2 1\\njcnd=40/50 1\\n' > $jumps
exit $code
"""


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(spec)  # as the other script imports it
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def worth() -> ModuleType:
    load("labels")
    return load("worth")


def test_what_variants_leave_of_a_profile(worth: ModuleType) -> None:
    plain, alone = worth.without_profile(TEXT), worth.only_branch_weights(TEXT)
    assert "br i1 %a, label %1, label %2, !llvm.loop !9\n" in plain
    assert "define void @f(i1 %a, i32 %n) #0 {\n" in plain
    assert "  ]\n" in plain
    for text in (plain, alone):
        assert "!llvm.module.flags = !{!0, !2}\n" in text
    assert alone.replace(", !prof !4", "") == plain
    assert worth.inverted(TEXT) == alone.replace("i32 5, i32 1", "i32 1, i32 5")


def test_figures_by_hand(worth: ModuleType) -> None:
    """`true` halves one program and leaves the other; `predicted` is right about half of that, in logarithms."""
    none, half, root = (dict.fromkeys(worth.MEASURES, count) for count in (4000, 2000, 4000 / math.sqrt(2)))
    programs = {
        "one": {"none": none, "true": half, "true_branches": half, "predicted": root},
        "two": {"none": none, "true": half, "true_branches": half, "predicted": root},
    }
    rows = worth.summarized(programs, ["true", "true_branches", "predicted"])
    assert rows["true"]["change"]["jumps"] == [-0.5] * 3
    assert rows["true"]["share_of_true"]["bytes"] == [1.0] * 3
    assert rows["predicted"]["share_of_true"]["instructions"] == [0.5] * 3
    assert rows["predicted"]["share_of_true_branches"]["jumps"] == [0.5] * 3
    assert rows["predicted"]["change"]["instructions"] == pytest.approx([math.sqrt(0.5) - 1] * 3, abs=1e-4)


@pytest.mark.needs("clang-19")
@pytest.mark.needs("opt-19")
@pytest.mark.needs("llvm-profdata-19")
def test_a_program_end_to_end(worth: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "one.c").write_text(CODE)
    recipe, fake = tmp_path / "programs.toml", tmp_path / "valgrind"
    recipe.write_text(RECIPE)
    recipe.with_name("drivers.toml").write_text('tiny = "counted ./one | tail -c 20; counted ./one 2"\n')
    fake.write_text(VALGRIND)
    fake.chmod(0o755)
    monkeypatch.setattr(worth, "CALLGRIND", f"{fake} --tool=callgrind")
    out, work = tmp_path / "out", tmp_path / "work"
    sys.modules["labels"].main([str(recipe), "-o", str(out)])
    branches = pq.read_table(out / "branches.parquet").to_pylist()
    assert len(branches) == 2  # main is the only function, so that its blocks are the module's
    first = [row["taken_first"] / (row["taken_first"] + row["other"]) for row in branches]
    table = {
        "project": ["tiny"] * 2,
        "file": ["one.c"] * 2,
        "block": [row["block"] for row in branches],
        "first": first,
    }
    pq.write_table(pa.table(table), tmp_path / "table.parquet")
    work.mkdir()
    words = [str(recipe), str(out), str(work), f"--table=predicted={tmp_path / 'table.parquet'}", "-o"]
    worth.main([*words, str(tmp_path / "record.json")])
    record = json.loads((tmp_path / "record.json").read_text())
    assert record["failed"] == {}
    facts = {"files": 1, "branches": 2, "files_predicted": 1}
    assert record["facts"] == {
        "predicted": facts | {"predicted": 2},
        "predicted_outside_loops": facts | {"predicted": 1},  # not whether `i < 50000`
    }
    measured = record["programs"]["tiny"]
    assert list(measured) == ["none", "true", "true_branches", "inverted", "predicted", "predicted_outside_loops"]
    for counts in measured.values():
        # Twice, and what the program says is counted for instructions.
        assert (counts["jumps"], counts["mispredicted"], counts["fetch_misses"]) == (84, 6, 14)
        assert counts["instructions"] == measured["none"]["instructions"] > 20000
        assert counts["bytes"] > 100
    state = json.loads((work / "work" / "tiny" / "state.json").read_text())
    assert len({one["digest"] for one in state["found"].values()}) == 6
    assert state["found"]["true"]["ends"] == ["./one 0", "./one 0"]
    assert (tmp_path / "work" / "work" / "tiny" / "src" / "one.d").exists()

    fake.write_text("#!/bin/sh\nexit 1\n")  # what is done is not done again
    worth.main([*words, str(tmp_path / "again.json")])
    assert json.loads((tmp_path / "again.json").read_text()) == record

    load("verified").main(
        [
            str(out),
            str(tmp_path / "table.parquet"),
            "--older",
            str(work / "none"),
            "-o",
            str(tmp_path / "verified.json"),
        ]
    )
    verified = json.loads((tmp_path / "verified.json").read_text())
    same = dict.fromkeys(("rows", "branches", "told", "ran", "right"), 2)
    assert verified == {"opt-19": {"files": 1, "verified": 1, **same}, "opt-14": {}}
