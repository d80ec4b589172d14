"""What an engine is: something that runs a list of passes on a module and says how large the result is.

The figures are exact: the same IR, list, LLVM and code generation level give the same numbers on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

__all__ = ["CODEGEN", "Engine", "Failed", "Optimised", "code_bytes"]

# Code generation level by default: LLVM's own, which clang takes for -Oz, -Os and -O2. 0 is -O0's, 3 is -O3's.
CODEGEN = 2


@dataclass(frozen=True, slots=True)
class Optimised:
    """What a list of passes made of a module.

    Attributes
    ----------
    instructions : int
        Instructions of its functions, without those that only describe debug information.
    text_bytes : int
        Bytes of machine code: the text sections of the object, padding between functions included, jump tables not.
    digest : str
        SHA-256 of the optimised module without names of local values and without debug information. Two lists with
        one digest made the same module.
    ir : bytes
        The optimised module as the engine writes it, without names of local values and without debug information;
        empty where it was not asked for.
    data_bytes : int
        Bytes of read-only data in the object: constants, jump tables and lookup tables.
    loaded_bytes : int
        Bytes of all sections that are loaded with the program: code, data that are read or written, tables for
        unwinding. Not zeros that no file holds (``.bss``).
    """

    instructions: int
    text_bytes: int
    digest: str
    ir: bytes = b""
    data_bytes: int = 0
    loaded_bytes: int = 0


def code_bytes(result: Optimised, before: Optimised) -> int:
    """Size of compiled code: machine code, and the read-only data that compiling added.

    Machine code alone would be smaller wherever branches become a table.

    Parameters
    ----------
    result, before : Optimised
        After some passes, and before any.
    """
    return result.text_bytes + max(0, result.data_bytes - before.data_bytes)


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a list gave no figures for a module.

    Attributes
    ----------
    status : str
        ``pipeline``: the engine does not know the list. ``broken``: LLVM's verifier refuses the result. ``backend``: no
        machine code can be made of it. ``crash``, ``timeout``, ``memory``: how LLVM's process ended.
    problem : str
        What was said.
    """

    status: str
    problem: str


class Engine(Protocol):
    """Runs lists of passes; `mirenc.passes.shared` and `mirenc.passes.embedded` are two.

    One engine is one process with one module at a time: for two at once make two. A closed engine starts again when
    it is asked.
    """

    @property
    def name(self) -> str:
        """Which LLVM this is and how it is reached, ``LLVM 19.1.7 (shared library)``."""

    @property
    def version(self) -> str:
        """LLVM's version, ``19.1.7``."""

    def run(self, ir: bytes, pipeline: str, *, codegen: int = CODEGEN) -> Optimised:
        """Run one list and return its figures and the optimised module.

        Parameters
        ----------
        ir : bytes
            A module in text or bitcode that this LLVM reads.
        pipeline : str
            As for ``opt -relocation-model=pic -passes``: position-independent, as clang compiles; "" runs nothing.
        codegen : int
            Level of code generation, 0 to 3.

        Raises
        ------
        IRParseError
            LLVM refuses the module, or does not survive reading it.
        PassError
            The list fails on it; `Failed` has the ways.
        ToolchainError
            The engine cannot start.
        """

    def run_all(self, ir: bytes, pipelines: Iterable[str], *, codegen: int = CODEGEN) -> list[Optimised | Failed]:
        """Run each list on the module by itself; one result for each, in their order, and no optimised IR.

        A list that crashes or hangs is `Failed`, and the others go on. Machine code is made once for all lists that
        give the same module, so this is much faster than `run` for each.

        Raises
        ------
        IRParseError, ToolchainError
            As `run`.
        """

    def compile(self, ir: bytes, pipeline: str, *, codegen: int = CODEGEN) -> bytes:
        """Run one list and return the object file that LLVM makes of the result.

        Parameters and what is raised are those of `run`.
        """

    def knows(self, pipeline: str) -> bool:
        """Whether this LLVM can read a list of passes.

        Raises
        ------
        ToolchainError
            The engine cannot start.
        """

    def close(self) -> None:
        """End the process."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
