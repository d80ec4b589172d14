"""`SharedEngine`: a libLLVM of this system, with every pass and every level that its ``opt`` has.

Debian's ``opt-19`` and ``clang-19`` bring the library with them (package ``libllvm19``). A whole list runs in process,
in milliseconds, where starting ``opt`` and ``llc`` takes longer than the work.
"""

from __future__ import annotations

from collections.abc import Iterator

from mirenc.passes.base import ProcessEngine
from mirenc.passes.process import DEFAULT_MEMORY_LIMIT, DEFAULT_TIMEOUT, PassProcess

__all__ = ["NEWEST", "OLDEST", "SharedEngine", "shared_process"]

OLDEST = 16  # the first whose C API tells its version
NEWEST = 22


class SharedEngine(ProcessEngine):
    """LLVM as a shared library; see `mirenc.passes.engine.Engine`.

    Parameters
    ----------
    version : int, optional
        LLVM's major version; by default the newest that is here, of 16 to 22.
    library : str, optional
        File name or path of the library itself, where it has another name than usual.
    timeout : float
        Seconds allowed for one list on one module.
    memory_limit : int
        Bytes of address space for LLVM.
    """

    def __init__(
        self,
        version: int | None = None,
        *,
        library: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
    ) -> None:
        process = shared_process([], version, library, timeout=timeout, memory_limit=memory_limit)
        super().__init__(process)


def shared_process(
    options: list[str], version: int | None, library: str | None, *, timeout: float, memory_limit: int
) -> PassProcess:
    """A process with a libLLVM, found as `SharedEngine` says; ``options`` are for `mirenc.passes.c_api`."""
    names = [library] if library else list(_names(version))
    return PassProcess(
        "c_api.py",
        [*options, *names],
        kind="shared library",
        advice=f"Type: apt-get install libllvm{version or 19}",
        timeout=timeout,
        memory_limit=memory_limit,
    )


def _names(version: int | None) -> Iterator[str]:
    """File names under which systems have the library, newest version first."""
    for number in [version] if version else range(NEWEST, OLDEST - 1, -1):
        yield f"libLLVM-{number}.so"  # Debian's -dev packages, Fedora
        yield f"libLLVM.so.{number}.1"  # from 18 on
        yield f"libLLVM-{number}.so.1"  # Debian before 18
        yield f"/usr/lib/llvm-{number}/lib/libLLVM.so"
        yield f"/opt/homebrew/opt/llvm@{number}/lib/libLLVM.dylib"
