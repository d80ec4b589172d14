"""`CostHead`: a Gaussian process of relative log costs, for a few hundred rows; the least cost is chosen.

Marginal likelihood on the training rows finds over which distances the code, the context features, and both together
predict costs. Rasmussen & Williams, *Gaussian Processes for Machine Learning*, 2006, sections 2.2, 5.4.
"""

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass

import numpy as np
import scipy.linalg as la
from scipy.optimize import minimize

from mirenc.base.arrays import Float64
from mirenc.decide.estimators.base import scaling
from mirenc.decide.estimators.chooser import CostRegressor, relative_log_costs

_JITTER = 1e-6
_PRIOR = 1.5  # standard deviation of a log scale around where the search starts
_BOUND = (-9.0, 5.0)
_Terms = list[tuple[list[int], list[float]]]  # of the kernel: the distances that each takes, its log length scales
# Where the search starts: log length scales of the terms, and log noise. The second term of the context features
# starts fine: in a table of measured programs, equal sizes mean the same program.
_CONTEXT, _FINE, _CODE, _JOINT = 0.0, -3.0, -0.5, 0.0
_NOISE = -1.5
_MOST_STEPS = 20


@dataclass(eq=False, repr=False)
class CostHead(CostRegressor, kind="cost"):
    """Gaussian process regression of relative log costs.

    The kernel is a sum of radial basis functions: of the context features (twice: smooth and fine), of the code
    features, and of both. Context features get a length scale each; the code features share one, because hundreds of
    scales cannot be learned from a few hundred kernels.

    The first ``context_columns`` columns are context features. Relative log costs are cut at plus and minus ``clip``:
    whether a choice is 20 or 50 times as slow does not matter. ``length_scale`` None: scales, amplitudes and noise are
    found by marginal likelihood. A number: one radial basis function of this length scale over all columns (kernel
    ridge regression), which extrapolates farther and needs no search; ``noise`` is its variance beside amplitude 1.

    ``dual_`` (n, K) are the weights of the training rows ``support_``; ``mean_`` (K,) is the mean relative log cost of
    each choice, which is predicted far from all rows; ``theta_``: logarithms of amplitudes, length scales and noise.
    """

    context_columns: int = 0
    _: KW_ONLY
    clip: float = 0.75
    length_scale: float | None = None
    noise: float = 0.1
    _POSITIVE = ("clip", "length_scale", "noise")

    def _learn(self, features: Float64, target: Float64) -> None:
        self.center_, self.spread_ = scaling(features)
        # Context features get unit variance; code features a variance that makes all of them count as one.
        code_columns = np.isfinite(self.spread_[self.context_columns :]).sum()
        self.spread_[self.context_columns :] *= math.sqrt(max(code_columns, 1))
        support = (features - self.center_) / self.spread_
        # One piece of code is measured in many contexts, and its columns would be most of the saved head.
        self.context_ = support[:, : self.context_columns].astype(np.float32)
        self.code_, row = np.unique(support[:, self.context_columns :].astype(np.float32), axis=0, return_inverse=True)
        self.code_row_ = row.ravel()
        relative_costs = relative_log_costs(target, self.clip)
        self.mean_: Float64 = relative_costs.mean(axis=0)
        residual = relative_costs - self.mean_  # (n, K)
        distances = self._distances(self.support_, self.support_)
        terms = self._terms()
        self.theta_ = start = self._start(terms)
        size = float(np.sqrt(np.mean(residual**2))) or 1.0
        if self.length_scale is None:
            constants, bounds = (terms, distances, residual / size, start), [_BOUND] * len(start)
            options = {"maxiter": _MOST_STEPS}
            best = minimize(_negative_evidence, start, constants, "L-BFGS-B", jac=True, bounds=bounds, options=options)
            self.theta_ = best.x
        kernel = _kernel(self.theta_, terms, distances)
        kernel[np.diag_indices_from(kernel)] += math.exp(self.theta_[-1]) + _JITTER
        factor = la.cho_factor(kernel, lower=True)
        # In the memory order of a head that was read from disk: the last bit of a product depends on it.
        self.dual_: Float64 = np.ascontiguousarray(size * la.cho_solve(factor, residual / size))

    def _answer(self, features: Float64) -> Float64:
        rows = (features - self.center_) / self.spread_
        return self.mean_ + _kernel(self.theta_, self._terms(), self._distances(rows, self.support_)) @ self.dual_

    def _distances(self, rows: Float64, other_rows: Float64) -> list[Float64]:
        """Squared distances in each context feature, and in the code features: A + 1 of (n, m); A without code."""
        context_columns = self.context_columns
        distances = [(rows[:, column, None] - other_rows[None, :, column]) ** 2 for column in range(context_columns)]
        if rows.shape[1] > context_columns:
            left, right = rows[:, context_columns:], other_rows[:, context_columns:]
            square = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None] - 2 * left @ right.T
            distances.append(np.maximum(square, 0.0))
        return distances

    def _terms(self) -> _Terms:
        context = list(range(self.context_columns))
        code = [self.context_columns] if self.n_features_in_ > self.context_columns else []
        if self.length_scale is not None:
            scale = math.log(self.length_scale)
            # Code features have a mean square of 1 in all, a context feature of 1 by itself: code counts as two.
            return [(context + code, [scale] * len(context) + [scale - 0.5 * math.log(2.0)] * len(code))]
        terms: _Terms = []
        if context:
            terms += [(context, [_CONTEXT] * len(context)), (context, [_FINE] * len(context))]
        if code:
            terms.append((code, [_CODE]))
        if context and code:
            terms.append((context + code, [_JOINT] * len(context) + [_CODE]))
        return terms

    def _start(self, terms: _Terms) -> Float64:
        noise = _NOISE if self.length_scale is None else math.log(self.noise)
        return np.array([value for _, scales in terms for value in (0.0, *scales)] + [noise])

    @property
    def support_(self) -> Float64:
        """(n, A + D) training rows, standardised."""
        return np.concatenate([self.context_, self.code_[self.code_row_]], axis=1).astype(np.float64)


def _scaled_terms(theta: Float64, terms: _Terms, distances: list[Float64]) -> Iterator[tuple[Float64, list[Float64]]]:
    """Each term, a radial basis function, and the scaled squared distances that are its derivatives by the scales."""
    position = 0
    for indices, scales in terms:
        amplitude, *log_scales = theta[position : position + 1 + len(scales)]
        squares = [distances[index] * math.exp(-2 * scale) for index, scale in zip(indices, log_scales, strict=True)]
        yield math.exp(amplitude) * np.exp(-0.5 * sum(squares)), squares
        position += 1 + len(scales)


def _kernel(theta: Float64, terms: _Terms, distances: list[Float64]) -> Float64:
    """Sum of the terms. -> (n, m)."""
    return np.asarray(np.sum([term for term, _ in _scaled_terms(theta, terms, distances)], axis=0))


def _negative_evidence(
    theta: Float64, terms: _Terms, distances: list[Float64], residual: Float64, start: Float64
) -> tuple[float, Float64]:
    """Minus the log marginal likelihood and log prior of the scales, and the gradient (equation 5.9)."""
    count, outputs = residual.shape
    noise = math.exp(theta[-1])
    scaled_terms = list(_scaled_terms(theta, terms, distances))
    total = np.sum([term for term, _ in scaled_terms], axis=0)
    total[np.diag_indices(count)] += noise + _JITTER
    lower, failed = la.lapack.dpotrf(total, lower=1, clean=1)
    if failed:
        return 1e12, np.zeros_like(theta)
    inverse = la.lapack.dpotri(lower, lower=1)[0]  # its lower triangle; a third of the work of solving for the unit
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    alpha = inverse @ residual  # (n, K)
    slope = (theta - start) / _PRIOR**2
    value = 0.5 * np.sum(residual * alpha) + outputs * np.log(np.diag(lower)).sum() + 0.5 * (theta - start) @ slope
    weights = alpha @ alpha.T - outputs * inverse
    gradient = []
    for term, squares in scaled_terms:
        product = weights * term
        gradient.append(-0.5 * product.sum())
        gradient += [-0.5 * np.vdot(product, square) for square in squares]
    gradient.append(-0.5 * noise * np.trace(weights))
    return float(value), np.array(gradient) + slope
