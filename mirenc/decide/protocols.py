"""`Protocol`: how the samples of a task are split into training and test.

Random folds leak where one kernel was measured with several data sizes, because the same code is on both sides. So a
protocol names the *unit* whose samples stay together, and every report has more than one protocol.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, StratifiedKFold

from mirenc.base.arrays import Int64
from mirenc.base.errors import TaskError
from mirenc.decide.task_data import TaskData

Fold = tuple[Int64, Int64]


@dataclass(frozen=True)
class Protocol:
    """A cross-validation: one way to split the samples of a task."""

    name: str
    """As ``--protocol`` takes it."""
    title: str
    """What a report calls it."""
    unit: Callable[[TaskData], NDArray[np.generic]]
    """Data -> (n,) the groups of scikit-learn: samples of one unit are never on both sides of a fold. Where the unit is
    the single sample, code leaks into training: the title should say so."""
    folds: int | None = 10
    """How many; None leaves out one unit at a time, and seeds then change the heads only."""
    share: float = 1.0
    """Of all units, the share that is trained on, drawn anew for each fold; 1: all that are not tested."""
    over: Literal["all", "rest", "held_out"] = "all"
    """``all``: every sample is tested once. ``rest``: so is every one that is not held out (`Sample.held_out`), and
    those that are take no part. ``held_out``: these are tested, once, after training on all others; ``folds`` does not
    count, and seeds change the heads only."""

    def only_unit(self, data: TaskData) -> str:
        """The one unit of all samples, where there is no second to hold out; else ""."""
        sides = np.where(data.held_out, "held out", "trained on")
        first_unit, *other_units = np.unique(sides if self.over == "held_out" else self.unit(data))
        return "" if other_units else str(first_unit)

    def split(self, data: TaskData, seed: int) -> Iterator[Fold]:
        """Training and test rows of each fold. Raises TaskError: one unit, or not one a sample; nothing to test."""
        unit = np.asarray(self.unit(data))
        if unit.shape != (len(data),):
            requirement = f"it must return one label for each sample, shape ({len(data)},)"
            raise TaskError(f"protocol {self.name!r}: its function `unit` returned shape {unit.shape}; {requirement}")
        if self.over == "held_out":
            yield self._held_out_fold(data, unit)
            return
        usable_rows = np.flatnonzero(~data.held_out) if self.over == "rest" else np.arange(len(data))
        rng = np.random.default_rng(seed)
        for fold in cut(unit[usable_rows], data.labels[usable_rows], self.folds, seed):
            training, test = usable_rows[fold[0]], usable_rows[fold[1]]
            if self.share < 1.0:
                units = np.unique(unit[training])
                count = max(2, round(self.share * len(np.unique(unit))))
                training = training[np.isin(unit[training], rng.permutation(units)[:count])]
            yield training, test

    def _held_out_fold(self, data: TaskData, unit: NDArray[np.generic]) -> Fold:
        training, test = np.flatnonzero(~data.held_out), np.flatnonzero(data.held_out)
        if not len(training) or not len(test):
            problem = f"has {len(training)} samples to train on and {len(test)} to test on; it needs some of both"
            raise TaskError(f"protocol {self.name!r} {problem}. Add samples with held_out={len(training) > 0}")
        if shared_units := sorted(set(unit[training].tolist()) & set(unit[test].tolist())):
            problem = f"group {shared_units[0]!r} has samples that are held out and samples that are not"
            raise TaskError(f"protocol {self.name!r}: {problem}. Hold out all of a group, or none")
        return training, test


BY_ROW = Protocol("rows", "random folds over samples (leaks)", lambda data: np.arange(len(data)))
BY_GROUP = Protocol("group", "folds of whole groups", lambda data: data.group)


def cut(unit: NDArray[np.generic], labels: Int64, folds: int | None, seed: int) -> Iterator[Fold]:
    """(training, test) rows of folds that keep samples of one unit together; None: one unit is tested at a time.

    Stratified by ``labels`` where every unit is a single sample. Raises TaskError: there is one unit only.
    """
    names, row = np.unique(unit, return_inverse=True)
    if len(names) < 2:
        problem = f"cannot divide {len(unit)} samples into folds: all belong to the group {str(names[0])!r}"
        raise TaskError(f"{problem}. Give samples of two groups or more")
    if folds is None or folds >= len(names):
        yield from LeaveOneGroupOut().split(row, labels, row)
    elif len(names) < len(unit):
        yield from GroupKFold(folds, shuffle=True, random_state=seed).split(row, labels, row)
    elif np.bincount(labels)[np.unique(labels)].min() >= folds:
        yield from StratifiedKFold(folds, shuffle=True, random_state=seed).split(row, labels)
    else:  # a label too rare to be spread
        yield from KFold(folds, shuffle=True, random_state=seed).split(row)
