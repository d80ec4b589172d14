"""What needs no features: the default, the best single setting, the most frequent label; a mean, or labels' rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.heads.choosing import additive_effects
from mirenc.heads.portfolio import portfolio
from mirenc.tasks.data import TaskData

__all__ = ["STATIC_TITLES", "static_rows"]

Int = NDArray[np.int64]
STATIC_TITLES = {
    "default": "default",
    "best_single": "best single setting",
    "majority": "majority label",
    "try_2": "best of 2, no model",
    "try_3": "best of 3, no model",
    "try_4": "best of 4, no model",
    "mean": "mean of the training samples",
    "rates": "rates in the training samples",
}


def static_rows(
    data: TaskData, folds: Sequence[tuple[Int, Int]], portfolios: Sequence[int] = ()
) -> dict[str, NDArray[Any]]:
    """What each static row says of each sample, learned from the training rows of its fold. Rows of (n,), or (n, P).

    For each size k of ``portfolios``, row ``try_k`` measures k settings on the sample itself and keeps the best: k runs
    of the program and no knowledge about it. The k are those whose best cost the training samples least (greedily).
    """
    if not data.chooses:
        name, target = ("rates", data.label_table) if data.label_names else ("mean", data.value)
        mean = np.zeros(target.shape)
        for training, test in folds:
            mean[test] = target[training].mean(axis=0)
        return {name: mean}
    out = {name: data.default.copy() for name in ("default", "best_single", "majority")}
    row = data.settings.row  # (n, K)
    count = len(data.settings.features)
    best = row[np.arange(len(data)), data.labels]
    logs = np.log(data.known)
    for training, test in folds:
        sample, place = np.nonzero(row[training] >= 0)
        seen = row[training][sample, place]
        _, effect = additive_effects(logs[training][sample, place], sample, seen, len(training), count)
        effect[np.bincount(seen, minlength=count) == 0] = np.inf  # a setting that training never tried
        wins = np.bincount(best[training], minlength=count)
        votes = np.where(wins > 0, -wins.astype(np.float64), np.inf)
        for name, rank in (("best_single", effect), ("majority", votes)):
            out[name][test] = _of_each(row[test], rank, data.default[test])
        for size in portfolios:
            out.setdefault(f"try_{size}", data.default.copy())[test] = _tried(logs, training, test, size, data)
    return out


def _tried(logs: NDArray[np.float64], training: Int, test: Int, size: int, data: TaskData) -> Int:
    """Best of the portfolio's settings on each test sample, for samples of one space. -> (m,)."""
    chosen = portfolio(logs[training], size)
    own = logs[test][:, chosen]
    there = np.isfinite(own).any(axis=1)
    best = np.where(np.isfinite(own), own, np.inf).argmin(axis=1)
    found: Int = np.where(there, chosen[best], data.default[test])
    return found


def _of_each(row: Int, rank: NDArray[np.float64], default: Int) -> Int:
    """The setting of least rank among a sample's own, the default where none is finite. (m, K), (T,), (m,) -> (m,)."""
    found = np.where(row >= 0, rank[np.maximum(row, 0)], np.inf)
    choice: Int = np.where(np.isfinite(found).any(axis=1), found.argmin(axis=1), default).astype(np.int64)
    return choice
