"""What all tasks about innermost loops share: which loops there are, how they are read, what is known beside them."""

import itertools
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mirenc.arrays import Float64
from mirenc.errors import ForeignIRError
from mirenc.ir import IRModule, Region, regions_of
from mirenc.ir.dialect import SCALAR_LOOPS
from mirenc.ir.functions import attributes_of, is_left_alone
from mirenc.ir.trip_counts import constant_trip_count, profiled_runs
from mirenc.tasks import Protocol
from mirenc.tasks.measured import MeasuredTask

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


class InnermostTask(MeasuredTask):
    """A setting for each innermost loop, by its trip count and the vector width of the instruction set compiled for."""

    level = "loop"
    dialect = SCALAR_LOOPS
    context_names: ClassVar[tuple[str, ...]] = ("trip_count", "vector_bits")
    context_help = {
        "trip_count": f"iterations each time, or about: {', '.join(TRIP_CLASSES)}; 0 where nobody knows",
        "vector_bits": "bits of the widest vector compiled for: 128 (SSE2), 256 (AVX2) or 512 (AVX-512)",
    }
    context_allowed = {"trip_count": 0, "vector_bits": tuple(sorted(set(VECTOR_BITS.values())))}
    ir_context: ClassVar[tuple[str, ...]] = ("trip_count",)
    run_context = ("trip_count",)
    part_context = {part: {"vector_bits": bits} for part, bits in VECTOR_BITS.items()}
    protocols = (
        Protocol("structure", "5 folds of whole structures", lambda data: data.group, folds=5),
        Protocol("family", "leave one family of structures out", lambda data: data.suite, folds=None),
    )
    default_words = "leave it to LLVM"
    baselines = {"llvm": 0}
    select = "speedup"

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
        """Whether the trip count is known, its logarithm, and that of the vector bits. (3,)."""
        counts = self.iterations(context)
        count = counts[len(counts) // 2] if counts else 0.0
        return np.array([float(count > 0), np.log2(1 + count), np.log2(float(context[1]))])

    def iterations(self, context: tuple[Any, ...]) -> tuple[float, ...]:
        count = context[0]
        return TRIP_CLASSES.get(count) or ((float(count),) if float(count) > 0 else ())

    def context_from_ir(self, module: IRModule, region: Region | None) -> Mapping[str, Any]:
        if region is None:
            return {}
        return {"trip_count": profiled_runs(module, region)[1] or constant_trip_count(module, region)}

    def remarks(self, answer: Any) -> list[str]:
        count = answer.context["trip_count"]
        return [f"trip count {count if isinstance(count, str) else f'{count:g}'}" if count else "trip count not known"]

    def machine_context(self) -> Mapping[str, str]:
        return {"vector_bits": str(VECTOR_BITS[found[-1]])} if (found := instruction_sets()) else {}


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
