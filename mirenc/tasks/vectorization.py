"""Loop vectorization: the vector width and interleave count that a loop pragma asks for, measured on this machine."""

from __future__ import annotations

import itertools
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.arrays import Float64
from mirenc.errors import ForeignIRError, TaskError
from mirenc.ir.dialect import SCALAR_LOOPS
from mirenc.ir.functions import attributes_of, is_left_alone
from mirenc.ir.module import IRModule
from mirenc.ir.regions import Region, regions_of
from mirenc.ir.trip_counts import constant_trip_count
from mirenc.passes.vectorizer import vectorizer_choices
from mirenc.tasks.measured import MeasuredSample, MeasuredTask
from mirenc.tasks.protocols import Protocol
from mirenc.tasks.space import Space, Value

WIDTHS = (1, 2, 4, 8, 16, 32, 64)
COUNTS = (1, 2, 4, 8, 16)
# Instruction set -> bits of its widest vector.
VECTOR_BITS = {"sse2": 128, "neon": 128, "avx2": 256, "avx512": 512}
# What Linux calls the features of the x86-64 psABI's levels 3 and 4.
_NEEDED = {
    "avx2": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
    "avx512": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}
_CPU_INFO = Path("/proc/cpuinfo")


class Vectorization(MeasuredTask):
    """Vector width x interleave count of an innermost loop: ``#pragma clang loop``.

    Setting (0, 0), the default, is LLVM's own choice. A setting that LLVM does not follow is measured as what it made
    of it.
    """

    name = "vectorization"
    title = "loop vectorization"
    source = "mirenc measure vectorization"
    space = Space(
        ("vectorization_factor", "interleave_factor"),
        ((0, 0), *((width, count) for width in WIDTHS for count in COUNTS)),
        missing="never",
    )
    level = "loop"
    dialect = SCALAR_LOOPS
    context_names = ("trip_count", "vector_bits", "llvm_width", "llvm_count")
    context_help = {  # noqa: RUF012 - a ClassVar by its base
        "trip_count": "iterations each time, 0 where that is not constant",
        "vector_bits": "bits of the widest vector compiled for: 128 (SSE2), 256 (AVX2) or 512 (AVX-512)",
        "llvm_width": "vector width of LLVM's own choice, 1 for a scalar loop, 0 for not known",
        "llvm_count": "interleave count of LLVM's own choice, 0 for not known",
    }
    part_context = {part: {"vector_bits": bits} for part, bits in VECTOR_BITS.items()}  # noqa: RUF012
    protocols = (
        Protocol("structure", "5 folds of whole structures", lambda data: data.group, folds=5),
        Protocol("family", "leave one family of structures out", lambda data: data.suite, folds=None),
    )
    ir_context = ("trip_count", "llvm_width", "llvm_count")
    compiler_context = ("llvm_width", "llvm_count")
    default_words = "leave it to LLVM"
    directive_note = (
        "with such a pragma LLVM may reorder floating-point sums; it was measured, and results stay the same, with "
        "-mllvm -hints-allow-reordering=false"
    )
    baselines = {"llvm": 0}  # noqa: RUF012 - a ClassVar by its base
    select = "speedup"

    def regions(self, module: IRModule) -> list[Region]:
        """Loops with no loop inside them, of functions that passes touch.

        Raises ForeignIRError: no pass would touch any of them, whatever a pragma says.
        """
        if is_left_alone(module.text):
            raise ForeignIRError(
                f"{module.name}: every function is marked optnone, as -O0 does, so LLVM vectorises no loop of it. Give "
                f"the source, or compile with: clang {' '.join(SCALAR_LOOPS.flags['c'][2:])} -S -emit-llvm"
            )
        attributes = zip(module.defined_functions, attributes_of(module.text), strict=True)
        alone = {function.name for function, words in attributes if "optnone" in words}
        found = [region for region in regions_of(module, "loop").regions if region.symbol not in alone]
        loops: list[Region | None] = [*found, None]
        # A loop stands before those inside it, and they are deeper.
        return [
            loop
            for loop, after in itertools.pairwise(loops)
            if loop and (after is None or after.symbol != loop.symbol or after.depth <= loop.depth)
        ]

    def encode_context(self, context: tuple[Any, ...]) -> Float64:
        """Logarithms of trip count, vector bits, and width and count of LLVM's own choice. (6,).

        Before the trip count, and before LLVM's choice, is whether it is known.
        """
        count, bits, width, interleaved = map(float, context)
        if min(count, width, interleaved) < 0 or bits <= 0:
            raise TaskError(
                f"trip_count is {count:g}, vector_bits {bits:g}, llvm_width {width:g} and llvm_count {interleaved:g}; "
                "allowed: 0 or more, and for vector_bits 128, 256 or 512"
            )
        known = width > 0 and interleaved > 0
        choice = (np.log2(width), np.log2(interleaved)) if known else (0.0, 0.0)
        return np.array([float(count > 0), np.log2(1 + count), np.log2(bits), float(known), *choice])

    def parse_feature(self, name: str, text: str) -> Any:
        """One of the four numbers. Raises TaskError as `Task.parse_feature`; below 0, or no such vectors."""
        found = super().parse_feature(name, text)
        if found < 0 or (name == "vector_bits" and found not in VECTOR_BITS.values()):
            raise TaskError(f"context feature {name!r} is {text!r}; allowed: {self.context_help[name]}")
        return found

    def context_from_ir(self, module: IRModule, region: Region | None) -> Mapping[str, Any]:
        return {} if region is None else {"trip_count": constant_trip_count(module, region)}

    def context_from_compiler(
        self, module: IRModule, region: Region | None, context: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """LLVM 22's choice for the loop. Tables have the choice of the LLVM that was measured."""
        choices = vectorizer_choices(module, int(float(context["vector_bits"])))
        width, count = choices.get((region.symbol, region.header), (0, 0)) if region else (0, 0)
        return {"llvm_width": width, "llvm_count": count}

    def sample_context(self, sample: MeasuredSample) -> Mapping[str, Any]:
        return dict(zip(self.compiler_context, sample.effective[self.space.default], strict=True))

    def machine_context(self) -> Mapping[str, str]:
        """The widest vectors of this machine, where it is known."""
        return {"vector_bits": str(VECTOR_BITS[found[-1]])} if (found := instruction_sets()) else {}

    def directive(self, setting: tuple[Value, ...]) -> str:
        width, count = setting
        return f"#pragma clang loop vectorize_width({width}) interleave_count({count})" if width else ""


def instruction_sets() -> tuple[str, ...]:
    """Those of `VECTOR_BITS` that this machine has, narrow ones first; () for a machine that is not known."""
    if platform.machine() in ("aarch64", "arm64"):
        return ("neon",)
    if platform.machine() not in ("x86_64", "AMD64"):
        return ()
    text = _CPU_INFO.read_text(encoding="utf-8") if _CPU_INFO.is_file() else ""
    found = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    features = set(found[1].split()) if found else set()
    sets = ["sse2"]
    for name, needed in _NEEDED.items():
        if not needed <= features:
            break
        sets.append(name)
    return tuple(sets)
