"""`fit_head`: fits a head to all samples of a task, and cross-validates what its answers are worth on new kernels.

A preference is no probability. So heads are also fitted without each group in turn, their held-out answers are compared
with what was measured, and a new answer is reported with the record of those that were as sure (`Evidence`).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mirenc.base.arrays import Float64, Int64
from mirenc.base.errors import TaskError
from mirenc.base.progress import progress as progress_bar
from mirenc.decide.features.feature_matrix import HEAD_ROWS, Features, build_features
from mirenc.decide.metrics import SLOWDOWN, geometric_mean, group_interval, share_saved
from mirenc.decide.prediction import Evidence, Record, Worth
from mirenc.decide.protocols import Fold, cut
from mirenc.decide.reach import Reach
from mirenc.decide.registry import get_task
from mirenc.decide.settings import Value
from mirenc.decide.target import STATIC_TITLES, CostTarget, Target, target_of
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.decide.task_head import TaskHead
from mirenc.encoder import Encoder

_FOLDS = 10
_MOST_PARTS = 5
_NEARLY_ALL = 0.9  # share of cells that must be measured for records: a few variants always fail
Advance = Callable[..., None] | None  # called after each head
_LEAST_ANSWERS = 20  # held-out answers of a record


def fit_head(
    task: Task | str,
    data: TaskData,
    encoder: Encoder,
    *,
    variant: str = "",
    row: str = "both",
    seed: int = 0,
    features: Features | None = None,
    progress: bool = False,
) -> TaskHead:
    """Fit a head to all samples of a task that are not held out, by the same search as in an evaluation.

    ``features`` of the samples are computed if left out; ``progress`` shows a bar. Cross-validation keeps whole groups
    (`TaskData.group`) together, because the head is for kernels that were not measured: in the search, and for the
    evidence, for which ten more heads are fitted with groups held out. With a model that a compiler taught, the
    evidence comes from the head's answers about held-out samples, where there are any.

    Raises TaskError: a row without code features; data of another target or space; all samples held out.
    """
    task = get_task(task) if isinstance(task, str) else task
    task.check_data(data)
    if row not in HEAD_ROWS:
        raise TaskError(f"a head cannot be trained on features (row) {row!r}; available: {', '.join(HEAD_ROWS)}")
    all_data, training = data, np.flatnonzero(~data.held_out)
    data = all_data if len(training) == len(all_data) else all_data.subset(training)
    use_held_out = len(training) < len(all_data) and encoder.files.config.taught is not None
    if features is None:
        with progress_bar("embedding", None, show=progress) as advance:
            (features,) = build_features(task, all_data if use_held_out else data, [row], encoder, advance=advance)
    all_features = features
    if len(all_features.matrix) == len(all_data):
        features = replace(all_features, matrix=all_features.matrix[training])
    rows = np.arange(len(data))
    target = target_of(data, task.select)
    chooses, timer, factor = data.target == "costs", None, None
    with progress_bar("training heads", None, show=progress) as advance:
        head = target.fit_rounded(features, rows, data.group, seed)
        if use_held_out:
            full_target = target_of(all_data, task.select)
            evidence = gather_evidence(all_data, full_target, all_features, seed, head, advance=advance)
        else:
            evidence = gather_evidence(data, target, features, seed, advance=advance)
        if task.seconds and chooses:
            no_labels = np.zeros(len(data), dtype=np.int64)
            time_target = Target(np.log(data.baseline), no_labels, data.group, data.kernel, task.select)
            timer = time_target.fit_rounded(features, rows, data.group, seed)
            factor = time_factor(data, time_target, features, seed, advance=advance)
    return TaskHead(
        head=head,
        task=task,
        variant=task.check_variant(variant),
        row=row,
        model=encoder.name,
        model_digest=encoder.features_digest,
        data_hash=all_data.content_hash,
        setting_encoder=data.encoder if chooses else None,
        reach=Reach.of(features.matrix, features.context_columns, data.group),
        evidence=evidence,
        machine=data.machine,
        space=data.space if chooses and task.space is None and data.shares_space else None,
        timer=timer,
        time_factor=factor,
        label_names=data.label_names,
        llvm=data.llvm,
        refused=never_ran(all_data) if chooses else (),
        encoder=encoder,
    )


def never_ran(data: TaskData) -> tuple[tuple[Value, ...], ...]:
    """Settings that ran with none of the samples that could ask for them, as a block too large for the device.

    Only of spaces where a setting without a cost cannot run (`Space.missing`).
    """
    offered_settings: set[tuple[Value, ...]] = set()
    ran_settings: set[tuple[Value, ...]] = set()
    for space, costs in zip(data.spaces, data.costs, strict=True):
        if space.missing == "default":
            offered_settings |= {*space.settings}
            ran_settings |= {setting for setting, cost in zip(space.settings, costs, strict=False) if np.isfinite(cost)}
    return tuple(sorted(offered_settings - ran_settings, key=str))


def gather_evidence(
    data: TaskData, target: Target, features: Features, seed: int, head: Any = None, *, advance: Advance = None
) -> Evidence:
    """What held-out answers are worth, beside those of heads without code and of the static rules of the same folds.

    They come from heads fitted with groups held out (10 folds at most); or from ``head``, about the samples that are
    held out. The latter is for models that a compiler taught: these have seen answers about the projects for training,
    so that folds of them would promise too much.
    """
    tested_rows = np.arange(len(data)) if head is None else np.flatnonzero(data.held_out)
    if len(np.unique(data.group[tested_rows])) < 2:
        return Evidence("", None)
    folds = [(np.flatnonzero(~data.held_out), tested_rows)]
    if head is None:
        folds = list(cut(data.group, data.labels, _FOLDS, seed))
    answers = _cross_predict(target, features, seed, folds, head, advance=advance)[tested_rows]
    tested_data, no_code = data if head is None else data.subset(tested_rows), None
    if features.context_columns:
        matrix = features.matrix[:, : features.context_columns]
        context = replace(features, matrix=matrix, settings=None, question_settings=None)
        no_code = _cross_predict(target, context, seed, folds, advance=advance)[tested_rows]
    static_answers = {rule: predicted[tested_rows] for rule, predicted in target.static_rows(folds).items()}
    if isinstance(target, CostTarget):
        rows = np.unique(np.concatenate([training for training, _ in folds]))
        effects = dict(zip(data.setting_values, target.effects(rows), strict=True))
        constants = {min(space.settings, key=effects.__getitem__) for space in data.spaces}
        evidence = _choice_evidence(tested_data, answers, no_code, static_answers)
        return replace(evidence, constants=tuple(sorted(constants, key=effects.__getitem__)))
    if data.target == "labels":  # as they are shown to people
        answers, no_code = np.clip(answers, 0.0, 1.0), None if no_code is None else np.clip(no_code, 0.0, 1.0)
    return _number_evidence(tested_data, target.values[tested_rows], answers, no_code, static_answers)


def time_factor(
    data: TaskData, target: Target, features: Features, seed: int, *, advance: Advance = None
) -> float | None:
    """The factor that 8 of 10 held-out expected times are within; the target is log seconds. None: one group only."""
    if len(np.unique(data.group)) < 2:
        return None
    answers = _cross_predict(target, features, seed, list(cut(data.group, data.labels, _FOLDS, seed)), advance=advance)
    return float(np.exp(np.percentile(np.abs(answers - target.values), 80)))


def _cross_predict(
    target: Target, features: Features, seed: int, folds: list[Fold], head: Any = None, *, advance: Any
) -> Float64:
    """Predictions for the test rows of each fold, by a head fitted to its training rows, or by ``head``."""
    answers = np.zeros(target.values.shape)
    for training, test in folds:
        fitted = target.fit_rounded(features, training, target.group, seed) if head is None else head
        answers[test] = target.predict(fitted, features, test)
        if advance is not None:
            advance()
    return answers


def _number_evidence(
    data: TaskData, truth: Float64, answers: Float64, no_code: Float64 | None, static_answers: dict[str, Float64]
) -> Evidence:
    """The evidence of numbers (n,), or of labels (n, P), whose errors are averaged over each sample."""
    ((rival, mean),) = static_answers.items()

    def square_error(predicted: Float64) -> Float64:
        return np.asarray(((predicted - truth) ** 2).reshape(len(data), -1).mean(axis=1))

    def gain(predicted: Float64) -> Worth:
        return share_saved(square_error(answers), square_error(predicted), data.group)

    error = max(float(np.percentile(np.abs(answers - truth), 80)), 1e-12)
    return Evidence(STATIC_TITLES[rival], gain(mean), error, no_code=gain(mean if no_code is None else no_code))


def _choice_evidence(
    data: TaskData, preference: Float64, no_code: Float64 | None, static_answers: dict[str, Int64]
) -> Evidence:
    rows = np.arange(len(data))
    choice = preference.argmax(axis=1)
    cost = np.log(data.paid[rows, choice])
    rules = {name: np.log(data.paid[rows, static_answers[name]]) for name in ("default", "best_single")}
    rival = min(rules, key=lambda name: float(rules[name].mean()))

    def gain(rival_cost: Float64, cost: Float64 = cost) -> Worth:
        low, high = group_interval(rival_cost - cost, data.group, statistic=np.exp)
        return (float(np.exp((rival_cost - cost).mean())), low, high)

    share = preference.max(axis=1) / preference.sum(axis=1)
    is_default = data.resolve(choice) == data.resolve(data.default)
    in_space = np.arange(data.width) < np.array([len(space) for space in data.spaces])[:, None]
    measured = np.isfinite(data.known[in_space])
    dense = measured.mean() > _NEARLY_ALL
    default, other = (_records(np.flatnonzero(kind & dense), share, choice, data) for kind in (is_default, ~is_default))
    return Evidence(
        STATIC_TITLES[rival],
        gain(rules[rival]),
        default=default,
        other=other,
        whole=bool(measured.all()),
        no_code=gain(rules[rival] if no_code is None else np.log(data.paid[rows, no_code.argmax(axis=1)])),
        constant_worth=gain(rules["default"], rules["best_single"]),
    )


def _records(rows: Int64, share: Float64, choice: Int64, data: TaskData) -> tuple[Record, ...]:
    """Records of some answers, the surest first, in up to five parts of at least 20 answers."""
    order = rows[np.argsort(-share[rows], kind="stable")]
    if len(order) < _LEAST_ANSWERS:
        return ()
    all_rows = np.arange(len(data))
    hits = data.known[all_rows, choice] == np.nanmin(data.known, axis=1)
    cost = data.paid[all_rows, choice]
    return tuple(
        Record(
            sure=float(share[part].min()),
            answers=len(part),
            right=float(np.mean(hits[part])),
            slower=float(np.mean(cost[part] > SLOWDOWN * data.paid_baseline[part])),
            speedup=geometric_mean(data.paid_baseline[part] / cost[part]),
        )
        for part in np.array_split(order, min(_MOST_PARTS, len(order) // _LEAST_ANSWERS))
    )
