"""What a run does with its time: work that is late is left out, and whoever stops it waits for no compiler."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from mirenc.base.deadline import TimeUpError
from mirenc.base.run_program import run_limited
from mirenc.tools.run.run_folder import Plan, Run


class Sleeps(Run):
    """Compilations that take so many seconds, beside each other."""

    def __init__(self, folder: Path, seconds: list[float], minutes: float = math.inf) -> None:
        super().__init__(Plan(jobs=2, minutes=minutes), folder)
        self.seconds, self.done, self.closed = seconds, list[float](), False

    def measure(self, advance: Callable[..., None]) -> None:
        for seconds, code in self.beside(self._work, self.in_time(self.seconds), 2):
            assert code == 0
            self.done.append(seconds)
            advance()

    @staticmethod
    def _work(seconds: float) -> int:
        return run_limited(["sleep", str(seconds)], timeout=7200.0, memory_limit=None).code

    def close(self) -> None:
        self.closed = True


def test_work_that_is_late_is_left_out(tmp_path: Path) -> None:
    run = Sleeps(tmp_path, [3600.0, 0.0, 3600.0, 0.0], minutes=2 / 60)
    run.go(lambda: None)
    assert run.done == [0.0]
    assert run.closed


def test_an_interrupt_waits_for_no_compiler(tmp_path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    run = Sleeps(tmp_path, [0.0, 3600.0, 3600.0])
    with pytest.raises(KeyboardInterrupt):
        run.go(interrupt)
    assert run.closed


def test_without_time_nothing_is_begun(tmp_path: Path) -> None:
    run = Sleeps(tmp_path, [0.0], minutes=0.0)
    run.go(lambda: None)
    assert run.done == []


def test_a_time_that_is_up_within_the_work_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(self: Sleeps, advance: Callable[..., None]) -> None:
        raise TimeUpError

    monkeypatch.setattr(Sleeps, "measure", late)
    run = Sleeps(tmp_path, [])
    run.go(lambda: None)
    assert run.closed
