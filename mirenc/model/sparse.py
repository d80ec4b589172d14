"""Weighted sums of rows, by segment: the one sparse product that most of inference needs.

scipy.sparse computes it fastest, but importing it takes a fifth of a second of processor time (as much as the rest of
a small file's start), so few rows are summed in plain numpy. Both add in the order given: the numbers are the same.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["segment_sum"]

Floats = TypeVar("Floats", NDArray[np.float32], NDArray[np.float64])
# Numbers gathered: below it numpy is about as fast (2 MiB of float64 stay in the processor's cache).
_FEW = 1 << 18


def segment_sum(weight: Floats, column: NDArray[np.integer], start: NDArray[np.integer], x: Floats) -> Floats:
    """Weighted sum of some rows of ``x`` for each segment.

    Parameters
    ----------
    weight : (K,) float
        Of the type of ``x``.
    column : (K,) int
        Rows of ``x``.
    start : (n + 1,) int
        Segment i is ``weight[start[i]:start[i + 1]]``; an empty one sums to 0.
    x : (m, d) float

    Returns
    -------
    (n, d) float, of the type of ``x``
    """
    if len(column) * x.shape[1] > _FEW:
        import scipy.sparse as sp

        product: Floats = sp.csr_matrix((weight, column, start), shape=(len(start) - 1, len(x))) @ x
        return product
    result = np.zeros((len(start) - 1, x.shape[1]), dtype=x.dtype)
    filled = np.flatnonzero(np.diff(start))
    if len(filled):
        result[filled] = np.add.reduceat(x[column] * weight[:, None], start[filled], axis=0)
    return result
