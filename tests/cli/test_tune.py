"""``mirenc tune`` on a small program; what decides, the clock, is ours, so that no test depends on the machine."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Run

from mirenc.llvm.inputs.compile_source import find_compiler
from mirenc.tools.run.programs import Ended, run_shell

pytestmark = [pytest.mark.needs("llvm-profdata")]

SOURCE = b"""/* caf\xe9 */\r
void scale(int *a, const int *b, int n)\r
{\r
    for (int i = 0; i < n; i++)\r
        a[i] = 3 * a[i] + b[i];\r
}\r
"""
MAIN = """#include <stdio.h>
void scale(int *a, const int *b, int n);
static int a[500], b[500];
int main(void)
{
    for (int k = 0; k < 2000; k++) scale(a, b, 500 + 0 * (b[1] += k));
    printf("%d\\n", a[1]);
    return 0;
}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "real.c").write_bytes(SOURCE)
    (folder / "scale.c").symlink_to("real.c")
    (folder / "main.c").write_text(MAIN)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def clock(project: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], list[str]]:
    """Whatever is not the plain build takes so much of its time; what was timed is in the list."""

    def wind(share: float) -> list[str]:
        builds: list[str] = []

        def fake(command: str, folder: Path, limit: float) -> Ended:
            done = run_shell(command, folder, limit)
            program = hashlib.sha256((project / "program").read_bytes()).hexdigest()
            if "LLVM_PROFILE_FILE" not in command:
                builds.append(program)
            other = builds and program != builds[0]
            return done._replace(cpu=share if other else 1.0, wall=share if other else 1.0)

        monkeypatch.setattr("mirenc.tools.tune.tuning_run.run_shell", fake)
        return builds

    return wind


WORDS = ("tune", "vectorization", "--build", "$CC -O3 main.c scale.c -o program", "--run", "./program")


def test_what_is_faster_is_kept_as_a_patch(run: Run, project: Path, clock: Callable[[float], list[str]]) -> None:
    builds = clock(0.8)
    (project / "data.c").write_text("const int table[] = {1, 2};\n")
    words = (word.replace("scale.c", "scale.c data.c") for word in WORDS)
    done = run(*words, "-o", "tuned", "--rounds", 4, "--tries", 2)
    assert done.code == 0, done.err
    assert "1 changed: the program is 1.250" in done.out
    # Nothing of the user's was written, and the program is the one without pragmas.
    assert (project / "real.c").read_bytes() == SOURCE
    assert hashlib.sha256((project / "program").read_bytes()).hexdigest() == builds[0]
    patch = (project / "tuned/tuned.patch").read_bytes()
    assert b"+    #pragma clang loop vectorize_width(" in patch
    text = (project / "tuned/report.md").read_text(encoding="utf-8")
    assert "scale.c:4" in text
    assert "1.250 [1.250, 1.250]" in text
    assert "![gains](gains.svg)" in text
    report = json.loads((project / "tuned/report.json").read_text(encoding="utf-8"))
    assert report["unread"] == ["1 of 3 files has no function body and is left out"]
    (loop,) = report["loops"]
    assert loop["trip_count"] == pytest.approx(500, rel=0.01)
    assert "<svg" in (project / "tuned/gains.svg").read_text(encoding="utf-8")
    subprocess.run(["git", "apply", "--whitespace=nowarn", "tuned/tuned.patch"], check=True)
    changed = (project / "real.c").read_bytes()
    assert re.sub(rb" *#pragma[^\n]*\r\n", b"", changed) == SOURCE


def test_again_nothing_is_tried_anew(run: Run, project: Path, clock: Callable[[float], list[str]]) -> None:
    clock(0.8)
    # As make has it: what is there and newer is not built again.
    script = f"[ program -nt main.c ] || {WORDS[3]}"
    words = (*WORDS[:3], script, *WORDS[4:], "-o", "tuned", "--rounds", 4, "--tries", 1)
    first = run(*words)
    builds = clock(0.8)
    second = run(*words)
    assert "; 0 of these are still to be tried" in second.err
    assert second.out == first.out
    # The plain build twice, to see that its output is the same, and the comparison of all that was kept.
    assert len(builds) == 2 + 4 * 3
    run(*words, "--run", "./program 2").failed("has results of another run", "Name another folder")


def test_what_is_slower_or_says_something_else_is_not_kept(
    run: Run, project: Path, clock: Callable[[float], list[str]]
) -> None:
    clock(1.25)
    done = run(*WORDS, "-o", "slower", "--rounds", 4)
    assert "nothing is faster by more than the noise, and nothing is changed" in done.out
    assert (project / "slower/tuned.patch").read_bytes() == b""
    clock(0.8)
    # The pragma's line moves this one, as an optimiser's mistake would change a sum.
    (project / "real.c").write_bytes(SOURCE.replace(b"b[i];", b"b[i] + __LINE__ % 2;"))
    done = run(*WORDS, "-o", "other", "--rounds", 4)
    assert "nothing is changed" in done.out
    report = (project / "other/report.md").read_text(encoding="utf-8")
    assert "its output or exit code differs from the original build's" in report


@pytest.mark.parametrize(
    ("build", "command", "phrases"),
    [
        ("exit 3", "./program", ("the build ends with exit status 3", "no output", "Mend --build")),
        ("true", "./program", ("the build compiled no C or C++", "make clean")),
        (WORDS[3], "./program; exit 4", ("--run ends with 4",)),
        (WORDS[3], "./program; date +%N", ("the output differs from run to run", "--check")),
        (WORDS[3], "true", ("wrote no profile",)),
    ],
)
def test_what_cannot_be_tuned_says_why(
    run: Run, project: Path, build: str, command: str, phrases: tuple[str, ...]
) -> None:
    (project / "real.c").write_bytes(SOURCE.replace(b"i++)", b'i++) __asm__("");\r\n    for (int i = 0; i < 0; i++)'))
    done = run("tune", "vectorization", "--build", build, "--run", command, "-o", "tuned")
    assert done.code == 1
    last = done.err.splitlines()
    assert all(any(phrase in line for line in last) for phrase in phrases), done.err


def test_a_loop_that_cannot_be_vectorised_is_unrolled(
    run: Run, project: Path, clock: Callable[[float], list[str]]
) -> None:
    clock(0.8)
    (project / "real.c").write_bytes(
        SOURCE.replace(b"    a[i] = 3 * a[i] + b[i];", b"    if ((a[i] = 3 * a[i] + b[i]) == 7) return;")
    )
    done = run(*WORDS, "-o", "tuned", "--rounds", 4)
    assert done.code == 0, done.err
    assert "1 of 1 loops tried, 1 changed" in done.out
    (loop,) = json.loads((project / "tuned/report.json").read_text(encoding="utf-8"))["loops"]
    tried = {one["directive"]: one["problem"] for one in loop["tried"]}
    assert {f"#pragma clang loop unroll_count({factor})" for factor in (1, 4, 8)} == tried.keys()
    assert loop["kept"] == next(directive for directive, problem in tried.items() if not problem)


def test_usage(run: Run, project: Path) -> None:
    run("tune", "vectorization", "--run", "./x", "-o", "tuned").refused("--build")
    run("tune", "vectorization", "--build", "make", "-o", "tuned").refused("--run")
    run("tune", "vectorization", "--build", "make", "--run", "./x").refused("--output")
    run("tune", "nonsense").failed("'nonsense'", "vectorization, openmp, pass_list", "mirenc tune vectorization")
    run("tune", "passes", "--build", "make").failed("type: mirenc tune pass_list")
    run("tune", "passes", "main.c").failed("type: mirenc suggest main.c --try")


PARALLEL = """#include <stdio.h>
#include "part.h"
#define IN_PARALLEL _Pragma("omp parallel for")
int main(void)
{
    int sum = 0;
    for (int k = 0; k < 3; k++)
#pragma omp parallel for schedule(static, 7) \\
    reduction(+ : sum) // rows differ
        for (int i = 0; i < 400; i++)
            for (int j = 0; j < i; j++)
                sum += i ^ j;
    IN_PARALLEL
    for (int i = 0; i < 9; i++)
        a[i] = 1;
    part();
    printf("%d\\n", sum);
    return 0;
}
"""
PART = """static int a[99];
static void part(void)
{
#pragma omp parallel for
    for (int i = 0; i < 99; i++)
        a[i] += i;
}
"""


@pytest.mark.needs("libomp")
def test_threads_and_schedule_of_parallel_loops(
    run: Run, project: Path, clock: Callable[[float], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "main.c").write_text(PARALLEL)
    (project / "part.h").write_text(PART)
    monkeypatch.setattr("mirenc.tools.tune.parallel_loops.describe_machine", lambda: {"cores": 4})
    clock(0.8)
    words = ("tune", "openmp", "--build", "$CC -O3 -fopenmp main.c -o program", "--run", "./program", "-o", "tuned")
    done = run(*words, "--rounds", 4, "--tries", 1)
    assert done.code == 0, done.err
    assert "1 of 1 parallel loops tried, 2 left alone" in done.out
    assert "to use the result, type: patch -p1 < tuned/tuned.patch" in done.out
    loop, *alone = json.loads((project / "tuned/report.json").read_text(encoding="utf-8"))["loops"]
    # Times it is entered do not count, nor the threads that share it.
    assert (loop["line"], loop["trip_count"]) == (8, pytest.approx(400, rel=1e-3))
    tried = {one["directive"] for one in loop["tried"]}
    assert tried >= {"schedule(static)", "schedule(dynamic)", "schedule(guided)", "num_threads(2)", "num_threads(1)"}
    reasons = {Path(one["file"]).name: one["alone"] for one in alone}
    assert "in a header" in reasons["part.h"]
    assert "the pragma comes from a macro" in reasons["main.c"]
    subprocess.run(["git", "apply", "--unidiff-zero", "tuned/tuned.patch"], check=True)
    # Other clauses stay; of those that were decided about, the new ones come.
    changed = re.sub(r"\s+", " ", (project / "main.c").read_text())
    assert f"#pragma omp parallel for \\ reduction(+ : sum) {loop['kept']} // rows differ" in changed


LISTS = {"-O1": ("-O1", "default<O1>"), "-O3": ("-O3", "default<O3>")}


@pytest.mark.needs("opt-19")
def test_pass_lists_by_time_are_kept_as_a_compiler(
    run: Run, project: Path, clock: Callable[[float], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock(0.8)
    monkeypatch.setattr("mirenc.tools.tune.compiler.pass_lists", lambda _: LISTS)
    build = "[ program -nt main.c ] || $CC -O3 main.c scale.c -o program"
    done = run("tune", "pass_list", "--build", build, "--run", "./program", "-o", "tuned", "--rounds", 4)
    assert done.code == 0, done.err
    assert "to use the result, type: make clean, then make CC=tuned/cc CXX=tuned/c++" in done.out
    program, *files = json.loads((project / "tuned/report.json").read_text(encoding="utf-8"))["loops"]
    assert program["kept"] == "-O1"
    # The driver's words and LLVM's list are clang's own, so what comes of the level that the build names is the same.
    assert [one["problem"] for one in program["tried"]] == ["", "the same code as without it"]
    assert {Path(one["file"]).name for one in files} == {"scale.c"}  # main.c has no share
    assert "the program | " in (project / "tuned/report.md").read_text(encoding="utf-8")
    # What is kept makes, by itself, what clang makes; of several sources, C++, and what is no compilation.
    for words in (["-O3", "main.c", "scale.c"], ["-O3", "-c", "main.c"], ["-O3", "-x", "c++", "-S", "main.c"]):
        binaries = []
        for compiler in (project / "tuned/cc", Path(find_compiler("c")[0])):
            plain = [] if compiler.is_absolute() else ["-O1"]
            subprocess.run([compiler, *words, *plain, "-o", "made"], check=True)
            binaries.append((project / "made").read_bytes())
        assert binaries[0] == binaries[1]
    assert subprocess.run([project / "tuned/c++", "-E", "-"], input=b"", capture_output=True, check=True).stdout


def test_a_build_that_fails_is_shown(run: Run, project: Path) -> None:
    (project / "main.c").write_text("int main(void) { return nothing; }\n")
    done = run("tune", "vectorization", "--build", "$CC main.c; exit 3", "--run", "./x", "-o", "tuned")
    assert "the build ends with exit status 3" in done.err
    assert "    main.c:1:25: error: use of undeclared identifier 'nothing'" in done.err


def test_a_clang_without_its_profile_runtime(run: Run, project: Path) -> None:
    # As Debian's clang-19 is where libclang-rt-19-dev is not installed.
    clang = project / "clang"
    real = shutil.which(find_compiler("c")[0])
    clang.write_text(f'#!/bin/sh\ncase "$*" in *-fprofile-instr-generate*) exit 1;; esac\nexec {real} "$@"\n')
    clang.chmod(0o755)
    done = run(*WORDS, "-o", "tuned", "--compiler", "./clang")
    done.failed("-fprofile-instr-generate", "apt-get install libclang-rt-")
