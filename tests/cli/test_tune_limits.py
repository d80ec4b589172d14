"""``mirenc tune`` where a setting hangs, in a run or in a build, and where time is short. The clock is ours."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command_line import Run
from living import MARK, living

import mirenc.tools.tune.report  # noqa: F401 - what its import takes is taken off the budget
from mirenc.base import deadline
from mirenc.base.deadline import OverLimitError
from mirenc.tools.run.programs import Ended, run_shell

pytestmark = [
    pytest.mark.needs("llvm-profdata"),
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc"),
]

WORK = """void work(int *a, const int *b, int n)
{
PRAGMA
    for (int i = 0; i < n; i++)
        a[i] = 3 * a[i] + b[i];
}
"""
# Where it hangs it wants no SIGTERM, and so does its grandchild in a session of its own.
MAIN = """#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#if !defined(HANGS) && defined(__OPTIMIZE_SIZE__)
#define HANGS 1
#elif !defined(HANGS)
#define HANGS 0
#endif
void work(int *a, const int *b, int n);
static int a[500], b[500];
int main(int count, char **words)
{
    if (count > 1) {
        puts(HANGS ? "hangs" : "ends");
        return 0;
    }
    if (HANGS) {
        signal(SIGTERM, SIG_IGN);
        if (fork() == 0) {
            setsid();
            if (fork() != 0)
                _exit(0);
        }
        for (;;)
            pause();
    }
    for (int k = 0; k < 2000; k++)
        work(a, b, 500 + 0 * (b[1] += k));
    printf("%d\\n", a[1]);
    return 0;
}
"""
# A setting whose text is SETTING hangs; what the program would do is kept with it.
BUILD = """hangs=
$CC -E work.c | grep -q 'SETTING' && hangs=-DHANGS=1
$CC -O3 OPENMP $hangs main.c work.c -o program
./program answer > answer
"""
LISTS = {"-Os": ("-Os", "default<Os>"), "-O1": ("-O1", "default<O1>")}
CASES = [
    pytest.param("vectorization", "unroll_count(2)", id="vectorization"),
    pytest.param("openmp", "num_threads(1)", id="openmp", marks=pytest.mark.needs("libomp")),
    pytest.param("pass_list", "-Os", id="pass_list", marks=pytest.mark.needs("opt-19")),
]


class Runs:
    """Runs of the program: each takes a second of ``clock``, or 0.8 if it is not the plain build's."""

    def __init__(self, project: Path) -> None:
        self.project, self.clock, self.count, self.hung = project, 0.0, 0, 0
        self.stop_at = math.inf  # the run during which the user types Ctrl-C
        self.plain = b""

    def run_shell(self, command: str, folder: Path, limit: float) -> Ended:
        self.count += 1
        if self.count >= self.stop_at:
            raise KeyboardInterrupt
        hangs = (self.project / "answer").read_text() == "hangs\n"
        self.hung += hangs
        done = run_shell(command, folder, 2.0 if hangs else 1e6)
        program = (self.project / "program").read_bytes()
        self.plain = self.plain or program
        seconds = 1.0 if program == self.plain else 0.8
        self.clock += seconds
        return done._replace(cpu=seconds, wall=seconds)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """The program's folder is here."""
    (tmp_path / "main.c").write_text(MAIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mirenc.tools.tune.compiler.pass_lists", lambda _: LISTS)
    recorder = Runs(tmp_path)
    monkeypatch.setattr("mirenc.tools.tune.tuning_run.run_shell", recorder.run_shell)
    return recorder


def words(runs: Runs, task: str, setting: str) -> tuple[Any, ...]:
    openmp, pragma = ("-fopenmp", "#pragma omp parallel for") if task == "openmp" else ("", "")
    (runs.project / "work.c").write_text(WORK.replace("PRAGMA", pragma))
    (runs.project / "build.sh").write_text(BUILD.replace("SETTING", setting).replace("OPENMP", openmp))
    command = ("tune", task, "--build", f"{marked(runs)} sh build.sh", "--run", f"{marked(runs)} ./program")
    return *command, "-o", "tuned", "--rounds", 4, "--tries", 1


def marked(runs: Runs) -> str:
    """What marks all processes that a command starts."""
    return f"{MARK}={runs.project}"


def tried(runs: Runs) -> dict[str, dict[str, Any]]:
    """What the report says of the settings of the first place."""
    report = json.loads((runs.project / "tuned/report.json").read_text(encoding="utf-8"))
    return {one["directive"]: one for one in report["loops"][0]["tried"]}


@pytest.mark.parametrize(("task", "setting"), CASES)
def test_a_setting_that_hangs_is_ended_and_not_tried_again(run: Run, runs: Runs, task: str, setting: str) -> None:
    command = words(runs, task, setting)
    runs.stop_at = math.inf
    done = run(*command)
    assert done.code == 0, done.err
    assert living(str(runs.project)) == []
    assert runs.hung == 1
    (line,) = [one for one in done.err.splitlines() if "ended after" in one]
    assert f"{setting}: ended after 2 s, together with every process that it started; the default takes 1 s" in line
    settings = tried(runs)
    (hanging,) = [one for directive, one in settings.items() if setting in directive]
    assert (hanging["gain"], hanging["problem"], hanging["limit"]) == (None, "ended after 2 s", 2.0)
    others = [one for one in settings.values() if one is not hanging]
    assert others
    assert all(bool(one["gain"]) != bool(one["problem"]) and one["limit"] is None for one in others)
    assert "ended after 2 s" in (runs.project / "tuned/report.md").read_text(encoding="utf-8")
    # The folder has the plain build.
    assert (runs.project / "program").read_bytes() == runs.plain


def test_after_an_interrupt_the_setting_that_hangs_is_known(run: Run, runs: Runs) -> None:
    command = words(runs, "vectorization", "unroll_count")
    # Two runs, one for the profile, those of the settings that are tried first; then in the midst of a round.
    runs.stop_at = 9
    assert run(*command).code == 130
    hung = runs.hung
    assert hung == 2
    assert (runs.project / "program").read_bytes() == runs.plain
    runs.count, runs.stop_at = 0, math.inf
    assert run(*command).code == 0
    assert runs.hung == hung
    assert [one["limit"] for directive, one in tried(runs).items() if "unroll" in directive] == [2.0, 2.0]


def test_a_build_that_hangs_is_ended(run: Run, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    builds: list[float] = []

    def build(command: str, folder: Path, limit: float, **more: Any) -> Ended:
        builds.append(limit)
        if len(builds) == 3:  # after the plain one and the one with profile counters
            raise OverLimitError(limit)
        return run_shell(command, folder, 1e6, **more)._replace(wall=7.0)

    monkeypatch.setattr("mirenc.tools.tune.build.run_shell", build)
    done = run(*words(runs, "vectorization", "nothing"))
    assert done.code == 0, done.err
    assert "ended after 70 s, together with every process that it started; the default's build takes 7 s" in done.err
    assert builds[0] == math.inf
    assert set(builds[1:]) == {70.0}
    first, *others = tried(runs).values()
    assert (first["problem"], first["limit"]) == ("ended after 70 s", 70.0)
    assert any(one["gain"] for one in others)


@pytest.fixture
def short(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Runs whose clock is that of the budget, too: nothing else takes time."""
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: runs.clock))
    return runs


def test_a_budget_that_is_short_is_kept_and_again_goes_on(run: Run, short: Runs) -> None:
    command = words(short, "vectorization", "nothing")
    done = run(*command, "--budget", 0.4)
    assert done.code == 0, done.err
    assert short.clock <= 24.0 * 1.1
    assert "0 of 1 loops tried" in done.out
    assert "nothing is changed. The time was up; the same command goes on" in done.out
    assert "the time was up" in {one["problem"] for one in tried(short).values()}
    assert (short.project / "tuned/tuned.patch").read_bytes() == b""
    assert (short.project / "program").read_bytes() == short.plain
    again = run(*command)
    assert "1 of 1 loops tried, 1 changed: the program is 1.250" in again.out
    assert "time was up" not in again.out


def test_a_budget_leaves_time_to_compare_what_was_kept(run: Run, short: Runs) -> None:
    command = words(short, "vectorization", "nothing")
    done = run(*command, "--rounds", 30, "--budget", 1.2)
    assert short.clock <= 72.0 * 1.1
    assert "1 of 1 loops tried, 1 changed: the program is 1.250" in done.out, done.err


@pytest.mark.parametrize("command", ["sleep 3600 & sleep 3600", "setsid sleep 3600 & wait"])
def test_a_program_that_takes_longer_than_the_budget_is_an_error(
    run: Run, runs: Runs, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("mirenc.tools.tune.tuning_run.run_shell", run_shell)
    late = run(*words(runs, "vectorization", "nothing"), "--run", f"export {marked(runs)}; {command}", "--budget", 0.1)
    late.failed("the budget of 6 s was up in the first ", "Give --budget more minutes, or --run less work")
    assert living(str(runs.project)) == []


def test_without_time_nothing_is_built(run: Run, runs: Runs) -> None:
    run(*words(runs, "vectorization", "nothing"), "--budget", 0).failed("the budget of 0 s was up in the search for")
    assert not (runs.project / "program").exists()


def test_a_run_with_counters_that_hangs_is_an_error(run: Run, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(command: str, folder: Path, limit: float) -> Ended:
        if "LLVM_PROFILE_FILE" in command:
            raise OverLimitError(limit)
        return runs.run_shell(command, folder, limit)

    monkeypatch.setattr("mirenc.tools.tune.tuning_run.run_shell", hang)
    done = run(*words(runs, "vectorization", "nothing"))
    done.failed("the run with profile counters was ended after 10 s, far longer than the first one took")
    assert (runs.project / "program").read_bytes() == runs.plain


def test_the_default_decides_how_long_a_variant_may_take(run: Run, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []
    seconds: Callable[[], float] = iter([9.0, 3.0, *[1.0] * 1000]).__next__

    def run_and_report(command: str, folder: Path, limit: float) -> Ended:
        limits.append(limit)
        return runs.run_shell(command, folder, limit)._replace(wall=seconds(), cpu=1.0)

    monkeypatch.setattr("mirenc.tools.tune.tuning_run.run_shell", run_and_report)
    run(*words(runs, "vectorization", "nothing"))
    # First run, second run, with profile counters, and then ten times the shorter of the two.
    assert limits[:3] == [math.inf, 90.0, 90.0]
    assert set(limits[3:]) == {30.0}
