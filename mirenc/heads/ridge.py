"""`RidgeHead`, `RidgeRegressor` and `RidgeLabels`: linear in all columns, at once for thousands of samples.

W = (X'X / n + alpha I)^-1 X'Y / n, on columns scaled to unit variance (Hoerl & Kennard, 1970). Memory is (A + D)^2,
whatever the number of samples.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.linalg as la

from mirenc.arrays import Float64
from mirenc.heads.base import Head, Labels, Number, scaling
from mirenc.heads.choosing import CostRegressor, relative_log_costs
from mirenc.heads.state import Arrays, register


@dataclass(eq=False, repr=False)
class _Ridge(Head):
    """Scaling and weights of all of them."""

    alpha: float = 0.1
    _ARRAYS = ("center_", "spread_", "weights_", "mean_")
    _POSITIVE: ClassVar[tuple[str, ...]] = ("alpha",)

    def _learn(self, features: Float64, target: Float64) -> None:
        self.mean_ = target.mean(axis=0)
        self.center_, self.spread_ = scaling(features)
        scaled = (features - self.center_) / self.spread_
        gram = scaled.T @ scaled / len(scaled)
        gram[np.diag_indices_from(gram)] += self.alpha
        self.weights_ = la.solve(gram, scaled.T @ (target - self.mean_) / len(scaled), assume_a="pos")

    def _answer(self, features: Float64) -> Float64:
        result: Float64 = self.mean_ + ((features - self.center_) / self.spread_) @ self.weights_
        return result

    def _restore(self, meta: dict[str, Any], arrays: Arrays) -> None:
        self.n_features_in_ = len(self.center_)

    def _fits(self) -> bool:
        columns, outputs = self.weights_.shape
        return self.center_.shape == self.spread_.shape == (columns,) and self.mean_.shape == (outputs,)


@register("ridge")
@dataclass(eq=False, repr=False)
class RidgeHead(_Ridge, CostRegressor):
    """Ridge regression of relative log costs, one output a setting.

    Parameters
    ----------
    alpha : float
        Penalty, in units of a column's variance.
    clip : float
        Relative log costs are cut at plus and minus this.

    Attributes
    ----------
    weights_ : (A + D, K) float64
    mean_ : (K,) float64
    """

    _: KW_ONLY
    clip: float = 2.0
    _POSITIVE = ("alpha", "clip")

    def _learn(self, features: Float64, target: Float64) -> None:
        super()._learn(features, relative_log_costs(target, self.clip))

    def _restore(self, meta: dict[str, Any], arrays: Arrays) -> None:
        super()._restore(meta, arrays)
        self.n_choices_ = len(self.mean_)


@register("ridge_number")
@dataclass(eq=False, repr=False)
class RidgeRegressor(_Ridge, Number):
    """Ridge regression of a number; ``alpha`` is the penalty, in units of a column's variance."""


@register("ridge_labels")
@dataclass(eq=False, repr=False)
class RidgeLabels(_Ridge, Labels):
    """Ridge regression of labels, 0 or 1 each; ``alpha`` as that of `RidgeRegressor`."""
