"""`Timekeeper`: asks the child process for the costs of one sample after another, and takes what ends it."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from mirenc.errors import ToolchainError
from mirenc.measure.child import COPY, SETUP
from mirenc.measure.kernel import Build, Cell, Kernel
from mirenc.measure.timing import MAX_NOISE, first_of_code

__all__ = ["FIRST_RUN", "Outcome", "Timekeeper"]

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
    rounds, calls : int
    dropped : str
        Why it is no sample of the table; "" if it is one.
    problems : dict of int to str
        What was said about cells that failed.
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
    """Measures samples, one at a time.

    Parameters
    ----------
    runner : str
        Name of the runner (`mirenc.measure.runners`).
    rounds : int
    pin : bool
        Keep each sample on one CPU.
    first_run : float
        Seconds that a first run may take.

    Raises
    ------
    ToolchainError
        The runner cannot start here; from `sample`.
    """

    def __init__(self, runner: str, rounds: int, *, pin: bool = True, first_run: float = FIRST_RUN) -> None:
        self.runner, self.rounds, self.pin, self.first_run = runner, rounds, pin, first_run
        self._child: subprocess.Popen[bytes] | None = None
        self._unread = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child, whatever it is at."""
        child, self._child, self._unread = self._child, None, b""
        if child is None:
            return
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        for stream in (child.stdin, child.stdout):
            with contextlib.suppress(BrokenPipeError):  # what was not sent
                if stream is not None:
                    stream.close()

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
            cells: dict[int, Cell] = {i: cell for i, cell in enumerate(build.cells) if status[i] == "ok"}
            answer = self._ask({**ask, "cells": {i: asdict(cell) for i, cell in {**cells, COPY: build.copy}.items()}})
            if "ended" not in answer:
                break
            number, how = int(answer["cell"]), _ENDINGS.get(answer["ended"], "crash")
            said = answer["raised"] or how
            if number in (SETUP, COPY, default):
                name = {SETUP: "driver", COPY: "the copy of the default"}.get(number, "default")
                outcome.dropped = f"{name}: {said}"
                return outcome
            status[number], outcome.problems[number] = how, said
        for name, said in answer["failed"].items():
            if int(name) != COPY:
                status[int(name)] = said.partition(":")[0]
                outcome.problems[int(name)] = said
        outcome.dropped = answer["dropped"]
        outcome.calls = answer.get("calls", 0)
        outcome.rounds = answer.get("rounds", 0)
        outcome.noise = answer.get("noise", float("nan"))
        for costs, name in ((outcome.label, "label"), (outcome.report, "report")):
            costs.update({int(i): value for i, value in answer.get(name, {}).items() if int(i) != COPY})
        return outcome

    def _ask(self, ask: dict[str, Any]) -> dict[str, Any]:
        """The answer of a sample that came through, or how its process ended: ``ended``, ``cell``, ``raised``."""
        child = self._started()
        assert child.stdin is not None
        deadline = time.monotonic() + _PATIENCE
        with contextlib.suppress(BrokenPipeError):  # it was killed; then there is no answer either
            child.stdin.write((json.dumps(ask) + "\n").encode())
            child.stdin.flush()
        answer: dict[str, Any] = {}
        while True:
            line = self._line(child, deadline)
            if line is None:
                self.close()
                return {"ended": -signal.SIGKILL, "cell": SETUP, "raised": "its process gave no answer"}
            if "ended" in line:
                break
            answer = line
        if not answer or "raised" in answer:
            return {**line, "raised": answer.get("raised", "")}
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            command = [sys.executable, "-m", "mirenc.measure.child", self.runner]
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
            said = self._line(self._child, time.monotonic() + _PATIENCE)
            if said is None or "problem" in said:
                self.close()
                reason = "its process ended" if said is None else said["problem"]
                raise ToolchainError(f"the runner {self.runner!r} does not start here: {reason}. Mend that first")
        return self._child

    def _line(self, child: subprocess.Popen[bytes], deadline: float) -> dict[str, Any] | None:
        """The next line; None: there comes none."""
        assert child.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    return None
                data = os.read(child.stdout.fileno(), 1 << 16)
                if not data:
                    return None
                self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found
