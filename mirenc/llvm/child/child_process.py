"""`Child`: the parent's side of a process in which LLVM runs (`mirenc.llvm.child.child_main`)."""

import contextlib
import importlib.util
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from mirenc.base.deadline import seconds_left
from mirenc.base.run_program import LONGEST_TIMEOUT, memory_allowed, without_memory
from mirenc.llvm.child.child_main import HEADER, NOT_STARTED, PRINTING

_START = 60.0  # seconds to load a library of a hundred megabytes on a slow disk
_CHUNK = 1 << 20
_WORDS = 1 << 14  # bytes of a child's last words that are read
_NOT_LOADED = 127  # the loader's exit code: no room even for a shared library


def llvmlite_folder() -> str:
    """The folder in which llvmlite lies, "" where it is not installed; found without importing it."""
    spec = importlib.util.find_spec("llvmlite")
    return str(Path(spec.origin).parent.parent) if spec is not None and spec.origin is not None else ""


class EndedError(Exception):
    """The child is gone: ``status`` says why, and ``problem`` is LLVM's reason.

    ``start``, ``timeout``, ``memory``, ``text`` (the module's text is longer than allowed), ``killed`` or ``crash``.
    """

    def __init__(self, status: str, problem: str, ending: str = "") -> None:
        super().__init__(problem)
        self.status, self.problem = status, problem
        self.ending = ending  # `exit 1` or `SIGSEGV`, of a crash


class Child:
    """A process with LLVM in it, started when first needed and started again after a crash. Not for two threads.

    It loads ``side``, a file with ``open_library``, called with ``arguments``; ``memory_limit`` is in bytes.
    """

    def __init__(self, side: Path, arguments: Sequence[str], memory_limit: int) -> None:
        self.memory_limit, self.arguments, self._side = memory_limit, list(arguments), side
        self._process: subprocess.Popen[bytes] | None = None
        self._words: IO[bytes] | None = None
        self._version = ""

    def start(self) -> None:
        """Start the process, if it is not there, and leave it to load LLVM."""
        if self._process is not None and self._process.poll() is None:
            return
        self.close()  # one that died between two requests leaves its streams
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        worker, limit = str(Path(__file__).with_name("child_main.py")), str(memory_allowed(self.memory_limit))
        # -I -S: neither the user's environment nor site-packages' .pth files are worth their start-up time.
        command = [sys.executable, "-I", "-S", worker, limit, str(self._side), *self.arguments]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self._words, bufsize=0)

    def version(self) -> str:
        """LLVM's version; waits until it is loaded. Raises EndedError."""
        self.start()
        if not self._version:
            try:
                self._version = self.receive(_START)[0]["version"]
            except BaseException:
                self.close()  # interrupted, it would be asked for a second greeting, and has none
                raise
        return self._version

    def send(self, request: dict[str, Any], data: bytes, timeout: float) -> None:
        """Send one request, once LLVM is loaded. Raises EndedError, as `receive`."""
        self.version()
        about = json.dumps(request).encode("ascii")
        with self._ready("stdin", selectors.EVENT_WRITE, timeout) as (pipe, wait):
            os.set_blocking(pipe, False)
            for part in (HEADER.pack(len(about), len(data)) + about, data):
                left = memoryview(part)
                while left:
                    wait()
                    try:
                        left = left[os.write(pipe, left) :]
                    except BrokenPipeError:
                        raise self._death() from None

    def receive(self, timeout: float) -> tuple[dict[str, Any], memoryview]:
        """One frame, within ``timeout`` seconds. Raises EndedError: the child died, or took too long and was ended."""
        received, wanted, about = bytearray(), HEADER.size, 0
        with self._ready("stdout", selectors.EVENT_READ, timeout) as (pipe, wait):
            while len(received) < wanted:
                wait()
                # No more than this frame: the next one may already be there.
                chunk = os.read(pipe, min(_CHUNK, wanted - len(received)))
                if not chunk:
                    raise self._death()
                received += chunk
                if len(received) == HEADER.size:
                    about, size = HEADER.unpack(received)
                    wanted += about + size
        body = memoryview(received)[HEADER.size :]
        return json.loads(bytes(body[:about])), body[about:]

    @contextlib.contextmanager
    def _ready(self, name: str, event: int, timeout: float) -> Iterator[tuple[int, Callable[[], None]]]:
        """One of the process' pipes, and what waits until it is ready and ends the process when time is over."""
        limit = min(timeout, LONGEST_TIMEOUT)
        deadline = time.monotonic() + min(limit, seconds_left())
        pipe: int = getattr(self._process, name).fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, event)

            def wait() -> None:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self.close()
                    seconds_left()  # where there are none, the input is not to blame
                    raise EndedError("timeout", f"not done within {limit:g} s")

            yield pipe, wait

    def close(self) -> None:
        """End the process; the next request starts a new one."""
        process, self._process, self._version = self._process, None, ""
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, self._words):
                if stream is not None:
                    stream.close()

    def _death(self) -> EndedError:
        assert self._process is not None
        assert self._words is not None
        code = self._process.wait()
        self._words.seek(max(0, self._words.seek(0, os.SEEK_END) - _WORDS))
        words = self._words.read().decode("utf-8", "replace").strip()
        lines = words.splitlines()
        self.close()
        if without_memory(words) and PRINTING in words:
            return EndedError("text", "the module prints as more text than allowed")
        if without_memory(words) or code == _NOT_LOADED:
            return EndedError("memory", f"out of memory (limit {memory_allowed(self.memory_limit) / 2**20:.0f} MiB)")
        if code == NOT_STARTED:
            return EndedError("start", (lines or ["no reason given"])[-1].removesuffix("."))
        # LLVM's reason, which a stack dump may follow; otherwise the last line, such as that of a Python traceback.
        reasons = [line for line in lines if "LLVM ERROR" in line or "Assertion" in line]
        reason = (reasons or lines[-1:] or [""])[0]
        ending = {one.value: one.name for one in signal.Signals}.get(-code, f"exit {code}")
        return EndedError("killed" if ending == "SIGKILL" else "crash", reason.strip(), ending)
