"""Loop vectorization: the vector width and interleave count that a loop pragma asks for, measured on this machine."""

from __future__ import annotations

from mirenc.ir.dialect import SCALAR_LOOPS
from mirenc.ir.module import IRModule
from mirenc.ir.regions import Region, regions_of
from mirenc.tasks.measured import MeasuredTask
from mirenc.tasks.protocols import Protocol
from mirenc.tasks.space import Space

__all__ = ["COUNTS", "VECTOR_BITS", "WIDTHS", "Vectorization"]

WIDTHS = (1, 2, 4, 8, 16, 32, 64)
COUNTS = (1, 2, 4, 8, 16)
# Instruction set -> bits of its widest vector.
VECTOR_BITS = {"sse2": 128, "neon": 128, "avx2": 256, "avx512": 512}


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
    context_names = ("trip_count", "vector_bits")
    context_help = {  # noqa: RUF012 - a ClassVar by its base
        "trip_count": "iterations each time, 0 where that is not constant",
        "vector_bits": "bits of the widest vector compiled for: 128 (SSE2), 256 (AVX2) or 512 (AVX-512)",
    }
    part_context = {part: {"vector_bits": bits} for part, bits in VECTOR_BITS.items()}  # noqa: RUF012
    protocols = (
        Protocol("structure", "5 folds of whole structures", lambda data: data.group, folds=5),
        Protocol("family", "leave one family of structures out", lambda data: data.suite, folds=None),
    )
    baselines = {"llvm": 0}  # noqa: RUF012 - a ClassVar by its base
    select = "speedup"

    def regions(self, module: IRModule) -> list[Region]:
        """Loops with no loop inside them."""
        loops = regions_of(module, "loop").regions
        # A loop stands before those inside it, and they are deeper.
        return [
            loop
            for loop, after in zip(loops, [*loops[1:], None], strict=True)
            if after is None or after.symbol != loop.symbol or after.depth <= loop.depth
        ]
