"""`Reach`: how far a question is from the samples that a head was trained on, in code and in context features."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from mirenc.base.arrays import Float32, Float64
from mirenc.base.errors import HeadError
from mirenc.base.shown import short_repr

# Code is far if it is farther from the nearest training kernel than 95 of 100 training kernels were from theirs.
_FAR_PERCENTILE = 95.0
# A context feature is far if it is outside of the training samples' range by half of that range.
_OUTSIDE = 0.5
# A sample of the training kernels is enough to tell what is like them, and a column in 255 steps moves no distance by a
# hundredth of the reach.
_MOST_KERNELS, _MOST_NUMBERS = 512, 2**19
_LARGE, _STEPS = 8192, 255


@dataclass(frozen=True, eq=False)
class Reach:
    """Where the training samples of a head are: m pieces of code of D features, and ranges of A context features."""

    # (m, D) code features: float32, or uint8 steps of each column where there are many; at most 512 pieces of code
    kernels: NDArray[Any]
    code_reach: float  # distance beyond which a piece of code is far
    low: Float64  # (A,) range of the encoded context features
    high: Float64
    # (D,) or (1,): a code feature is its start plus so many steps
    start: Float32 = field(default_factory=lambda: np.zeros(1, np.float32))
    step: Float32 = field(default_factory=lambda: np.ones(1, np.float32))

    __repr__ = short_repr

    @classmethod
    def of(cls, matrix: Float64, context: int, group: NDArray[np.str_]) -> Self:
        """The reach of training rows (n, A + D); the nearest neighbour of a row is of another group."""
        kernels, first_rows = np.unique(matrix[:, context:].astype(np.float32), axis=0, return_index=True)
        limit = max(2, min(_MOST_KERNELS, _MOST_NUMBERS // max(kernels.shape[1], 1)))
        if len(kernels) > limit:
            chosen_rows = np.sort(np.random.default_rng(0).permutation(len(kernels))[:limit])
            kernels, first_rows = kernels[chosen_rows], first_rows[chosen_rows]
        kernel_group = group[first_rows]
        distance = cdist(kernels, kernels)
        distance[kernel_group[:, None] == kernel_group[None]] = np.inf
        nearest = distance.min(axis=1)
        nearest = nearest[np.isfinite(nearest)]
        reach = float(np.percentile(nearest, _FAR_PERCENTILE)) if len(nearest) else 1.0
        contexts = matrix[:, :context]
        unquantised = cls(kernels, max(reach, 1e-9), contexts.min(axis=0), contexts.max(axis=0))
        if kernels.size < _LARGE:
            return unquantised
        start = kernels.min(axis=0)
        step = np.maximum((kernels.max(axis=0) - start) / _STEPS, np.finfo(np.float32).tiny)
        return replace(unquantised, kernels=np.rint((kernels - start) / step).astype(np.uint8), start=start, step=step)

    @property
    def code(self) -> Float64:
        """(m, D) the code features of the training kernels."""
        return self.start + self.step.astype(np.float64) * self.kernels

    def distance(self, context: Float64, code: Float32) -> float:
        """How far a question is, (A,) and (D,); 1 is where few training samples are."""
        code_distance = float(np.sqrt(((self.code - code) ** 2).sum(axis=1)).min() / self.code_reach)
        excess = np.maximum(np.maximum(self.low - context, context - self.high), 0.0)
        allowance = _OUTSIDE * np.maximum(self.high - self.low, 1e-9)
        return max(code_distance, float((excess / allowance).max(initial=0.0)))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that are saved beside `code_reach`, by name."""
        arrays = {"kernels": self.kernels, "low": self.low, "high": self.high}
        return arrays if self.kernels.dtype.kind == "f" else {**arrays, "start": self.start, "step": self.step}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], code_reach: float, *, columns: int, where: str) -> Self:
        """The reach with saved `arrays`, for a head of so many columns. Raises HeadError: arrays that do not fit."""
        kernels, low, high = (arrays.get(name, np.zeros(0)) for name in ("kernels", "low", "high"))
        steps = {name: arrays[name] for name in ("start", "step") if name in arrays}
        fits = kernels.ndim == 2 and low.ndim == 1 and low.shape == high.shape and len(kernels) > 0
        fits = fits and all(array.shape == kernels.shape[1:] for array in steps.values())
        if not fits or len(low) + kernels.shape[1] != columns or not 0 < code_reach < np.inf:
            raise HeadError(f"{where}: what the head knows of its training samples is damaged. Train the head anew")
        return cls(kernels, code_reach, low, high, **steps)
