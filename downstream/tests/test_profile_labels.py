"""``downstream/profile/labels.py``: programs that run loops of known lengths, to tables with just those counts."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow.parquet as pq
import pytest

from mirenc.llvm import read_ir
from mirenc.llvm.analysis.profile import PROFILED, profiled_flow

SCRIPT = Path(__file__).resolve().parents[2] / "downstream" / "profile" / "labels.py"
WORK = """
int work(int n) {
  int odd = 0;
  if (n == 7) return 1;
  for (int i = 0; i < n; i++) {
    if (i % 2)
      odd++;
    do { odd += 2; } while (odd < 0);
  }
  switch (n % 4) { case 0: return odd; case 1: return 2; default: return 3; }
}
int never(int n) { return n > 3 ? n : -n; }
"""
MAIN = """
int work(int n);
int main(int argc, char **argv) {
  int total = 0;
  for (int i = 0; i < argc * %d; i++) total += work(i);
  return total == 0;
}
"""
MAKE = """
all: one two
one: one.o work.o
\t$(CC) -o $@ one.o work.o
two: two.o work.o
\t$(CC) -o $@ two.o work.o
%.o: %.c
\t$(CC) -O2 -DUNUSED=1 -c $<
"""
RECIPE = """
[[program]]
name = "broken"
folder = "tiny"
build = "echo 'error: no such thing' && false"
run = "true"

[[program]]
name = "tiny"
folder = "tiny"
build = "echo 'int main(void) { return 0; }' > conftest.c && $CC -c conftest.c && make -s"
run = "./one; ./one more; ./two; false"
"""
pytestmark = [pytest.mark.needs(name) for name in ("clang-19", "opt-19", "llvm-profdata-19")]


@pytest.fixture(scope="module")
def labels() -> ModuleType:
    spec = importlib.util.spec_from_file_location("profile_labels", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("recipe")
    (place / "tiny").mkdir()
    texts = {"work.c": WORK, "one.c": MAIN % 10, "two.c": MAIN % 5, "Makefile": MAKE}
    for name, text in texts.items():
        (place / "tiny" / name).write_text(text)
    (place / "programs.toml").write_text(RECIPE)
    return place / "programs.toml"


@pytest.fixture(scope="module")
def out(labels: ModuleType, recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Counted: ``work`` was called for 0 to 9, for 0 to 19, and for 0 to 4."""
    folder = tmp_path_factory.mktemp("counted")
    labels.main([str(recipe), "-o", str(folder)])
    return folder


CALLED = [*range(10), *range(20), *range(5)]
RAN = [n for n in CALLED if n != 7]


def rows(out: Path, name: str) -> list[dict[str, Any]]:
    return pq.read_table(out / f"{name}.parquet").to_pylist()


def test_branches_have_exact_counts(out: Path) -> None:
    branches = [row for row in rows(out, "branches") if row["function"] == "work"]
    assert {(row["project"], row["file"]) for row in branches} == {("tiny", "work.c")}
    steps, odd = sum(RAN), sum(n // 2 for n in RAN)
    assert [(row["line"], row["taken_first"], row["other"]) for row in branches if not row["switch"]] == [
        (4, 2, len(RAN)),
        (5, steps, len(RAN)),
        (6, odd, steps - odd),
        (8, 0, steps),
    ]
    kinds = [sum(n % 4 == kind for n in RAN) for kind in (0, 1)]
    assert [row["counts"] for row in branches if row["switch"]] == [[len(RAN) - sum(kinds), *kinds]]
    assert not any(row["saturated"] for row in branches)


def test_loops_and_functions_have_exact_counts(out: Path) -> None:
    loops = [row for row in rows(out, "loops") if row["function"] == "work"]
    steps = sum(RAN)
    assert [(row["depth"], row["entries"], row["executions"]) for row in loops] == [
        (1, len(RAN), steps + len(RAN)),
        (2, steps, steps),
    ]
    functions = {row["function"]: row for row in rows(out, "functions")}
    assert functions["work"]["entries"] == len(CALLED)
    assert functions["work"]["agrees"]
    assert not functions["work"]["assumed"]


def test_what_cannot_be_told_apart_is_left_out(out: Path) -> None:
    """Both programs' ``main`` are alike, so that both profiles are theirs together; ``never`` never ran."""
    assert {row["function"] for row in rows(out, "functions")} == {"work"}
    summary = json.loads((out / "summary.json").read_text())
    assert summary["functions_ambiguous"] == 2
    assert (summary["projects"], summary["files"], summary["branches"], summary["switches"]) == (1, 3, 4, 1)
    assert summary["failed"] == {"broken": "build: error: no such thing"}
    assert summary["by_project"]["tiny"]["run"]["ended"].startswith("failed (1)")


def test_every_form_has_the_profile(labels: ModuleType, out: Path) -> None:
    texts = {form: (out / form / "tiny" / "work.c.ll").read_text() for form in ("IR", "SSA", "O1")}
    assert all(PROFILED in text for text in texts.values())
    assert ("alloca" in texts["IR"], "alloca" in texts["SSA"]) == (True, False)
    assert not list(out.rglob("conftest*.ll"))
    module, ssa = (read_ir(out / form / "tiny" / "work.c.ll") for form in ("IR", "SSA"))
    assert labels.Counts(module).branch_counts == labels.Counts(ssa).branch_counts
    flow = profiled_flow(labels.undone(ssa))
    assert flow is not None
    for row in rows(out, "branches"):
        first = ssa.function(row["function"]).header.first_block
        assert flow.blocks[first + row["block"]] == pytest.approx(sum(row["counts"]), abs=1e-3)


def test_what_is_done_is_not_done_again(labels: ModuleType, recipe: Path, out: Path) -> None:
    before = {path: path.stat().st_mtime_ns for form in ("IR", "work/tiny") for path in (out / form).rglob("*")}
    table = rows(out, "branches")
    labels.main([str(recipe), "tiny", "-o", str(out)])
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert rows(out, "branches") == table
    with recipe.open("a") as stream:
        stream.write("exclude = ['work.c']\n")
    labels.main([str(recipe), "tiny", "-o", str(out)])
    assert rows(out, "branches") == []
