"""`PassProcess`: the parent's side of a child process in which passes run (`mirenc.passes.worker`).

A list that crashes LLVM, loops, or eats the memory costs itself: its answer is `Failed`, the child is started again,
and the lists after it run in the new one.
"""

from __future__ import annotations

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
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from mirenc.errors import IRParseError, ToolchainError
from mirenc.ir.process import LONGEST_TIMEOUT, memory_allowed, without_memory
from mirenc.passes.engine import CODEGEN, Failed
from mirenc.passes.worker import HEADER, NOT_STARTED

__all__ = ["DEFAULT_MEMORY_LIMIT", "DEFAULT_TIMEOUT", "PassProcess"]

DEFAULT_TIMEOUT = 60.0  # seconds for one list on one module
DEFAULT_MEMORY_LIMIT = 4 * 2**30  # bytes of address space
_START = 60.0  # seconds to load a library of a hundred megabytes on a slow disk
_CHUNK = 1 << 20
_WORDS = 1 << 14  # bytes of a child's last words that are read


class PassProcess:
    """A child process with LLVM in it, started when first needed and started again after a crash.

    Parameters
    ----------
    side : str
        File beside this one that the child loads: it has ``open_library``.
    arguments : sequence of str
        What that is called with.
    kind : str
        How LLVM is reached, for `name`.
    advice : str
        What to type where LLVM cannot be started.
    timeout : float
        Seconds allowed for one list on one module.
    memory_limit : int
        Bytes of address space; less where this process itself is limited to less.
    """

    def __init__(
        self, side: str, arguments: Sequence[str], *, kind: str, advice: str, timeout: float, memory_limit: int
    ) -> None:
        self.timeout = timeout
        self.memory_limit = memory_limit
        self._side, self._arguments, self._kind, self._advice = side, list(arguments), kind, advice
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._words: IO[bytes] | None = None
        self._version = ""

    @property
    def version(self) -> str:
        """LLVM's version; starts the child when first asked.

        Raises
        ------
        ToolchainError
            It cannot start.
        """
        if not self._version:
            with self._lock:
                self._start()
        return self._version

    @property
    def name(self) -> str:
        """Which LLVM this is and how it is reached."""
        return f"LLVM {self.version} ({self._kind})"

    def ask(
        self, ir: bytes, pipelines: Sequence[str], *, codegen: int = CODEGEN, keep: str = ""
    ) -> list[tuple[dict[str, Any], bytes] | Failed]:
        """The library's answer for each list on a module, with the optimised ``ir`` or the ``object`` file if kept.

        Raises
        ------
        IRParseError
            LLVM refuses the module, or does not survive reading it.
        ToolchainError
            The child cannot start.
        """
        answers: list[tuple[dict[str, Any], bytes] | Failed] = []
        with self._lock:
            while len(answers) < len(pipelines):
                try:
                    process = self._start()
                    request = {"pipelines": pipelines[len(answers) :], "codegen": codegen, "keep": keep}
                    self._send(process, request, ir)
                    self._await_reading(process)
                    while len(answers) < len(pipelines):
                        answer, optimised = self._receive(process, self.timeout)
                        ok = answer["status"] == "ok"
                        answers.append((answer, optimised) if ok else Failed(answer["status"], answer["problem"]))
                except _EndedError as ended:
                    answers.append(ended.failed)
                except IRParseError:  # the pipe is in step, or there is none
                    raise
                except BaseException:
                    # Whatever interrupted the exchange, the pipe is out of step now.
                    self.close()
                    raise
        return answers

    def close(self) -> None:
        """End the child; the next request starts a new one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, self._words):
                if stream is not None:
                    with contextlib.suppress(BrokenPipeError):  # what was not sent
                        stream.close()

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()  # one that died between two requests leaves its streams
        here = Path(__file__).parent
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        limit = str(memory_allowed(self.memory_limit))
        self._process = subprocess.Popen(
            # -I -S: neither the user's environment nor site-packages' .pth files are worth their start-up time.
            [sys.executable, "-I", "-S", str(here / "worker.py"), limit, str(here / self._side)] + self._arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
        )
        try:
            greeting, _ = self._receive(self._process, _START)
        except _EndedError as ended:
            problem = ended.failed.problem.removesuffix(".")
            raise ToolchainError(f"LLVM cannot be started ({self._kind}): {problem}. {self._advice}") from None
        self._version = greeting["version"]
        return self._process

    def _send(self, process: subprocess.Popen[bytes], request: dict[str, Any], ir: bytes) -> None:
        assert process.stdin is not None
        data = json.dumps(request).encode("ascii")
        try:
            # The child does nothing but read now, so this cannot stand still for ever.
            process.stdin.write(HEADER.pack(len(data), len(ir)) + data + ir)
            process.stdin.flush()
        except BrokenPipeError:
            raise self._death(process) from None

    def _await_reading(self, process: subprocess.Popen[bytes]) -> None:
        """See that the module was read; without that each list would end a process of its own."""
        try:
            answer, _ = self._receive(process, self.timeout)
        except _EndedError as ended:
            raise IRParseError(f"LLVM did not survive reading the module: {ended.failed.problem}") from None
        if answer["status"] == "input":
            lines = [line for line in answer["problem"].splitlines() if not line.endswith(" parsing error")]
            first = lines[0] if lines else "no reason given"
            raise IRParseError(f"LLVM cannot read the module: {first}", diagnostic=answer["problem"])

    def _receive(self, process: subprocess.Popen[bytes], timeout: float) -> tuple[dict[str, Any], bytes]:
        """One frame.

        Raises
        ------
        _EndedError
            The child died, or took too long and was ended.
        """
        assert process.stdout is not None
        limit = min(timeout, LONGEST_TIMEOUT)
        deadline = time.monotonic() + limit
        received, wanted = bytearray(), HEADER.size
        about = 0
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while len(received) < wanted:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self.close()
                    raise _EndedError("timeout", f"not done within {limit:g} s")
                # No more than this frame: the next one may already be there.
                chunk = os.read(process.stdout.fileno(), min(_CHUNK, wanted - len(received)))
                if not chunk:
                    raise self._death(process)
                received += chunk
                if len(received) == HEADER.size:
                    about, size = HEADER.unpack(received)
                    wanted += about + size
        body = memoryview(received)[HEADER.size :]
        return json.loads(bytes(body[:about])), bytes(body[about:])

    def _death(self, process: subprocess.Popen[bytes]) -> _EndedError:
        """How the child ended, from its last words."""
        code = process.wait()
        assert self._words is not None
        self._words.seek(max(0, self._words.seek(0, os.SEEK_END) - _WORDS))
        words = self._words.read().decode("utf-8", "replace").strip()
        self.close()
        if without_memory(words):
            return _EndedError("memory", f"out of memory (limit {memory_allowed(self.memory_limit) / 2**20:.0f} MiB)")
        if code == NOT_STARTED:
            return _EndedError("start", (words.splitlines() or ["no reason given"])[-1])
        lines = words.splitlines()
        # LLVM's reason, which a stack dump may follow; otherwise the last line, such as that of a Python traceback.
        said = next((line for line in lines if "LLVM ERROR" in line or "Assertion" in line), lines[-1] if lines else "")
        return _EndedError("crash", f"{_ending(code)}{': ' if said else ''}{said.strip()}")


class _EndedError(Exception):
    """The child is gone."""

    def __init__(self, status: str, problem: str) -> None:
        super().__init__(problem)
        self.failed = Failed(status, problem)


def _ending(code: int) -> str:
    """How a process ended, as people say it: ``exit 1`` or ``SIGSEGV``."""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit {code}"
