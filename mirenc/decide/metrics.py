"""Figures of decisions: speedups, share of the oracle, accuracy, and bootstrap intervals over groups.

A mean speedup can be computed in ways that flatter, and published comparisons mix them: each function states its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import Bool, Float64, Int64

SLOWDOWN = 1.01  # less is noise of the timer
PLAIN_SLOWDOWN = 1.02  # what a person would notice
HEADROOM = 1.05  # speedup of the oracle that makes a decision worthwhile
NEAR_ORACLE = 0.9  # the mark that published tables of OpenMP settings count by
_RESAMPLES = 2000
_LEVEL = 0.95


def oracle_choice(costs: Float64) -> Int64:
    """Index of the least measured cost of each sample; the first of equals. (n, K), NaN = not measured -> (n,)."""
    return np.nanargmin(costs, axis=1).astype(np.int64)


def geometric_mean(values: Float64) -> float:
    """Geometric mean of positive numbers."""
    return float(np.exp(np.mean(np.log(values))))


def decision_figures(
    costs: Float64, choice: Int64, baseline: Float64, truth: Int64 | None = None, *, paid: Float64 | None = None
) -> dict[str, float]:
    """Figures of a decision for each of n samples.

    ``costs`` (n, K) are `TaskData.known`, and ``paid`` (n, K) the same settings measured again (`TaskData.paid`), by
    which decisions are then judged; ``choice`` (n,) are settings that run, ``truth`` (n,) those of least cost;
    ``baseline`` (n,) is the cost without a decision (a static mapping, no coarsening). All costs are in seconds.

    accuracy (no other setting costs less), macro_f1 (over settings; of equally good ones the first is the right one);
    speedup_geometric, speedup_arithmetic over the baseline; oracle_geometric, oracle_arithmetic, the same for the
    least costs; oracle_share, the geometric mean of least cost / chosen cost (1 = oracle); error_rate, mean of chosen
    cost / least cost - 1; slowdowns and slowdowns_2, the shares of samples more than 1 % and 2 % slower than the
    baseline; near_oracle, the share of samples at more than 0.9 of the oracle's speed; headroom, the share that the
    oracle speeds up by more than 5 %. Where there is any: headroom_geometric, the speedup over those samples;
    oracle_gain_share, (speedup_geometric - 1) over (oracle_geometric - 1).
    """
    from sklearn.metrics import f1_score

    rows = np.arange(len(costs))
    truth = oracle_choice(costs) if truth is None else truth
    hits = costs[rows, choice] == costs[rows, truth]
    paid = costs if paid is None else paid
    cost, best = paid[rows, choice], paid[rows, truth]
    has_headroom = baseline / best > HEADROOM
    speedup, oracle = geometric_mean(baseline / cost), geometric_mean(baseline / best)
    figures = {
        "accuracy": float(hits.mean()),
        "macro_f1": float(f1_score(np.where(hits, choice, truth), choice, average="macro")),
        "speedup_geometric": speedup,
        "speedup_arithmetic": float(np.mean(baseline / cost)),
        "oracle_geometric": oracle,
        "oracle_arithmetic": float(np.mean(baseline / best)),
        "oracle_share": geometric_mean(best / cost),
        "error_rate": float(np.mean(cost / best) - 1),
        "slowdowns": float(np.mean(cost > SLOWDOWN * baseline)),
        "slowdowns_2": float(np.mean(cost > PLAIN_SLOWDOWN * baseline)),
        "near_oracle": float(np.mean(best / cost > NEAR_ORACLE)),
        "headroom": float(has_headroom.mean()),
    }
    if has_headroom.any():
        figures["headroom_geometric"] = geometric_mean((baseline / cost)[has_headroom])
    if oracle > 1:
        figures["oracle_gain_share"] = (speedup - 1) / (oracle - 1)
    return figures


def number_figures(truth: Float64, predicted: Float64) -> dict[str, float]:
    """Figures of predicted numbers, (n,) each: r2, and mae, rmse and median_error (absolute) in the number's unit."""
    error = predicted - truth
    spread = float(np.sum((truth - truth.mean()) ** 2))
    return {
        "r2": 1.0 - float(np.sum(error**2)) / spread if spread else float("nan"),
        "mae": float(np.abs(error).mean()),
        "rmse": float(np.sqrt(np.mean(error**2))),
        "median_error": float(np.median(np.abs(error))),
    }


def group_interval(
    values: Float64, group: NDArray[np.generic], *, statistic: Callable[[Float64], Float64] | None = None
) -> tuple[float, float]:
    """95 % bootstrap interval (percentiles) of a mean, drawing whole groups, whose samples are not independent.

    ``values`` (n,): a number a sample, such as a hit (0 or 1) or a log speedup; to compare two methods, the difference
    for each sample, which keeps the pairing. ``statistic`` is applied to the means, such as ``np.exp`` for logarithms.
    """
    sums = _sums(np.stack([values, np.ones(len(values))]), group)
    means = sums[0] / sums[1]
    return _percentile_interval(means if statistic is None else statistic(means))


def share_saved(loss: Float64, other: Float64, group: NDArray[np.generic]) -> tuple[float, float, float]:
    """By what share the mean of ``loss`` (n,) is below that of ``other`` (n,), with its 95 % interval over groups."""
    scale = float(other.mean()) or 1.0  # where nothing is lost to ``other``
    saved, whole, usual = _sums(np.stack([other - loss, other, np.full(len(loss), scale)]), group)
    return float((other - loss).mean()) / scale, *_percentile_interval(saved / np.where(whole > 0, whole, usual))


def balanced_gain(
    hits: Float64, other: Float64, labels: NDArray[np.generic], group: NDArray[np.generic]
) -> tuple[float, float, float]:
    """By what the balanced accuracy of ``hits`` (n,) is above that of ``other``, with its 95 % interval over groups.

    A bootstrap sample has the balanced accuracy of the classes that are in it.
    """
    names, count = np.unique(labels, return_counts=True)
    member = (names[:, None] == labels).astype(np.float64)  # (P, n)
    gains, sizes = np.split(_sums(np.concatenate([member * (hits - other), member]), group), 2)  # (P, R)
    gain = float((member @ (hits - other) / count).mean())
    return gain, *_percentile_interval((gains / np.maximum(sizes, 1)).sum(axis=0) / (sizes > 0).sum(axis=0))


def _sums(rows: Float64, group: NDArray[np.generic]) -> Float64:
    """Sums of each row over the samples that each resample of groups has. (C, n) -> (C, R)."""
    names, place = np.unique(group, return_inverse=True)
    resamples = _resamples(len(names))
    return np.stack([np.bincount(place, weights=row)[resamples].sum(axis=1) for row in rows])


def _resamples(groups: int) -> Int64:
    """Groups of each resample. (R, G)."""
    return np.random.default_rng(0).integers(0, groups, size=(_RESAMPLES, groups))


def _percentile_interval(values: Float64) -> tuple[float, float]:
    low, high = np.percentile(values, [50 * (1 - _LEVEL), 50 * (1 + _LEVEL)])
    return float(low), float(high)


def brier(truth: Bool, scores: Float64) -> float:
    """Mean square difference of labels (n, P) and scores (n, P), which are cut to 0 and 1 first."""
    return float(np.mean((np.clip(scores, 0.0, 1.0) - truth) ** 2))


def label_figures(truth: Bool, scores: Float64) -> dict[str, float]:
    """Figures of labels (n, P) and of a score for each (n, P), greater for more likely.

    auc and average_precision are means over the labels that some samples have and others have not, of which there are
    labels_told; `brier`; rate is the share of true labels.
    """
    from sklearn.metrics import average_precision_score

    mask = truth.any(axis=0) & ~truth.all(axis=0)
    pairs = RankedPairs.of(truth[:, mask], scores[:, mask], np.zeros(len(truth), dtype=np.int64))
    return {
        "auc": pairs.area,
        "average_precision": float(average_precision_score(truth[:, mask], scores[:, mask])) if mask.any() else np.nan,
        "brier": brier(truth, scores),
        "rate": float(truth.mean()),
        "labels_told": float(mask.sum()),
    }


@dataclass(frozen=True, eq=False)
class RankedPairs:
    """How often a sample with a label is ranked before one without, for each pair of groups. P labels, G groups.

    The area under the ROC curve is the share of such pairs (Mann & Whitney, 1947), so the areas of bootstrap samples of
    groups follow from these counts, without ranking again. ``first`` (P, G, G): pairs of a sample of group g with the
    label and a sample of group h without, where the former is ranked first; ties count half. ``true`` and ``false``
    (P, G): samples of each group with the label, and without.
    """

    first: Float64
    true: Float64
    false: Float64

    @classmethod
    def of(cls, truth: Bool, scores: Float64, group: NDArray[np.generic]) -> "RankedPairs":
        """Counts of labels (n, P), scores (n, P) and groups (n,)."""
        names, row = np.unique(group, return_inverse=True)
        member = np.eye(len(names))[row]  # (n, G)
        first = np.zeros((truth.shape[1], len(names), len(names)))
        for label, (holds, score) in enumerate(zip(truth.T, scores.T, strict=True)):
            order = np.argsort(score, kind="stable")
            counts_below = np.zeros((len(order) + 1, len(names)))
            np.cumsum(member[order] * ~holds[order, None], axis=0, out=counts_below[1:])
            places = (np.searchsorted(score[order], score[holds], side) for side in ("left", "right"))
            first[label] = member[holds].T @ sum(counts_below[place] for place in places) / 2
        return cls(first, (member.T @ truth).T, (member.T @ ~truth).T)

    @classmethod
    def mean(cls, rankings: "Sequence[RankedPairs]") -> "RankedPairs":
        """The mean of ``rankings`` of the same samples, such as one a seed: its areas are means over them."""
        return cls(np.mean([pairs.first for pairs in rankings], axis=0), rankings[0].true, rankings[0].false)

    @property
    def label_areas(self) -> Float64:
        """(P,) area of each label; NaN where all samples have it, or none."""
        pairs = self.true.sum(axis=1) * self.false.sum(axis=1)
        return np.where(pairs > 0, self.first.sum(axis=(1, 2)) / np.maximum(pairs, 1), np.nan)

    def areas(self, weight: Float64) -> Float64:
        """Mean area over labels, with ``weight`` copies of each group. (R, G) -> (R,); NaN where no label has any."""
        total, labels = np.zeros((2, len(weight)))
        for first, true, false in zip(self.first, self.true, self.false, strict=True):
            pairs = (weight @ true) * (weight @ false)
            has_pairs = pairs > 0
            total[has_pairs] += np.einsum("rg,rg->r", weight @ first, weight)[has_pairs] / pairs[has_pairs]
            labels += has_pairs
        return np.where(labels > 0, total / np.maximum(labels, 1), np.nan)

    @property
    def area(self) -> float:
        """Mean area over the labels; NaN where no label has any."""
        return float(self.areas(np.ones((1, self.true.shape[1])))[0])

    def interval(self, against: "RankedPairs | None" = None) -> tuple[float, float]:
        """95 % bootstrap interval over groups of the mean area, or of its difference to that of others."""
        groups = self.true.shape[1]
        weight = np.stack([np.bincount(sample, minlength=groups) for sample in _resamples(groups)]).astype(np.float64)
        values = self.areas(weight) - (0.0 if against is None else against.areas(weight))
        finite = values[np.isfinite(values)]
        return _percentile_interval(finite) if len(finite) else (float("nan"), float("nan"))
