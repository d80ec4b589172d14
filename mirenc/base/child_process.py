"""`ChildProcess`: a process that answers requests within limits of time and memory, and may die of one.

What runs in it is a *service*: `mirenc.base.child_main` says how one is written, and is the process's main program.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from mirenc.base.child_main import HEADER, NOT_STARTED
from mirenc.base.deadline import seconds_left
from mirenc.base.run_program import LONGEST_TIMEOUT, memory_allowed, without_memory

Answer = tuple[dict[str, Any], memoryview]
_START_SECONDS = 60.0  # seconds to load a library of a hundred megabytes on a slow disk
_CHUNK = 1 << 20  # bytes read at once
_WORDS = 1 << 14  # bytes of a child's last words that are read
_NOT_LOADED = 127  # the loader's exit code: no memory even for a shared library


class EndedError(Exception):
    """The child has ended, by itself or because its time was over.

    - ``status``: ``start`` (the service could not be loaded), ``timeout``, ``memory``, ``killed`` or ``crash``.
    - ``problem``: the reason that it printed, or what was exceeded; ``words``: all that it printed at the end.
    - ``ending``: ``exit 1`` or ``SIGSEGV``, of a crash.
    - ``answers``: the answers to the request that came before.
    """

    def __init__(self, status: str, problem: str, ending: str = "", words: str = "") -> None:
        super().__init__(problem)
        self.status, self.problem, self.ending, self.words = status, problem, ending, words
        self.answers: list[Answer] = []


class ChildProcess:
    """A child that is started when it is first needed, and started again after it ended.

    ``service`` is the file that it loads, ``arguments`` are the service's, ``memory_limit`` is in bytes of address
    space and holds from the next start on. Threads may share one: a request waits for the one before.
    """

    def __init__(self, service: Path, arguments: Sequence[str], memory_limit: int) -> None:
        self.service, self.arguments, self.memory_limit = service, list(arguments), memory_limit
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self._version = ""

    def start(self) -> None:
        """Start the process unless it runs, and let it load its service while the caller does other work."""
        with self._lock:
            self._start()

    def version(self) -> str:
        """The service's version; waits until it is loaded. Raises EndedError."""
        with self._lock, self._end_on_error():
            return self._greeting()

    def ask(self, request: dict[str, Any], data: bytes, timeout: float) -> list[Answer]:
        """Send a request and return its answers, each of which may take ``timeout`` seconds.

        Raises EndedError: the child died or was ended, and is started again by the next request; TimeUpError: the
        time of the whole call was up (`mirenc.base.deadline.within`).
        """
        answers: list[Answer] = []
        with self._lock, self._end_on_error():
            try:
                self._greeting()
                self._send(request, data, timeout)
                while (answer := self._receive(timeout)) is not None:
                    answers.append(answer)
            except EndedError as error:
                error.answers = answers
                raise
        return answers

    def close(self) -> None:
        """End the process; the next request starts a new one."""
        process, self._process, self._version = self._process, None, ""
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, self._stderr):
                if stream is not None:
                    stream.close()

    @contextlib.contextmanager
    def _end_on_error(self) -> Iterator[None]:
        """Context of an exchange: an error ends the child, whose answer would be taken for that of the next request."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self.close()  # one that died between two requests leaves its streams
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        main, limit = str(Path(__file__).with_name("child_main.py")), str(memory_allowed(self.memory_limit))
        # -I -S: neither the user's environment nor site-packages' .pth files are worth their start-up time.
        command = [sys.executable, "-I", "-S", main, limit, str(self.service), *self.arguments]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self._stderr, bufsize=0)

    def _greeting(self) -> str:
        self._start()
        if not self._version:
            greeting = self._receive(_START_SECONDS)
            assert greeting is not None
            self._version = greeting[0]["version"]
        return self._version

    def _send(self, request: dict[str, Any], data: bytes, timeout: float) -> None:
        text = json.dumps(request).encode("ascii")
        with self._pipe("stdin", selectors.EVENT_WRITE, timeout) as (pipe, wait):
            os.set_blocking(pipe, False)
            for part in (HEADER.pack(len(text), len(data)) + text, data):
                remaining = memoryview(part)
                while remaining:
                    wait()
                    try:
                        remaining = remaining[os.write(pipe, remaining) :]
                    except BrokenPipeError:
                        raise self._exit_error() from None

    def _receive(self, timeout: float) -> Answer | None:
        """The next frame, or None for the frame of zeros that ends the answers."""
        received, expected, text_size = bytearray(), HEADER.size, 0
        with self._pipe("stdout", selectors.EVENT_READ, timeout) as (pipe, wait):
            while len(received) < expected:
                wait()
                # No more than this frame: the next one may already be there.
                chunk = os.read(pipe, min(_CHUNK, expected - len(received)))
                if not chunk:
                    raise self._exit_error()
                received += chunk
                if len(received) == HEADER.size:
                    text_size, data_size = HEADER.unpack(received)
                    expected += text_size + data_size
        body = memoryview(received)[HEADER.size :]
        return (json.loads(bytes(body[:text_size])), body[text_size:]) if text_size else None

    @contextlib.contextmanager
    def _pipe(self, name: str, event: int, timeout: float) -> Iterator[tuple[int, Callable[[], None]]]:
        """One of the process's pipes, and a function that waits until it is ready and raises when time is over."""
        limit = min(timeout, LONGEST_TIMEOUT)
        deadline = time.monotonic() + min(limit, seconds_left())
        pipe: int = getattr(self._process, name).fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, event)

            def wait() -> None:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    seconds_left()  # raises TimeUpError where the call's time is up: the request is not to blame
                    raise EndedError("timeout", f"not done within {limit:g} s")

            yield pipe, wait

    def _exit_error(self) -> EndedError:
        """The error for a process that closed its pipes: how it ended, and the reason that it printed."""
        assert self._process is not None
        assert self._stderr is not None
        code = self._process.wait()
        self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - _WORDS))
        words = self._stderr.read().decode("utf-8", "replace").strip()
        lines = words.splitlines()
        if without_memory(words) or code == _NOT_LOADED:
            limit = f"{memory_allowed(self.memory_limit) / 2**20:.0f} MiB"
            return EndedError("memory", f"out of memory (limit {limit})", words=words)
        if code == NOT_STARTED:
            return EndedError("start", (lines or ["no reason given"])[-1].removesuffix("."))
        # LLVM's reason, which a stack dump may follow; otherwise the last line, such as that of a Python traceback.
        reasons = [line for line in lines if "LLVM ERROR" in line or "Assertion" in line]
        reason = (reasons or lines[-1:] or [""])[0]
        ending = {number.value: number.name for number in signal.Signals}.get(-code, f"exit {code}")
        return EndedError("killed" if ending == "SIGKILL" else "crash", reason.strip(), ending, words)
