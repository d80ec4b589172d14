"""`Reach`: how far a question is from the samples that a head was trained on, in code and in context features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import HeadError

__all__ = ["Reach"]

Float = NDArray[np.float64]
# A kernel is far if it is farther from its nearest training kernel than 95 of 100 training kernels were from theirs.
_FAR = 95.0
# A context feature is far if it is outside of the training samples' range by half of that range.
_OUTSIDE = 0.5
# A head need not remember every kernel of many to know what is like them.
_MOST = 512
_LARGEST = 3e4  # what half precision holds with room to spare
_BLOCK = 1024  # kernels whose distances to all others are in memory at once


@dataclass(frozen=True, eq=False)
class Reach:
    """Where the training samples of a head are. m different pieces of code, A context features.

    Attributes
    ----------
    kernels : (m, D) float32, or float16 of many
        Code features; of more than 512 pieces of code, a sample.
    code_reach : float
        Distance beyond which a piece of code is far.
    low, high : (A,) float64
        Range of the encoded context features.
    """

    kernels: NDArray[np.floating[Any]]
    code_reach: float
    low: Float
    high: Float

    @classmethod
    def of(cls, matrix: Float, context: int, group: NDArray[np.str_]) -> Self:
        """The reach of training rows (n, A + D); the nearest neighbour of a row is of another group."""
        kernels, first = np.unique(matrix[:, context:].astype(np.float32), axis=0, return_index=True)
        many = len(kernels) > _MOST
        if many:
            drawn = np.sort(np.random.default_rng(0).permutation(len(kernels))[:_MOST])
            kernels, first = kernels[drawn], first[drawn]
        of = group[first]
        square = (kernels.astype(np.float64) ** 2).sum(axis=1)
        nearest = np.full(len(kernels), np.inf)
        for start in range(0, len(kernels), _BLOCK):
            part = slice(start, start + _BLOCK)
            product = kernels[part].astype(np.float64) @ kernels.T
            distance = np.maximum(square[part, None] + square[None] - 2 * product, 0)
            distance[of[part, None] == of[None]] = np.inf
            nearest[part] = np.sqrt(distance.min(axis=1))
        nearest = nearest[np.isfinite(nearest)]
        reach = float(np.percentile(nearest, _FAR)) if len(nearest) else 1.0
        own = matrix[:, :context]
        small = many and bool((np.abs(kernels) < _LARGEST).all())
        kept = kernels.astype(np.float16) if small else kernels
        return cls(kept, max(reach, 1e-9), own.min(axis=0), own.max(axis=0))

    def distance(self, context: Float, code: NDArray[np.float32]) -> float:
        """How far a question is: 1 where it is as far as training samples hardly ever are. (A,), (D,) -> ()."""
        in_code = float(np.sqrt(((self.kernels.astype(np.float64) - code) ** 2).sum(axis=1)).min() / self.code_reach)
        outside = np.maximum(np.maximum(self.low - context, context - self.high), 0.0)
        room = _OUTSIDE * np.maximum(self.high - self.low, 1e-9)
        return max(in_code, float((outside / room).max(initial=0.0)))

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"kernels": self.kernels, "low": self.low, "high": self.high}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], code_reach: float, *, columns: int, where: str) -> Self:
        """What was saved, for a head of so many columns.

        Raises
        ------
        HeadError
            Arrays that do not belong together.
        """
        kernels, low, high = (arrays.get(name, np.zeros(0)) for name in ("kernels", "low", "high"))
        shapes = kernels.ndim == 2 and low.ndim == 1 and low.shape == high.shape and len(kernels) > 0
        if not shapes or len(low) + kernels.shape[1] != columns or not 0 < code_reach < np.inf:
            raise HeadError(f"{where}: what the head knows of its training samples is damaged. Train it anew")
        if not all(np.isfinite(array).all() for array in (kernels, low, high)):
            raise HeadError(f"{where}: training samples of the head hold NaN or infinity. Train it anew")
        return cls(kernels, code_reach, low, high)
