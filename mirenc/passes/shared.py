"""A libLLVM of this system, with every pass and every level that its ``opt`` has.

Debian's ``opt-19`` and ``clang-19`` bring the library with them (package ``libllvm19``). A whole list runs in process,
in milliseconds, where starting ``opt`` and ``llc`` takes longer than the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from mirenc.passes.engine import DEFAULT_MEMORY_LIMIT, DEFAULT_TIMEOUT, Engine, Failed, PassLLVM

OLDEST = 16  # the first whose C API tells its version
NEWEST = 22


class _SharedLLVM(PassLLVM):
    """LLVM as a shared library: of a major version, or the newest of 16 to 22; or ``library``, a file name or path."""

    _OPTIONS: tuple[str, ...] = ()  # for `mirenc.passes.c_api`

    def __init__(
        self,
        version: int | None = None,
        *,
        library: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
    ) -> None:
        names = [library] if library else list(_names(version))
        super().__init__(
            Path(__file__).with_name("c_api.py"),
            [*self._OPTIONS, *names],
            kind="shared library",
            advice=f"Type: apt-get install libllvm{version or 19}",
            timeout=timeout,
            memory_limit=memory_limit,
        )


class SharedEngine(_SharedLLVM, Engine):
    """An `Engine` with a libLLVM."""


class PassWatcher(_SharedLLVM):
    """Asks a libLLVM which passes of a list change a module; slower than an engine, since LLVM prints what it compares.

    The answer is LLVM's own (its option ``-print-changed``): a pass fires where the printed IR of what it works on is
    another one after it. Passes that run without being named count too, such as those that bring loops into the form
    that passes of loops want.
    """

    _OPTIONS = ("--watch",)

    def fires(self, ir: bytes, pipelines: Iterable[str]) -> list[frozenset[str] | Failed]:
        """For each list the passes that change the module, or any part of it, at least once.

        Their names are LLVM's as it prints them, without ``Pass`` at the end: ``SROA``, ``InstCombine``. To ask about
        one function, `mirenc.passes.extract` makes a module of it. Raises as `Engine.run_all`.
        """
        answers = self._ask(ir, list(pipelines))
        return [each if isinstance(each, Failed) else frozenset(each[0]["changed"]) for each in answers]


def _names(version: int | None) -> Iterator[str]:
    """File names under which systems have the library, newest version first."""
    for number in [version] if version else range(NEWEST, OLDEST - 1, -1):
        yield f"libLLVM-{number}.so"  # Debian's -dev packages, Fedora
        yield f"libLLVM.so.{number}.1"  # from 18 on
        yield f"libLLVM-{number}.so.1"  # Debian before 18
        yield f"/usr/lib/llvm-{number}/lib/libLLVM.so"
        yield f"/opt/homebrew/opt/llvm@{number}/lib/libLLVM.dylib"
