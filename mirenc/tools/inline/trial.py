"""Try inlining decisions on a module with an engine's LLVM."""

from dataclasses import dataclass

from mirenc.base.errors import ForeignIRError, IRParseError, PassError
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.object_file import elf_functions, elf_sections, is_elf, sums
from mirenc.llvm.passes.size_after_passes import Optimised
from mirenc.tools.inline.calls import Call, Calls, calls_of
from mirenc.tools.inline.search_decisions import Decisions, Promise, Weight, by_size, search, with_unwinding


@dataclass(frozen=True)
class Inlining:
    """Decisions about calls that make a module smaller; empty if none were found.

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


def try_inlining(engine: SharedEngine, ir: bytes, pipeline: str, builds: int, promise: Promise = by_size) -> Inlining:
    """Try other decisions than LLVM's in at most ``builds`` compilations, and keep those with the fewest loaded bytes.

    ``ir`` is a module that no pass has seen, text or bitcode; LLVM's verifier sees what is kept. Raises IRParseError,
    ToolchainError as an `Engine`; PassError: ``pipeline`` fails on it; ForeignIRError: it becomes no ELF object.
    """
    calls = calls_of(engine.text(ir))
    inlined = [not remains for remains in calls.kept(engine.text(ir, pipeline))]
    before = engine.run(ir, pipeline)

    def weigh(decisions: Decisions) -> Weight | None:
        try:
            return weight(engine.deciding.compile(calls.decided(decisions).encode(), pipeline))
        except (IRParseError, PassError):  # a crash or a limit, of these decisions alone
            return None

    best = search(calls, inlined, weight(engine.compile(ir, pipeline)), weigh, builds, promise)
    remaining = calls.kept(engine.deciding.text(calls.decided(best.decisions).encode(), pipeline))
    # Where LLVM may not inline a call, the attribute changes nothing.
    effective = {row: inline for row, inline in best.decisions.items() if not (inline and remaining[row])}
    decisions = _effective_decisions(engine, calls, effective, pipeline)
    after = engine.deciding.run(calls.decided(decisions).encode(), pipeline)
    if after.loaded_bytes >= before.loaded_bytes:
        return Inlining((), before, before, best.history)
    decided_calls = tuple((calls.calls[row], inline) for row, inline in sorted(decisions.items()))
    return Inlining(decided_calls, before, after, best.history)


def _effective_decisions(engine: SharedEngine, calls: Calls, decisions: Decisions, pipeline: str) -> Decisions:
    """Leave out decisions to inline a callee that change nothing, as when LLVM may not inline it.

    `Calls.kept` cannot see these where their caller was inlined itself. One compilation a callee.
    """

    def compiled_object(subset: Decisions) -> bytes | None:
        try:
            return engine.deciding.compile(calls.decided(subset).encode(), pipeline)
        except PassError:  # of these decisions alone
            return None

    for callee in sorted({calls.calls[row].callee for row, inline in decisions.items() if inline}):
        reduced = {
            row: inline for row, inline in decisions.items() if not (inline and calls.calls[row].callee == callee)
        }
        if (object_file := compiled_object(reduced)) is not None and object_file == compiled_object(decisions):
            decisions = reduced
    return decisions


def weight(data: bytes) -> Weight:
    """Sizes of an object file; ForeignIRError: it is not ELF."""
    if not is_elf(data):
        raise ForeignIRError("the target's object files are not ELF, and sizes of functions are read of ELF only")
    sizes = with_unwinding((symbol.name, symbol.size) for symbol in elf_functions(data))
    return Weight(sums(elf_sections(data))["loaded_bytes"], sizes)
