"""`run_supervised` and `run_shell`: a command that is ended with all it started, even what has left its session."""

import contextlib
import hashlib
import math
import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mirenc.base.deadline import ended_after, seconds_left
from mirenc.base.run_program import LONGEST_TIMEOUT

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_ANSWER = 4096  # bytes
_TAIL = 1 << 14  # bytes of the end of an output that are kept


class Ended(NamedTuple):
    """Exit code of a command (negative: a signal), what it took, and what it printed."""

    code: int
    cpu: float  # seconds of processors, of it and of what it waited for
    wall: float
    output: str = ""  # digest of its output
    tail: str = ""  # the end of its output


class Supervised:
    """A command that runs; ``process`` has its pipes, ``popen`` is for `subprocess.Popen`. Ctrl-C does not reach it."""

    def __init__(self, command: Sequence[str], **popen: Any) -> None:
        self._line, supervisor_end = socket.socketpair()
        with supervisor_end:
            words = [sys.executable, "-I", "-S", str(_SUPERVISOR), str(supervisor_end.fileno()), *command]
            self.process = subprocess.Popen(words, pass_fds=[supervisor_end.fileno()], start_new_session=True, **popen)

    def wait(self, seconds: float) -> Ended | None:
        """How it ended; None: it runs on after so many seconds."""
        if not select.select([self._line], [], [], min(seconds, LONGEST_TIMEOUT))[0]:
            return None
        code, cpu, wall = (self._line.recv(_ANSWER) or b"-9 0 0").split()  # no answer: the supervisor was killed
        return Ended(int(code), float(cpu), float(wall))

    def close(self) -> None:
        """End all that is left of it, unless it ended by itself."""
        self._line.close()
        self.process.wait()


def run_supervised(command: Sequence[str], limit: float, **popen: Any) -> Ended:
    """Run a command to its end. What it leaves running then is left alone.

    Raises OverLimitError: it took more than ``limit`` seconds; TimeUpError: the time of the call was up
    (`mirenc.base.deadline.within`). Then, as after Ctrl-C, nothing that it started is left.
    """
    seconds = min(limit, seconds_left())
    with contextlib.closing(Supervised(command, **popen)) as supervised:
        ended = supervised.wait(seconds)
    if ended is None:
        raise ended_after(seconds, limit)
    return ended


def run_shell(
    command: str,
    folder: Path,
    limit: float = math.inf,
    *,
    environment: Mapping[str, str] | None = None,
    with_errors: bool = False,
) -> Ended:
    """Run a command of a shell in a folder, without input, for at most ``limit`` seconds.

    The output is that of stdout, and of stderr ``with_errors``. Raises as `run_supervised`.
    """
    # A file and no pipe: what goes on in the background would hold a pipe open.
    with tempfile.TemporaryFile() as output:
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output}
        if with_errors:
            streams["stderr"] = subprocess.STDOUT
        ended = run_supervised(["sh", "-c", command], limit, cwd=folder, env=environment, **streams)
        output.seek(0)
        digest = hashlib.file_digest(output, "sha256").hexdigest()
        output.seek(max(0, output.seek(0, os.SEEK_END) - _TAIL))
        return ended._replace(output=digest, tail=output.read().decode("utf-8", "replace"))
