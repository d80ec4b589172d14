"""`fit_head`: a head for a task, trained on all of its samples, with the evidence of what its answers are worth."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mirenc.deciding.evidence import evidence_held_out, gather_evidence, time_factor
from mirenc.deciding.head import TaskHead
from mirenc.deciding.reach import Reach
from mirenc.errors import TaskError
from mirenc.learning.code_reader import CODE_ROWS
from mirenc.learning.features import Features, build_features
from mirenc.learning.target import Number, target_of
from mirenc.tasks.data import TaskData
from mirenc.tasks.registry import get_task
from mirenc.tasks.task import Task

if TYPE_CHECKING:
    from mirenc.embed import Encoder

__all__ = ["fit_head"]


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

    ``features`` of the samples are computed if left out; they are of the row and of the encoder's model.

    The search keeps whole groups (`TaskData.group`) together: it is for kernels that were not measured. So does the
    evidence, for which ten further heads are trained with groups held out. A model that a compiler taught has seen
    answers about the projects for training: where samples are held out, the evidence is what the head says of those.

    Raises TaskError: A row that has no code features of mirenc's; data of another target or space than the task's; no
    sample that is not held out.
    """
    task = get_task(task) if isinstance(task, str) else task
    task.check_data(data)
    if row not in CODE_ROWS:
        raise TaskError(f"a head cannot be made for row {row!r}; available: {', '.join(CODE_ROWS)}")
    whole, kept = data, np.flatnonzero(~data.held_out)
    data = whole if len(kept) == len(whole) else whole.subset(kept)
    apart = len(kept) < len(whole) and encoder.files.config.taught is not None
    every = features or build_features(task, whole if apart else data, [row], encoder)[0]
    features = replace(every, matrix=every.matrix[kept]) if len(every.matrix) == len(whole) else every
    everything = np.arange(len(data))
    target = target_of(data, task.select)
    head = target.fit_rounded(features, everything, data.group, seed)
    if apart:
        evidence = evidence_held_out(whole, target_of(whole, task.select), every, head, seed)
    else:
        evidence = gather_evidence(data, target, features, seed)
    chooses, timer, within = data.target == "costs", None, None
    if task.seconds and chooses:
        times = Number(np.log(data.baseline), np.zeros(len(data), dtype=np.int64), data.group, data.kernel, task.select)
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
        encoder=encoder,
    )
