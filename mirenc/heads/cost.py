"""`CostHead`: the cost-sensitive head. It regresses log cost ratios by a Gaussian process and chooses the least.

Measured times say by how much a choice is better, and the label only that it is. A Gaussian process fits a few hundred
rows, and finds by marginal likelihood, on the training rows alone, how far the code, the context features, and both
together carry. Rasmussen & Williams, *Gaussian Processes for Machine Learning*, 2006, sections 2.2, 5.4.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.linalg as la
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from mirenc.errors import ConfigError, HeadError, MissingExtraError
from mirenc.heads.choosing import ChoosingMixin, checked_costs, parameters_of, preferences, relative_log_costs
from mirenc.heads.state import Arrays, register

try:
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError(f"heads need scikit-learn ({error}). Type: pip install 'mirenc[tasks]'") from None

__all__ = ["CostHead"]

Float = NDArray[np.float64]
_JITTER = 1e-6
_PRIOR = 1.5  # standard deviation of a log scale around where the search starts
_BOUND = (-9.0, 5.0)
# Where the search starts: log length scales of the terms, log amplitudes, log noise. The second term of the task
# features starts fine: in a table of measured programs, equal sizes mean the same program.
_CONTEXT, _FINE, _CODE, _JOINT = 0.0, -3.0, -0.5, 0.0
_NOISE = -1.5
_MOST_STEPS = 20


@register("cost")
class CostHead(ChoosingMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """Gaussian process regression of relative log costs.

    The kernel is a sum of radial basis functions: of the context features (twice: smooth and fine), of the code
    features, and of both. Context features get a length scale each; the code features share one, because hundreds of
    scales cannot be learned from a few hundred kernels.

    Parameters
    ----------
    context_columns : int
        The first so many columns are context features.
    clip : float
        Relative log costs are cut at plus and minus this: whether a choice is 20 or 50 times as slow does not matter.
    length_scale : float or None
        None: scales, amplitudes and noise are found by marginal likelihood. A number: one radial basis function of
        this length scale over all columns (kernel ridge regression), which extrapolates farther and fits at once.
    noise : float
        Variance of the noise beside an amplitude of 1; only used with a ``length_scale``.

    Attributes
    ----------
    n_choices_ : int
        K.
    support_ : (n, A + D) float64
        Training rows, standardised.
    dual_ : (n, K) float64
        Weights of the training rows.
    mean_ : (K,) float64
        Mean relative log cost of each choice: what is predicted far from all training rows.
    theta_ : (parameters,) float64
        Logarithms of amplitudes, length scales and noise.
    """

    def __init__(
        self,
        context_columns: int = 0,
        *,
        clip: float = 0.75,
        length_scale: float | None = None,
        noise: float = 0.1,
    ) -> None:
        self.context_columns = context_columns
        self.clip = clip
        self.length_scale = length_scale
        self.noise = noise

    # -- training --------------------------------------------------------------------------------------
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows and measured costs.

        Parameters
        ----------
        X : (n, A + D)
            Task features, then code features; finite.
        y : (n, K)
            Costs, positive; NaN where a choice was not measured.

        Raises
        ------
        ConfigError
            A parameter out of range.
        HeadError
            Costs that cannot be used.
        ValueError
            NaN or infinity in ``X``.
        """
        features = validate_data(self, X, dtype=np.float64)
        self._check_parameters(features.shape[1])
        costs = checked_costs(y)
        if len(costs) != len(features):
            raise HeadError(f"{len(features)} rows of features and {len(costs)} rows of costs; one for each is needed")
        self.n_choices_ = costs.shape[1]
        self._fit_scaling(features)
        # In single precision, as it is saved: a head that was saved and read answers to the bit as before.
        self.support_ = self._scaled(features).astype(np.float32).astype(np.float64)
        targets = relative_log_costs(costs, self.clip)
        self.mean_ = targets.mean(axis=0)
        residual = targets - self.mean_  # (n, K)
        self.size_ = float(np.sqrt(np.mean(residual**2))) or 1.0
        distances = self._distances(self.support_, self.support_)
        terms = self._terms()
        start = self._start(terms)
        if self.length_scale is None:
            found = minimize(
                _negative_evidence,
                start,
                args=(terms, distances, residual / self.size_, start),
                jac=True,
                method="L-BFGS-B",
                bounds=[_BOUND] * len(start),
                options={"maxiter": _MOST_STEPS},
            )
            self.theta_ = found.x
        else:
            self.theta_ = start
        kernel = _kernel(self.theta_, terms, distances)
        kernel[np.diag_indices_from(kernel)] += math.exp(self.theta_[-1]) + _JITTER
        factor = la.cho_factor(kernel, lower=True)
        # In the order it is read back in: the last bit of a product depends on it.
        self.dual_ = np.ascontiguousarray(self.size_ * la.cho_solve(factor, residual / self.size_))
        return self

    # -- prediction ------------------------------------------------------------------------------------
    def predict_log_costs(self, X: ArrayLike) -> Float:
        """(n, K) predicted log cost of each choice, relative to the mean over the choices."""
        check_is_fitted(self)
        rows = self._scaled(validate_data(self, X, dtype=np.float64, reset=False))
        kernel = _kernel(self.theta_, self._terms(), self._distances(rows, self.support_))
        result: Float = self.mean_ + kernel @ self.dual_
        return result

    def predict_proba(self, X: ArrayLike) -> Float:
        """(n, K) preference for each choice."""
        return preferences(self.predict_log_costs(X))

    # -- columns ---------------------------------------------------------------------------------------
    def _check_parameters(self, columns: int) -> None:
        if not 0 <= self.context_columns <= columns or columns == 0:
            raise ConfigError(f"context_columns is {self.context_columns}; allowed: 0 to {columns}, the columns of X")
        for name in ("clip", "length_scale", "noise"):
            value = getattr(self, name)
            if value is None and name == "length_scale":
                continue
            if not isinstance(value, Real) or not math.isfinite(value) or value <= 0:
                raise ConfigError(f"{name} is {value!r}; allowed: a number above 0")

    def _fit_scaling(self, features: Float) -> None:
        """Task features to unit variance; code features to columns of unit variance and rows of unit mean square."""
        self.center_ = features.mean(axis=0)
        spread = features.std(axis=0)
        # A column that does not vary in training says nothing, and must not explode later.
        self.spread_ = np.where(spread > 1e-9 * np.maximum(1.0, np.abs(self.center_)), spread, np.inf)
        code = np.isfinite(self.spread_[self.context_columns :]).sum()
        self.spread_[self.context_columns :] *= math.sqrt(max(code, 1))

    def _scaled(self, features: Float) -> Float:
        result: Float = (features - self.center_) / self.spread_
        return result

    def _distances(self, rows: Float, others: Float) -> list[Float]:
        """Squared distances in each context feature, and in the code features: A + 1 of (n, m); A without code."""
        context = self.context_columns
        out = [(rows[:, column, None] - others[None, :, column]) ** 2 for column in range(context)]
        if rows.shape[1] > context:
            left, right = rows[:, context:], others[:, context:]
            square = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None] - 2 * left @ right.T
            out.append(np.maximum(square, 0.0))
        return out

    def _terms(self) -> list[tuple[list[int], list[float]]]:
        """Terms of the kernel: which distances each takes, and where their log length scales start."""
        context = list(range(self.context_columns))
        code = [self.context_columns] if self.n_features_in_ > self.context_columns else []
        if self.length_scale is not None:
            scale = math.log(self.length_scale)
            # Code features have a mean square of 1 in all, a context feature of 1 by itself: code counts as two.
            return [(context + code, [scale] * len(context) + [scale - 0.5 * math.log(2.0)] * len(code))]
        terms = []
        if context:
            terms += [(context, [_CONTEXT] * len(context)), (context, [_FINE] * len(context))]
        if code:
            terms.append((code, [_CODE]))
        if context and code:
            terms.append((context + code, [_JOINT] * len(context) + [_CODE]))
        return terms

    def _start(self, terms: list[tuple[list[int], list[float]]]) -> Float:
        noise = _NOISE if self.length_scale is None else math.log(self.noise)
        return np.array([value for _, scales in terms for value in (0.0, *scales)] + [noise])

    # -- saving ----------------------------------------------------------------------------------------
    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        check_is_fitted(self)
        arrays = {name: getattr(self, name) for name in self._ARRAYS}
        # One piece of code is measured in many contexts, and its columns are most of the head.
        context = self.support_[:, : self.context_columns]
        code, row = np.unique(self.support_[:, self.context_columns :], axis=0, return_inverse=True)
        return {"parameters": parameters_of(self)}, arrays | {
            "context_": context,
            "code_": code.astype(np.float32),
            "code_row_": row.ravel(),
        }

    _ARRAYS = ("dual_", "mean_", "theta_", "center_", "spread_")

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        head = cls(**meta["parameters"])
        for name in cls._ARRAYS:
            setattr(head, name, arrays[name].astype(np.float64))
        if "support_" in arrays:  # older releases kept the code's columns for each row
            head.support_ = arrays["support_"].astype(np.float64)
        else:
            context, code, row = arrays["context_"], arrays["code_"].astype(np.float64), arrays["code_row_"]
            if not context.ndim == code.ndim == 2 or row.shape != context.shape[:1] or row.max(initial=-1) >= len(code):
                raise HeadError("training rows of a cost head do not belong together. Save the head again")
            head.support_ = np.concatenate([context, code[row]], axis=1)
        head.n_features_in_ = head.support_.shape[1]
        head.n_choices_ = len(head.mean_)
        head._check_parameters(head.n_features_in_)
        columns = (head.n_features_in_,)
        fits = (
            len(head.theta_) == len(head._start(head._terms())) and head.center_.shape == head.spread_.shape == columns
        )
        if not fits or head.dual_.shape != (len(head.support_), len(head.mean_)):
            raise HeadError("arrays of a cost head do not belong together. Save the head again")
        return head


def _kernel(theta: Float, terms: list[tuple[list[int], list[float]]], distances: list[Float]) -> Float:
    """Sum of the terms. -> (n, m)."""
    total = np.zeros_like(distances[0])
    at = 0
    for used, scales in terms:
        total += _term(theta[at : at + 1 + len(scales)], used, distances)[0]
        at += 1 + len(scales)
    return total


def _term(theta: Float, used: list[int], distances: list[Float]) -> tuple[Float, list[Float]]:
    """One radial basis function, and the scaled squared distances that are its derivatives by the log scales."""
    scaled = [distances[index] * math.exp(-2 * scale) for index, scale in zip(used, theta[1:], strict=True)]
    exponent = -0.5 * scaled[0]
    for square in scaled[1:]:
        exponent -= 0.5 * square
    return math.exp(theta[0]) * np.exp(exponent), scaled


def _negative_evidence(
    theta: Float, terms: list[tuple[list[int], list[float]]], distances: list[Float], residual: Float, start: Float
) -> tuple[float, Float]:
    """Minus the log marginal likelihood and log prior of the scales, and the gradient (equation 5.9)."""
    count, outputs = residual.shape
    noise = math.exp(theta[-1])
    kernels, factors, at = [], [], 0
    for used, scales in terms:
        kernel, scaled = _term(theta[at : at + 1 + len(scales)], used, distances)
        kernels.append(kernel)
        factors.append(scaled)
        at += 1 + len(scales)
    total = np.sum(kernels, axis=0)
    total[np.diag_indices(count)] += noise + _JITTER
    lower, failed = la.lapack.dpotrf(total, lower=1, clean=1)
    if failed:
        return 1e12, np.zeros_like(theta)
    inverse = la.lapack.dpotri(lower, lower=1)[0]  # its lower triangle; a third of the work of solving for the unit
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    alpha = inverse @ residual  # (n, K)
    away = (theta - start) / _PRIOR**2
    value = 0.5 * np.sum(residual * alpha) + outputs * np.log(np.diag(lower)).sum() + 0.5 * (theta - start) @ away
    weights = alpha @ alpha.T - outputs * inverse
    gradient = []
    for kernel, scaled in zip(kernels, factors, strict=True):
        product = weights * kernel
        gradient.append(-0.5 * product.sum())
        gradient += [-0.5 * np.vdot(product, square) for square in scaled]
    gradient.append(-0.5 * noise * np.trace(weights))
    return float(value), np.array(gradient) + away
