"""`Target`: what heads are trained for, and the rules that need no features; `Costs` where settings are chosen.

The columns of some samples without their code, so that a process can be sent them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import Float64, Int64
from mirenc.decide.estimators.candidates import Shape, head_search, inner_parts
from mirenc.decide.estimators.chooser import Settings, additive_effects, portfolio
from mirenc.decide.estimators.saved_heads import rounded
from mirenc.decide.features.feature_matrix import Features
from mirenc.decide.protocols import Fold
from mirenc.decide.task_data import TaskData

_LEAST = float(np.finfo(np.float64).tiny)
_THREE = 3
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


@dataclass(frozen=True, eq=False)
class Target:
    """What heads are trained for: here, what is predicted and not chosen."""

    # (n, K), (n,) or (n, P) float64: cost of what runs when each setting is asked for (NaN: nobody may ask), the number
    # to predict, or labels
    values: Float64
    strata: Int64  # (n,) int64: what folds of single samples are balanced by
    group: NDArray[np.str_]  # (n,) str: as those of `TaskData`
    kernel: NDArray[np.str_]
    select: str  # `mirenc.decide.Task.select`

    def shape(self, features: Features, rows: Int64, **more: Any) -> Shape:
        """What the menu follows from, for training on some rows."""
        code = features.matrix.shape[1] - features.context
        more = more or {"settings": 0, "labels": sum(self.values.shape[1:])}
        return Shape(features.context, code, len(rows), len(np.unique(self.kernel[rows])), **more)

    def fit(self, features: Features, rows: Int64, unit: NDArray[np.generic], seed: int) -> Any:
        """A head, searched and trained on some rows; the search keeps the rows of a unit together."""
        head = head_search(self.shape(features, rows), seed, self.select, features.only)
        told = {"part": inner_parts(unit[rows], self.strata[rows], seed), **self._asked(features, rows)}
        return head.fit(features.matrix[rows], self.values[rows], self._settings(features, rows), **told)

    def fit_rounded(self, features: Features, rows: Int64, unit: NDArray[np.generic], seed: int) -> Any:
        """As `fit`: a head to keep, and to be judged as it is kept (`mirenc.decide.estimators.saved_heads.rounded`)."""
        return rounded(self.fit(features, rows, unit, seed))

    def _settings(self, features: Features, rows: Int64) -> Settings | None:
        """What a head is told of some rows beside their features."""
        return None

    def _asked(self, features: Features, rows: Int64) -> dict[str, Any]:
        """What a head is told of held-out rows, where it is less than of those that it learns from."""
        return {} if features.asked is None else {"asked": [one.take(rows) for one in features.asked]}

    def ask(self, head: Any, features: Features, rows: Int64) -> Float64:
        """Preferences (m, K), 0 for settings that nobody may ask for, numbers (m,) or labels (m, P), of some rows."""
        return np.asarray(head.predict(features.matrix[rows]))

    def decide(self, head: Any, features: Features, rows: Int64) -> tuple[NDArray[Any], Int64 | None]:
        """The settings chosen, (m,), or what `ask` says; and the best of the three preferred settings, if K > 3."""
        return self.ask(head, features, rows), None

    def static_rows(self, folds: Sequence[Fold], portfolios: Sequence[int] = ()) -> dict[str, NDArray[Any]]:
        """What each rule without features says of each sample, learned from the training rows of its fold.

        For each size k of ``portfolios``, row ``try_k`` measures k settings on the sample itself and keeps the best: k
        runs of the program and no knowledge about it. The k are those whose best cost the training samples least.
        """
        mean = np.zeros(self.values.shape)
        for training, test in folds:
            mean[test] = self.values[training].mean(axis=0)
        return {"mean" if mean.ndim == 1 else "rates": mean}


@dataclass(frozen=True, eq=False)
class Costs(Target):
    """A setting is chosen."""

    settings: Settings
    defaults: Int64  # (n,) int64: column of each sample's default
    shared: bool = True  # whether all samples have one space, so that a column is the same setting for each

    @property
    def default(self) -> int | None:
        """Column of the default; None where it is another one from sample to sample."""
        columns = np.unique(self.defaults)
        return int(columns[0]) if len(columns) == 1 else None

    def shape(self, features: Features, rows: Int64, **more: Any) -> Shape:
        columns = {"settings": self.values.shape[1], "shared": self.shared, "default": self.default}
        ahead = {"ahead": features.settings is not None, "told": features.asked is None}
        return super().shape(features, rows, **columns, **ahead)

    def _settings(self, features: Features, rows: Int64) -> Settings:
        return (features.settings or self.settings).take(rows)

    def ask(self, head: Any, features: Features, rows: Int64) -> Float64:
        known = self._asked(features, rows).get("asked") or self._settings(features, rows)
        preference = head.predict_proba(features.matrix[rows], known)
        # Trees may all vote for what this sample may not be asked: any other is then preferred to that.
        return np.where(np.isfinite(self.values[rows]), np.maximum(preference, _LEAST), 0.0)

    def decide(self, head: Any, features: Features, rows: Int64) -> tuple[NDArray[Any], Int64 | None]:
        preference = self.ask(head, features, rows)
        best = preference.argmax(axis=1)
        if self.values.shape[1] <= _THREE:
            return best, None
        first = head.propose(preference, _THREE)
        cost = np.take_along_axis(self.values[rows], first, axis=1)
        return best, first[np.arange(len(first)), np.where(np.isfinite(cost), cost, np.inf).argmin(axis=1)]

    def effects(self, rows: Int64) -> Float64:
        """(T,) what each setting adds to the log costs of some rows (`additive_effects`); inf: none of them has it."""
        row = self.settings.row[rows]
        sample, place = np.nonzero(row >= 0)
        seen, count = row[sample, place], len(self.settings.features)
        _, effect = additive_effects(np.log(self.values[rows][sample, place]), sample, seen, len(rows), count)
        return np.where(np.bincount(seen, minlength=count) > 0, effect, np.inf)

    def static_rows(self, folds: Sequence[Fold], portfolios: Sequence[int] = ()) -> dict[str, NDArray[Any]]:
        out = {name: self.defaults.copy() for name in ("default", "best_single", "majority")}
        row = self.settings.row  # (n, K)
        best = row[np.arange(len(row)), self.strata]
        for training, test in folds:
            wins = np.bincount(best[training], minlength=len(self.settings.features))
            votes = np.where(wins > 0, -wins.astype(np.float64), np.inf)
            for name, rank in (("best_single", self.effects(training)), ("majority", votes)):
                own = np.where(row[test] >= 0, rank[np.maximum(row[test], 0)], np.inf)
                out[name][test] = _least(own, np.arange(own.shape[1]), self.defaults[test])
            for size in portfolios:
                tried = portfolio(np.log(self.values[training]), size)
                chosen = out.setdefault(f"try_{size}", self.defaults.copy())
                chosen[test] = _least(np.log(self.values[test])[:, tried], tried, self.defaults[test])
        return out


def _least(rank: Float64, setting: Int64, default: Int64) -> Int64:
    """The setting of least rank of each sample, the default where none is finite. (m, k), (k,), (m,) -> (m,)."""
    there = np.isfinite(rank)
    least = np.where(there, rank, np.inf).argmin(axis=1)
    return np.where(there.any(axis=1), setting[least], default).astype(np.int64)


def target_of(data: TaskData, select: str) -> Target:
    """The target of some data."""
    common = (data.labels, data.group, data.kernel, select)
    if data.target == "costs":
        return Costs(data.known, *common, data.settings, data.default, data.shares_space)
    return Target(data.label_table.astype(np.float64) if data.target == "labels" else data.value, *common)
