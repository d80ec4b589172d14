"""`fit_head`: a head for a task, trained on all of its samples, and what its answers are worth on kernels not seen.

A preference is no probability. So the held-out answers of heads trained anew without each group in turn are compared
with what was measured, and a new answer is told by the record of those that were as sure (`Evidence`).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from mirenc.base.arrays import Float64, Int64
from mirenc.base.errors import TaskError
from mirenc.decide.features.feature_matrix import HEAD_ROWS, Features, build_features
from mirenc.decide.metrics import SLOWDOWN, geometric_mean, group_interval
from mirenc.decide.prediction import Evidence, Record, Worth
from mirenc.decide.protocols import Fold, cut
from mirenc.decide.reach import Reach
from mirenc.decide.registry import get_task
from mirenc.decide.settings import Value
from mirenc.decide.target import STATIC_TITLES, Costs, Target, target_of
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.decide.task_head import TaskHead
from mirenc.encoder import Encoder

_FOLDS = 10
_MOST_PARTS = 5
_NEARLY = 0.9  # share of cells that must be measured for records: a few variants always fail
_LEAST = 20  # held-out answers that a record is worth telling of


def fit_head(
    task: Task | str,
    data: TaskData,
    encoder: Encoder,
    *,
    variant: str = "",
    row: str = "both",
    seed: int = 0,
    features: Features | None = None,
) -> TaskHead:
    """Train a head on all samples of a task but those held out; it is chosen by the same search as in an evaluation.

    ``features`` of the samples are computed if left out. The search keeps whole groups (`TaskData.group`) together: it
    is for kernels that were not measured. So does the evidence, for which ten more heads are trained with groups held
    out; of a model that a compiler taught it is what the head says of samples that are held out, where there are any.

    Raises TaskError: a row without code features; data of another target or space; all samples held out.
    """
    task = get_task(task) if isinstance(task, str) else task
    task.check_data(data)
    if row not in HEAD_ROWS:
        raise TaskError(f"a head cannot be made for row {row!r}; available: {', '.join(HEAD_ROWS)}")
    whole, kept = data, np.flatnonzero(~data.held_out)
    data = whole if len(kept) == len(whole) else whole.subset(kept)
    apart = len(kept) < len(whole) and encoder.files.config.taught is not None
    every = features or build_features(task, whole if apart else data, [row], encoder)[0]
    features = replace(every, matrix=every.matrix[kept]) if len(every.matrix) == len(whole) else every
    everything = np.arange(len(data))
    target = target_of(data, task.select)
    head = target.fit_rounded(features, everything, data.group, seed)
    if apart:
        evidence = gather_evidence(whole, target_of(whole, task.select), every, seed, head)
    else:
        evidence = gather_evidence(data, target, features, seed)
    chooses, timer, within = data.target == "costs", None, None
    if task.seconds and chooses:
        times = Target(np.log(data.baseline), np.zeros(len(data), dtype=np.int64), data.group, data.kernel, task.select)
        timer = times.fit_rounded(features, everything, data.group, seed)
        within = time_factor(data, times, features, seed)
    return TaskHead(
        head=head,
        task=task,
        variant=task.check_variant(variant),
        row=row,
        model=encoder.name,
        model_digest=encoder.features_digest,
        data_hash=whole.content_hash,
        setting_encoder=data.encoder if chooses else None,
        reach=Reach.of(features.matrix, features.context, data.group),
        evidence=evidence,
        machine=data.machine,
        space=data.space if chooses and task.space is None and data.shares_space else None,
        timer=timer,
        time_factor=within,
        label_names=data.label_names,
        llvm=data.llvm,
        refused=never_ran(whole) if chooses else (),
        encoder=encoder,
    )


def never_ran(data: TaskData) -> tuple[tuple[Value, ...], ...]:
    """Settings that ran with none of the samples that could ask for them, as a block too large for the device.

    Only of spaces where a setting without a cost cannot run (`Space.missing`).
    """
    asked: set[tuple[Value, ...]] = set()
    ran: set[tuple[Value, ...]] = set()
    for space, costs in zip(data.spaces, data.costs, strict=True):
        if space.missing == "default":
            asked |= {*space.settings}
            ran |= {setting for setting, cost in zip(space.settings, costs, strict=False) if np.isfinite(cost)}
    return tuple(sorted(asked - ran, key=str))


def gather_evidence(data: TaskData, target: Target, features: Features, seed: int, head: Any = None) -> Evidence:
    """What held-out answers are worth, beside heads without code and the static rules of the same folds.

    They are those of heads trained with groups held out (10 folds at most). Or of a ``head``, about the samples that
    are held out: for a model that a compiler taught, which has seen answers about the projects for training, so folds
    of them would say too much.
    """
    tested = np.arange(len(data)) if head is None else np.flatnonzero(data.held_out)
    if len(np.unique(data.group[tested])) < 2:
        return Evidence("", None)
    folds = [(np.flatnonzero(~data.held_out), tested)]
    if head is None:
        folds = list(cut(data.group, data.labels, _FOLDS, seed))
    answers = _held_out(target, features, seed, folds, head)[tested]
    seen, blind = data if head is None else data.subset(tested), None
    if features.context:
        context = replace(features, matrix=features.matrix[:, : features.context], settings=None, asked=None)
        blind = _held_out(target, context, seed, folds)[tested]
    static = {rule: said[tested] for rule, said in target.static_rows(folds).items()}
    if isinstance(target, Costs):
        rows = np.unique(np.concatenate([training for training, _ in folds]))
        place = dict(zip(data.setting_values, target.effects(rows), strict=True))
        constants = {min(space.settings, key=place.__getitem__) for space in data.spaces}
        found = _of_choices(seen, answers, blind, static)
        return replace(found, constants=tuple(sorted(constants, key=place.__getitem__)))
    if data.target == "labels":  # as people see them
        answers, blind = np.clip(answers, 0.0, 1.0), None if blind is None else np.clip(blind, 0.0, 1.0)
    return _of_numbers(seen, target.values[tested], answers, blind, static)


def time_factor(data: TaskData, target: Target, features: Features, seed: int) -> float | None:
    """The factor that 8 of 10 held-out expected times are within; the target is log seconds. None: one group only."""
    if len(np.unique(data.group)) < 2:
        return None
    answers = _held_out(target, features, seed, list(cut(data.group, data.labels, _FOLDS, seed)))
    error = np.abs(answers - target.values)
    return float(np.exp(np.percentile(error, 80)))


def _held_out(target: Target, features: Features, seed: int, folds: list[Fold], head: Any = None) -> Float64:
    """What a head, or one for each fold, says of its rows: (n, K) preferences, (n,) numbers, (n, P) labels."""
    answers = np.zeros(target.values.shape)
    for training, test in folds:
        own = target.fit_rounded(features, training, target.group, seed) if head is None else head
        answers[test] = target.ask(own, features, test)
    return answers


def _of_numbers(
    data: TaskData, truth: Float64, answers: Float64, blind: Float64 | None, static: dict[str, Float64]
) -> Evidence:
    """Of numbers (n,), or of labels (n, P), whose errors are averaged over a sample."""
    ((rival, mean),) = static.items()
    own = ((answers - truth) ** 2).reshape(len(data), -1).mean(axis=1)

    def worth(said: Float64) -> Worth:
        other = ((said - truth) ** 2).reshape(len(data), -1).mean(axis=1)
        scale = float(other.mean()) or 1.0
        low, high = group_interval(other - own, data.group)
        return (1 - float(own.mean()) / scale, low / scale, high / scale)

    error = max(float(np.percentile(np.abs(answers - truth), 80)), 1e-12)
    return Evidence(STATIC_TITLES[rival], worth(mean), error, no_code=worth(mean if blind is None else blind))


def _of_choices(data: TaskData, preference: Float64, blind: Float64 | None, static: dict[str, Int64]) -> Evidence:
    rows = np.arange(len(data))
    choice = preference.argmax(axis=1)
    cost = np.log(data.paid[rows, choice])
    rules = {name: np.log(data.paid[rows, static[name]]) for name in ("default", "best_single")}
    rival = min(rules, key=lambda name: float(rules[name].mean()))

    def worth(other: Float64, cost: Float64 = cost) -> Worth:
        low, high = group_interval(other - cost, data.group, statistic=np.exp)
        return (float(np.exp((other - cost).mean())), low, high)

    sure = preference.max(axis=1) / preference.sum(axis=1)
    is_default = data.resolve(choice) == data.resolve(data.default)
    own = np.arange(data.width) < np.array([len(space) for space in data.spaces])[:, None]
    measured = np.isfinite(data.known[own])
    told = measured.mean() > _NEARLY
    default, other = (_records(np.flatnonzero(one & told), sure, choice, data) for one in (is_default, ~is_default))
    return Evidence(
        STATIC_TITLES[rival],
        worth(rules[rival]),
        default=default,
        other=other,
        whole=bool(measured.all()),
        no_code=worth(rules[rival] if blind is None else np.log(data.paid[rows, blind.argmax(axis=1)])),
        constant_worth=worth(rules["default"], rules["best_single"]),
    )


def _records(rows: Int64, sure: Float64, choice: Int64, data: TaskData) -> tuple[Record, ...]:
    """Records of some answers, the surest first: up to five parts, all together where they are few."""
    order = rows[np.argsort(-sure[rows], kind="stable")]
    if len(order) < _LEAST:
        return ()
    every = np.arange(len(data))
    right = data.known[every, choice] == np.nanmin(data.known, axis=1)
    cost = data.paid[every, choice]
    return tuple(
        Record(
            sure=float(sure[part].min()),
            answers=len(part),
            right=float(np.mean(right[part])),
            slower=float(np.mean(cost[part] > SLOWDOWN * data.paid_baseline[part])),
            speedup=geometric_mean(data.paid_baseline[part] / cost[part]),
        )
        for part in np.array_split(order, min(_MOST_PARTS, len(order) // _LEAST))
    )
