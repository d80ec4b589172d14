"""Running compilers and other programs on what a stranger wrote: time, memory and words have a limit."""

import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mirenc.ir.launch import FAILED

LONGEST_TIMEOUT = 20 * 24 * 3600.0  # seconds: 20 days; epoll's milliseconds overflow at 24.8
_CHUNK = 1 << 16
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
    try:
        import resource
    except ImportError:
        return limit
    limits = [each for each in resource.getrlimit(resource.RLIMIT_AS) if each != resource.RLIM_INFINITY]
    return min([limit, *limits])


def memory_advice(limit: int) -> str:
    """How much memory a program had, and how to give it more, for an error."""
    allowed = memory_allowed(limit)
    if allowed < limit:
        return f"(limit {allowed / 2**20:.0f} MiB, set by `ulimit -v`). Raise that limit, or give smaller inputs"
    return f"(limit {limit / 2**20:.0f} MiB). Raise the limit with --memory-limit (Python: memory_limit=)"


def without_memory(words: str) -> bool:
    """Whether a program's last words are that it got no memory."""
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
    Raises subprocess.TimeoutExpired: it was ended with all it started; OSError: it cannot be started.
    """
    limited = os.name == "posix" and memory_limit is not None
    if os.name == "posix" and memory_limit is not None:
        launch = str(Path(__file__).with_name("launch.py"))
        command = [sys.executable, "-I", "-S", launch, str(memory_allowed(memory_limit)), *command]
    pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, cwd=folder or None, start_new_session=True, **pipes) as process:
        try:
            output, words = _exchange(process, data, min(timeout, LONGEST_TIMEOUT), most_output)
        except BaseException:
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            raise
    if limited and process.returncode == FAILED and words.isdecimal():
        raise OSError(int(words), os.strerror(int(words)))
    return Ended(process.returncode, output, words)


def _exchange(process: subprocess.Popen[bytes], data: bytes, timeout: float, most_output: int) -> tuple[bytes, str]:
    """Write its input and read what it says until it has closed both streams and ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    deadline = time.monotonic() + timeout
    output, words, lost = bytearray(), bytearray(), 0
    left_to_write = memoryview(data)

    def add_output(chunk: bytes) -> None:
        output.extend(chunk[: most_output - len(output)])

    def add_words(chunk: bytes) -> None:
        nonlocal lost
        words.extend(chunk)
        lost += max(0, len(words) - 2 * _KEPT_WORDS)
        del words[_KEPT_WORDS:-_KEPT_WORDS]

    def time_left() -> float:
        if time.monotonic() >= deadline:
            raise subprocess.TimeoutExpired(process.args, timeout)
        return max(0.0, deadline - time.monotonic())

    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, add_output)
        selector.register(process.stderr, selectors.EVENT_READ, add_words)
        if data:
            os.set_blocking(process.stdin.fileno(), False)
            selector.register(process.stdin, selectors.EVENT_WRITE)
        else:
            process.stdin.close()
        while selector.get_map():
            for key, _ in selector.select(time_left()):
                stream = key.fileobj
                if stream is process.stdin:
                    try:
                        left_to_write = left_to_write[os.write(key.fd, left_to_write[:_CHUNK]) :]
                    except BrokenPipeError:  # it has read enough
                        left_to_write = left_to_write[:0]
                    if not left_to_write:
                        selector.unregister(stream)
                        process.stdin.close()
                elif chunk := os.read(key.fd, _CHUNK):
                    key.data(chunk)
                else:
                    selector.unregister(stream)
    process.wait(time_left())
    gap = b"\n... %d bytes left out ...\n" % lost if lost else b""
    return bytes(output), (words[:_KEPT_WORDS] + gap + words[_KEPT_WORDS:]).decode("utf-8", "replace").strip()
