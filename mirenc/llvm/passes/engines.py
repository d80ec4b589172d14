"""The engines: a libLLVM of this system, the LLVM inside llvmlite, and which of them knows the lists at hand."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mirenc.base.errors import ToolchainError
from mirenc.llvm.child.child_process import llvmlite_folder
from mirenc.llvm.passes.engine import Engine, Failed

_CHILD = Path(__file__).parents[1] / "child"

OLDEST = 16  # the first whose C API tells its version
NEWEST = 22


class SharedEngine(Engine):
    """A libLLVM of this system, with every pass and every level that its ``opt`` has.

    Debian's ``opt-19`` and ``clang-19`` bring the library with them (package ``libllvm19``). It is that of a major
    version, or the newest of 16 to 22; or ``library``, a file name or path.
    """

    def __init__(
        self,
        version: int | None = None,
        *,
        library: str | None = None,
        timeout: float | None = None,
        memory_limit: int | None = None,
    ) -> None:
        side, names = _CHILD / "shared_library.py", [library] if library else list(_names(version))
        about: dict[str, Any] = {"kind": "shared library", "advice": f"Type: apt-get install libllvm{version or 19}"}
        about |= {"timeout": timeout, "memory_limit": memory_limit}
        super().__init__(side, names, **about)
        self._watcher = Engine(side, ["-print-changed", *names], **about)
        self.deciding = Engine(side, ["-inline-cost-full", *names], **about)
        """The same library, where LLVM's inliner takes the cost of a call from its ``"function-inline-cost"``.

        Without the option it stops reckoning, and does not come to the attribute, once the cost is too high. All its
        checks of whether a call may be inlined stay.
        """

    def close(self) -> None:
        super().close()
        self._watcher.close()
        self.deciding.close()

    def fires(self, ir: bytes, pipelines: Sequence[str]) -> list[frozenset[str] | Failed]:
        """For each list the passes that change the module, or any part of it, at least once.

        The answer is LLVM's own (its option ``-print-changed``): a pass fires where the printed IR of what it works on
        is another one after it. Passes that run without being named count too, such as those that bring loops into the
        form that passes of loops want. Names are LLVM's as it prints them, without ``Pass`` at the end: ``SROA``,
        ``InstCombine``. To ask about one function, `mirenc.llvm.passes.extract` makes a module of it. Raises as
        `run_all`.
        """
        answers = self._watcher._ask(ir, pipelines)
        return [each if isinstance(each, Failed) else frozenset(each[0]["changed"]) for each in answers]


class EmbeddedEngine(Engine):
    """The LLVM inside llvmlite, which is there wherever mirenc is; ToolchainError where llvmlite is not installed.

    It has no pass text, no -Oz, and no options for a pass, so it knows the passes of
    `mirenc.llvm.child.llvmlite_library` without options, in any adaptors that fit, and the levels O0 to O3. On
    functions marked ``minsize`` or ``optsize`` its O2 is near -Oz, since those words decide most of what differs. Its
    object files are for sizes: they list constructors in ``.ctors``, where LLD and current C libraries do not look for
    them.
    """

    def __init__(self, *, timeout: float | None = None, memory_limit: int | None = None) -> None:
        folder = llvmlite_folder()
        if not folder:
            raise ToolchainError("llvmlite is not installed. Type: pip install llvmlite")
        side, advice = _CHILD / "llvmlite_library.py", "pip install --force-reinstall --no-deps llvmlite"
        limits: dict[str, Any] = {"timeout": timeout, "memory_limit": memory_limit}
        super().__init__(side, [folder], kind="llvmlite", advice=f"Type: {advice}", **limits)


def find_engine(
    pipelines: Iterable[str], *, prefer: str = "", timeout: float | None = None, memory_limit: int | None = None
) -> Engine:
    """The first engine that knows all lists: shared libraries from the newest to the oldest, then llvmlite's LLVM.

    A shared library of the major version of ``prefer`` is asked before all others. Limits are as for an `Engine`.
    Raises ToolchainError: none of those that are here knows them; it says which and what is missing.
    """
    wanted = list(dict.fromkeys(pipelines))
    unknown = []
    for engine in _engines(major_of(prefer) if prefer else None, timeout=timeout, memory_limit=memory_limit):
        if (missing := next((each for each in wanted if not engine.knows(each)), None)) is None:
            return engine
        short = missing if len(missing) <= 60 else f"{missing[:57]}..."
        unknown.append(f"{engine.name} does not know {short!r}")
        engine.close()
    said = "; ".join(unknown)
    raise ToolchainError(f"no LLVM here can run these pass lists: {said}. Type: apt-get install libllvm19")


def major_of(version: str) -> int:
    """19 of ``19.1.7``: lists and sizes are alike within it."""
    return int(version.partition(".")[0])


def _engines(first: int | None, **limits: Any) -> Iterator[Engine]:
    """Every engine that starts here, in the order they are preferred."""
    versions: list[int | None] = [first, None] if first else [None]
    for version in versions:  # grows by those below the newest, which is found in one go: a failed start is a process
        engine = SharedEngine(version, **limits)
        try:
            major = major_of(engine.version)
        except ToolchainError:
            continue
        if version is None:
            versions += [older for older in range(major - 1, OLDEST - 1, -1) if older != first]
        if version is None and major == first:
            engine.close()
        else:
            yield engine
    yield EmbeddedEngine(**limits)


def _names(version: int | None) -> Iterator[str]:
    """File names under which systems have the library, newest version first."""
    for number in [version] if version else range(NEWEST, OLDEST - 1, -1):
        yield f"libLLVM-{number}.so"  # Debian's -dev packages, Fedora
        yield f"libLLVM.so.{number}.1"  # from 18 on
        yield f"libLLVM-{number}.so.1"  # Debian before 18
        yield f"/usr/lib/llvm-{number}/lib/libLLVM.so"
        yield f"/opt/homebrew/opt/llvm@{number}/lib/libLLVM.dylib"
