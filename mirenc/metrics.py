"""What a decision is worth: speedups, the oracle's share, accuracy, and intervals over groups.

Why here: a mean speedup can be computed in ways that flatter (arithmetic means, a weak baseline, samples that share a
kernel counted as independent), and published comparisons mix them. Each function says which one it is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "decision_figures",
    "geometric_mean",
    "group_interval",
    "macro_f1",
    "number_figures",
    "oracle_choice",
]

Float = NDArray[np.float64]
Int = NDArray[np.int64]

# A run is called slower than its baseline from one per cent on: below, it is the noise of a timer.
SLOWDOWN = 1.01
# What a person would notice, and what is worth deciding at all.
PLAIN_SLOWDOWN = 1.02
HEADROOM = 1.05
# The mark that published tables of OpenMP settings count by.
NEAR_ORACLE = 0.9
_RESAMPLES = 2000
_LEVEL = 0.95


def oracle_choice(costs: Float) -> Int:
    """Index of the least measured cost of each sample; the first of equals. (n, K), NaN = not measured -> (n,)."""
    best: Int = np.nanargmin(costs, axis=1).astype(np.int64)
    return best


def geometric_mean(values: Float) -> float:
    """Geometric mean of positive numbers."""
    return float(np.exp(np.mean(np.log(values))))


def macro_f1(truth: Int, choice: Int) -> float:
    """Mean over the classes that occur in either of the harmonic mean of precision and recall."""
    scores = []
    for label in np.union1d(truth, choice):
        hit = np.sum((truth == label) & (choice == label))
        scores.append(2 * hit / (np.sum(truth == label) + np.sum(choice == label)))
    return float(np.mean(scores))


def decision_figures(
    costs: Float, choice: Int, baseline: Float, truth: Int | None = None, *, paid: Float | None = None
) -> dict[str, float]:
    """Figures of one list of decisions.

    Parameters
    ----------
    costs : (n, K) float64, seconds
        Cost of what runs when each setting is asked for (`mirenc.tasks.TaskData.known`); NaN: nobody may ask.
    choice : (n,) int
        The settings that run (`mirenc.tasks.TaskData.resolve`).
    baseline : (n,) float64, seconds
        What the sample costs without a decision (a static mapping, no coarsening).
    truth : (n,) int, optional
        The setting of least cost that runs (`mirenc.tasks.TaskData.labels`); the first of least cost if left out.
    paid : (n, K) float64, seconds, optional
        What each setting costs when it is measured again (`mirenc.tasks.TaskData.paid`): the oracle chooses by
        ``costs`` and pays this, as everybody does. ``baseline`` is then of these too. ``costs`` if left out.

    Returns
    -------
    dict
        accuracy (no other setting costs less), macro_f1 (of settings, the first of equally good ones counting as the
        right one); speedup_geometric, speedup_arithmetic over the baseline; oracle_geometric, oracle_arithmetic, the
        same for the least costs; oracle_share, the geometric mean of least cost / chosen cost (1 = oracle); error_rate,
        mean of chosen cost / least cost - 1; slowdowns and slowdowns_2, the shares of samples more than 1 % and 2 %
        slower than the baseline; near_oracle, the share of samples at more than 0.9 of the oracle's speed; headroom,
        the share of samples that the oracle speeds up by more than 5 %. Where there is any: headroom_geometric, the
        speedup over those samples; oracle_gain_share, (speedup_geometric - 1) over (oracle_geometric - 1).
    """
    rows = np.arange(len(costs))
    truth = oracle_choice(costs) if truth is None else truth
    right = costs[rows, choice] == costs[rows, truth]
    paid = costs if paid is None else paid
    cost, best = paid[rows, choice], paid[rows, truth]
    large = baseline / best > HEADROOM
    speedup, oracle = geometric_mean(baseline / cost), geometric_mean(baseline / best)
    figures = {
        "accuracy": float(right.mean()),
        "macro_f1": macro_f1(np.where(right, choice, truth), choice),
        "speedup_geometric": speedup,
        "speedup_arithmetic": float(np.mean(baseline / cost)),
        "oracle_geometric": oracle,
        "oracle_arithmetic": float(np.mean(baseline / best)),
        "oracle_share": geometric_mean(best / cost),
        "error_rate": float(np.mean(cost / best) - 1),
        "slowdowns": float(np.mean(cost > SLOWDOWN * baseline)),
        "slowdowns_2": float(np.mean(cost > PLAIN_SLOWDOWN * baseline)),
        "near_oracle": float(np.mean(best / cost > NEAR_ORACLE)),
        "headroom": float(large.mean()),
    }
    if large.any():
        figures["headroom_geometric"] = geometric_mean((baseline / cost)[large])
    if oracle > 1:
        figures["oracle_gain_share"] = (speedup - 1) / (oracle - 1)
    return figures


def number_figures(truth: Float, predicted: Float) -> dict[str, float]:
    """Figures of predicted numbers.

    Parameters
    ----------
    truth, predicted : (n,) float64

    Returns
    -------
    dict
        r2, coefficient of determination; mae and rmse, mean absolute and root mean square error, in the number's unit;
        median_error, median absolute error.
    """
    error = predicted - truth
    spread = float(np.sum((truth - truth.mean()) ** 2))
    return {
        "r2": 1.0 - float(np.sum(error**2)) / spread if spread else float("nan"),
        "mae": float(np.abs(error).mean()),
        "rmse": float(np.sqrt(np.mean(error**2))),
        "median_error": float(np.median(np.abs(error))),
    }


def group_interval(
    values: Float, group: NDArray[np.generic], *, statistic: Callable[[Float], Float] | None = None
) -> tuple[float, float]:
    """95 % bootstrap interval of a mean where samples of one group are not independent.

    Whole groups are drawn with replacement (percentile interval). For a difference of two methods give the difference
    of each sample: the pairing is then kept.

    Parameters
    ----------
    values : (n,) float64
        One number a sample: a hit (0 or 1), a log speedup, a difference of two of them.
    group : (n,)
        Samples with the same label are drawn together.
    statistic : callable, optional
        Applied to the (resamples,) means, such as ``np.exp`` for a mean of logs.

    Returns
    -------
    (low, high) : floats
    """
    _, row = np.unique(group, return_inverse=True)
    sums = np.bincount(row, weights=values)
    sizes = np.bincount(row)
    drawn = np.random.default_rng(0).integers(0, len(sums), size=(_RESAMPLES, len(sums)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    if statistic is not None:
        means = statistic(means)
    low, high = np.percentile(means, [50 * (1 - _LEVEL), 50 * (1 + _LEVEL)])
    return float(low), float(high)
