"""Sums over segments of rows, and which rows are distinct, in numpy."""

import itertools
from typing import TypeVar

import numpy as np

from mirenc.base.arrays import Float32, Float64, Int64, Integer, UInt64

Floats = TypeVar("Floats", Float32, Float64)

# Numbers that a process sums in numpy, at some 10 ns each; to import scipy.sparse takes 0.1 to 0.2 s.
_SCIPY_THRESHOLD = 1 << 21
_summed_count = 0
_LONG_SEGMENT = 8  # rows


def hash64(values: UInt64) -> UInt64:
    """A 64-bit hash of each number (the finalizer of splitmix64, Steele et al. 2014)."""
    x = values + np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


def distinct_keys(key: Integer) -> tuple[Int64, Int64]:
    """First place of each distinct key, and the number of each key among these; ascending, if 64 bits suffice.

    The upper bits of a hash are dropped for sorting: two equal hashes may count as distinct ones, never the reverse.
    """
    # Key and place in one number: sorting numbers is several times as fast as sorting places by them.
    bits = len(key).bit_length()
    packed = (key.view(np.uint64) << np.uint64(bits)) | np.arange(len(key), dtype=np.uint64)
    packed.sort()
    order = (packed & np.uint64((1 << bits) - 1)).view(np.int64)
    start = run_starts(key[order])
    key_index = np.empty_like(order)
    key_index[order] = np.repeat(np.arange(len(start)), np.diff(start, append=len(key)))
    return order[start], key_index


def run_starts(values: Integer) -> Int64:
    """First position of each run of equal values. Shapes: (n,) -> (runs,)."""
    return np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])


def segment_max(x: Float32, start: Integer) -> Float32:
    """Largest of each column in each segment of rows, of which none is empty. Shapes: (m, d), (n,) -> (n, d)."""
    if len(x) < _LONG_SEGMENT * len(start) or not len(start):
        return np.maximum.reduceat(x, start, axis=0) if len(start) else x[:0]
    # Several times as fast where segments are long.
    return np.stack([x[first:last].max(0) for first, last in itertools.pairwise([*start.tolist(), len(x)])])


def segment_sum(weight: Floats, column: Integer, start: Integer, x: Floats) -> Floats:
    """Weighted sum of some rows of ``x`` for each segment ``start[i] .. start[i + 1]``; an empty one sums to 0.

    A process imports scipy.sparse, which is faster, once it has summed enough for that to pay. Both ways add one after
    another in the order given: the numbers are the same to the bit.

    Shapes: weight (K,), rows of ``x`` (K,), start (n + 1,), x (m, d) -> (n, d), all floats of one type
    """
    global _summed_count
    _summed_count += len(column) * x.shape[1]
    segments = len(start) - 1
    if _summed_count > _SCIPY_THRESHOLD:
        import scipy.sparse as sp

        # Of wider numbers scipy would look whether they fit.
        column, start = column.astype(np.int32, copy=False), start.astype(np.int32, copy=False)
        return sp.csr_matrix((weight, column, start), shape=(segments, len(x))) @ x
    result = np.zeros((segments, x.shape[1]), dtype=x.dtype)
    # Not `reduceat`, which adds pairs of sums.
    np.add.at(result, np.repeat(np.arange(segments), np.diff(start)), x[column] * weight[:, None])
    return result
