"""``mirenc predict branch_probability`` and ``trip_count``: what is said, and weights in IR that behaves as before."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import llvmlite.binding
import pytest
from command_line import Result, Run

from mirenc.llvm import read_ir
from mirenc.tools.profile.branches import branches_of

SOURCE = """#include <stdlib.h>
int sum(int *p, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    if (p[i] < 0)
      abort();
    s += p[i];
  }
  for (int i = 0; i < 100; i++)
    s ^= i;
  if (n > 50)
    s *= 3;
  return s;
}
int main(void) {
  int p[3] = {1, 2, 3};
  return sum(p, 3) & 127;
}
"""


def answered(run: Run, *words: object) -> Result:
    """An answer; on stderr is what such answers were worth, and how many weights were written."""
    done = run("predict", *words)
    assert done.code == 0, done.err
    return done


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "sum.c"
    file.write_text(SOURCE)
    return file


@pytest.mark.needs("C compiler")
def test_a_source_by_line(run: Run, source: Path) -> None:
    said = answered(run, "branch_probability", source).out.splitlines()
    assert len(said) == 4
    assert said[1].startswith(f"{source}:5: sum:%")
    assert "(line 6): " in said[1]
    loops = answered(run, "trip_count", source, "--json").out.splitlines()
    first, second = map(json.loads, loops)
    assert (first["line"], first["constant"], second["line"], second["constant"]) == (4, 0, 9, 101)
    assert sum(first["chances"].values()) == pytest.approx(1)
    assert second["chances"]["32 to 255"] == 1
    assert [(one["known"], one["source"]) for one in (first, second)] == [(0, ""), (101, "constants")]
    assert answered(run, "trip_count", source, "--function", "main").out == ""


def test_a_profile_in_the_ir_is_believed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "loop.ll"
    file.write_text(
        "define void @f(i1 %c) {\n  br label %h\nh:\n  br i1 %c, label %h, label %x, !prof !0\nx:\n  ret void\n}\n"
        '!0 = !{!"branch_weights", i32 60, i32 4}\n'
    )
    (loop,) = answered(run, "trip_count", file).out.splitlines()
    assert loop == f"{file}: f:%h: 16, by its branch weights"


@pytest.mark.needs("C compiler")
def test_weights_in_ir(run: Run, source: Path, tmp_path: Path) -> None:
    weighted, review = tmp_path / "sum.ll", tmp_path / "sum.sarif"
    done = answered(run, "branch_probability", source, "-o", weighted, "-o", review)
    assert "1 branches have weights now, 0 had some, 3 that repeat or leave a loop get none" in done.err
    assert weighted.read_text().count(", !prof !") == 1
    assert len(branches_of(read_ir(weighted)).block) == 4
    results = json.loads(review.read_text())["runs"][0]["results"]
    assert [one["ruleId"] for one in results] == ["branch_probability"] * 4
    # Once more: what has weights keeps them.
    again = tmp_path / "again.ll"
    assert "0 branches have weights now, 1 had some, " in answered(run, "branch_probability", weighted, "-o", again).err
    assert again.read_text() == weighted.read_text()


@pytest.mark.needs("clang-19")
@pytest.mark.needs("opt-19")
def test_it_verifies_and_behaves_as_before(run: Run, source: Path, tmp_path: Path) -> None:
    weighted = tmp_path / "sum.ll"
    answered(run, "branch_probability", source, "-o", weighted, "--compiler", "clang-19")
    subprocess.run(["opt-19", "-passes=verify", "-disable-output", weighted], check=True)
    for file in (source, weighted):
        subprocess.run(["clang-19", "-O2", file, "-o", tmp_path / "sum"], check=True)
        assert subprocess.run([tmp_path / "sum"], check=False).returncode == 6


def test_what_is_refused(run: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.ll").write_text("define void @f() {\n  ret void\n}\n")
    one, two, output = tmp_path / "a.ll", tmp_path / "b.ll", tmp_path / "x.ll"
    run("predict", "trip_count", one, "-o", output).failed("weights are of branch_probability and one file")
    run("predict", "branch_probability", one, two, "-o", output).failed("one file")
    run("predict", "trip_count", one, "-c", "n=1").refused("takes --function")
    run("predict", "vectorization", one, "-o", output).refused("unknown suffix")
    run("predict", "trip_count").refused("give the files")
    (tmp_path / "a.bc").write_bytes(llvmlite.binding.parse_assembly(one.read_text()).as_bitcode())
    run("predict", "branch_probability", tmp_path / "a.bc", "-o", output).failed("llvm-dis")
    assert not output.exists()
