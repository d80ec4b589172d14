"""The structures by family: a family is what the strictest protocol leaves out as a whole."""

from __future__ import annotations

from mirenc.measure.loops.families.bits import BITS
from mirenc.measure.loops.families.byte_strings import BYTE_STRINGS
from mirenc.measure.loops.families.conditional import CONDITIONAL
from mirenc.measure.loops.families.gather import GATHER
from mirenc.measure.loops.families.interleaved import INTERLEAVED
from mirenc.measure.loops.families.maps import MAPS
from mirenc.measure.loops.families.math_calls import MATH_CALLS
from mirenc.measure.loops.families.nest import NEST
from mirenc.measure.loops.families.recurrence import RECURRENCE
from mirenc.measure.loops.families.reduction import REDUCTION
from mirenc.measure.loops.families.scatter import SCATTER
from mirenc.measure.loops.families.search import SEARCH
from mirenc.measure.loops.families.small_nest import SMALL_NEST
from mirenc.measure.loops.families.stencil import STENCIL
from mirenc.measure.loops.families.strided import STRIDED
from mirenc.measure.loops.families.widths import WIDTHS

__all__ = ["FAMILIES"]

FAMILIES = {
    "map": MAPS,
    "strided": STRIDED,
    "gather": GATHER,
    "scatter": SCATTER,
    "reduction": REDUCTION,
    "search": SEARCH,
    "recurrence": RECURRENCE,
    "conditional": CONDITIONAL,
    "math": MATH_CALLS,
    "nest": NEST,
    "small nest": SMALL_NEST,
    "stencil": STENCIL,
    "interleaved": INTERLEAVED,
    "widths": WIDTHS,
    "bits": BITS,
    "byte strings": BYTE_STRINGS,
}
