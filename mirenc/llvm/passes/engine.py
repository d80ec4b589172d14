"""`Engine`: runs a list of passes on a module and says how large the result is; its LLVM lives in a child process."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from mirenc.base.errors import IRParseError, PassError, ToolchainError
from mirenc.llvm.child.child_process import Child, EndedError
from mirenc.llvm.child.pass_library import Answer

# Code generation level by default: LLVM's own, which clang takes for -Oz, -Os and -O2. 0 is -O0's, 3 is -O3's.
CODEGEN = 2
CHECKED = "LLVM's verifier accepts it: it is well-formed IR. It cannot see whether the program behaves as before"
"""What is known of a result of an `Engine`, in words for its users."""
_TIMEOUT = 60.0  # seconds for one list on one module
_MEMORY_LIMIT = 4 * 2**30  # bytes of address space
_NO_MODULE = b'target triple = ""\n'


@dataclass(frozen=True, slots=True)
class Optimised:
    """What a list of passes made of a module, and bytes of the object that it becomes.

    - ``instructions``: of its functions, without those that only describe debug information.
    - ``text_bytes``: machine code: the text sections, padding between functions included, jump tables not.
    - ``data_bytes``: read-only data: constants, jump tables and lookup tables.
    - ``loaded_bytes``: all that is loaded with the program: code, data, tables for unwinding; not zeros (``.bss``).
    - ``digest``: SHA-256 of the module without names of locals and debug information: two lists of one made the same.
    - ``ir``: the module as the digest has it; empty where it was not asked for.
    """

    instructions: int
    text_bytes: int
    digest: str
    ir: bytes = b""
    data_bytes: int = 0
    loaded_bytes: int = 0


def code_bytes(result: Optimised, before: Optimised) -> int:
    """Size of compiled code: machine code, and the read-only data that passes added to the module before them.

    Machine code alone would be smaller wherever branches become a table.
    """
    return result.text_bytes + max(0, result.data_bytes - before.data_bytes)


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a list gave no figures for a module, and what was said.

    ``status`` is ``pipeline``: the engine does not know the list. ``broken``: LLVM's verifier refuses the result.
    ``backend``: no machine code can be made of it. ``crash``, ``timeout``, ``memory``: how LLVM's process ended.
    """

    status: str
    problem: str


class Engine:
    """Runs lists of passes in a child process; `mirenc.llvm.passes.engines` has those there are.

    One is one process with one module at a time: for two at once make two. A closed one starts again when it is asked.
    ``kind`` says how LLVM is reached, ``advice`` what to type where it cannot be started. One list on one module may
    take ``timeout`` seconds, 60 by default, and LLVM ``memory_limit`` bytes of address space, 4 GiB by default.
    """

    def __init__(
        self,
        side: Path,
        arguments: Sequence[str],
        *,
        kind: str,
        advice: str,
        timeout: float | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.timeout = timeout or _TIMEOUT
        self._kind, self._advice = kind, advice
        self._child = Child(side, arguments, memory_limit or _MEMORY_LIMIT)
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def version(self) -> str:
        """LLVM's version, ``19.1.7``; starts the child when first asked. ToolchainError where it cannot."""
        with self._lock:
            return self._started()

    @property
    def name(self) -> str:
        """Which LLVM this is and how it is reached, ``LLVM 19.1.7 (shared library)``."""
        return f"LLVM {self.version} ({self._kind})"

    def close(self) -> None:
        """End the process."""
        self._child.close()

    def run(self, ir: bytes, pipeline: str, *, codegen: int = CODEGEN) -> Optimised:
        """Run one list and return its figures and the optimised module.

        ``ir`` is a module in text or bitcode that this LLVM reads, ``codegen`` the level of code generation, 0 to 3.
        ``pipeline`` is as for ``opt -relocation-model=pic -passes``, position-independent as clang's; "" runs nothing.

        Raises IRParseError: LLVM refuses the module, or does not survive reading it. Raises PassError: the list fails
        on it; `Failed` has the ways. Raises ToolchainError: the engine cannot start.
        """
        figures, optimised = self._one(ir, pipeline, codegen, "ir")
        return Optimised(**figures, ir=optimised)

    def run_all(self, ir: bytes, pipelines: Iterable[str], *, codegen: int = CODEGEN) -> list[Optimised | Failed]:
        """Run each list on the module by itself; one result for each, in their order, and no optimised IR.

        A list that crashes or hangs is `Failed`, and the others go on. Machine code is made once for all lists that
        give the same module, so this is much faster than `run` for each. Raises IRParseError, ToolchainError as `run`.
        """
        answers = self._ask(ir, list(pipelines), codegen)
        return [each if isinstance(each, Failed) else Optimised(**each[0]) for each in answers]

    def compile(self, ir: bytes, pipeline: str, *, codegen: int = CODEGEN) -> bytes:
        """Run one list and return the object file that LLVM makes of the result; as `run`."""
        return self._one(ir, pipeline, codegen, "object")[1]

    def text(self, ir: bytes, pipeline: str = "", *, debug: bool = False) -> str:
        """What a list makes of a module, as this LLVM prints it, with ``debug`` information or without; as `run`."""
        return self._one(ir, pipeline, CODEGEN, "text", debug)[1].decode()

    def knows(self, pipeline: str) -> bool:
        """Whether this LLVM can read a list of passes; ToolchainError where it cannot start."""
        (result,) = self._ask(_NO_MODULE, [pipeline])
        return not (isinstance(result, Failed) and result.status == "pipeline")

    def _one(self, ir: bytes, pipeline: str, codegen: int, keep: str, debug: bool = False) -> Answer:
        (answer,) = self._ask(ir, [pipeline], codegen, keep, debug)
        if isinstance(answer, Failed):
            raise PassError(f"{self.name} fails on this list ({answer.status}): {answer.problem}", failed=answer.status)
        return answer

    def _started(self) -> str:
        try:
            return self._child.version()
        except EndedError as ended:
            raise ToolchainError(f"LLVM cannot be started ({self._kind}): {ended.problem}. {self._advice}") from None

    def _ask(
        self, ir: bytes, pipelines: Sequence[str], codegen: int = CODEGEN, keep: str = "", debug: bool = False
    ) -> list[Answer | Failed]:
        """The library's answer for each list, with what is kept: optimised ``ir``, its ``text`` or ``object`` file."""
        answers: list[Answer | Failed] = []
        child = self._child
        with self._lock:
            while len(answers) < len(pipelines):
                try:
                    self._started()
                    request = {"pipelines": pipelines[len(answers) :], "codegen": codegen, "keep": keep, "debug": debug}
                    child.send(request, ir, self.timeout)
                    self._await_reading()
                    while len(answers) < len(pipelines):
                        answer, made = child.receive(self.timeout)
                        status = answer.pop("status")
                        answers.append((answer, bytes(made)) if status == "ok" else Failed(status, **answer))
                except EndedError as ended:
                    answers.append(_failed(ended))
                except IRParseError:  # the pipe is in step, or there is none
                    raise
                except BaseException:
                    child.close()  # whatever interrupted the exchange, the pipe is out of step now
                    raise
        return answers

    def _await_reading(self) -> None:
        """See that the module was read; without that each list would end a process of its own."""
        try:
            answer, _ = self._child.receive(self.timeout)
        except EndedError as ended:
            raise IRParseError(f"LLVM did not survive reading the module: {_failed(ended).problem}") from None
        if answer["status"] == "input":
            lines = [line for line in answer["problem"].splitlines() if not line.endswith(" parsing error")]
            first = lines[0] if lines else "no reason given"
            raise IRParseError(f"LLVM cannot read the module: {first}", diagnostic=answer["problem"])


def _failed(ended: EndedError) -> Failed:
    if not ended.ending:
        return Failed(ended.status, ended.problem)
    return Failed("crash", f"{ended.ending}: {ended.problem}" if ended.problem else ended.ending)
