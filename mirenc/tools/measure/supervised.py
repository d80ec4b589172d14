"""`Supervised`: a stranger's command that ends with all it started, even what has left its session."""

import contextlib
import select
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mirenc.base.deadline import ended_after, seconds_left
from mirenc.base.run_program import LONGEST_TIMEOUT

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_ANSWER = 4096  # bytes


class Usage(NamedTuple):
    """How a command ended (negative: a signal), and what it took."""

    code: int
    cpu: float  # seconds of processors, of it and of what it waited for
    wall: float


class Supervised:
    """A command that runs; ``process`` has its pipes, ``how`` is for `subprocess.Popen`. Ctrl-C does not reach it."""

    def __init__(self, command: Sequence[str], **how: Any) -> None:
        self._line, theirs = socket.socketpair()
        with theirs:
            words = [sys.executable, "-I", "-S", str(_SUPERVISOR), str(theirs.fileno()), *command]
            self.process = subprocess.Popen(words, pass_fds=[theirs.fileno()], start_new_session=True, **how)

    def wait(self, seconds: float) -> Usage | None:
        """How it ended; None: it runs on after so many seconds."""
        if not select.select([self._line], [], [], min(seconds, LONGEST_TIMEOUT))[0]:
            return None
        code, cpu, wall = (self._line.recv(_ANSWER) or b"-9 0 0").split()  # no answer: the supervisor was killed
        return Usage(int(code), float(cpu), float(wall))

    def close(self) -> None:
        """End all that is left of it, unless it ended by itself."""
        self._line.close()
        self.process.wait()


def run_supervised(command: Sequence[str], limit: float, **how: Any) -> Usage:
    """Run a command to its end. What it leaves running then is left alone.

    Raises OverLimitError: it took more than ``limit`` seconds; TimeUpError: the time of the call was up
    (`mirenc.base.deadline.within`). Then, as after Ctrl-C, nothing that it started is left.
    """
    seconds = min(limit, seconds_left())
    with contextlib.closing(Supervised(command, **how)) as running:
        usage = running.wait(seconds)
    if usage is None:
        raise ended_after(seconds, limit)
    return usage
