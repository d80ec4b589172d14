"""How well labels are told, with intervals over groups: areas under the ROC curve, of each label and their mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.metrics import RankedPairs, average_precision

__all__ = ["area_figures"]

Float = NDArray[np.float64]


def area_figures(
    truth: NDArray[np.bool_],
    runs: Float,
    group: NDArray[np.generic],
    *,
    against: Float | None = None,
    names: Sequence[str] = (),
) -> dict[str, Any]:
    """Areas of labels that some samples have and others have not; {} where there is no such label.

    Parameters
    ----------
    truth : (m, P) bool
    runs : (S, m, P) float64
        What was said, S seeds.
    group : (m,)
        Samples of one group are drawn together.
    against : (S', m, P) float64, optional
        What another row said.
    names : sequence of str, length P, optional
        Of the labels, where each is to be told by itself.

    Returns
    -------
    dict
        auc_interval (95 %, of the mean); auc_gain and auc_gain_interval over ``against``; labels: auc,
        average_precision and rate of each, means over the seeds.
    """
    both = np.flatnonzero(truth.any(axis=0) & ~truth.all(axis=0))
    if not len(both):
        return {}
    pairs = _pairs(truth[:, both], runs[:, :, both], group)
    out: dict[str, Any] = {"auc_interval": pairs.interval()}
    if against is not None:
        other = _pairs(truth[:, both], against[:, :, both], group)
        out["auc_gain"], out["auc_gain_interval"] = pairs.area - other.area, pairs.interval(other)
    if names:
        precision = np.mean(
            [[average_precision(truth[:, label], run[:, label]) for label in both] for run in runs], axis=0
        )
        each = np.stack([pairs.each, precision, truth[:, both].mean(axis=0)], axis=1).tolist()
        keys = ("auc", "average_precision", "rate")
        out["labels"] = {
            names[label]: dict(zip(keys, one, strict=True)) for label, one in zip(both.tolist(), each, strict=True)
        }
    return out


def _pairs(truth: NDArray[np.bool_], runs: Float, group: NDArray[np.generic]) -> RankedPairs:
    return RankedPairs.mean([RankedPairs.of(truth, run, group) for run in runs])
