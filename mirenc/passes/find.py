"""`find_engine`: an LLVM of this machine that knows the lists at hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mirenc.errors import ToolchainError
from mirenc.passes.embedded import EmbeddedEngine
from mirenc.passes.engine import Engine
from mirenc.passes.process import DEFAULT_MEMORY_LIMIT, DEFAULT_TIMEOUT
from mirenc.passes.shared import OLDEST, SharedEngine

__all__ = ["find_engine"]


def find_engine(
    pipelines: Iterable[str],
    *,
    timeout: float = DEFAULT_TIMEOUT,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
) -> Engine:
    """The first engine that knows all lists: shared libraries from the newest to the oldest, then llvmlite's LLVM.

    Parameters
    ----------
    pipelines : iterable of str
    timeout : float
        Seconds allowed for one list on one module.
    memory_limit : int
        Bytes of address space for LLVM.

    Raises
    ------
    ToolchainError
        None of those that are here knows them; it says which and what is missing.
    """
    wanted = list(dict.fromkeys(pipelines))
    unknown = []
    for engine in _engines(timeout, memory_limit):
        missing = next((each for each in wanted if not engine.knows(each)), None)
        if missing is None:
            return engine
        unknown.append(f"{engine.name} does not know {_short(missing)}")
        engine.close()
    raise ToolchainError(
        f"no LLVM here can run these pass lists: {'; '.join(unknown)}. Type: apt-get install libllvm19"
    )


def _engines(timeout: float, memory_limit: int) -> Iterator[Engine]:
    """Every engine that starts here, in the order they are preferred."""
    version: int | None = None  # the newest: found in one go, since each failed start is a process
    while version is None or version >= OLDEST:
        engine = SharedEngine(version, timeout=timeout, memory_limit=memory_limit)
        try:
            found = int(engine.version.partition(".")[0])
        except ToolchainError:
            if version is None:
                break
        else:
            version = found
            yield engine
        assert version is not None
        version -= 1
    yield EmbeddedEngine(timeout=timeout, memory_limit=memory_limit)


def _short(pipeline: str) -> str:
    return repr(pipeline if len(pipeline) <= 60 else f"{pipeline[:57]}...")
