"""`LLVMWorker`: LLVM in a child process that is replaced, so that what becomes of it costs one file, never the run."""

import atexit
import functools
import os
import re
import threading
from pathlib import Path

from mirenc.errors import IRParseError, IRResourceError
from mirenc.ir.child import Child, EndedError, llvmlite_folder
from mirenc.ir.process import memory_advice

DEFAULT_TIMEOUT = 120.0  # seconds for one module
DEFAULT_MEMORY_LIMIT = 8 * 2**30  # bytes of address space
_PLACE = re.compile(r"^<string>:(\d+):(\d+): error: (.*)$", re.MULTILINE)


class LLVMWorker:
    """A `Child` with LLVM in it, of `DEFAULT_MEMORY_LIMIT` bytes of address space until `limit_memory` says another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child = Child(Path(__file__).with_name("reading_side.py"), [llvmlite_folder()], DEFAULT_MEMORY_LIMIT)

    @property
    def memory_limit(self) -> int:
        return self._child.memory_limit

    def start(self) -> None:
        """Start the child now, so that it loads LLVM while the caller does other work."""
        if self._child.arguments == [""]:
            raise IRResourceError("llvmlite is not installed. Type: pip install llvmlite")
        with self._lock:
            self._child.start()

    def limit_memory(self, limit: int) -> None:
        """Set another memory limit; a child that runs with the old one is replaced."""
        with self._lock:
            if limit != self.memory_limit:
                self.close()
                self._child.memory_limit = limit

    def close(self) -> None:
        self._child.close()

    def canonicalise(self, data: bytes, *, timeout: float | None = None) -> str:
        """Parse, verify, print a module. IRParseError: LLVM refuses it; IRResourceError: it died, or took too much."""
        status, text = self._ask("module", data, timeout)
        if status == "ok":
            return text
        if status == "memory":
            raise IRResourceError(f"LLVM ran out of memory {memory_advice(self.memory_limit)}")
        raise _refusal(text, verifier=status == "verify")

    def demangle(self, names: list[str]) -> list[str]:
        """Demangled form of each name; the name itself where there is none."""
        return self._ask("names", "\n".join(names).encode("utf-8"), None)[1].split("\n") if names else []

    def _ask(self, kind: str, data: bytes, timeout: float | None) -> tuple[str, str]:
        limit = DEFAULT_TIMEOUT if timeout is None else timeout
        self.start()
        with self._lock:
            try:
                self._child.send({"kind": kind}, data, limit)
                answer, text = self._child.receive(limit)
            except EndedError as ended:
                raise self._error(ended, limit) from None
            except BaseException:
                self.close()  # whatever interrupted the exchange, the pipe is out of step now
                raise
        return answer["status"], str(text, "utf-8", "surrogateescape")

    def _error(self, ended: EndedError, limit: float) -> IRResourceError:
        # An assertion's line begins with a path and a signature that say nothing to the user.
        reason = re.search(r"LLVM ERROR.*|Assertion `.*' failed", ended.problem)
        what = f": {reason[0].removesuffix('.')}" if reason else ""
        messages = {
            "memory": f"LLVM ran out of memory {memory_advice(self.memory_limit)}",
            "timeout": f"LLVM did not finish within {limit:g} s. Raise the limit with --timeout (Python: timeout=)",
            "start": f"LLVM cannot be started: {ended.problem}. Type: pip install --force-reinstall --no-deps llvmlite",
            "killed": "LLVM's process was killed, most likely by the system for want of memory. "
            "Close other programs, or leave the file out",
            "crash": f"LLVM ended its process ({ended.ending}) on this module{what}. "
            "The file is damaged or LLVM has a bug: check it with `opt -passes=verify`",
        }
        return IRResourceError(messages[ended.status])


def _refusal(text: str, *, verifier: bool) -> IRParseError:
    """LLVM's message as an error: place, words and caret kept."""
    diagnostic = re.sub(r"\ALLVM (?:IR|bitcode) parsing error\n", "", text.strip()).strip()
    place = _PLACE.search(diagnostic)
    if place:
        line, column, what = int(place[1]), int(place[2]), place[3]
        return IRParseError(f"line {line}, column {column}: {what}", line=line, column=column, diagnostic=diagnostic)
    first = diagnostic.splitlines()[0] if diagnostic else "no reason given"
    verb = "LLVM's verifier rejects it" if verifier else "LLVM cannot read it"
    return IRParseError(f"{verb}: {first}", diagnostic=diagnostic)


@functools.cache
def default_worker() -> LLVMWorker:
    """The process-wide worker; a forked child gets its own, for the parent's pipe must not be shared."""
    worker = LLVMWorker()
    atexit.register(worker.close)
    return worker


os.register_at_fork(after_in_child=default_worker.cache_clear)
