"""`Goal`: what heads are trained for, searched and fitted on some rows, and asked about others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.heads.rounding import rounded
from mirenc.heads.settings import Settings
from mirenc.learning.features import Features
from mirenc.learning.menu import Shape, head_search, inner_parts
from mirenc.tasks.data import TaskData

__all__ = ["Goal"]

Int = NDArray[np.int64]
_DENSE = 0.9  # share of cells that were measured
_LEAST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Goal:
    """What heads are trained for: the target's columns, shared by all jobs of an evaluation.

    Attributes
    ----------
    target : (n, K), (n,) or (n, P) float64
        Cost of what runs when each setting is asked for (NaN: nobody may ask), the number to predict, or labels.
    settings : Settings or None
        None where the target is a number, or labels.
    labels : (n,) int64
    group : (n,) str
    kernel : (n,) str
        `TaskData.kernel`.
    select : str
    shared : bool
        Whether all samples have one space, so that a column is the same setting for each.
    default : int or None
        Column of the default; None where it is another one from sample to sample.
    """

    target: NDArray[np.float64]
    settings: Settings | None
    labels: Int
    group: NDArray[np.str_]
    kernel: NDArray[np.str_]
    select: str
    shared: bool = True
    default: int | None = 0

    @classmethod
    def of(cls, data: TaskData, select: str) -> Goal:
        """The goal of some data."""
        if data.chooses:
            defaults = np.unique(data.default)
            default = int(defaults[0]) if len(defaults) == 1 else None
            return cls(
                data.known, data.settings, data.labels, data.group, data.kernel, select, data.shares_space, default
            )
        target = data.label_table.astype(np.float64) if data.label_names else data.value
        return cls(target, None, data.labels, data.group, data.kernel, select)

    def shape(self, features: Features, rows: Int) -> Shape:
        """What the menu follows from, for training on some rows."""
        return Shape(
            context=features.context,
            code=features.matrix.shape[1] - features.context,
            samples=len(rows),
            groups=len(np.unique(self.kernel[rows])),
            settings=0 if self.settings is None else self.target.shape[1],
            shared=self.shared,
            default=self.default,
            dense=bool(np.isfinite(self.target[rows]).mean() > _DENSE),
            labels=self.target.shape[1] if self.settings is None and self.target.ndim > 1 else 0,
        )

    def fit(self, features: Features, rows: Int, unit: NDArray[np.generic], seed: int) -> Any:
        """A head, searched and trained on some rows; the search keeps the rows of a unit together."""
        head = head_search(self.shape(features, rows), seed, self.select, features.only)
        part = inner_parts(unit[rows], self.labels[rows], seed)
        own = () if self.settings is None else (self.settings.take(rows),)
        return head.fit(features.matrix[rows], self.target[rows], *own, part=part)

    def fit_rounded(self, features: Features, rows: Int, unit: NDArray[np.generic], seed: int) -> Any:
        """As `fit`: a head to keep, and to be judged as it is kept (`mirenc.heads.rounding`)."""
        return rounded(self.fit(features, rows, unit, seed))

    def ask(self, head: Any, features: Features, rows: Int) -> NDArray[np.float64]:
        """Preferences (m, K), 0 for settings that nobody may ask for, numbers (m,) or labels (m, P), of some rows."""
        if self.settings is None:
            found: NDArray[np.float64] = head.predict(features.matrix[rows])
            return found
        found = head.predict_proba(features.matrix[rows], self.settings.take(rows))
        # Trees may all vote for what this sample may not be asked: any other is then preferred to that.
        return np.where(np.isfinite(self.target[rows]), np.maximum(found, _LEAST), 0.0)

    def expected(self, head: Any, features: Features, rows: Int) -> NDArray[np.float64]:
        """(m, K) cost of each setting over that of the default, as a head that chooses expects it of some rows."""
        assert self.settings is not None
        assert self.default is not None
        found: NDArray[np.float64] = head.expected_ratios(
            features.matrix[rows], self.settings.take(rows), default=self.default
        )
        return found
