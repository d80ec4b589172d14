"""The rules of timing, as functions of times: the order of rounds, costs of two halves, noise, and who is dropped.

Costs that a label is made of and costs that a gain is reported in come from different rounds. A setting that is chosen
because it was lucky in the one is not lucky in the other, so luck cannot become a reported gain.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirenc.measure.kernel import Cell

__all__ = ["BATCH", "MAX_NOISE", "MORE_ROUNDS", "Costs", "calls_for", "costs_of", "first_of_code", "round_order"]

Float = NDArray[np.float64]

BATCH = 2e-3  # seconds of one batch: long for a clock, short for what else the machine does
MAX_NOISE = 0.03  # share: over it a sample gets more rounds, and is dropped in the end
MORE_ROUNDS = 4  # times the rounds asked for, at most
_QUARTER = 0.25


@dataclass(frozen=True, eq=False)
class Costs:
    """What the rounds of one sample say. V variants.

    Attributes
    ----------
    label, report : (V,) float64
        Seconds a call, of the even and of the odd rounds.
    noise : float
        Gap between the default and its copy, as a share; of the two halves the larger.
    """

    label: Float
    report: Float
    noise: float


def round_order(generator: np.random.Generator, variants: int) -> NDArray[np.int64]:
    """Who is timed when in a round: a new random order, so that no variant always follows the same one."""
    return generator.permutation(variants)


def calls_for(seconds: float, *, most: int | None = None) -> int:
    """Calls of a batch, for a variant that takes so many seconds a call; at most ``most``."""
    wanted = max(1, round(BATCH / max(seconds, 1e-10)))
    return wanted if most is None else min(wanted, most)


def costs_of(times: Float, default: int, copy: int) -> Costs:
    """Costs and noise of some rounds.

    Parameters
    ----------
    times : (R, V) float64
        Seconds a call, R >= 2.
    default, copy : int
        Columns of the default and of its copy.
    """
    label, report = (np.quantile(half, _QUARTER, axis=0) for half in (times[0::2], times[1::2]))
    gaps = [abs(half[default] - half[copy]) / min(half[default], half[copy]) for half in (label, report)]
    return Costs(label, report, float(max(gaps)))


def first_of_code(cells: Sequence[Cell]) -> list[int]:
    """For each cell the first one with the same code and the same ``before``: they are one measurement.

    A cell of unknown code, or with a problem, is itself.
    """
    first: dict[tuple[str, str], int] = {}
    found = []
    for index, cell in enumerate(cells):
        if not cell.code or cell.problem:
            found.append(index)
            continue
        key = cell.code, json.dumps(cell.before, sort_keys=True)
        found.append(first.setdefault(key, index))
    return found
