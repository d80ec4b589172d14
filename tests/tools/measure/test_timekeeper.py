"""Samples in processes of their own: a variant that crashes, hangs or floods costs itself and nothing else."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from living import MARK, living
from tools.measure.toy import DRIVER, FLAVOURS, ToyMethod, kernel

from mirenc.base.deadline import TimeUpError, within
from mirenc.base.errors import CompileError, ToolchainError
from mirenc.tools.measure import timekeeper
from mirenc.tools.measure.runners import Build, Cell
from mirenc.tools.measure.timekeeper import Timekeeper

pytestmark = pytest.mark.needs("clang")


@pytest.fixture(autouse=True)
def any_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """How quiet the machine is that runs the tests decides nothing here."""
    monkeypatch.setattr(timekeeper, "MAX_NOISE", 1e9)
    monkeypatch.setattr(timekeeper, "FIRST_RUN", 2.0)


@pytest.fixture(scope="module")
def method() -> ToyMethod:
    return ToyMethod()


@pytest.fixture(scope="module")
def folder(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("toy")


@pytest.fixture(scope="module")
def build(compiler: str, method: ToyMethod, folder: Path) -> Build:
    return method.build(kernel(), "", folder, method.find_compiler(None))


def timed(costs: tuple[float, ...]) -> set[int]:
    return {index for index, seconds in enumerate(costs) if seconds == seconds}


def test_each_bad_variant_is_one_failed_cell(build: Build, folder: Path) -> None:
    with closing(Timekeeper("c", 4)) as keeper:
        first, again = (keeper.sample(kernel(), "", build, folder, (0,)) for _ in range(2))
    expected = {"same": "same", "wrong": "differs", "crash": "crash", "hang": "timeout", "flood": "flood"}
    expected["broken"] = "compile"
    for outcome in (first, again):
        assert dict(zip(FLAVOURS, outcome.status, strict=True)) == {"plain": "ok", "fast": "ok", **expected}
        assert outcome.dropped == ""
        for half in (outcome.label, outcome.report):
            assert timed(half) == {0, FLAVOURS.index("fast")}
            assert all(0 < seconds < 1 for seconds in half if seconds == seconds)
        assert outcome.calls > 1
        assert outcome.rounds == 4
    assert "error: " in build.cells[FLAVOURS.index("broken")].problem


@pytest.mark.parametrize(("flavour", "complaint"), [("crash", "crash"), ("hang", "timeout"), ("flood", "flood")])
def test_a_bad_default_drops_the_sample(build: Build, folder: Path, flavour: str, complaint: str) -> None:
    bad = next(cell for cell in build.cells if cell.setting == (flavour,))
    with closing(Timekeeper("c", 4)) as keeper:
        outcome = keeper.sample(kernel(), "", replace(build, cells=(bad, *build.cells[1:4])), folder, (0,))
        assert outcome.dropped == f"default: {complaint}"
        copied = keeper.sample(kernel(), "", replace(build, cells=build.cells[:4], copy=bad), folder, (0,))
    assert copied.dropped == f"the copy of the default: {complaint}"


def test_a_driver_that_fails_drops_the_sample(build: Build, folder: Path, method: ToyMethod, tmp_path: Path) -> None:
    toolchain = method.find_compiler(None)
    failing = DRIVER.replace("return x == 0;", "return 1;")
    (tmp_path / "driver.c").write_text(failing)
    build_of_driver = method.build(kernel(driver=failing), "", tmp_path, toolchain)
    with closing(Timekeeper("c", 4)) as keeper:
        outcome = keeper.sample(kernel(driver=failing), "", build_of_driver, tmp_path, (0,))
    assert outcome.dropped == "driver: RuntimeError: mirenc_setup(1000) failed"
    with pytest.raises(CompileError, match=r"its driver does not build: compile: error: "):
        method.build(kernel(driver="int x"), "", tmp_path, toolchain)


def test_a_runner_that_cannot_start_is_an_error() -> None:
    with (
        closing(Timekeeper("nobody", 4)) as keeper,
        pytest.raises(
            ToolchainError, match=r"runner 'nobody' does not start here: unknown runner 'nobody'; available: c"
        ),
    ):
        keeper.sample(kernel(), "", Build((Cell((0,), (0,)),), Cell((0,), (0,)), "", ""), Path(), (0,))


def test_a_child_that_was_killed_costs_one_sample(build: Build, folder: Path) -> None:
    with closing(Timekeeper("c", 4)) as keeper:
        assert keeper.sample(kernel(), "", replace(build, cells=build.cells[:3]), folder, (0,)).dropped == ""
        child = keeper._child
        assert child is not None
        child.process.kill()
        child.process.wait()
        few = replace(build, cells=build.cells[:3])
        killed, after = (keeper.sample(kernel(), "", few, folder, (0,)) for _ in range(2))
    assert killed.dropped == "driver: its process gave no answer"
    assert after.dropped == ""


FORKS = """
#include <unistd.h>
void scale(float *x, long n) {
  if (!fork()) {
    setsid();
    for (;;) pause();
  }
  for (long i = 0; i < n; i++) x[i] = x[i] * 2.0f + 1.0f;
#if FLAVOUR_hang
  for (volatile int forever = 1; forever;) {}
#endif
}
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc")
def test_what_kernels_start_ends_with_their_sample(
    method: ToyMethod, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MARK, str(tmp_path))
    build = method.build(kernel(source=FORKS), "", tmp_path, method.find_compiler(None))
    bad = next(cell for cell in build.cells if cell.setting == ("hang",))
    with closing(Timekeeper("c", 4)) as keeper:
        outcome = keeper.sample(kernel(), "", replace(build, cells=(bad,)), tmp_path, (0,))
        assert outcome.dropped == "default: timeout"
        assert len(living(str(tmp_path))) == 2  # the child and who supervises it
    assert living(str(tmp_path)) == []


def test_when_the_time_is_up_there_is_no_sample(build: Build, folder: Path) -> None:
    hanging = next(cell for cell in build.cells if cell.setting == ("hang",))
    late = replace(build, cells=(hanging,))
    with closing(Timekeeper("c", 4)) as keeper:
        with within(0.5), pytest.raises(TimeUpError):
            keeper.sample(kernel(), "", late, folder, (0,))
        assert keeper.sample(kernel(), "", late, folder, (0,)).dropped == "default: timeout"
