"""`LLVMWorker`: LLVM in a child process that is replaced, so that what becomes of it costs one file, never the run."""

import atexit
import functools
import os
import re
import threading
from pathlib import Path
from typing import Any

from mirenc.base.errors import IRParseError, IRResourceError
from mirenc.base.run_program import memory_advice
from mirenc.llvm.child.child_process import Child, EndedError, llvmlite_folder
from mirenc.llvm.inputs.file_kind import DEFAULT_MAX_BYTES

DEFAULT_TIMEOUT = 120.0  # seconds for one module
DEFAULT_MEMORY_LIMIT = 8 * 2**30  # bytes of address space
TEXT_FACTOR = 8  # a module may print as that many times the bytes that an input may have
LARGEST_TEXT = TEXT_FACTOR * DEFAULT_MAX_BYTES  # bytes
_PLACE = re.compile(r"^<string>:(\d+):(\d+): error: (.*)$", re.MULTILINE)


class LLVMWorker:
    """A `Child` with LLVM in it, of `DEFAULT_MEMORY_LIMIT` bytes of address space until `limit_memory` says another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child = Child(Path(__file__).with_name("reading_library.py"), [llvmlite_folder()], DEFAULT_MEMORY_LIMIT)

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

    def canonicalise(
        self,
        data: bytes,
        *,
        passes: dict[str, Any] | None = None,
        most_text: int = LARGEST_TEXT,
        timeout: float | None = None,
    ) -> str:
        """Parse, verify and print a module, to at most ``most_text`` bytes.

        ``passes``, of `mirenc.llvm.passes.normal_form`, run before it is printed.

        Raises IRParseError: LLVM refuses it; IRResourceError: it died, or took too much time, memory or text.
        """
        status, text = self._ask({"kind": "module", "most_text": most_text, "passes": passes}, data, timeout)
        if status == "ok":
            return text
        if status in ("memory", "long"):
            raise self._error(EndedError("memory" if status == "memory" else "text", ""), 0, most_text)
        raise _refusal(text, status)

    def demangle(self, names: list[str]) -> list[str]:
        """Demangled form of each name; the name itself where there is none."""
        return self._ask({"kind": "names"}, "\n".join(names).encode("utf-8"), None)[1].split("\n") if names else []

    def _ask(self, request: dict[str, Any], data: bytes, timeout: float | None) -> tuple[str, str]:
        limit = DEFAULT_TIMEOUT if timeout is None else timeout
        self.start()
        with self._lock:
            try:
                self._child.send(request, data, limit)
                answer, text = self._child.receive(limit)
            except EndedError as ended:
                raise self._error(ended, limit, request.get("most_text", 0)) from None
            except BaseException:
                self.close()  # whatever interrupted the exchange, the pipe is out of step now
                raise
        return answer["status"], str(text, "utf-8", "surrogateescape")

    def _error(self, ended: EndedError, limit: float, most_text: int) -> IRResourceError:
        # An assertion's line begins with a path and a signature that say nothing to the user.
        reason = re.search(r"LLVM ERROR.*|Assertion `.*' failed", ended.problem)
        what = f": {reason[0].removesuffix('.')}" if reason else ""
        messages = {
            "memory": f"LLVM ran out of memory {memory_advice(self.memory_limit)}",
            "text": f"its text, as LLVM prints it, has more than {most_text / 2**20:.0f} MiB, {TEXT_FACTOR} times the "
            "largest input: a constant is repeated wherever it is used. Raise --max-bytes (Python: max_bytes=)",
            "timeout": f"LLVM did not finish within {limit:g} s. Raise the limit with --timeout (Python: timeout=)",
            "start": f"LLVM cannot be started: {ended.problem}. Type: pip install --force-reinstall --no-deps llvmlite",
            "killed": "LLVM's process was killed, most likely by the system for want of memory. "
            "Close other programs, or leave the file out",
            "crash": f"LLVM ended its process ({ended.ending}) on this module{what}. "
            "The file is damaged or LLVM has a bug: check it with `opt -passes=verify`",
        }
        return IRResourceError(messages[ended.status])


def _refusal(text: str, step: str) -> IRParseError:
    """LLVM's message as an error: place, words and caret kept; ``step``: ``parse``, ``passes`` or ``verify``."""
    verifier = step == "verify"
    diagnostic = re.sub(r"\ALLVM (?:IR|bitcode) parsing error\n", "", text.strip()).strip()
    place = _PLACE.search(diagnostic)
    if place:
        line, column, what = int(place[1]), int(place[2]), place[3]
        where = f"line {line}, column {column}"
        return IRParseError(f"{where}: {what}", line=line, column=column, diagnostic=diagnostic, by_verifier=verifier)
    first = diagnostic.splitlines()[0] if diagnostic else "no reason given"
    verb = {"verify": "LLVM's verifier rejects it", "passes": "LLVM cannot optimise it"}.get(
        step, "LLVM cannot read it"
    )
    return IRParseError(f"{verb}: {first}", diagnostic=diagnostic, by_verifier=verifier)


@functools.cache
def default_worker() -> LLVMWorker:
    """The process-wide worker; a forked child gets its own, for the parent's pipe must not be shared."""
    worker = LLVMWorker()
    atexit.register(worker.close)
    return worker


os.register_at_fork(after_in_child=default_worker.cache_clear)
