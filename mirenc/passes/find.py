"""`find_engine`: an LLVM of this machine that knows the lists at hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mirenc.errors import ToolchainError
from mirenc.passes.embedded import EmbeddedEngine
from mirenc.passes.engine import DEFAULT_MEMORY_LIMIT, DEFAULT_TIMEOUT, Engine
from mirenc.passes.shared import OLDEST, SharedEngine


def find_engine(
    pipelines: Iterable[str],
    *,
    prefer: str = "",
    timeout: float = DEFAULT_TIMEOUT,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
) -> Engine:
    """The first engine that knows all lists: shared libraries from the newest to the oldest, then llvmlite's LLVM.

    A shared library of the major version of ``prefer`` is asked before all others. Limits are as for an `Engine`.
    Raises ToolchainError: none of those that are here knows them; it says which and what is missing.
    """
    wanted = list(dict.fromkeys(pipelines))
    unknown = []
    for engine in _engines(major_of(prefer) if prefer else None, timeout, memory_limit):
        missing = next((each for each in wanted if not engine.knows(each)), None)
        if missing is None:
            return engine
        unknown.append(f"{engine.name} does not know {_short(missing)}")
        engine.close()
    raise ToolchainError(
        f"no LLVM here can run these pass lists: {'; '.join(unknown)}. Type: apt-get install libllvm19"
    )


def major_of(version: str) -> int:
    """19 of ``19.1.7``: lists and sizes are alike within it."""
    return int(version.partition(".")[0])


def _engines(first: int | None, timeout: float, memory_limit: int) -> Iterator[Engine]:
    """Every engine that starts here, in the order they are preferred."""
    if first is not None:
        engine = SharedEngine(first, timeout=timeout, memory_limit=memory_limit)
        if _starts(engine):
            yield engine
    version: int | None = None  # the newest: found in one go, since each failed start is a process
    while version is None or version >= OLDEST:
        engine = SharedEngine(version, timeout=timeout, memory_limit=memory_limit)
        if _starts(engine):
            version = major_of(engine.version)
            if version == first:
                engine.close()
            else:
                yield engine
        elif version is None:
            break
        version -= 1
    yield EmbeddedEngine(timeout=timeout, memory_limit=memory_limit)


def _starts(engine: Engine) -> bool:
    try:
        return bool(engine.version)
    except ToolchainError:
        return False


def _short(pipeline: str) -> str:
    return repr(pipeline if len(pipeline) <= 60 else f"{pipeline[:57]}...")
