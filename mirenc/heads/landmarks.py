"""`LandmarkRegressor` and `LandmarkLabels`: kernel ridge regression whose memory does not grow with n^2.

The function is a sum over m landmarks drawn among the training rows (Williams & Seeger, "Using the Nystroem Method to
Speed Up Kernel Machines", NIPS 2000), w = (K'K / n + alpha K_mm)^-1 K'Y / n with K the (n, m) kernel of rows and
landmarks. All outputs share one solution, so hundreds of labels cost what a number costs.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.linalg as la
from numpy.typing import ArrayLike, NDArray

from mirenc.errors import ConfigError, HeadError, MissingExtraError
from mirenc.heads.choosing import parameters_of
from mirenc.heads.reduce import CodeReducer
from mirenc.heads.state import Arrays, register

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError(f"heads need scikit-learn ({error}). Type: pip install 'mirenc[tasks]'") from None

__all__ = ["LandmarkLabels", "LandmarkRegressor"]

Float = NDArray[np.float64]
_BLOCK = 4096  # rows whose kernel is in memory at once
_JITTER = 1e-8
_ARRAYS = ("middle_", "spread_", "landmarks_", "weights_", "mean_")


class _Landmarks(BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """Columns, kernel, solution and saving of both heads."""

    context_columns: int
    components: int
    landmarks: int
    length_scale: float
    alpha: float
    random_state: int

    def __init__(
        self,
        context_columns: int = 0,
        *,
        components: int = 64,
        landmarks: int = 600,
        length_scale: float = 1.0,
        alpha: float = 1e-4,
        random_state: int = 0,
    ) -> None:
        self.context_columns = context_columns
        self.components = components
        self.landmarks = landmarks
        self.length_scale = length_scale
        self.alpha = alpha
        self.random_state = random_state

    def _check_parameters(self) -> None:
        for name in ("length_scale", "alpha"):
            value: Any = getattr(self, name)
            if not isinstance(value, Real) or not math.isfinite(value) or value <= 0:
                raise ConfigError(f"{name} is {value!r}; allowed: a number above 0")
        count: Any = self.landmarks
        if not isinstance(count, Integral) or count < 1:
            raise ConfigError(f"landmarks is {count!r}; allowed: a whole number from 1 up")

    def _solve(self, features: Float, target: Float) -> None:
        """Fit (n, A + D) -> (n, P)."""
        self._check_parameters()
        context = min(self.context_columns, features.shape[1])
        self._reduce = CodeReducer(context, self.components).fit(features)
        reduced = self._reduce(features)
        self.middle_ = reduced.mean(axis=0)
        spread = reduced.std(axis=0)
        # Each context feature weighs one, and so does all code together.
        code = float(np.sqrt((spread[context:] ** 2).sum())) / math.sqrt(max(context, 1))
        spread[context:] = code
        self.spread_ = np.where(spread > 1e-9 * np.maximum(1.0, np.abs(self.middle_)), spread, np.inf)
        rows = self._scaled(reduced)
        drawn = np.random.default_rng(self.random_state).permutation(len(rows))[: self.landmarks]
        self.landmarks_ = rows[np.sort(drawn)]
        self.mean_ = target.mean(axis=0)
        gram = np.zeros((len(self.landmarks_),) * 2)
        moment = np.zeros((len(self.landmarks_), target.shape[1]))
        for first in range(0, len(rows), _BLOCK):
            kernel = self._kernel(rows[first : first + _BLOCK])  # (block, m)
            gram += kernel.T @ kernel
            moment += kernel.T @ (target[first : first + _BLOCK] - self.mean_)
        penalised = gram / len(rows) + self.alpha * self._kernel(self.landmarks_)
        penalised[np.diag_indices_from(penalised)] += _JITTER
        self.weights_ = la.solve(penalised, moment / len(rows), assume_a="pos")

    def _scaled(self, reduced: Float) -> Float:
        result: Float = (reduced - self.middle_) / self.spread_
        return result

    def _kernel(self, rows: Float) -> Float:
        """A Gaussian, for what is near, and the inner product, for what is far from all. (n, C) -> (n, m)."""
        product = rows @ self.landmarks_.T
        square = (rows**2).sum(axis=1)[:, None] + (self.landmarks_**2).sum(axis=1)[None] - 2 * product
        # Rows are two variances of each column apart on average.
        scale = 2 * self.length_scale**2 * max(2 * min(self.context_columns, rows.shape[1]), 2)
        result: Float = np.exp(-np.maximum(square, 0) / scale) + product / rows.shape[1]
        return result

    def _answer(self, X: ArrayLike) -> Float:
        """(n, P)."""
        check_is_fitted(self)
        rows = self._scaled(self._reduce(validate_data(self, X, dtype=np.float64, reset=False)))
        parts = [self._kernel(rows[first : first + _BLOCK]) @ self.weights_ for first in range(0, len(rows), _BLOCK)]
        result: Float = self.mean_ + np.concatenate(parts)
        return result

    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        check_is_fitted(self)
        arrays = {name: np.asarray(getattr(self, name)) for name in _ARRAYS}
        meta = {"parameters": parameters_of(self), "features": self.n_features_in_}
        return meta, {**arrays, **self._reduce.arrays()}

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        head = cls(**meta["parameters"])
        head._check_parameters()
        head.n_features_in_ = meta["features"]
        context = min(head.context_columns, head.n_features_in_)
        head._reduce = CodeReducer.from_arrays(context, head.components, arrays, columns=head.n_features_in_)
        for name in _ARRAYS:
            setattr(head, name, arrays[name])
        columns = (head._reduce.columns,)
        fits = head.middle_.shape == head.spread_.shape == columns and head.landmarks_.ndim == head.weights_.ndim == 2
        fits = (
            fits
            and head.landmarks_.shape[1:] == columns
            and head.weights_.shape
            == (
                len(head.landmarks_),
                *head.mean_.shape,
            )
        )
        finite = all(np.isfinite(getattr(head, name)).all() for name in _ARRAYS if name != "spread_")
        if not fits or not finite or not (head.spread_ > 0).all():
            raise HeadError("arrays of a landmark head do not belong together. Save the head again")
        return head


@register("landmark_number")
class LandmarkRegressor(RegressorMixin, _Landmarks):  # type: ignore[misc]  # scikit-learn carries no types
    """Kernel ridge regression of a number.

    Parameters
    ----------
    context_columns : int
        The first so many columns are context features.
    components : int
        Code columns beyond this many are first reduced to so many principal components.
    landmarks : int
        Rows of training that the function is a sum over.
    length_scale : float
        Of the Gaussian, in units of the mean distance of two rows.
    alpha : float
        Penalty, in units of the kernel.
    random_state : int
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows (n, A + D) and numbers (n,)."""
        features, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._solve(features, np.asarray(target, dtype=np.float64)[:, None])
        return self

    def predict(self, X: ArrayLike) -> Float:
        """(n,) predicted number."""
        return self._answer(X)[:, 0]


@register("landmark_labels")
class LandmarkLabels(RegressorMixin, _Landmarks):  # type: ignore[misc]  # scikit-learn carries no types
    """Kernel ridge regression of labels, 0 or 1 each; parameters as those of `LandmarkRegressor`."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows (n, A + D) and labels (n, P)."""
        features, target = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        self._solve(features, np.asarray(target, dtype=np.float64))
        return self

    def predict(self, X: ArrayLike) -> Float:
        """(n, P) about how likely each label is; not cut to 0 and 1."""
        return self._answer(X)
