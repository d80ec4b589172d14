"""Loop vectorization: the vector width and interleave count that a loop pragma asks for, measured on this machine."""

import itertools
import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.arrays import Float64
from mirenc.base.errors import ForeignIRError
from mirenc.decide.protocols import Protocol
from mirenc.decide.settings import Space, Value
from mirenc.decide.tables.measured import MeasuredSample, MeasuredTask
from mirenc.llvm import IRModule, Region, regions_of
from mirenc.llvm.analysis.trip_counts import known_trip_count
from mirenc.llvm.inputs.dialect import SCALAR_LOOPS
from mirenc.llvm.ir.functions import attributes_of, is_left_alone
from mirenc.llvm.passes.look_ahead import LoopCode, look_ahead
from mirenc.llvm.passes.loop_hint import Hint
from mirenc.llvm.passes.vectorizer import follows_hints, vectorizer_choices

WIDTHS = (1, 2, 4, 8, 16, 32, 64)
COUNTS = (1, 2, 4, 8, 16)
# A trip count that is known about -> some that it may be.
TRIP_CLASSES = {"<8": (2, 4, 6), "<32": (8, 12, 16, 24, 30), "<256": (40, 75, 100, 200), ">=256": (300, 1500, 20_000)}
# Instruction set -> bits of its widest vector.
VECTOR_BITS = {"sse2": 128, "neon": 128, "avx2": 256, "avx512": 512}
# What Linux calls the features of the x86-64 psABI's levels 3 and 4.
_NEEDED = {
    "avx2": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
    "avx512": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}
_CPU_INFO = Path("/proc/cpuinfo")
_MOST_ELEMENTS = 64
_PROBES = (None, Hint(2, 1), Hint(1, 2))


class Vectorization(MeasuredTask):
    """Vector width x interleave count of each innermost loop: ``#pragma clang loop``.

    (0, 0), the default, is LLVM's own choice. A setting that it does not follow is measured as what it made of it.
    """

    name = "vectorization"
    title = "loop vectorization"
    level = "loop"
    dialect = SCALAR_LOOPS
    source = "mirenc measure vectorization"
    method = "mirenc.tools.measure.vectorization:VectorizationMethod"
    space = Space(
        ("vectorization_factor", "interleave_factor"),
        ((0, 0), *((width, count) for width in WIDTHS for count in COUNTS)),
        missing="never",
    )
    compiler_context = ("llvm_width", "llvm_count")
    context_names = ("trip_count", "vector_bits", *compiler_context)
    context_help = {
        "trip_count": f"iterations each time, or about: {', '.join(TRIP_CLASSES)}; 0 where nobody knows",
        "vector_bits": "bits of the widest vector compiled for: 128 (SSE2), 256 (AVX2) or 512 (AVX-512)",
        "llvm_width": "vector width of LLVM's own choice, 1 for a scalar loop, 0 for not known",
        "llvm_count": "interleave count of LLVM's own choice, 0 for not known",
    }
    context_allowed = {
        **dict.fromkeys(("trip_count", *compiler_context), 0),
        "vector_bits": tuple(sorted(set(VECTOR_BITS.values()))),
    }
    ir_context = ("trip_count", *compiler_context)
    run_context = ("trip_count",)
    part_context = {part: {"vector_bits": bits} for part, bits in VECTOR_BITS.items()}
    protocols = (
        Protocol("structure", "5 folds of whole structures", lambda data: data.group, folds=5),
        Protocol("family", "leave one family of structures out", lambda data: data.suite, folds=None),
    )
    default_words = "leave it to LLVM"
    baselines = {"llvm": 0}
    select = "speedup"
    looks_ahead = True
    directive_note = (
        "with such a pragma LLVM may reorder floating-point sums; it was measured, and results stay the same, with "
        "-mllvm -hints-allow-reordering=false"
    )

    def regions(self, module: IRModule) -> list[Region]:
        """Loops with no loop inside them, of functions that passes touch. Raises ForeignIRError: they touch none."""
        if is_left_alone(module.text):
            raise ForeignIRError(
                f"{module.name}: every function is marked optnone, as -O0 does, so no pass touches a loop of it. Give "
                f"the source, or compile with: clang {' '.join(SCALAR_LOOPS.flags['c'][2:])} -S -emit-llvm"
            )
        attributes = zip(module.defined_functions, attributes_of(module.text), strict=True)
        alone = {function.name for function, words in attributes if "optnone" in words}
        found = [region for region in regions_of(module, "loop").regions if region.symbol not in alone]
        # A loop stands before those inside it, and they are deeper.
        inside = [later.symbol == loop.symbol and later.depth > loop.depth for loop, later in itertools.pairwise(found)]
        return [loop for loop, outer in zip(found, [*inside, False], strict=False) if not outer]

    def parse_feature(self, name: str, text: str) -> Any:
        return text if name == "trip_count" and text in TRIP_CLASSES else super().parse_feature(name, text)

    def check_feature(self, name: str, value: Any, given: Any) -> None:
        if name != "trip_count" or value not in TRIP_CLASSES:
            super().check_feature(name, value, given)

    def encode_context(self, context: tuple[Any, ...]) -> Float64:
        """Whether the trip count is known, its logarithm, that of the vector bits; and LLVM's choice likewise. (6,)."""
        counts = self.iterations(context)
        trips = counts[len(counts) // 2] if counts else 0.0
        bits, width, count = map(float, context[1:])
        known = width > 0 and count > 0
        choice = (np.log2(width), np.log2(count)) if known else (0.0, 0.0)
        return np.array([float(trips > 0), np.log2(1 + trips), np.log2(bits), float(known), *choice])

    def iterations(self, context: tuple[Any, ...]) -> tuple[float, ...]:
        count = context[0]
        return TRIP_CLASSES.get(count) or ((float(count),) if float(count) > 0 else ())

    def context_from_ir(self, module: IRModule, region: Region | None) -> Mapping[str, Any]:
        if region is None:
            return {}
        return {"trip_count": known_trip_count(module, region).iterations}

    def context_sources(self, module: IRModule, region: Region | None) -> Mapping[str, str]:
        source = "" if region is None else known_trip_count(module, region).source
        return {"trip_count": source} if source else {}

    def remarks(self, answer: Any) -> list[str]:
        count = answer.context["trip_count"]
        if not count:
            return ["trip count not known"]
        by = f", by {source}" if (source := answer.sources.get("trip_count")) else ""
        return [f"trip count {count if isinstance(count, str) else f'{count:.10g}'}{by}"]

    def machine_context(self) -> Mapping[str, str]:
        return {"vector_bits": str(VECTOR_BITS[found[-1]])} if (found := instruction_sets()) else {}

    def context_from_compiler(
        self, module: IRModule, region: Region | None, context: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """LLVM 22's choice for the loop. Tables have the choice of the LLVM that was measured."""
        choices = vectorizer_choices(module, int(float(context["vector_bits"])))
        width, count = choices.get((region.symbol, region.header), (0, 0)) if region else (0, 0)
        return {"llvm_width": width, "llvm_count": count}

    def look_ahead(
        self, module: IRModule, region: Region | None, context: tuple[Any, ...]
    ) -> Sequence[LoopCode | None]:
        """Of settings of at most `_MOST_ELEMENTS`: larger ones are hardly ever best, and most of the time.

        A loop that two settings leave as it is is one that the vectorizer may not touch: so do all (no exception in
        the 368 of 2,484 samples where they do).
        """
        assert region is not None
        hints = [Hint(*map(int, setting)) if any(setting) else None for setting in self.space.settings]
        wanted = [one for one in hints if one is None or one.width * one.count <= _MOST_ELEMENTS]
        bits = int(float(context[1]))
        first = look_ahead(module, region, _PROBES, bits)
        if len(set(map(repr, first))) == 1:
            made = dict.fromkeys(wanted, first[0])
        else:
            rest = [one for one in wanted if one not in _PROBES]
            made = dict(zip([*_PROBES, *rest], [*first, *look_ahead(module, region, rest, bits)], strict=True))
        return [made.get(one) for one in hints]

    def may_change(self, module: IRModule, region: Region | None, context: tuple[Any, ...]) -> bool:
        """Of all loops of a module by one compilation: of 2,045 in SQLite 84 may."""
        assert region is not None
        return (region.symbol, region.header) in follows_hints(module, int(float(context[1])))

    def sample_context(self, sample: MeasuredSample) -> Mapping[str, Any]:
        return dict(zip(self.compiler_context, sample.effective[self.space.default], strict=True))

    def directive(self, setting: tuple[Value, ...]) -> str:
        return Hint(*map(int, setting)).pragma() if any(setting) else ""


def instruction_sets() -> tuple[str, ...]:
    """Those of `VECTOR_BITS` that this machine has, narrow ones first; () for a machine that is not known."""
    if platform.machine() in ("aarch64", "arm64"):
        return ("neon",)
    if platform.machine() not in ("x86_64", "AMD64"):
        return ()
    text = _CPU_INFO.read_text(encoding="utf-8") if _CPU_INFO.is_file() else ""
    found = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    features = set(found[1].split()) if found else set()
    return ("sse2", *itertools.takewhile(lambda name: _NEEDED[name] <= features, _NEEDED))
