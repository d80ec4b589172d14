"""Short names for the types of numpy arrays, so that a signature says its dtype; and runs that lie end to end."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Bool: TypeAlias = NDArray[np.bool_]
UInt8: TypeAlias = NDArray[np.uint8]
UInt16: TypeAlias = NDArray[np.uint16]
UInt32: TypeAlias = NDArray[np.uint32]
UInt64: TypeAlias = NDArray[np.uint64]
Int8: TypeAlias = NDArray[np.int8]
Int32: TypeAlias = NDArray[np.int32]
Int64: TypeAlias = NDArray[np.int64]
Integer: TypeAlias = NDArray[np.integer]
Float32: TypeAlias = NDArray[np.float32]
Float64: TypeAlias = NDArray[np.float64]
Floating: TypeAlias = NDArray[np.floating[Any]]


def starts(sizes: ArrayLike) -> Int64:
    """Where each of some runs begins, and the end of the last. Shapes: (n,) -> (n + 1,)."""
    return np.append(0, np.cumsum(sizes)).astype(np.int64, copy=False)


def spread(first: Integer, last: Integer) -> tuple[Int64, Int64]:
    """The numbers ``first[i] .. last[i] - 1`` of all i end to end, and `starts` of these runs."""
    start = starts(last - first)
    return np.arange(start[-1]) + np.repeat(first - start[:-1], np.diff(start)), start
