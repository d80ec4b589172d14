"""`ParsingWorker`: the child process that parses a stranger's file, so that what becomes of it costs one file alone.

LLVM aborts, loops and eats memory on some files; the process is then ended and started again.
"""

import atexit
import functools
import importlib.util
import os
import re
from pathlib import Path
from typing import Any

from mirenc.base.child_process import ChildProcess, EndedError
from mirenc.base.errors import IRParseError, IRResourceError
from mirenc.base.run_program import memory_advice
from mirenc.llvm.child.parsing_service import PRINTING
from mirenc.llvm.inputs.file_kind import DEFAULT_MAX_BYTES

DEFAULT_TIMEOUT = 120.0  # seconds for one module
DEFAULT_MEMORY_LIMIT = 8 * 2**30  # bytes of address space
TEXT_FACTOR = 8  # a module may print as that many times the bytes that an input may have
LARGEST_TEXT = TEXT_FACTOR * DEFAULT_MAX_BYTES  # bytes
_PLACE = re.compile(r"^<string>:(\d+):(\d+): error: (.*)$", re.MULTILINE)
_REFUSALS = {
    "verify": "LLVM's verifier rejects it",
    "passes": "LLVM cannot optimise it",
    "parse": "LLVM cannot read it",
}


def llvmlite_folder() -> str:
    """The folder in which llvmlite lies, "" where it is not installed; found without importing it."""
    spec = importlib.util.find_spec("llvmlite")
    return str(Path(spec.origin).parent.parent) if spec is not None and spec.origin is not None else ""


class ParsingWorker(ChildProcess):
    """A child with llvmlite's LLVM, of `DEFAULT_MEMORY_LIMIT` bytes of address space until `limit_memory`."""

    def __init__(self) -> None:
        service = Path(__file__).with_name("parsing_service.py")
        super().__init__(service, [llvmlite_folder()], DEFAULT_MEMORY_LIMIT)

    def start(self) -> None:
        """Start the child now, so that it loads LLVM while the caller does other work."""
        if self.arguments == [""]:
            raise IRResourceError("llvmlite is not installed. Type: pip install llvmlite")
        super().start()

    def limit_memory(self, limit: int) -> None:
        """Set another memory limit; a child that runs with the old one is replaced."""
        with self._lock:
            if limit != self.memory_limit:
                self.close()
                self.memory_limit = limit

    def canonicalise(
        self,
        data: bytes,
        *,
        passes: dict[str, Any] | None = None,
        incomplete: bool = False,
        most_text: int = LARGEST_TEXT,
        timeout: float | None = None,
    ) -> str:
        """Parse, verify and print a module, to at most ``most_text`` bytes.

        ``passes``, of `mirenc.llvm.passes.optimise`, run before it is printed. An ``incomplete`` text is completed:
        LLVM declares what is used and not declared, and drops references to metadata that is not there.

        Raises IRParseError: LLVM refuses it; IRResourceError: it died, or took too much time, memory or text.
        """
        request = {"kind": "module", "most_text": most_text, "passes": passes, "incomplete": incomplete}
        status, text = self._exchange(request, data, timeout or DEFAULT_TIMEOUT, most_text)
        if status == "ok":
            return text
        if status in ("memory", "long"):
            raise self._error(status, EndedError(status, ""), 0, most_text)
        raise _refusal(text, status)

    def demangle(self, names: list[str]) -> list[str]:
        """Demangled form of each name; the name itself where there is none."""
        if not names:
            return []
        return self._exchange({"kind": "names"}, "\n".join(names).encode("utf-8"), DEFAULT_TIMEOUT)[1].split("\n")

    def _exchange(self, request: dict[str, Any], data: bytes, timeout: float, most_text: int = 0) -> tuple[str, str]:
        """Send a request, and return status and text of the answer. Raises IRResourceError: the child ended."""
        self.start()
        try:
            ((answer, text),) = self.ask(request, data, timeout)
        except EndedError as error:
            printing = error.status == "memory" and PRINTING in error.words
            raise self._error("long" if printing else error.status, error, timeout, most_text) from None
        return answer["status"], str(text, "utf-8", "surrogateescape")

    def _error(self, status: str, error: EndedError, timeout: float, most_text: int) -> IRResourceError:
        # An assertion's line begins with a path and a signature that say nothing to the user.
        reason = re.search(r"LLVM ERROR.*|Assertion `.*' failed", error.problem)
        detail = f": {reason[0].removesuffix('.')}" if reason else ""
        messages = {
            "memory": f"LLVM ran out of memory {memory_advice(self.memory_limit)}",
            "long": f"its text, as LLVM prints it, has more than {most_text / 2**20:.0f} MiB, {TEXT_FACTOR} times the "
            "largest input: LLVM prints a constant at each use. Raise --max-bytes (Python: max_bytes=)",
            "timeout": f"LLVM did not finish within {timeout:g} s. Raise the limit with --timeout (Python: timeout=)",
            "start": f"LLVM cannot be started: {error.problem}. Type: pip install --force-reinstall --no-deps llvmlite",
            "killed": "LLVM's process was killed, most likely by the system for want of memory. "
            "Close other programs, or leave the file out",
            "crash": f"LLVM ended its process ({error.ending}) on this module{detail}. "
            "The file is damaged or LLVM has a bug: check it with `opt -passes=verify`",
        }
        return IRResourceError(messages[status], crashed=status == "crash")


def _refusal(text: str, step: str) -> IRParseError:
    """LLVM's message as an error: place, words and caret kept; ``step``: ``parse``, ``passes`` or ``verify``."""
    verifier = step == "verify"
    diagnostic = re.sub(r"\ALLVM (?:IR|bitcode) parsing error\n", "", text.strip()).strip()
    match = _PLACE.search(diagnostic)
    if match:
        line, column, words = int(match[1]), int(match[2]), match[3]
        place = f"line {line}, column {column}"
        return IRParseError(f"{place}: {words}", line=line, column=column, diagnostic=diagnostic, by_verifier=verifier)
    first_line = diagnostic.splitlines()[0] if diagnostic else "no reason given"
    return IRParseError(f"{_REFUSALS[step]}: {first_line}", diagnostic=diagnostic, by_verifier=verifier)


@functools.cache
def default_worker() -> ParsingWorker:
    """The process-wide worker; a forked child gets its own, for the parent's pipe must not be shared."""
    worker = ParsingWorker()
    atexit.register(worker.close)
    return worker


os.register_at_fork(after_in_child=default_worker.cache_clear)
