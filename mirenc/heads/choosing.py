"""What heads that choose share: costs in, a preference for each choice out.

A head of this kind learns from ``costs`` (n, K), the measured cost of each sample under each choice, and not only from
the winner: a wrong choice that costs one per cent is no error worth an effort. All heads speak in the same preferences
(rows that sum to one), so that several can be averaged whatever is inside them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from mirenc.errors import HeadError
from mirenc.metrics import chosen_costs, clip_to_measured

__all__ = ["ChoosingMixin", "checked_costs", "cost_ratios", "preferences", "relative_log_costs"]

Float = NDArray[np.float64]
# How sure a predicted difference in log cost makes a head: with 2, a factor e in cost is a preference of 88 to 12.
_SHARPNESS = 2.0
_LEAST = 0.01


class ChoosingMixin:
    """``predict`` and ``score`` from ``predict_proba``: `CostHead`, `TreesHead`, `LabelHead` and `EnsembleHead`."""

    def predict_proba(self, X: ArrayLike) -> Float:
        """(n, K) preference for each choice."""
        raise NotImplementedError

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """(n,) index of the preferred choice."""
        choice: NDArray[np.int64] = self.predict_proba(X).argmax(axis=1).astype(np.int64)
        return choice

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Mean of log(least cost / cost of the choice): 0 for an oracle, below it for anything else."""
        costs = checked_costs(y)
        return float(np.mean(np.log(np.nanmin(costs, axis=1) / chosen_costs(costs, self.predict(X)))))


def checked_costs(costs: ArrayLike) -> Float:
    """(n, K) float64 costs, positive or NaN, at least one a row.

    Raises
    ------
    HeadError
        Another shape, a cost that is not positive and finite (the row is named), or a row without any.
    """
    table = np.asarray(costs, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise HeadError(f"costs have shape {table.shape}; allowed: (samples, choices), two choices or more")
    with np.errstate(invalid="ignore"):
        wrong = ~(np.isnan(table) | (np.isfinite(table) & (table > 0)))
    wrong_row = wrong.any(axis=1) | np.isnan(table).all(axis=1)
    if wrong_row.any():
        row = int(np.argmax(wrong_row))
        raise HeadError(f"costs of row {row} are {table[row].tolist()}; a cost is a positive time, NaN if not measured")
    return table


def relative_log_costs(costs: Float, clip: float) -> Float:
    """log(cost / mean log cost of the row), unmeasured choices filled, clipped to +-``clip``. (n, K) -> (n, K).

    An unmeasured choice costs what runs in its place (`mirenc.metrics.clip_to_measured`).
    """
    rows = np.arange(len(costs))
    filled = np.stack(
        [costs[rows, clip_to_measured(costs, np.full(len(costs), choice))] for choice in range(costs.shape[1])], axis=1
    )
    logs = np.log(filled)
    result: Float = np.clip(logs - logs.mean(axis=1, keepdims=True), -clip, clip)
    return result


def preferences(log_costs: Float) -> Float:
    """Predicted log costs as preferences: a softmax of their negatives. (n, K) -> (n, K), rows sum to 1."""
    result: Float = softmax(-_SHARPNESS * log_costs, axis=1)
    return result


def cost_ratios(preference: Float) -> Float:
    """What preferences say about costs: the inverse of `preferences`. (K,) -> (K,), 1 for the preferred choice.

    Exact for a head of members that predict costs; a vote without any (trees that all agree) counts as a preference
    of one in a hundred, a cost ratio of about 10.
    """
    bounded = np.maximum(preference, _LEAST)
    result: Float = (bounded.max() / bounded) ** (1 / _SHARPNESS)
    return result


def parameters_of(head: Any) -> dict[str, Any]:
    """Constructor parameters as JSON can hold them."""
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in head.get_params(deep=False).items()
    }
