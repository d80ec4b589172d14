"""`Evidence`: what a head's answers were worth on kernels it had not seen, to say beside every answer it gives.

A preference is no probability. So a head that is kept is also trained anew without each group in turn, its held-out
answers are compared with what was measured, and the new answer is told by the record of those that were as sure.

Two questions are kept apart. Do the answers beat what needs no features at all? Then they are taken (`Evidence.pays`).
And do they beat a head that sees the same context and no code? Only then is there evidence that the code matters
(`Evidence.found`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.learning.features import Features
from mirenc.learning.goal import Goal
from mirenc.learning.static import STATIC_TITLES, static_rows
from mirenc.metrics import SLOWDOWN, geometric_mean, group_interval
from mirenc.tasks.data import TaskData
from mirenc.tasks.prediction import Evidence, Record
from mirenc.tasks.protocols import cut

__all__ = ["evidence_held_out", "gather_evidence", "time_factor"]

Float = NDArray[np.float64]
_FOLDS = 10
_MOST_PARTS = 5
_NEARLY = 0.9  # share of cells that must be measured for records: a few variants always fail
_LEAST = 20  # held-out answers that a record is worth telling of


def gather_evidence(data: TaskData, goal: Goal, features: Features, seed: int) -> Evidence:
    """Train and ask heads with groups held out (10 folds, or one group at a time where there are fewer)."""
    if len(np.unique(data.group)) < 2:
        return Evidence("", None)
    folds = list(cut(data.group, data.labels, _FOLDS, seed))
    return _evidence(data, goal, features, _held_out(data, goal, features, seed, folds), folds, seed)


def evidence_held_out(data: TaskData, goal: Goal, features: Features, head: Any, seed: int) -> Evidence:
    """Ask a head that was trained on the samples that are not held out about those that are; else `gather_evidence`.

    Of a model that a compiler taught: it has seen answers about the projects for training, so folds of them would say
    too much.
    """
    test = np.flatnonzero(data.held_out)
    if len(np.unique(data.group[test])) < 2:
        return Evidence("", None)
    return _evidence(data, goal, features, [(head, test)], [(np.flatnonzero(~data.held_out), test)], seed)


def _evidence(
    data: TaskData,
    goal: Goal,
    features: Features,
    heads: list[tuple[Any, NDArray[np.int64]]],
    folds: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
    seed: int,
) -> Evidence:
    """What heads say of rows that they did not see, beside heads without code and the static rules of their folds."""
    tested = np.sort(np.concatenate([test for _, test in heads]))
    seen = data if len(tested) == len(data) else data.subset(tested)
    said = _said(goal, features, heads)[tested]
    blind = None
    if features.context:
        context = replace(features, matrix=features.matrix[:, : features.context])
        blind = _said(goal, context, _held_out(data, goal, context, seed, folds))[tested]
    static = {rule: told[tested] for rule, told in static_rows(data, folds).items()}
    if data.chooses:
        return _choices(seen, said, blind, static)
    if data.label_names:
        # As people are told it.
        said, blind = np.clip(said, 0.0, 1.0), None if blind is None else np.clip(blind, 0.0, 1.0)
        return _numbers(seen, seen.label_table.astype(np.float64), said, blind, static["rates"], "rates")
    return _numbers(seen, seen.value, said, blind, static["mean"], "mean")


def time_factor(data: TaskData, goal: Goal, features: Features, seed: int) -> float | None:
    """The factor that 8 of 10 held-out expected times are within; ``goal`` is log seconds. None: one group only."""
    if len(np.unique(data.group)) < 2:
        return None
    folds = list(cut(data.group, data.labels, _FOLDS, seed))
    error = np.abs(_said(goal, features, _held_out(data, goal, features, seed, folds)) - goal.target)
    return float(np.exp(np.percentile(error, 80)))


def _held_out(
    data: TaskData, goal: Goal, features: Features, seed: int, folds: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
) -> list[tuple[Any, NDArray[np.int64]]]:
    """A head for each fold, and the rows that it did not see."""
    return [(goal.fit_rounded(features, training, data.group, seed), test) for training, test in folds]


def _said(goal: Goal, features: Features, heads: list[tuple[Any, NDArray[np.int64]]]) -> Float:
    """What the heads say of rows that they did not see: (n, K) preferences, (n,) numbers, or (n, P) labels."""
    said = np.zeros(goal.target.shape)
    for head, test in heads:
        said[test] = goal.ask(head, features, test)
    return said


def _numbers(data: TaskData, target: Float, said: Float, blind: Float | None, mean: Float, rival: str) -> Evidence:
    """Of numbers (n,), or of labels (n, P), whose errors are averaged over a sample."""
    error = np.abs(said - target)

    def square(told: Float) -> Float:
        result: Float = ((told - target) ** 2).reshape(len(data), -1).mean(axis=1)
        return result

    def worth(told: Float) -> tuple[float, float, float]:
        own, other = square(said), square(told)
        scale = float(other.mean()) or 1.0
        low, high = group_interval(other - own, data.group)
        return (1 - float(own.mean()) / scale, low / scale, high / scale)

    return Evidence(
        STATIC_TITLES[rival],
        worth(mean),
        error=max(float(np.percentile(error, 80)), 1e-12),
        no_code=worth(mean if blind is None else blind),
    )


def _choices(data: TaskData, preference: Float, blind: Float | None, static: dict[str, NDArray[np.int64]]) -> Evidence:
    rows = np.arange(len(data))
    choice = preference.argmax(axis=1)
    cost = np.log(data.paid[rows, choice])
    rules = {name: np.log(data.paid[rows, static[name]]) for name in ("default", "best_single")}
    rival = min(rules, key=lambda name: float(rules[name].mean()))

    def worth(other: Float) -> tuple[float, float, float]:
        low, high = group_interval(other - cost, data.group, statistic=np.exp)
        return (float(np.exp((other - cost).mean())), low, high)

    sure = preference.max(axis=1) / preference.sum(axis=1)
    is_default = data.resolve(choice) == data.resolve(data.default)
    own = np.arange(data.width) < np.array([len(space) for space in data.spaces])[:, None]
    measured = np.isfinite(data.known[own])
    whole = bool(measured.all())
    kept = [
        tuple(_records(np.flatnonzero(inside), sure, choice, data)) if measured.mean() > _NEARLY else ()
        for inside in (is_default, ~is_default)
    ]
    no_code = rules[rival] if blind is None else np.log(data.paid[rows, blind.argmax(axis=1)])
    return Evidence(
        STATIC_TITLES[rival], worth(rules[rival]), whole=whole, default=kept[0], other=kept[1], no_code=worth(no_code)
    )


def _records(rows: NDArray[np.int64], sure: Float, choice: NDArray[np.int64], data: TaskData) -> list[Record]:
    """Records of some answers, the surest first: up to five parts, all together where they are few."""
    order = rows[np.argsort(-sure[rows], kind="stable")]
    if len(order) < _LEAST:
        return []
    every = np.arange(len(data))
    right = data.known[every, choice] == np.nanmin(data.known, axis=1)
    cost = data.paid[every, choice]
    parts = np.array_split(order, min(_MOST_PARTS, len(order) // _LEAST))
    return [
        Record(
            sure=float(sure[part].min()),
            answers=len(part),
            right=float(np.mean(right[part])),
            slower=float(np.mean(cost[part] > SLOWDOWN * data.paid_baseline[part])),
            speedup=geometric_mean(data.paid_baseline[part] / cost[part]),
        )
        for part in parts
    ]
