"""`RidgeHead`, `RidgeRegressor` and `RidgeLabels`: linear in all columns, at once for thousands of samples.

W = (X'X / n + alpha I)^-1 X'Y / n, on columns scaled to unit variance (Hoerl & Kennard, 1970). Memory is (A + D)^2,
whatever the number of samples.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.linalg as la
from numpy.typing import ArrayLike, NDArray

from mirenc.errors import ConfigError, HeadError, MissingExtraError
from mirenc.heads.choosing import ChoosingMixin, checked_costs, parameters_of, preferences, relative_log_costs
from mirenc.heads.state import Arrays, register

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError(f"heads need scikit-learn ({error}). Type: pip install 'mirenc[tasks]'") from None

__all__ = ["RidgeHead", "RidgeLabels", "RidgeRegressor"]

Float = NDArray[np.float64]


class _Ridge(BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """Scaling, weights and saving of all of them."""

    alpha: float
    _ARRAYS = ("center_", "spread_", "weights_", "mean_")

    def _check_alpha(self) -> None:
        alpha: Any = self.alpha
        if not isinstance(alpha, Real) or not math.isfinite(alpha) or alpha <= 0:
            raise ConfigError(f"alpha is {alpha!r}; allowed: a number above 0")

    def _solve(self, features: Float, targets: Float) -> None:
        """Fit (n, C) -> (n, m)."""
        self.center_, self.mean_ = features.mean(axis=0), targets.mean(axis=0)
        spread = features.std(axis=0)
        # A column that does not vary in training says nothing, and must not explode later.
        self.spread_ = np.where(spread > 1e-9 * np.maximum(1.0, np.abs(self.center_)), spread, np.inf)
        scaled = (features - self.center_) / self.spread_
        gram = scaled.T @ scaled / len(scaled)
        gram[np.diag_indices_from(gram)] += self.alpha
        self.weights_ = la.solve(gram, scaled.T @ (targets - self.mean_) / len(scaled), assume_a="pos")

    def _linear(self, features: Float) -> Float:
        result: Float = self.mean_ + ((features - self.center_) / self.spread_) @ self.weights_
        return result

    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        check_is_fitted(self)
        arrays = {name: np.asarray(getattr(self, name)) for name in self._ARRAYS}
        return {"parameters": parameters_of(self)}, arrays

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        head = cls(**meta["parameters"])
        head._check_alpha()
        for name in cls._ARRAYS:
            setattr(head, name, arrays[name])
        columns, outputs = head.weights_.shape if head.weights_.ndim == 2 else (-1, -1)
        finite = all(np.isfinite(getattr(head, name)).all() for name in ("center_", "weights_", "mean_"))
        fits = head.center_.shape == head.spread_.shape == (columns,) and head.mean_.shape == (outputs,)
        if not fits or not finite or not (head.spread_ > 0).all():
            raise HeadError("arrays of a ridge head do not belong together. Save the head again")
        head.n_features_in_ = columns
        head._after_state()
        return head

    def _after_state(self) -> None:
        """What a subclass derives from its arrays."""


@register("ridge")
class RidgeHead(ChoosingMixin, _Ridge):
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

    def __init__(self, alpha: float = 0.1, *, clip: float = 2.0) -> None:
        self.alpha = alpha
        self.clip = clip

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows (n, A + D) and measured costs (n, K); NaN where a setting was not measured.

        Raises
        ------
        ConfigError, HeadError
            A parameter out of range; costs that cannot be used.
        """
        features = validate_data(self, X, dtype=np.float64)
        self._check_alpha()
        costs = checked_costs(y)
        if len(costs) != len(features):
            raise HeadError(f"{len(features)} rows of features and {len(costs)} rows of costs; one for each is needed")
        self._solve(features, relative_log_costs(costs, self.clip))
        self.n_choices_ = costs.shape[1]
        return self

    def predict_proba(self, X: ArrayLike) -> Float:
        """(n, K) preference for each setting."""
        check_is_fitted(self)
        return preferences(self._linear(validate_data(self, X, dtype=np.float64, reset=False)))

    def _after_state(self) -> None:
        self.n_choices_ = len(self.mean_)


@register("ridge_number")
class RidgeRegressor(RegressorMixin, _Ridge):  # type: ignore[misc]  # scikit-learn carries no types
    """Ridge regression of a number.

    Parameters
    ----------
    alpha : float
        Penalty, in units of a column's variance.
    """

    def __init__(self, alpha: float = 0.1) -> None:
        self.alpha = alpha

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows (n, C) and numbers (n,)."""
        features, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._check_alpha()
        self._solve(features, np.asarray(target, dtype=np.float64)[:, None])
        return self

    def predict(self, X: ArrayLike) -> Float:
        """(n,) predicted number."""
        check_is_fitted(self)
        return self._linear(validate_data(self, X, dtype=np.float64, reset=False))[:, 0]


@register("ridge_labels")
class RidgeLabels(RegressorMixin, _Ridge):  # type: ignore[misc]  # scikit-learn carries no types
    """Ridge regression of labels, 0 or 1 each.

    Parameters
    ----------
    alpha : float
        Penalty, in units of a column's variance.
    """

    def __init__(self, alpha: float = 0.1) -> None:
        self.alpha = alpha

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows (n, C) and labels (n, P)."""
        features, target = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        self._check_alpha()
        self._solve(features, np.asarray(target, dtype=np.float64))
        return self

    def predict(self, X: ArrayLike) -> Float:
        """(n, P) about how likely each label is; not cut to 0 and 1."""
        check_is_fitted(self)
        return self._linear(validate_data(self, X, dtype=np.float64, reset=False))
