"""Compare vectors and find the nearest: exact cosines in plain numpy, a block at a time."""

import numpy as np
from numpy.typing import ArrayLike

from mirenc.base.arrays import Float32, Float64, Int64
from mirenc.base.errors import ConfigError

Nearest = tuple[Int64, Float32]
_CANDIDATES = 8192  # rows of a block: 42 MB as 640 float64
_QUERIES = 512


def compare(vectors: ArrayLike, others: ArrayLike | None = None) -> Float32:
    """Cosine of each vector with each other, or with each of ``others``; a row of zeros has 0 with everything.

    Shapes: (n, D), (m, D) -> (n, m) float32. Raises ConfigError: not two-dimensional, widths that differ, or values
    that are no finite numbers.

    Examples
    --------
    >>> compare([[1, 0], [3, 4]]).round(2)
    array([[1. , 0.6],
           [0.6, 1. ]], dtype=float32)
    """
    left, right = _matrices(vectors, vectors if others is None else others)
    return _cosines(_unit(left, 0), _unit(right, 0))


def nearest(queries: ArrayLike, candidates: ArrayLike, k: int = 10) -> Nearest:
    """The k candidates of largest cosine for each query, by exact search.

    Shapes: (q, D), (n, D) -> (q, min(k, n)) int64, rows of ``candidates``, nearest first and equals in the order of
    their rows; (q, min(k, n)) float32, cosines. ``candidates`` may be memory-mapped: they are read one block at a time.
    Raises ConfigError: k below 1, and as `compare`.
    """
    if k < 1:
        raise ConfigError(f"k is {k}; give 1 or more")
    vectors, matrix = _matrices(queries, candidates)
    k = min(k, len(matrix))
    rows = np.empty((len(vectors), k), dtype=np.int64)
    cosines = np.empty((len(vectors), k), dtype=np.float32)
    for first in range(0, len(vectors), _QUERIES):
        part = slice(first, first + _QUERIES)
        rows[part], cosines[part] = _nearest_of_block(_unit(vectors[part], first), matrix, k)
    return rows, cosines


def _nearest_of_block(queries: Float64, candidates: Float32, k: int) -> Nearest:
    """`nearest` of one block of unit queries: each block of candidates is merged with the best rows so far."""
    rows, cosines = np.zeros((len(queries), 0), dtype=np.int64), np.zeros((len(queries), 0), dtype=np.float32)
    for first in range(0, len(candidates), _CANDIDATES):
        block = _unit(candidates[first : first + _CANDIDATES], first)
        numbers = np.broadcast_to(np.arange(first, first + len(block)), (len(queries), len(block)))
        rows = np.concatenate([rows, numbers], axis=1)  # (q, k + block)
        cosines = np.concatenate([cosines, _cosines(queries, block)], axis=1)
        columns = _largest(cosines, min(k, cosines.shape[1]))  # (q, k)
        rows, cosines = np.take_along_axis(rows, columns, 1), np.take_along_axis(cosines, columns, 1)
    return rows, cosines


def _largest(values: Float32, k: int) -> Int64:
    """(q, k) columns of the k largest of each row, largest first; equals in the order of their columns."""
    kth = -np.partition(-values, k - 1, axis=1)[:, k - 1]
    largest = np.empty((len(values), k), dtype=np.int64)
    for number, row in enumerate(values):
        columns = np.flatnonzero(row >= kth[number])  # k columns, and more where the k-th has equals
        largest[number] = columns[np.argsort(-row[columns], kind="stable")[:k]]
    return largest


def _matrices(left: ArrayLike, right: ArrayLike) -> tuple[Float32, Float32]:
    first, second = np.asanyarray(left), np.asanyarray(right)
    if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1]:
        raise ConfigError(
            f"vectors of shapes {first.shape} and {second.shape} cannot be compared. Give arrays of shapes (n, D) and "
            "(m, D) that come from the same model, level and part"
        )
    return first, second


def _unit(vectors: Float32, first: int) -> Float64:
    """Rows scaled to length 1; a row of zeros stays. Double precision, so that equal vectors have equal cosines."""
    with np.errstate(invalid="ignore"):  # of a damaged file, which is refused below
        doubles = np.asarray(vectors, dtype=np.float64)
    length = np.linalg.norm(doubles, axis=1, keepdims=True)
    if not np.isfinite(length).all():
        row = first + int(np.flatnonzero(~np.isfinite(length[:, 0]))[0])
        raise ConfigError(f"vector {row} has values that are not finite. Embed its file again")
    return doubles / np.where(length > 0, length, 1)


def _cosines(left: Float64, right: Float64) -> Float32:
    return np.clip(left @ right.T, -1, 1).astype(np.float32)
