"""Loop vectorization: the vector width and interleave count that a loop pragma asks for, measured on this machine."""

from __future__ import annotations

from mirenc.ir.dialect import SCALAR_LOOPS
from mirenc.ir.module import IRModule
from mirenc.ir.regions import Region, regions_of
from mirenc.tasks.space import Space

__all__ = ["COUNTS", "VECTOR_BITS", "WIDTHS", "constant_trip_count", "innermost_loops"]

WIDTHS = (1, 2, 4, 8, 16, 32, 64)
COUNTS = (1, 2, 4, 8, 16)
SPACE = Space(
    ("vectorization_factor", "interleave_factor"),
    ((0, 0), *((width, count) for width in WIDTHS for count in COUNTS)),
    missing="never",
)
# Instruction set -> bits of its widest vector.
VECTOR_BITS = {"sse2": 128, "neon": 128, "avx2": 256, "avx512": 512}
DIALECT = SCALAR_LOOPS


def innermost_loops(module: IRModule) -> list[Region]:
    """Loops with no loop inside them."""
    loops = regions_of(module, "loop").regions
    # A loop stands before those inside it, and they are deeper.
    return [
        loop
        for loop, after in zip(loops, [*loops[1:], None], strict=True)
        if after is None or after.symbol != loop.symbol or after.depth <= loop.depth
    ]


def constant_trip_count(module: IRModule, loop: Region) -> int:
    return 0
