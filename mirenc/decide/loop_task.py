"""`LoopTask`: a decision about each innermost loop, made by ``#pragma clang loop``.

What is known beside the loop's code: its trip count, how often its branches are taken, the machine's widest vectors,
and what LLVM itself would choose. A head may also look ahead: LLVM is asked what each pragma makes of the loop.
"""

import itertools
import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.errors import ForeignIRError
from mirenc.decide.context import Context, Feature
from mirenc.decide.settings import Setting
from mirenc.decide.task import Task
from mirenc.llvm import IRModule, Region, regions_of
from mirenc.llvm.analysis.loop_branches import taken_branches
from mirenc.llvm.analysis.trip_counts import known_trip_count
from mirenc.llvm.inputs.dialect import SCALAR_LOOPS
from mirenc.llvm.ir.functions import attributes_of, is_left_alone
from mirenc.llvm.passes.look_ahead import LoopCode, look_ahead
from mirenc.llvm.passes.loop_hint import Hint
from mirenc.llvm.passes.vectorizer import follows_hints, vectorizer_choices

# A trip count that is known about -> trip counts that stand for it.
TRIP_CLASSES = {"<8": (2, 4, 6), "<32": (8, 12, 16, 24, 30), "<256": (40, 75, 100, 200), ">=256": (300, 1500, 20_000)}
# Instruction set -> bits of its widest vector.
VECTOR_BITS = {"sse2": 128, "neon": 128, "avx2": 256, "avx512": 512}
# What Linux calls the features of the x86-64 psABI's levels 3 and 4.
_NEEDED = {
    "avx2": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
    "avx512": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}
_CPU_INFO = Path("/proc/cpuinfo")
UNKNOWN = "unknown"
_BEFORE_BRANCHES = 4  # context features
# Larger settings are hardly ever best, and take most of the time of a look-ahead.
_MOST_ELEMENTS = 64
_PROBES = (None, Hint(2, 1), Hint(1, 2))


def instruction_sets() -> tuple[str, ...]:
    """Those of `VECTOR_BITS` that this machine has, narrow ones first; () for a machine that is not known."""
    if platform.machine() in ("aarch64", "arm64"):
        return ("neon",)
    if platform.machine() not in ("x86_64", "AMD64"):
        return ()
    text = _CPU_INFO.read_text(encoding="utf-8") if _CPU_INFO.is_file() else ""
    match = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    features = set(match[1].split()) if match else set()
    return ("sse2", *itertools.takewhile(lambda name: _NEEDED[name] <= features, _NEEDED))


def _encode(context: tuple[Any, ...]) -> list[float]:
    """Whether the trip count is known, its logarithm, that of the vector bits; LLVM's choice, and branches. (9,)."""
    counts = trip_counts(context[0])
    trips = counts[len(counts) // 2] if counts else 0.0
    bits, width, count = map(float, context[1:_BEFORE_BRANCHES])
    known = width > 0 and count > 0
    choice = (np.log2(width), np.log2(count)) if known else (0.0, 0.0)
    return [float(trips > 0), np.log2(1 + trips), np.log2(bits), float(known), *choice, *branches(context)]


def branches(context: tuple[Any, ...]) -> tuple[float, ...]:
    """Whether it is known how often branches are taken, and features ``taken`` and ``rarer``; zeros if not. (3,).

    Where only ``taken`` is known, it is taken for that of a single branch. (): a head's context is older than these.
    Raises ValueError: it is above 1.
    """
    if len(context) <= _BEFORE_BRANCHES:
        return ()
    taken, rarer = context[_BEFORE_BRANCHES:]
    if taken == UNKNOWN:
        return 0.0, 0.0, 0.0
    if (share := float(taken)) > 1:
        raise ValueError(f"context feature 'taken' is {taken!r}; it is a share, from 0 to 1")
    return 1.0, share, min(share, 1 - share) if rarer == UNKNOWN else float(rarer)


def trip_counts(value: str | float) -> tuple[float, ...]:
    """The trip counts that a context feature ``trip_count`` stands for; () where it is not known."""
    return TRIP_CLASSES[value] if isinstance(value, str) else (float(value),) if value > 0 else ()


def _from_ir(module: IRModule, region: Region | None) -> Mapping[str, Any]:
    if region is None:
        return {}
    taken = taken_branches(module, region) or (UNKNOWN, UNKNOWN)
    trips = known_trip_count(module, region).iterations
    return dict(zip(("trip_count", "taken", "rarer"), (trips, *taken), strict=True))


def _ir_sources(module: IRModule, region: Region | None) -> Mapping[str, str]:
    source = "" if region is None else known_trip_count(module, region).source
    return {"trip_count": source} if source else {}


def _from_compiler(module: IRModule, region: Region | None, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """LLVM 22's choice for the loop. Measured tables have the choice of the LLVM that built the variants."""
    choices = vectorizer_choices(module, int(float(values["vector_bits"])))
    width, count = choices.get((region.symbol, region.header), (0, 0)) if region else (0, 0)
    return {"llvm_width": width, "llvm_count": count}


def _from_machine() -> Mapping[str, str]:
    return {"vector_bits": str(VECTOR_BITS[sets[-1]])} if (sets := instruction_sets()) else {}


_BRANCHES: dict[str, Any] = {
    "allowed": (UNKNOWN,),
    "least": 0,
    "known_from": "ir",
    "from_run": True,
    "unknown": UNKNOWN,
}
LOOP_CONTEXT = Context(
    Feature(
        "trip_count",
        f"iterations each time, or about: {', '.join(TRIP_CLASSES)}; 0 where nobody knows",
        allowed=tuple(TRIP_CLASSES),
        least=0,
        known_from="ir",
        from_run=True,
    ),
    Feature(
        "vector_bits",
        "bits of the widest vector compiled for: 128 (SSE2), 256 (AVX2) or 512 (AVX-512)",
        allowed=tuple(sorted(set(VECTOR_BITS.values()))),
    ),
    Feature(
        "llvm_width",
        "vector width of LLVM's own choice, 1 for a scalar loop, 0 for not known",
        least=0,
        known_from="compiler",
    ),
    Feature("llvm_count", "interleave count of LLVM's own choice, 0 for not known", least=0, known_from="compiler"),
    Feature("taken", f"share of the code behind branches that an iteration runs, 0 to 1, or {UNKNOWN}", **_BRANCHES),
    Feature("rarer", f"times that an iteration takes the rarer way of a branch, or {UNKNOWN}", **_BRANCHES),
    encode=_encode,
    from_ir=_from_ir,
    ir_sources=_ir_sources,
    from_compiler=_from_compiler,
    from_machine=_from_machine,
)


class LoopTask(Task):
    """A task whose settings are (vector width, interleave count) of a loop pragma; zeros leave the loop to LLVM."""

    level = "loop"
    dialect = SCALAR_LOOPS
    context = LOOP_CONTEXT
    default_words = "leave it to LLVM"
    directive_note = (
        "with such a pragma LLVM may reorder floating-point sums; it was measured, and results stay the same, with "
        "-mllvm -hints-allow-reordering=false"
    )

    def hint(self, setting: Setting) -> Hint | None:
        """What the pragma of a setting asks LLVM for; None: nothing."""
        return Hint(*map(int, setting)) if any(setting) else None

    def directive(self, setting: Setting) -> str:
        hint = self.hint(setting)
        return "" if hint is None else hint.pragma()

    def regions(self, module: IRModule) -> list[Region]:
        """Loops with no loop inside them, of functions that passes touch. Raises ForeignIRError: they touch none."""
        if is_left_alone(module.text):
            raise ForeignIRError(
                f"{module.name}: every function is marked optnone, as -O0 does, so no pass touches a loop of it. Give "
                f"the source, or compile with: clang {' '.join(SCALAR_LOOPS.flags['c'][2:])} -S -emit-llvm"
            )
        attributes = zip(module.defined_functions, attributes_of(module.text), strict=True)
        optnone_names = {function.name for function, words in attributes if "optnone" in words}
        loops = [region for region in regions_of(module, "loop").regions if region.symbol not in optnone_names]
        # A loop stands before those inside it, and they are deeper.
        inside = [later.symbol == loop.symbol and later.depth > loop.depth for loop, later in itertools.pairwise(loops)]
        return [loop for loop, outer in zip(loops, [*inside, False], strict=False) if not outer]

    def iterations(self, context: tuple[Any, ...]) -> tuple[float, ...]:
        """How often the loop iterates each time it is entered, or may; () where that is not known."""
        return trip_counts(context[0])

    def look_ahead(
        self, module: IRModule, region: Region | None, context: tuple[Any, ...]
    ) -> Sequence[LoopCode | None]:
        """The code that each setting makes of a loop; None for settings of more than 64 elements.

        Two settings that leave a loop as it is mean that the vectorizer may not touch it, so all others do (without
        exception in the 368 of 2,484 measured samples where they do).

        The default has the code of LLVM's choice, asked for, where that is less than 16 wide: clang 19, by which loops
        were measured, gives these no second, narrower vector body, LLVM 22 to 965 of 1,776.
        """
        assert region is not None
        hints = [self.hint(setting) for setting in self.space_for(context).settings]
        allowed = [hint for hint in hints if hint is None or hint.width * hint.count <= _MOST_ELEMENTS]
        bits = int(float(context[1]))
        probed = look_ahead(module, region, _PROBES, bits)
        if len(set(map(repr, probed))) == 1:
            code = dict.fromkeys(allowed, probed[0])
        else:
            unprobed = [hint for hint in allowed if hint not in _PROBES]
            code = dict(zip([*_PROBES, *unprobed], [*probed, *look_ahead(module, region, unprobed, bits)], strict=True))
        if len(context) > _BEFORE_BRANCHES and 0 < (width := int(float(context[2]))) < 16:
            code |= {None: code.get(Hint(width, int(float(context[3]))), code[None])}
        return [code.get(hint) for hint in hints]

    def may_change(self, module: IRModule, region: Region, context: tuple[Any, ...]) -> bool:
        """Whether any setting may make other code of a loop than the default does: of 2,045 in SQLite 84 may."""
        return (region.symbol, region.header) in follows_hints(module, int(float(context[1])))

    def remarks(self, answer: Any) -> list[str]:
        count = answer.context["trip_count"]
        if not count:
            return ["trip count not known"]
        by = f", by {source}" if (source := answer.sources.get("trip_count")) else ""
        return [f"trip count {count if isinstance(count, str) else f'{count:.10g}'}{by}"]
