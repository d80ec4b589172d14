"""`Target`: what heads are fitted to, and the static rules that need no features; `CostTarget` where one chooses.

A target holds the columns of samples without their code, so that it is cheap to send to another process.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import Float64, Int64
from mirenc.decide.estimators.candidates import DataShape, candidate_search, inner_folds
from mirenc.decide.estimators.chooser import Settings, additive_effects, portfolio
from mirenc.decide.estimators.saved_heads import rounded
from mirenc.decide.features.feature_matrix import Features
from mirenc.decide.protocols import Fold
from mirenc.decide.task_data import TaskData

_LEAST_PREFERENCE = float(np.finfo(np.float64).tiny)
_PREFERRED_COUNT = 3
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
"""The static rules, and their titles in a table."""


@dataclass(frozen=True, eq=False)
class Target:
    """Numbers or labels to predict. n samples."""

    # (n,) numbers, (n, P) labels, or (n, K) the cost of what runs when each setting is asked for, NaN: may not be asked
    values: Float64
    strata: Int64  # (n,): folds of single samples are balanced by it
    group: NDArray[np.str_]  # (n,) as `TaskData.group`
    kernel: NDArray[np.str_]  # (n,) as `TaskData.kernel`
    select: str  # `mirenc.decide.Task.select`

    def shape(self, features: Features, rows: Int64) -> DataShape:
        """What the candidates follow from, for training on some rows."""
        return self._shape(features, rows, settings=0, labels=sum(self.values.shape[1:]))

    def _shape(self, features: Features, rows: Int64, **options: Any) -> DataShape:
        code = features.matrix.shape[1] - features.context_columns
        return DataShape(features.context_columns, code, len(rows), len(np.unique(self.kernel[rows])), **options)

    def fit(self, features: Features, rows: Int64, unit: NDArray[np.generic], seed: int) -> Any:
        """A head fitted to some rows, chosen by cross-validation that keeps rows of one ``unit`` together."""
        head = candidate_search(self.shape(features, rows), seed, self.select, features.candidate)
        options = {"part": inner_folds(unit[rows], self.strata[rows], seed), **self._question_options(features, rows)}
        return head.fit(features.matrix[rows], self.values[rows], self._settings(features, rows), **options)

    def fit_rounded(self, features: Features, rows: Int64, unit: NDArray[np.generic], seed: int) -> Any:
        """As `fit`, for a head that is saved, and judged as it is saved (`saved_heads.rounded`)."""
        return rounded(self.fit(features, rows, unit, seed))

    def _settings(self, features: Features, rows: Int64) -> Settings | None:
        """The settings of some rows, for heads that take any."""
        return None

    def _question_options(self, features: Features, rows: Int64) -> dict[str, Any]:
        """The option of `fit` with views of the settings of some rows, where questions know less than training."""
        views = features.question_settings
        return {} if views is None else {"asked": [view.take(rows) for view in views]}

    def predict(self, head: Any, features: Features, rows: Int64) -> Float64:
        """Numbers (m,), labels (m, P) or preferences (m, K), 0 for what may not be asked for, of some rows."""
        return np.asarray(head.predict(features.matrix[rows]))

    def decide(self, head: Any, features: Features, rows: Int64) -> tuple[NDArray[Any], Int64 | None]:
        """The chosen settings, (m,), or what `predict` gives; and, if K > 3, the best of the three preferred ones."""
        return self.predict(head, features, rows), None

    def static_rows(self, folds: Sequence[Fold], portfolios: Sequence[int] = ()) -> dict[str, NDArray[Any]]:
        """What each rule without features gives for each sample, learned from the training rows of its fold.

        For each size k of ``portfolios``, row ``try_k`` measures k settings on the sample itself and keeps the best: k
        runs of the program and no knowledge of it. The k are those whose best cost the training samples least.
        """
        mean = np.zeros(self.values.shape)
        for training, test in folds:
            mean[test] = self.values[training].mean(axis=0)
        return {"mean" if mean.ndim == 1 else "rates": mean}


@dataclass(frozen=True, eq=False)
class CostTarget(Target):
    """Costs of settings, of which one is chosen."""

    settings: Settings
    defaults: Int64  # (n,) column of each sample's default
    shared: bool = True  # whether all samples have one space, so that a column is the same setting for each

    @property
    def default(self) -> int | None:
        """Column of the default; None where it differs from sample to sample."""
        columns = np.unique(self.defaults)
        return int(columns[0]) if len(columns) == 1 else None

    def shape(self, features: Features, rows: Int64) -> DataShape:
        options = {"settings": self.values.shape[1], "shared": self.shared, "default": self.default}
        return self._shape(features, rows, ahead=features.settings is not None, **options)

    def _settings(self, features: Features, rows: Int64) -> Settings:
        return (features.settings or self.settings).take(rows)

    def predict(self, head: Any, features: Features, rows: Int64) -> Float64:
        settings = self._question_options(features, rows).get("asked") or self._settings(features, rows)
        preference = head.predict_proba(features.matrix[rows], settings)
        # Trees may all vote for what this sample may not be asked for: any other setting is then preferred.
        return np.where(np.isfinite(self.values[rows]), np.maximum(preference, _LEAST_PREFERENCE), 0.0)

    def decide(self, head: Any, features: Features, rows: Int64) -> tuple[NDArray[Any], Int64 | None]:
        preference = self.predict(head, features, rows)
        best = preference.argmax(axis=1)
        if self.values.shape[1] <= _PREFERRED_COUNT:
            return best, None
        proposed = head.propose(preference, _PREFERRED_COUNT)
        cost = np.take_along_axis(self.values[rows], proposed, axis=1)
        return best, proposed[np.arange(len(proposed)), np.where(np.isfinite(cost), cost, np.inf).argmin(axis=1)]

    def effects(self, rows: Int64) -> Float64:
        """(T,) what each setting adds to the log costs of some rows (`additive_effects`); inf: none of them has it."""
        row = self.settings.row[rows]
        sample, place = np.nonzero(row >= 0)
        setting, count = row[sample, place], len(self.settings.features)
        _, effect = additive_effects(np.log(self.values[rows][sample, place]), sample, setting, len(rows), count)
        return np.where(np.bincount(setting, minlength=count) > 0, effect, np.inf)

    def static_rows(self, folds: Sequence[Fold], portfolios: Sequence[int] = ()) -> dict[str, NDArray[Any]]:
        choices = {name: self.defaults.copy() for name in ("default", "best_single", "majority")}
        row = self.settings.row  # (n, K)
        best = row[np.arange(len(row)), self.strata]
        for training, test in folds:
            wins = np.bincount(best[training], minlength=len(self.settings.features))
            votes = np.where(wins > 0, -wins.astype(np.float64), np.inf)
            for name, rank in (("best_single", self.effects(training)), ("majority", votes)):
                ranks = np.where(row[test] >= 0, rank[np.maximum(row[test], 0)], np.inf)
                choices[name][test] = _least_setting(ranks, np.arange(ranks.shape[1]), self.defaults[test])
            for size in portfolios:
                columns = portfolio(np.log(self.values[training]), size)
                choice = choices.setdefault(f"try_{size}", self.defaults.copy())
                choice[test] = _least_setting(np.log(self.values[test])[:, columns], columns, self.defaults[test])
        return choices


def _least_setting(rank: Float64, setting: Int64, default: Int64) -> Int64:
    """The setting of least rank of each sample, the default where none is finite. (m, k), (k,), (m,) -> (m,)."""
    finite = np.isfinite(rank)
    best = np.where(finite, rank, np.inf).argmin(axis=1)
    return np.where(finite.any(axis=1), setting[best], default).astype(np.int64)


def target_of(data: TaskData, select: str) -> Target:
    """The target of some samples."""
    common = (data.labels, data.group, data.kernel, select)
    if data.target == "costs":
        return CostTarget(data.known, *common, data.settings, data.default, data.shares_space)
    return Target(data.label_table.astype(np.float64) if data.target == "labels" else data.value, *common)
