"""``mirenc profile``: what is printed, and ``!prof`` in IR that behaves as before, predicted and counted."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import llvmlite.binding
import numpy as np
import pytest
from command_line import Result, Run

from mirenc.llvm import read_ir
from mirenc.llvm.analysis.profile import branch_weights, profiled_flow
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
# Critical edges (&&, ||), a switch, a function that never runs, and a static one.
RUN = """static int odd(int x) {
  if (x % 7 == 0)
    return x * 3;
  return x;
}
int work(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    if ((i & 1 && i > 3) || i > 90)
      s += odd(i);
    switch (i % 4) { case 0: s++; break; case 1: s += 2; break; case 3: s ^= 1; }
  }
  return s;
}
int never(int x) { if (x) return 4; return x * x; }
int main(void) { return work(1000) & 127; }
"""
CLANG = ("clang-19", "-O0", "-Xclang", "-disable-O0-optnone", "-gline-tables-only")


def profiled(run: Run, *words: object) -> Result:
    """The answer of the verb, which succeeds; on stderr is what such answers were worth."""
    done = run("profile", *words)
    assert done.code == 0, done.err
    return done


def tool(*words: object, **more: object) -> None:
    subprocess.run(list(map(str, words)), check=True, capture_output=True, **more)  # type: ignore[call-overload]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "sum.c"
    file.write_text(SOURCE)
    return file


@pytest.mark.needs("C compiler")
def test_branches_and_loops_are_printed_by_source_line(run: Run, source: Path) -> None:
    lines = profiled(run, source).out.splitlines()
    assert len(lines) == 4 + 2
    assert lines[1].startswith(f"{source}:5: sum:%")
    assert "(line 6): " in lines[1]
    answers = [json.loads(line) for line in profiled(run, source, "--json").out.splitlines()]
    assert [one["task"] for one in answers] == ["branch_probability"] * 4 + ["trip_count"] * 2
    first, second = answers[4:]
    assert (first["line"], first["constant"], second["line"], second["constant"]) == (4, 0, 9, 101)
    assert sum(first["chances"].values()) == pytest.approx(1)
    assert second["chances"]["32 to 255"] == 1
    assert [(one["known"], one["source"]) for one in (first, second)] == [(0, ""), (101, "constants")]
    assert profiled(run, source, "--function", "main").out == ""


def test_a_profile_in_the_ir_is_believed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "loop.ll"
    file.write_text(
        "define void @f(i1 %c) {\n  br label %h\nh:\n  br i1 %c, label %h, label %x, !prof !0\nx:\n  ret void\n}\n"
        '!0 = !{!"branch_weights", i32 60, i32 4}\n'
    )
    where = f"{file}: f:%h:"
    answers = [f"{where} %h: 93.8 %, %x: 6.25 %", f"{where} runs 16 times, by its branch weights"]  # 60 and 4 of 64
    assert profiled(run, file).out.splitlines() == answers


@pytest.mark.needs("C compiler")
def test_predicted_weights_are_written_once_and_not_at_loops(run: Run, source: Path, tmp_path: Path) -> None:
    weighted, review = tmp_path / "sum.ll", tmp_path / "sum.sarif"
    done = profiled(run, source, "-o", weighted, "-o", review)
    assert done.out == ""
    assert "1 branches have weights now, 0 had some, 3 that repeat or leave a loop get none" in done.err
    assert weighted.read_text().count(", !prof !") == 1
    assert len(branches_of(read_ir(weighted)).block) == 4
    results = json.loads(review.read_text())["runs"][0]["results"]
    assert [one["ruleId"] for one in results] == ["branch_probability"] * 4 + ["trip_count"] * 2
    # Once more: what has weights keeps them.
    again = tmp_path / "again.ll"
    assert "0 branches have weights now, 1 had some, " in profiled(run, weighted, "-o", again).err
    assert again.read_text() == weighted.read_text()


@pytest.mark.needs("clang-19")
@pytest.mark.needs("opt-19")
def test_ir_with_weights_verifies_and_behaves_as_before(run: Run, source: Path, tmp_path: Path) -> None:
    weighted = tmp_path / "sum.ll"
    profiled(run, source, "-o", weighted, "--compiler", "clang-19")
    tool("opt-19", "-passes=verify", "-disable-output", weighted)
    for file in (source, weighted):
        tool("clang-19", "-O2", file, "-o", tmp_path / "sum")
        assert subprocess.run([tmp_path / "sum"], check=False).returncode == 6


@pytest.fixture
def counted(tmp_path: Path) -> Path:
    """A folder with the IR ``run.ll``, what a run of it counted (``run.txt``), and the same in binary."""
    (tmp_path / "run.c").write_text(RUN)
    tool(*CLANG, "-S", "-emit-llvm", "run.c", cwd=tmp_path)
    tool(*CLANG, "-fprofile-generate", "run.c", "-o", "run", cwd=tmp_path)
    subprocess.run([tmp_path / "run"], check=False, env={**os.environ, "LLVM_PROFILE_FILE": f"{tmp_path}/raw"})
    for words in (["-o", "run.profdata"], ["-text", "-o", "run.txt"]):
        tool("llvm-profdata-19", "merge", *words, "raw", cwd=tmp_path)
    return tmp_path


@pytest.mark.needs("clang-19")
@pytest.mark.needs("opt-19")
def test_counters_give_the_weights_that_llvm_gives(run: Run, counted: Path) -> None:
    ours, theirs = counted / "ours.ll", counted / "theirs.ll"
    done = profiled(run, counted / "run.ll", "--counts", counted / "run.txt", "-o", ours)
    assert "4 of 4 functions have counts: " in done.err
    use = ("-passes=pgo-instr-use", f"-pgo-test-profile-file={counted / 'run.profdata'}")
    tool("opt-19", *use, "-S", counted / "run.ll", "-o", theirs)
    tool("opt-19", "-passes=verify", "-disable-output", ours)
    modules = [read_ir(path) for path in (ours, theirs)]
    # LLVM leaves the blocks that it put on critical edges, which have one way out and no weights.
    weights = [
        [weight for block in range(one.block_count) if (weight := branch_weights(one, block))] for one in modules
    ]
    assert weights[0] == weights[1]
    assert len(weights[0]) == 6
    entries = [re.findall(r'"function_entry_count", i64 (\d+)', path.read_text()) for path in (ours, theirs)]
    assert sorted(entries[0]) == sorted(set(entries[1]))
    loop = profiled(run, counted / "run.ll", "--counts", counted / "run.txt", "--function", "work").out.splitlines()[-1]
    assert loop.endswith("runs 1001 times, by its counts, on average")


@pytest.mark.needs("clang-19")
def test_counters_of_other_code_are_not_taken(run: Run, counted: Path) -> None:
    (counted / "run.c").write_text(RUN.replace("if (x) return 4;", "while (x > 4) x /= 2;"))
    tool(*CLANG, "-S", "-emit-llvm", "run.c", cwd=counted)
    done = profiled(run, counted / "run.ll", "--counts", counted / "run.txt", "-o", counted / "ours.ll")
    assert "3 of 4 functions have counts (1 in the profile with other code): " in done.err


@pytest.mark.needs("clang-19")
@pytest.mark.needs("opt-19")
def test_samples_by_line_become_a_flow_that_opt_accepts(run: Run, counted: Path) -> None:
    samples = counted / "samples.txt"
    # `odd` was inlined where it was sampled; line 2 of `work` is its loop, line 3 the condition, line 4 the call.
    samples.write_text("work:5000:0\n 1: 1\n 2: 1001\n 3: 1000\n 5: 1000\n 4: odd:1008\n  1: 504\n  2: 72\n  3: 432\n")
    tool("llvm-profdata-19", "merge", "--sample", "-text", samples, "-o", samples)
    ours = counted / "ours.ll"
    done = profiled(run, counted / "run.ll", "--counts", samples, "-o", ours)
    assert "2 of 4 functions have counts: " in done.err
    tool("opt-19", "-O2", "-disable-output", ours)
    module = read_ir(ours)
    flow = profiled_flow(module)
    assert flow is not None
    header = module.function("work").header
    assert 0.5 < flow.blocks[header.first_block] < 20
    np.testing.assert_allclose(flow.blocks[header.first_block + 1], 1001, rtol=0.2)
    np.testing.assert_allclose(flow.blocks[module.function("odd").header.first_block], 504, rtol=0.2)
    # Read again, the IR has all of it: nothing is left to write.
    again = counted / "again.ll"
    profiled(run, ours, "--counts", samples, "-o", again)
    assert again.read_text() == ours.read_text()


def test_wrong_inputs_are_refused_with_what_to_type(run: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.ll").write_text("define void @f() {\n  ret void\n}\n")
    one, two, output, counts = (tmp_path / name for name in ("a.ll", "b.ll", "x.ll", "counts"))
    run("profile", one, two, "-o", output).failed("writes the IR of one file, but 2 are given")
    run("profile", one, "-o", tmp_path / "x.json").refused("unknown suffix")
    run("profile").refused("give the files")
    (tmp_path / "a.bc").write_bytes(llvmlite.binding.parse_assembly(one.read_text()).as_bitcode())
    run("profile", tmp_path / "a.bc", "-o", output).failed("llvm-dis")
    for text, message in (
        (b"\xfflprofi\x81\x00", "is not text. Type: llvm-profdata merge -text"),
        (b"int main(void);\n", "is not a profile"),
        (b"f\n# Func Hash:\n1\n# Num Counters:\n1\n# Counter Values:\n2\n", "of clang's front end"),
        (b"f:10:1\n 1: 10\n !CFGChecksum: 5\n", "by probe or calling context"),
        (b"f:10:1\n 1: 10\n", "no source lines"),
    ):
        counts.write_bytes(text)
        run("profile", one, "--counts", counts, "-o", output).failed(message)
    assert not output.exists()
