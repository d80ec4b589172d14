"""The LLVMs that can run passes here: a libLLVM of this system, llvmlite's, and which of them knows some lists."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Unpack

from mirenc.base.errors import ToolchainError
from mirenc.llvm.child.parsing_worker import llvmlite_folder
from mirenc.llvm.passes.size_after_passes import Engine, EngineLimits, Failed

_CHILD = Path(__file__).parents[1] / "child"

OLDEST = 16  # the first whose C API tells its version
NEWEST = 22


class SharedEngine(Engine):
    """A libLLVM of this system, with every pass and every level that its ``opt`` has.

    Debian's ``opt-19`` and ``clang-19`` bring the library with them (package ``libllvm19``). It is that of a major
    version, or the newest of 16 to 22; or ``library``, a file name or path.
    """

    def __init__(
        self, version: int | None = None, *, library: str | None = None, **limits: Unpack[EngineLimits]
    ) -> None:
        service, names = _CHILD / "libllvm_pass_service.py", [library] if library else list(_names(version))
        kind, advice = "shared library", f"Type: apt-get install libllvm{version or 19}"
        super().__init__(service, names, kind=kind, advice=advice, **limits)
        self._watcher = Engine(service, ["-print-changed", *names], kind=kind, advice=advice, **limits)
        self.deciding = Engine(service, ["-inline-cost-full", *names], kind=kind, advice=advice, **limits)
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
        ``InstCombine``. `mirenc.llvm.passes.extract` makes a module of one function. Raises as `run_all`.
        """
        results = self._watcher.ask(ir, pipelines)
        return [result if isinstance(result, Failed) else frozenset(result[0]["changed"]) for result in results]


class EmbeddedEngine(Engine):
    """The LLVM inside llvmlite, which is there wherever mirenc is; ToolchainError where llvmlite is not installed.

    It has no pass text, no -Oz, and no options for a pass, so it knows the passes of
    `mirenc.llvm.child.llvmlite_pass_service` without options, in any adaptors that fit, and the levels O0 to O3. On
    functions marked ``minsize`` or ``optsize`` its O2 is near -Oz, since those words decide most of what differs. Its
    object files are for sizes: they list constructors in ``.ctors``, where LLD and current C libraries do not look.
    """

    def __init__(self, **limits: Unpack[EngineLimits]) -> None:
        folder = llvmlite_folder()
        if not folder:
            raise ToolchainError("llvmlite is not installed. Type: pip install llvmlite")
        advice = "Type: pip install --force-reinstall --no-deps llvmlite"
        super().__init__(_CHILD / "llvmlite_pass_service.py", [folder], kind="llvmlite", advice=advice, **limits)


def find_engine(pipelines: Iterable[str], *, prefer: str = "", **limits: Unpack[EngineLimits]) -> Engine:
    """The first engine that knows all lists: shared libraries from the newest to the oldest, then llvmlite's LLVM.

    A shared library of the major version of ``prefer`` is asked before all others. Limits are as for an `Engine`.
    Raises ToolchainError: none of those that are here knows them; it says which and what is missing.
    """
    pipelines = list(dict.fromkeys(pipelines))
    problems = []
    for engine in _engines(major_of(prefer) if prefer else None, **limits):
        missing = next((pipeline for pipeline in pipelines if not engine.knows(pipeline)), None)
        if missing is None:
            return engine
        short_name = missing if len(missing) <= 60 else f"{missing[:57]}..."
        problems.append(f"{engine.name} does not know {short_name!r}")
        engine.close()
    reasons = "; ".join(problems)
    advice = "Install the library of LLVM 19 (Debian: apt-get install libllvm19)"
    raise ToolchainError(f"no LLVM here can run these pass lists: {reasons}. {advice}")


def major_of(version: str) -> int:
    """19 of ``19.1.7``: lists and sizes are alike within it."""
    return int(version.partition(".")[0])


def _engines(first: int | None, **limits: Unpack[EngineLimits]) -> Iterator[Engine]:
    """Every engine that starts here, in the order they are preferred."""
    versions: list[int | None] = [first, None] if first else [None]
    for version in versions:  # grows by those below the newest, which is found in one go: a failed start is a process
        engine = SharedEngine(version, **limits)
        try:
            major = major_of(engine.version)
        except ToolchainError:
            continue
        if version is None:
            versions += [number for number in range(major - 1, OLDEST - 1, -1) if number != first]
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
