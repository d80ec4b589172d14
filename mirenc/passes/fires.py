"""`PassWatcher`: which passes of a list change a module.

The answer is LLVM's own (its option ``-print-changed``): a pass fires where the printed IR of what it works on is
another one after it. Passes that run without being named count too, such as those that bring loops into the form that
passes of loops want.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Self

from mirenc.passes.engine import Failed
from mirenc.passes.process import DEFAULT_MEMORY_LIMIT, DEFAULT_TIMEOUT
from mirenc.passes.shared import shared_process

__all__ = ["PassWatcher"]


class PassWatcher:
    """Asks a libLLVM which passes fire. It is slower than an engine, since LLVM prints what it compares.

    Parameters
    ----------
    version, library, timeout, memory_limit
        As for `mirenc.passes.shared.SharedEngine`.
    """

    def __init__(
        self,
        version: int | None = None,
        *,
        library: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
    ) -> None:
        self._process = shared_process(["--watch"], version, library, timeout=timeout, memory_limit=memory_limit)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def version(self) -> str:
        """LLVM's version, ``19.1.7``."""
        return self._process.version

    def fires(self, ir: bytes, pipelines: Iterable[str]) -> list[frozenset[str] | Failed]:
        """For each list the passes that change the module, or any part of it, at least once.

        Parameters
        ----------
        ir : bytes
            A module in text or bitcode; to ask about one function, `mirenc.passes.extract` makes a module of it.
        pipelines : iterable of str

        Returns
        -------
        list of frozenset of str, or Failed
            LLVM's names of the passes as it prints them, without ``Pass`` at the end: ``SROA``, ``InstCombine``.

        Raises
        ------
        IRParseError
            LLVM refuses the module.
        ToolchainError
            There is no libLLVM.
        """
        answers = self._process.ask(ir, list(pipelines))
        return [each if isinstance(each, Failed) else frozenset(each[0]["changed"]) for each in answers]

    def close(self) -> None:
        """End the process; the next request starts a new one."""
        self._process.close()
