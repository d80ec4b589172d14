"""`rounded`: a head whose large matrices need a fraction of the room, and whose answers are hardly other ones.

What training gives has 16 digits, of which the first three come from the data. So a head that is kept is rounded first,
and its evidence is that of rounded heads: rows of training, principal components and weights to half precision, leaves
of a forest to 256 values a column. `mirenc.heads.save_head` then finds that they fit narrower types.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mirenc.heads.state import pack, unpack

__all__ = ["in_half", "rounded"]

Head = TypeVar("Head")
Float = NDArray[np.floating[Any]]
_LARGE = 8192  # numbers; below, there is nothing to win
_LARGEST = 3e4  # what half precision holds with room to spare
_LEVELS = 256
_LEAVES = "value_"


def rounded(head: Head) -> Head:
    """The fitted head with large matrices rounded; the same in all else."""
    entry, arrays = pack(head, "head")
    result: Head = unpack(entry, {name: _rounded(name, array) for name, array in arrays.items()}, "head")
    return result


def _rounded(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim != 2 or array.size < _LARGE or array.dtype.kind != "f":
        return array
    # A leaf is one of dozens that are averaged. Of boosted trees, which have one number a leaf, hundreds are added up.
    return _in_levels(array) if name.endswith(_LEAVES) and array.shape[1] > 1 else in_half(array)


def in_half(matrix: Float) -> Float:
    """The numbers in half precision, of their type; as they are where one is too large for that."""
    if float(np.abs(matrix).max(initial=0.0)) >= _LARGEST:
        return matrix
    return matrix.astype(np.float16).astype(matrix.dtype)


def _in_levels(matrix: Float) -> Float:
    """Each column rounded to 256 numbers that are as far apart from each other."""
    low = matrix.min(axis=0)
    step = np.maximum((matrix.max(axis=0) - low) / (_LEVELS - 1), np.finfo(np.float64).tiny)
    result: Float = low + step * np.round((matrix - low) / step)
    return result
