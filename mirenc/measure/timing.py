"""The rules of measuring, as functions: equal outputs, the order of rounds, costs of two halves, noise.

Costs that a label is made of and costs that a gain is reported in come from different rounds. A setting that is chosen
because it was lucky in the one is not lucky in the other, so luck cannot become a reported gain.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.arrays import Float64, Int64
from mirenc.measure.kernel import Cell

BATCH = 2e-3  # seconds of one batch: long for a clock, short for what else the machine does
MAX_NOISE = 0.03  # share: over it a sample gets more rounds, and is dropped in the end
MORE_ROUNDS = 4  # times the rounds asked for, at most
_QUARTER = 0.25
# Another order of summation moves the last digits of a sum: share of the largest value of the array, by bytes.
_TOLERANCE = {4: 1e-4, 8: 1e-9}


@dataclass(frozen=True, eq=False)
class Costs:
    """What the rounds of one sample say: seconds a call of V variants, (V,), of even rounds and of odd ones; and noise.

    Noise is the gap between the default and its copy, as a share; of the two halves the larger.
    """

    label: Float64
    report: Float64
    noise: float


def round_order(generator: np.random.Generator, variants: int) -> Int64:
    """Who is timed when in a round: a new random order, so that no variant always follows the same one."""
    return generator.permutation(variants)


def calls_for(seconds: float, *, most: int | None = None) -> int:
    """Calls of a batch, for a variant that takes so many seconds a call; at most ``most``."""
    wanted = max(1, round(BATCH / max(seconds, 1e-10)))
    return wanted if most is None else min(wanted, most)


def costs_of(times: Float64, default: int, copy: int) -> Costs:
    """Costs and noise of (R, V) seconds a call, R >= 2; ``default`` and ``copy`` are columns."""
    label, report = (np.quantile(half, _QUARTER, axis=0) for half in (times[0::2], times[1::2]))
    gaps = [abs(half[default] - half[copy]) / min(half[default], half[copy]) for half in (label, report)]
    return Costs(label, report, float(max(gaps)))


def first_of_code(cells: Sequence[Cell]) -> list[int]:
    """For each cell the first of the same code and ``before``: they are one measurement. Unknown code is its own."""
    first: dict[tuple[str, str], int] = {}
    return [
        first.setdefault((cell.code, json.dumps(cell.before, sort_keys=True)), index)
        if cell.code and not cell.problem
        else index
        for index, cell in enumerate(cells)
    ]


def same_outputs(outputs: Sequence[NDArray[Any]], wanted: Sequence[NDArray[Any]]) -> bool:
    """Whether all arrays agree: integers in full, floats within a share of the array's magnitude."""
    return len(outputs) == len(wanted) and all(map(_same, outputs, wanted))


def _same(one: NDArray[Any], wanted: NDArray[Any]) -> bool:
    if one.dtype != wanted.dtype or one.shape != wanted.shape:
        return False
    if wanted.dtype.kind != "f":
        return bool(np.array_equal(one, wanted))
    finite = np.isfinite(wanted)
    if not (np.array_equal(finite, np.isfinite(one)) and np.array_equal(one[~finite], wanted[~finite], equal_nan=True)):
        return False
    left, right = one[finite].astype(np.float64), wanted[finite].astype(np.float64)
    magnitude = np.abs(right).max(initial=0.0)
    return bool((np.abs(left - right) <= _TOLERANCE[wanted.dtype.itemsize] * magnitude).all())
