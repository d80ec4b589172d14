"""Inlining tried on a module: what an engine's LLVM makes of it with other decisions than its own."""

from dataclasses import dataclass

from mirenc.errors import ForeignIRError, IRParseError, PassError
from mirenc.inlining.calls import Call, calls_of
from mirenc.inlining.search import Decisions, Promise, Weight, by_size, search, with_unwinding
from mirenc.ir.llvm import default_worker
from mirenc.passes.engine import Engine, Optimised
from mirenc.passes.object_file import elf_functions, elf_sections, is_elf, sums


@dataclass(frozen=True)
class Inlining:
    """Decisions about calls that make a module smaller, none where nothing was found.

    ``before`` and ``after`` are what the passes make of the module with LLVM's own decisions and with these.
    ``history``: loaded bytes of the smallest so far, before the search and after each of its compilations.
    """

    decisions: tuple[tuple[Call, bool], ...]
    before: Optimised
    after: Optimised
    history: tuple[int, ...]

    @property
    def saved(self) -> int:
        """Loaded bytes less than with LLVM's own decisions; never below 0."""
        return self.before.loaded_bytes - self.after.loaded_bytes


def try_inlining(engine: Engine, text: str, pipeline: str, builds: int, promise: Promise = by_size) -> Inlining:
    """Try other decisions than LLVM's in so many compilations, and keep what is smallest in loaded bytes.

    ``text`` is a module that no pass has seen, as LLVM prints it; the engine verifies what is kept.

    Raises IRParseError, ToolchainError as an `Engine`; PassError: ``pipeline`` fails on it; ForeignIRError: it becomes
    no ELF object.
    """
    calls = calls_of(text)
    before = engine.run(_bytes(text), pipeline)
    kept = calls.kept(default_worker().canonicalise(before.ir))

    def weigh(decisions: Decisions) -> Weight | None:
        try:
            return _weight(engine.compile(_bytes(calls.decided(decisions)), pipeline))
        except (IRParseError, PassError):  # a crash or a limit, of these decisions alone
            return None

    first = _weight(engine.compile(_bytes(text), pipeline))
    found = search(calls, [not one for one in kept], first, weigh, builds, promise)
    after = engine.run(_bytes(calls.decided(found.decisions)), pipeline) if found.decisions else before
    if after.loaded_bytes >= before.loaded_bytes:
        return Inlining((), before, before, found.history)
    decided = tuple((calls.calls[row], inline) for row, inline in sorted(found.decisions.items()))
    return Inlining(decided, before, after, found.history)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _weight(data: bytes) -> Weight:
    if not is_elf(data):
        raise ForeignIRError("the target's object files are not ELF, and sizes of functions are read of ELF only")
    sizes = with_unwinding((one.name, one.size) for one in elf_functions(data))
    return Weight(sums(elf_sections(data))["loaded_bytes"], sizes)
