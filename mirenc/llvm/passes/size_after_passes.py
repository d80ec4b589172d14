"""`Engine`: runs lists of passes on a module, such as -Oz's, and says how many bytes of code each leaves.

Its LLVM lives in a child process. Which LLVMs there are: `mirenc.llvm.passes.find_llvm`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack

from mirenc.base.child_process import Answer, ChildProcess, EndedError
from mirenc.base.errors import IRParseError, PassError, ToolchainError

# Code generation level by default: LLVM's own, which clang takes for -Oz, -Os and -O2. 0 is -O0's, 3 is -O3's.
CODEGEN = 2
CHECKED = "LLVM's verifier found the result well-formed. It cannot tell whether the program behaves as before"
"""What is known of a result of an `Engine`, in words for its users."""
_TIMEOUT = 60.0  # seconds for one list on one module
_MEMORY_LIMIT = 4 * 2**30  # bytes of address space
_NO_MODULE = b'target triple = ""\n'


@dataclass(frozen=True, slots=True)
class Optimised:
    """What a list of passes made of a module, and bytes of the object that it becomes.

    - ``instructions``: of its functions, without those that only describe debug information.
    - ``text_bytes``: machine code: the sections of code, padding between functions included, jump tables not.
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
    """Why a list gave no figures for a module, and LLVM's words or what was exceeded.

    ``status`` is ``pipeline``: the engine does not know the list. ``broken``: LLVM's verifier refuses the result.
    ``backend``: no machine code can be made of it. ``crash``, ``timeout``, ``memory``: how LLVM's process ended.
    """

    status: str
    problem: str


class EngineLimits(TypedDict, total=False):
    """Limits of an `Engine`: seconds for one list on one module, 60 by default; bytes of address space, 4 GiB."""

    timeout: float | None
    memory_limit: int | None


class Engine:
    """Runs lists of passes in a child process; `mirenc.llvm.passes.find_llvm` has those there are.

    An engine is one process with one module at a time: for two at once make two. A closed one starts again when asked.
    ``service`` and its ``arguments`` are what the child loads, ``kind`` says how LLVM is reached, ``advice`` what to
    type where it cannot be started.
    """

    def __init__(
        self, service: Path, arguments: Sequence[str], *, kind: str, advice: str, **limits: Unpack[EngineLimits]
    ) -> None:
        self.timeout = limits.get("timeout") or _TIMEOUT
        self._kind, self._advice = kind, advice
        self._child = ChildProcess(service, arguments, limits.get("memory_limit") or _MEMORY_LIMIT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def version(self) -> str:
        """LLVM's version, ``19.1.7``; starts the child when first asked. ToolchainError where it cannot."""
        try:
            return self._child.version()
        except EndedError as error:
            raise self._start_error(error) from None

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
        figures, optimised = self._run_one(ir, pipeline, codegen, keep="ir")
        return Optimised(**figures, ir=bytes(optimised))

    def run_all(self, ir: bytes, pipelines: Iterable[str], *, codegen: int = CODEGEN) -> list[Optimised | Failed]:
        """Run each list on the module by itself; one result for each, in their order, and no optimised IR.

        A list that crashes or hangs is `Failed`, and the others go on. Machine code is made once for all lists that
        give the same module, so this is much faster than `run` for each. Raises IRParseError, ToolchainError as `run`.
        """
        results = self.ask(ir, list(pipelines), codegen=codegen)
        return [result if isinstance(result, Failed) else Optimised(**result[0]) for result in results]

    def compile(self, ir: bytes, pipeline: str, *, codegen: int = CODEGEN) -> bytes:
        """Run one list and return the object file that LLVM makes of the result; as `run`."""
        return bytes(self._run_one(ir, pipeline, codegen, keep="object")[1])

    def text(self, ir: bytes, pipeline: str = "", *, debug: bool = False) -> str:
        """What a list makes of a module, as this LLVM prints it, with ``debug`` information or without; as `run`."""
        return str(self._run_one(ir, pipeline, CODEGEN, keep="text", debug=debug)[1], "utf-8")

    def knows(self, pipeline: str) -> bool:
        """Whether this LLVM can read a list of passes; ToolchainError where it cannot start."""
        (result,) = self.ask(_NO_MODULE, [pipeline])
        return not (isinstance(result, Failed) and result.status == "pipeline")

    def ask(
        self, ir: bytes, pipelines: Sequence[str], *, codegen: int = CODEGEN, keep: str = "", debug: bool = False
    ) -> list[Answer | Failed]:
        """The child's answer to each list (`mirenc.llvm.child.pass_service`), or how it failed; raises as `run_all`.

        ``keep`` says what comes with it: the optimised ``ir``, its ``text``, its ``object`` file, or "", nothing.
        """
        request = {"codegen": codegen, "keep": keep, "debug": debug}
        results: list[Answer | Failed] = []
        while len(results) < len(pipelines):
            next_request = request | {"pipelines": pipelines[len(results) :]}
            failures = []
            try:
                answers = self._child.ask(next_request, ir, self.timeout)
            except EndedError as error:
                if error.status == "start":
                    raise self._start_error(error) from None
                reason = ": ".join(filter(None, (error.ending, error.problem)))
                answers, failures = error.answers, [Failed("crash" if error.ending else error.status, reason)]
                # Otherwise each list would end a process of its own.
                if not answers:
                    raise IRParseError(f"LLVM ended while it read the module: {failures[0].problem}") from None
            (read_answer, _), *answers = answers
            if read_answer["status"] == "input":
                lines = [line for line in read_answer["problem"].splitlines() if not line.endswith(" parsing error")]
                problem = f"{self.name} cannot read the module: {lines[0] if lines else 'no reason given'}"
                advice = "If a newer LLVM wrote it, install the library of that one, such as libllvm22"
                raise IRParseError(f"{problem}. {advice}", diagnostic=read_answer["problem"])
            for answer, data in answers:
                status = answer.pop("status")
                results.append((answer, data) if status == "ok" else Failed(status, **answer))
            if len(results) < len(pipelines):
                results += failures
        return results

    def _run_one(self, ir: bytes, pipeline: str, codegen: int, **options: Any) -> Answer:
        (result,) = self.ask(ir, [pipeline], codegen=codegen, **options)
        if isinstance(result, Failed):
            raise PassError(f"{self.name} fails on this list ({result.status}): {result.problem}", failed=result.status)
        return result

    def _start_error(self, error: EndedError) -> ToolchainError:
        return ToolchainError(f"LLVM cannot be started ({self._kind}): {error.problem}. {self._advice}")
