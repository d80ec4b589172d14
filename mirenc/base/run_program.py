"""Runs compilers and other programs on a stranger's input: time, memory and output have a limit."""

import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from mirenc.base.deadline import TimeUpError, ended_by_call, has_time, seconds_left
from mirenc.base.limits import FAILED

LONGEST_TIMEOUT = 20 * 24 * 3600.0  # seconds: 20 days; epoll's milliseconds overflow at 24.8
_KEPT_WORDS = 1 << 16  # bytes kept of the beginning and of the end
_WITHOUT_MEMORY = re.compile(
    r"^LLVM ERROR: out of memory|\bbad_alloc\b|^(?:error: )?OutOfMemory\b|^\S+: fatal error: error in backend: out of"
    r"|cannot allocate memory|failed to map segment|^MemoryError\b|virtual memory exhausted",
    re.IGNORECASE | re.MULTILINE,
)


class Ended(NamedTuple):
    """Exit code of a program (negative: a signal), its output, and the beginning and end of its error output."""

    code: int
    output: bytes
    words: str


def memory_allowed(limit: int) -> int:
    """Bytes of address space that a child may get: the limit, or what this process is limited to if that is less."""
    limits = [value for value in resource.getrlimit(resource.RLIMIT_AS) if value != resource.RLIM_INFINITY]
    return min([limit, *limits])


def memory_advice(limit: int) -> str:
    """The end of an error about memory: how much a program could have, and how to allow more."""
    allowed = memory_allowed(limit)
    if allowed < limit:
        return f"(limit {allowed / 2**20:.0f} MiB, set by `ulimit -v`). Raise that limit, or give smaller inputs"
    return f"(limit {limit / 2**20:.0f} MiB). Raise the limit with --memory-limit (Python: memory_limit=)"


def without_memory(words: str) -> bool:
    """Whether a program's error output says that it got no memory."""
    return _WITHOUT_MEMORY.search(words) is not None


def run_limited(
    command: Sequence[str],
    *,
    timeout: float,
    memory_limit: int | None,
    data: bytes = b"",
    folder: str = "",
    most_output: int = 2**28,
) -> Ended:
    """Run a program to its end, in ``folder`` or here, with ``data`` as its standard input.

    It may take ``timeout`` seconds, and each process ``memory_limit`` bytes; ``most_output`` bytes of output are kept.
    Raises subprocess.TimeoutExpired: it was ended with all it started; OSError: it cannot be started; TimeUpError: it
    was ended as the time of the call is up (`mirenc.base.deadline.within`).
    """
    if memory_limit is not None:
        script = str(Path(__file__).with_name("limits.py"))
        command = [sys.executable, "-I", "-S", script, str(memory_allowed(memory_limit)), *command]
    # Files and no pipes: neither side waits for the other, however much is written, and limits.py limits their size.
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as stderr:
        stdin.write(data)
        stdin.seek(0)
        pipes: Any = {"stdin": stdin, "stdout": output if most_output else subprocess.DEVNULL, "stderr": stderr}
        limit = min(timeout, LONGEST_TIMEOUT, seconds_left())
        with subprocess.Popen(command, cwd=folder or None, start_new_session=True, **pipes) as process:

            def end() -> None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

            try:
                with ended_by_call(end):
                    seconds_left()  # raises where the call was left before `end` was registered
                    process.wait(limit)
            except BaseException as error:
                end()
                if isinstance(error, subprocess.TimeoutExpired) and not has_time():
                    raise TimeUpError from None
                raise
        if process.returncode < 0 and not has_time():  # ended by whoever left the call
            raise TimeUpError
        output.seek(0)
        result = Ended(process.returncode, output.read(most_output), _error_output(stderr))
    if memory_limit is not None and result.code == FAILED and result.words.isdecimal():
        raise OSError(int(result.words), os.strerror(int(result.words)))
    return result


def _error_output(stderr: IO[bytes]) -> str:
    excess = stderr.seek(0, os.SEEK_END) - 2 * _KEPT_WORDS
    stderr.seek(0)
    words = stderr.read(2 * _KEPT_WORDS)
    if excess > 0:
        stderr.seek(-_KEPT_WORDS, os.SEEK_END)
        words = words[:_KEPT_WORDS] + b"\n... %d bytes left out ...\n" % excess + stderr.read()
    return words.decode("utf-8", "replace").strip()
