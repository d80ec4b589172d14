"""Weighted sums of rows, by segment: the one sparse product that most of inference needs.

scipy.sparse computes it fastest, but importing it takes as much processor time as all else that a small file's start
needs. So a process begins in plain numpy, and imports scipy.sparse once it has summed enough for that to pay. Both add
one after another in the order given: the numbers are the same to the bit.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["segment_sum"]

Floats = TypeVar("Floats", NDArray[np.float32], NDArray[np.float64])
# Numbers that a process sums in numpy, at some 10 ns each; the import takes 0.1 to 0.2 s.
_FEW = 1 << 21
_summed = 0


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
    global _summed
    _summed += len(column) * x.shape[1]
    segments = len(start) - 1
    if _summed > _FEW:
        import scipy.sparse as sp

        product: Floats = sp.csr_matrix((weight, column, start), shape=(segments, len(x))) @ x
        return product
    result = np.zeros((segments, x.shape[1]), dtype=x.dtype)
    # Not `reduceat`, which adds pairs of sums.
    np.add.at(result, np.repeat(np.arange(segments), np.diff(start)), x[column] * weight[:, None])
    return result
