"""Linear heads: in all columns (ridge regression), or in the kernel of some landmarks.

Ridge: W = (X'X / n + alpha I)^-1 X'Y / n, on columns scaled to unit variance (Hoerl & Kennard, 1970). With fewer rows
than columns the same W is found in the rows' space: W = X' (XX' / n + alpha I)^-1 Y / n.

Landmarks: kernel ridge regression whose memory does not grow with n^2, as a sum over m landmarks drawn among the
training rows (Williams & Seeger, "Using the Nystroem Method to Speed Up Kernel Machines", NIPS 2000): w = (K'K / n +
alpha K_mm)^-1 K'Y / n with K the (n, m) kernel of rows and landmarks.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg as la

from mirenc.base.arrays import Float64
from mirenc.decide.estimators.base import Head, MultiRegressor, Reducing, Regressor, scaling
from mirenc.decide.estimators.chooser import CostRegressor, relative_log_costs

_BLOCK = 4096  # rows whose kernel is in memory at once
_JITTER = 1e-8


@dataclass(eq=False, repr=False)
class _Ridge(Head):
    alpha: float = 0.1
    _POSITIVE: ClassVar[tuple[str, ...]] = ("alpha",)

    def _learn(self, features: Float64, target: Float64) -> None:
        self.mean_: Float64 = target.mean(axis=0)
        self.center_, self.spread_ = scaling(features)
        scaled_rows = (features - self.center_) / self.spread_
        rows, columns = scaled_rows.shape
        gram = (scaled_rows @ scaled_rows.T if rows < columns else scaled_rows.T @ scaled_rows) / rows
        gram[np.diag_indices_from(gram)] += self.alpha
        moment = (target - self.mean_) / rows
        if rows < columns:
            self.weights_: Float64 = scaled_rows.T @ la.solve(gram, moment, assume_a="pos")
        else:
            self.weights_ = la.solve(gram, scaled_rows.T @ moment, assume_a="pos")

    def _answer(self, features: Float64) -> Float64:
        return self.mean_ + ((features - self.center_) / self.spread_) @ self.weights_


@dataclass(eq=False, repr=False)
class RidgeHead(_Ridge, CostRegressor, kind="ridge"):
    """Ridge regression of relative log costs, cut at plus and minus ``clip``; ``alpha`` as that of `RidgeRegressor`."""

    _: KW_ONLY
    clip: float = 2.0
    _POSITIVE = ("alpha", "clip")

    def _learn(self, features: Float64, target: Float64) -> None:
        super()._learn(features, relative_log_costs(target, self.clip))


@dataclass(eq=False, repr=False)
class RidgeRegressor(_Ridge, Regressor, kind="ridge_number"):
    """Ridge regression of a number; ``alpha`` is the penalty, in units of a column's variance."""


@dataclass(eq=False, repr=False)
class RidgeLabels(_Ridge, MultiRegressor, kind="ridge_labels"):
    """Ridge regression of labels, 0 or 1; ``alpha`` as that of `RidgeRegressor`."""


@dataclass(eq=False, repr=False)
class _Landmarks(Reducing):
    context_columns: int = 0
    _: KW_ONLY
    components: int = 64
    landmarks: int = 600
    length_scale: float = 1.0
    alpha: float = 1e-4
    random_state: int = 0
    _POSITIVE = ("length_scale", "alpha")
    _COUNTS = ("landmarks",)

    def _learn(self, features: Float64, target: Float64) -> None:
        context = self.context_columns
        self._find_components(features)
        reduced = self._reduced(features)
        self.middle_: Float64 = reduced.mean(axis=0)
        spread = reduced.std(axis=0)
        # Each context feature weighs one, and so do all code columns together.
        spread[context:] = float(np.sqrt((spread[context:] ** 2).sum())) / math.sqrt(max(context, 1))
        self.spread_ = np.where(spread > 1e-9 * np.maximum(1.0, np.abs(self.middle_)), spread, np.inf)
        rows = (reduced - self.middle_) / self.spread_
        chosen_rows = np.random.default_rng(self.random_state).permutation(len(rows))[: self.landmarks]
        self.landmarks_ = rows[np.sort(chosen_rows)]
        self.mean_: Float64 = target.mean(axis=0)
        gram = np.zeros((len(self.landmarks_),) * 2)
        moment = np.zeros((len(self.landmarks_), target.shape[1]))
        for first in range(0, len(rows), _BLOCK):
            kernel = self._kernel(rows[first : first + _BLOCK])  # (block, m)
            gram += kernel.T @ kernel
            moment += kernel.T @ (target[first : first + _BLOCK] - self.mean_)
        penalised_gram = gram / len(rows) + self.alpha * self._kernel(self.landmarks_)
        penalised_gram[np.diag_indices_from(penalised_gram)] += _JITTER
        self.weights_: Float64 = la.solve(penalised_gram, moment / len(rows), assume_a="pos")

    def _kernel(self, rows: Float64) -> Float64:
        """A Gaussian, for near landmarks, plus the inner product, for rows far from all of them. (n, C) -> (n, m)."""
        product = rows @ self.landmarks_.T
        square = (rows**2).sum(axis=1)[:, None] + (self.landmarks_**2).sum(axis=1)[None] - 2 * product
        # Two rows are two variances of each column apart on average.
        scale = 2 * self.length_scale**2 * max(2 * min(self.context_columns, rows.shape[1]), 2)
        return np.asarray(np.exp(-np.maximum(square, 0) / scale) + product / rows.shape[1])

    def _answer(self, features: Float64) -> Float64:
        rows = (self._reduced(features) - self.middle_) / self.spread_
        blocks = [self._kernel(rows[first : first + _BLOCK]) @ self.weights_ for first in range(0, len(rows), _BLOCK)]
        return self.mean_ + np.concatenate(blocks)


@dataclass(eq=False, repr=False)
class LandmarkRegressor(_Landmarks, Regressor, kind="landmark_number"):
    """Kernel ridge regression of a number.

    The first ``context_columns`` columns are context features; code columns beyond ``components`` are first reduced to
    so many principal components. ``landmarks``: training rows that the function is a sum over, drawn by
    ``random_state``. ``length_scale``: of the Gaussian, in units of the mean distance of two rows. ``alpha``: penalty,
    in units of the kernel.
    """


@dataclass(eq=False, repr=False)
class LandmarkLabels(_Landmarks, MultiRegressor, kind="landmark_labels"):
    """Kernel ridge regression of labels, 0 or 1; parameters as those of `LandmarkRegressor`."""
