"""Whether a variant computes what the default computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["same_outputs"]

# Another order of summation moves the last digits of a sum: share of the largest value of the array, by bytes.
_TOLERANCE = {4: 1e-4, 8: 1e-9}


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
