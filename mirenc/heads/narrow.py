"""Arrays as the files of a head hold them: each in the narrowest type that holds all of its numbers exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["narrowed", "widened"]

Arrays = dict[str, NDArray[Any]]
_NARROW: dict[str, tuple[type[np.generic], ...]] = {
    "i": (np.uint8, np.int8, np.uint16, np.int16, np.int32),
    "f": (np.float16, np.float32),
}


def narrowed(arrays: Mapping[str, NDArray[Any]]) -> tuple[Arrays, dict[str, str]]:
    """Arrays in narrower types where these hold the same numbers, and the types that those had before."""
    found, types = {}, {}
    for name, array in arrays.items():
        found[name] = _narrowest(array)
        if found[name].dtype != array.dtype:
            types[name] = array.dtype.str
    return found, types


def _narrowest(array: NDArray[Any]) -> NDArray[Any]:
    for kind in _NARROW.get(array.dtype.kind, ()):
        if np.dtype(kind).itemsize >= array.dtype.itemsize:
            break
        with np.errstate(over="ignore"):
            small = array.astype(kind)
        if np.array_equal(small, array):
            return small
    return array


def widened(arrays: Mapping[str, NDArray[Any]], types: Mapping[str, str]) -> Arrays:
    """What was given to `narrowed`.

    Raises
    ------
    AttributeError, TypeError, ValueError
        Types that are none, or none of numbers.
    """
    kinds = {name: np.dtype(kind) for name, kind in types.items()}
    if not all(kind.kind in _NARROW for kind in kinds.values()):
        raise ValueError("'types' are none of numbers")
    return {name: array.astype(kinds[name]) if name in kinds else array for name, array in arrays.items()}
