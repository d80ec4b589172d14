"""`Timekeeper`: asks the child process for the costs of one sample after another, and takes what ends it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from mirenc.errors import ToolchainError
from mirenc.measure.child import COPY, SETUP
from mirenc.measure.kernel import Build, Kernel
from mirenc.measure.timing import MAX_NOISE, first_of_code

FIRST_RUN = 10.0  # seconds that a first run may take
_PATIENCE = 600.0  # seconds: over all limits that a sample sets itself
_ENDINGS = {-signal.SIGALRM: "timeout", -signal.SIGXFSZ: "flood"}


@dataclass
class Outcome:
    """What became of one sample.

    Attributes
    ----------
    status : list of str
        For each cell ``ok``, ``same`` (as an earlier one), ``differs``, ``compile``, ``crash``, ``timeout``, ``flood``.
    label, report : dict of int to float
        Seconds a call of the cells that are ``ok``; empty where the sample was dropped before it was timed.
    noise : float
        Gap between the default and its copy, as a share; NaN: not timed.
    dropped, problems
        Why it is no sample of the table, or ""; what was said about cells that failed.
    """

    status: list[str]
    label: dict[int, float] = field(default_factory=dict)
    report: dict[int, float] = field(default_factory=dict)
    noise: float = float("nan")
    rounds: int = 0
    calls: int = 0
    dropped: str = ""
    problems: dict[int, str] = field(default_factory=dict)


class Timekeeper:
    """Measures samples, one at a time, by a runner's name (`mirenc.measure.runners`).

    ``pin`` keeps each on one CPU; a first run may take ``first_run`` seconds. `sample` raises a `ToolchainError` where
    the runner cannot start here.
    """

    def __init__(self, runner: str, rounds: int, *, pin: bool = True, first_run: float = FIRST_RUN) -> None:
        self.runner, self.rounds, self.pin, self.first_run = runner, rounds, pin, first_run
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child, whatever it is at."""
        child, self._child = self._child, None
        if child is not None:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
            with contextlib.suppress(BrokenPipeError):  # what was not sent
                child.communicate()

    def sample(self, kernel: Kernel, build: Build, folder: Path, seed: Sequence[int]) -> Outcome:
        """Check and time the cells of one build."""
        first = first_of_code(build.cells)
        status = ["compile" if cell.problem else "ok" for cell in build.cells]
        status = ["same" if first[index] != index else each for index, each in enumerate(status)]
        outcome = Outcome(status, problems={i: cell.problem for i, cell in enumerate(build.cells) if cell.problem})
        default = first[build.default]
        if build.cells[default].problem or build.copy.problem:
            outcome.dropped = f"default: {build.cells[default].problem or build.copy.problem}"
            return outcome
        ask = {
            "folder": str(folder),
            "driver": build.driver,
            "function": kernel.function,
            "size": kernel.size,
            "default": default,
            "rounds": self.rounds,
            "max_noise": MAX_NOISE,
            "seed": list(seed),
            "limit": self.first_run,
            "pin": self.pin,
        }
        while True:
            cells = {index: cell for index, cell in enumerate(build.cells) if status[index] == "ok"}
            cells[COPY] = build.copy
            answer = self._ask({**ask, "cells": {index: asdict(cell) for index, cell in cells.items()}})
            if "ended" not in answer:
                break
            number, how = int(answer["cell"]), _ENDINGS.get(answer["ended"], "crash")
            problem = answer["raised"] or how
            if number in (SETUP, COPY, default):
                name = {SETUP: "driver", COPY: "the copy of the default"}.get(number, "default")
                outcome.dropped = f"{name}: {problem}"
                return outcome
            status[number], outcome.problems[number] = how, problem
        for number, problem in _by_number(answer["failed"]).items():
            status[number], outcome.problems[number] = problem.partition(":")[0], problem
        outcome.label, outcome.report = _by_number(answer.get("label", {})), _by_number(answer.get("report", {}))
        for name in ("dropped", "calls", "rounds", "noise"):
            setattr(outcome, name, answer.get(name, getattr(outcome, name)))
        return outcome

    def _ask(self, ask: dict[str, Any]) -> dict[str, Any]:
        """The answer of a sample that came through, or how its process ended: ``ended``, ``cell``, ``raised``."""
        child = self._started()
        with contextlib.suppress(BrokenPipeError):  # it was killed; then there is no answer either
            child.stdin.write((json.dumps(ask) + "\n").encode())
            child.stdin.flush()
        answer: dict[str, Any] = {}
        while (line := _line(child)) is not None:
            if "ended" in line:
                return answer if answer and "raised" not in answer else {**line, "raised": answer.get("raised", "")}
            answer = line
        self.close()
        return {"ended": -signal.SIGKILL, "cell": SETUP, "raised": "its process gave no answer"}

    def _started(self) -> Any:
        if self._child is None:
            command = [sys.executable, "-m", "mirenc.measure.child", self.runner]
            # Unbuffered, a kernel that floods would write so slowly that its time is up first.
            environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True
            )
            ready = _line(self._child)
            if ready is None or "problem" in ready:
                self.close()
                reason = "its process ended" if ready is None else ready["problem"]
                raise ToolchainError(f"the runner {self.runner!r} does not start here: {reason}. Mend that first")
        return self._child


def _by_number(values: dict[str, Any]) -> dict[int, Any]:
    """By the cells' numbers, which JSON makes text of, without the copy's."""
    return {int(number): value for number, value in values.items() if int(number) != COPY}


def _line(child: Any) -> dict[str, Any] | None:
    """The next line; None: there comes none."""
    patience = threading.Timer(_PATIENCE, os.killpg, (child.pid, signal.SIGKILL))
    patience.start()
    try:
        line: bytes = child.stdout.readline()
    finally:
        patience.cancel()
    return json.loads(line) if line.endswith(b"\n") else None
