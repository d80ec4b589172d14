"""LLVM at arm's length: the parent's side of the worker process.

`canonicalise` sends IR to a child process (`mirenc.ir.worker`) and gets LLVM's own print-out back. A crash, an
abort, a time-out or a memory overrun of LLVM costs one file, never the run: the child is replaced.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO

from mirenc.errors import IRParseError, IRResourceError, MirencError
from mirenc.ir.process import LONGEST_TIMEOUT, memory_advice, memory_allowed, without_memory
from mirenc.ir.worker import HEADER, NOT_STARTED

__all__ = ["DEFAULT_MEMORY_LIMIT", "DEFAULT_TIMEOUT", "LLVMWorker", "default_worker"]

DEFAULT_TIMEOUT = 120.0  # seconds for one module
DEFAULT_MEMORY_LIMIT = 8 * 2**30  # bytes of address space
_CHUNK = 1 << 20
_NOT_LOADED = 127  # the loader's exit code: no room even for a shared library
_PLACE = re.compile(r"^<string>:(\d+):(\d+): error: (.*)$", re.MULTILINE)


class LLVMWorker:
    """One child process running LLVM, started when first needed and restarted after a crash.

    Parameters
    ----------
    timeout : float
        Seconds allowed for one module.
    memory_limit : int
        Bytes of address space the child may use; less where this process itself is limited to less.
    """

    def __init__(self, *, timeout: float = DEFAULT_TIMEOUT, memory_limit: int = DEFAULT_MEMORY_LIMIT) -> None:
        self.timeout = timeout
        self.memory_limit = memory_limit
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None

    def start(self) -> None:
        """Start the child now, so that it loads LLVM while the caller does other work."""
        with self._lock:
            self._start()

    def limit_memory(self, limit: int) -> None:
        """Set another memory limit; a child that runs with the old one is replaced."""
        with self._lock:
            if limit != self.memory_limit:
                self.close()
                self.memory_limit = limit

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()  # one that died between two requests leaves its streams
        spec = importlib.util.find_spec("llvmlite")
        if spec is None or spec.origin is None:
            raise IRResourceError("llvmlite is not installed. Type: pip install llvmlite")
        parent = str(Path(spec.origin).parent.parent)
        worker = str(Path(__file__).with_name("worker.py"))
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            # -I -S: neither the user's environment nor site-packages' .pth files are worth their start-up time.
            [sys.executable, "-I", "-S", worker, parent, str(memory_allowed(self.memory_limit))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
        )
        return self._process

    def close(self) -> None:
        """End the child; the next request starts a new one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, self._stderr):
                if stream is not None:
                    stream.close()

    def canonicalise(self, data: bytes, *, bitcode: bool, timeout: float | None = None) -> str:
        """Parse, verify and print one module.

        Raises
        ------
        IRParseError
            LLVM's parser or verifier refused it; LLVM's line, column and caret are kept.
        IRResourceError
            LLVM died, took too long or too much memory.
        """
        status, text = self._request(b"b" if bitcode else b"t", data, timeout)
        if status == b"0":
            return text
        if status == b"m":
            raise self._out_of_memory()
        raise _refusal(text, verifier=status == b"v")

    def demangle(self, names: list[str]) -> list[str]:
        """Demangled form of each name; the name itself where there is none."""
        if not names:
            return []
        return self._request(b"d", "\n".join(names).encode("utf-8"), None)[1].split("\n")

    def _out_of_memory(self) -> IRResourceError:
        return IRResourceError(f"LLVM ran out of memory {memory_advice(self.memory_limit)}")

    def _request(self, kind: bytes, data: bytes, timeout: float | None) -> tuple[bytes, str]:
        limit = min(self.timeout if timeout is None else timeout, LONGEST_TIMEOUT)
        with self._lock:
            process = self._start()
            try:
                return self._exchange(process, HEADER.pack(kind, len(data)) + data, limit)
            except (BrokenPipeError, EOFError):
                raise self._death(process) from None
            except BaseException:
                # Whatever interrupted the exchange, the pipe is out of step now.
                self.close()
                raise

    def _exchange(self, process: subprocess.Popen[bytes], frame: bytes, limit: float) -> tuple[bytes, str]:
        assert process.stdin is not None
        assert process.stdout is not None
        deadline = time.monotonic() + limit
        out = process.stdout.fileno()
        view = memoryview(frame)
        received = bytearray()
        fd = process.stdin.fileno()
        os.set_blocking(fd, False)
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            selector.register(fd, selectors.EVENT_WRITE)
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    self.close()
                    raise IRResourceError(
                        f"LLVM did not finish within {limit:g} s. Raise the limit with --timeout (Python: timeout=)"
                    )
                for key, _ in selector.select(left):
                    if key.fd == fd:
                        view = view[os.write(fd, view[:_CHUNK]) :]
                        if not view:
                            selector.unregister(fd)
                        continue
                    chunk = os.read(out, _CHUNK)
                    if not chunk:
                        raise EOFError
                    received += chunk
                    if len(received) < HEADER.size:
                        continue
                    status, length = HEADER.unpack_from(received)
                    if len(received) >= HEADER.size + length:
                        body = memoryview(received)[HEADER.size :]
                        return status, str(body, "utf-8", "surrogateescape")

    def _death(self, process: subprocess.Popen[bytes]) -> MirencError:
        code = process.wait()
        words = ""
        if self._stderr is not None:
            self._stderr.seek(0)
            words = self._stderr.read().decode("utf-8", "replace").strip()
        self.close()
        if without_memory(words) or code == _NOT_LOADED:
            return self._out_of_memory()
        if code == NOT_STARTED:
            reason = (words.splitlines() or ["no reason given"])[-1].removesuffix(".")
            return IRResourceError(
                f"LLVM cannot be started: {reason}. Type: pip install --force-reinstall --no-deps llvmlite"
            )
        if code == -signal.SIGKILL:
            return IRResourceError(
                "LLVM's process was killed, most likely by the system for want of memory. "
                "Close other programs, or leave the file out"
            )
        line = next((line for line in words.splitlines() if "LLVM ERROR" in line), "").strip()
        # An assertion's line begins with a path and a signature that say nothing to the user.
        assertion = re.search(r"Assertion `.*' failed", words)
        line = line or (assertion[0] if assertion else "")
        return IRResourceError(
            f"LLVM ended its process ({_ending(code)}) on this module"
            + (f": {line.removesuffix('.')}" if line else "")
            + ". The file is damaged or LLVM has a bug: check it with `opt -passes=verify`"
        )


def _ending(code: int) -> str:
    """How a process ended, as people say it: ``exit 1`` or ``SIGSEGV``."""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit {code}"


def _refusal(text: str, *, verifier: bool) -> IRParseError:
    """LLVM's message as an error: place, words and caret kept."""
    diagnostic = text.strip()
    for noise in ("LLVM IR parsing error\n", "LLVM bitcode parsing error\n"):
        diagnostic = diagnostic.removeprefix(noise).strip()
    place = _PLACE.search(diagnostic)
    if place:
        line, column, what = int(place[1]), int(place[2]), place[3]
        return IRParseError(f"line {line}, column {column}: {what}", line=line, column=column, diagnostic=diagnostic)
    first = diagnostic.splitlines()[0] if diagnostic else "no reason given"
    verb = "LLVM's verifier rejects it" if verifier else "LLVM cannot read it"
    return IRParseError(f"{verb}: {first}", diagnostic=diagnostic)


_default: LLVMWorker | None = None
_default_lock = threading.Lock()


def default_worker() -> LLVMWorker:
    """The process-wide worker; a forked child gets its own."""
    global _default
    with _default_lock:
        if _default is None:
            _default = LLVMWorker()
            atexit.register(_default.close)
        return _default


def _forget_after_fork() -> None:
    # The parent's pipe must not be shared; the object is simply left behind.
    global _default, _default_lock
    _default, _default_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
