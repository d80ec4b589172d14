"""`Timekeeper`: asks the sample process for the costs of one sample after another, and survives its crashes."""

import contextlib
import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mirenc.base.deadline import seconds_left
from mirenc.base.errors import ToolchainError
from mirenc.decide.tables.measured import MeasuredKernel, MeasuredSample
from mirenc.tools.measure.runners import Build, Cell
from mirenc.tools.measure.sample_process import COPY, MAX_NOISE, SETUP, first_of_code
from mirenc.tools.run.programs import Supervised
from mirenc.tools.run.run_folder import one_line

FIRST_RUN = 10.0  # seconds that a first run may take
_PATIENCE = 600.0  # seconds: over all limits that a sample sets itself
_ENDINGS = {-signal.SIGALRM: "timeout", -signal.SIGXFSZ: "flood"}


class Timekeeper:
    """Measures samples one at a time with a runner, by its name; ``pin`` keeps each on one CPU."""

    def __init__(self, runner: str, rounds: int, *, pin: bool = True) -> None:
        self.runner, self.rounds, self.pin = runner, rounds, pin
        self._child: Supervised | None = None

    def close(self) -> None:
        """End the process and all that its kernels started."""
        child, self._child = self._child, None
        if child is not None:
            child.close()
            with contextlib.suppress(BrokenPipeError):  # what was not sent
                child.process.communicate()

    def sample(
        self, kernel: MeasuredKernel, part: str, build: Build, folder: Path, seed: Sequence[int]
    ) -> MeasuredSample:
        """Check and time the cells of a build, which lies in a folder.

        Raises ToolchainError: the runner cannot start; TimeUpError: the time of the call was up before it was done.
        """
        first = first_of_code(build.cells)
        status = ["compile" if cell.problem else "ok" for cell in build.cells]
        status = ["same" if first[index] != index else state for index, state in enumerate(status)]
        default = first[build.default]
        if problem := build.cells[default].problem or build.copy.problem:
            answer: dict[str, Any] = {"dropped": f"default: {problem}"}
        else:
            request = {
                "folder": str(folder),
                "driver": build.driver,
                "size": kernel.size,
                "default": default,
                "rounds": self.rounds,
                "max_noise": MAX_NOISE,
                "seed": list(seed),
                "limit": FIRST_RUN,
                "pin": self.pin,
            }
            answer = self._measure_cells(request, build, status)
        label, report = (
            tuple(answer.get(half, {}).get(str(index), math.nan) for index in range(len(build.cells)))
            for half in ("label", "report")
        )
        return MeasuredSample(
            kernel.name,
            part,
            answer.get("noise", math.nan),
            answer.get("rounds", 0),
            answer.get("calls", 0),
            one_line(answer["dropped"]),
            tuple(cell.setting for cell in build.cells),
            tuple(cell.effective for cell in build.cells),
            tuple(status),
            tuple(map(_digest, build.cells)),
            label,
            report,
        )

    def _measure_cells(self, request: dict[str, Any], build: Build, status: list[str]) -> dict[str, Any]:
        """The answer for the cells; one that ends its process gets a ``status``, and the others are asked for again."""
        while True:
            cells = {index: asdict(cell) for index, cell in enumerate(build.cells) if status[index] == "ok"}
            answer = self._ask({**request, "cells": {**cells, COPY: asdict(build.copy)}})
            if "ended" not in answer:
                break
            number, ending = answer["cell"], _ENDINGS.get(answer["ended"], "crash")
            if number in (SETUP, COPY, request["default"]):
                name = {SETUP: "driver", COPY: "the copy of the default"}.get(number, "default")
                return {"dropped": f"{name}: {answer['raised'] or ending}"}
            status[number] = ending
        for key, problem in answer["failed"].items():
            if int(key) != COPY:
                status[int(key)] = problem.partition(":")[0]
        return answer

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer of a sample, or how its process ended: ``ended``, ``cell``, ``raised``."""
        child = self._start_child()
        with contextlib.suppress(BrokenPipeError):  # it was killed; then there is no answer either
            child.stdin.write((json.dumps(request) + "\n").encode())
            child.stdin.flush()
        answer: dict[str, Any] = {}
        while (line := self._read_line()) is not None:
            if "ended" in line:
                return answer if answer and "raised" not in answer else {**line, "raised": answer.get("raised", "")}
            answer = line
        self.close()
        seconds_left()  # where there are none, the sample is not to blame
        return {"ended": -signal.SIGKILL, "cell": SETUP, "raised": "its process gave no answer"}

    def _start_child(self) -> Any:
        if self._child is None:
            command = [sys.executable, "-m", "mirenc.tools.measure.sample_process", self.runner]
            # Unbuffered, a kernel that floods would write so slowly that its time is up first.
            environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
            pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self._child = Supervised(command, env=environment, **pipes)
            greeting = self._read_line() or {"problem": "its process ended"}
            if "problem" in greeting:
                self.close()
                seconds_left()
                problem = f"the runner {self.runner!r} does not start here: {greeting['problem']}"
                raise ToolchainError(f"{problem}. Mend this first")
        return self._child.process

    def _read_line(self) -> dict[str, Any] | None:
        """The process's next line, or None at its end."""
        assert self._child is not None
        child: Any = self._child.process
        timer = threading.Timer(min(_PATIENCE, seconds_left()), self._child.close)
        timer.start()
        try:
            line: bytes = child.stdout.readline()
        except BaseException:
            self.close()
            raise
        finally:
            timer.cancel()
        return json.loads(line) if line.endswith(b"\n") else None


def _digest(cell: Cell) -> str:
    """The digest of a cell's measurement that a table has."""
    return hashlib.sha256(cell.measurement.encode()).hexdigest()[:8] if cell.measurement else ""
