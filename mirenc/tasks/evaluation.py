"""`evaluate`: a task, its protocols, its baselines and the embedding, in one report.

For each protocol, seed and fold, each row's head is searched and trained on the training rows alone, and chooses for
the test rows. What is kept is the choices; every figure of a report is computed from them (`mirenc.tasks.report`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import MirencError, TaskError
from mirenc.tasks.base import Task, get_task
from mirenc.tasks.data import TaskData
from mirenc.tasks.features import Features, build_features, default_rows
from mirenc.tasks.jobs import Result, plan_jobs, run_jobs
from mirenc.tasks.protocols import Protocol
from mirenc.tasks.report import TaskReport

if TYPE_CHECKING:
    from mirenc.encoder import Encoder

__all__ = ["SEEDS", "STATIC_ROWS", "evaluate"]

Int = NDArray[np.int64]
Key = tuple[str, int, str]  # protocol, seed, row
SEEDS = (0, 1, 2, 3, 4)
STATIC_ROWS = ("default", "best_single", "majority")


def evaluate(
    task: Task | str | os.PathLike[str],
    data: TaskData | str | Path | None = None,
    *,
    variant: str = "",
    encoder: Encoder | None = None,
    protocols: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
    seeds: Sequence[int] = SEEDS,
    jobs: int = 1,
    advance: Callable[..., None] | None = None,
    previous: Sequence[TaskReport] = (),
    keep: Callable[[TaskReport], object] | None = None,
) -> TaskReport:
    """Evaluate the embedding on a task, beside its baselines.

    Parameters
    ----------
    task : Task or str
        A task, its name, or the `Path` of a file that defines one, which is executed.
    data : path or TaskData, optional
        Where the data sets are; ``MIRENC_DATA`` or the download folder if left out. Or the samples themselves, such as
        `TaskData.subset` of those that `Task.load` gave.
    variant : str
        One of the task's variants; its first if left out.
    encoder : Encoder, optional
        The default model if left out.
    protocols, rows : sequence of str, optional
        All if left out (`Task.protocols`, `mirenc.tasks.features.ROW_TITLES`).
    seeds : sequence of int
        Each shuffles folds and starts heads anew.
    jobs : int
        Processes that train heads.
    advance : callable, optional
        Called as ``advance(done, total=..., note=...)`` while heads are trained.
    previous : sequence of TaskReport
        Reports of the same task and data: what they hold of the same features, folds and heads is not made again.
    keep : callable, optional
        Called with the report so far when a seed is done and others are left.

    Raises
    ------
    TaskError
        Unknown names, bad data; see `Task.load`.
    """
    task = task if isinstance(task, Task) else get_task(task)
    variant = task.check_variant(variant)
    if not seeds:
        raise TaskError("no seeds were given; give one or more, as in seeds=(0, 1, 2, 3, 4)")
    chosen = [task.protocol(name) for name in _several("protocols", protocols)] or list(task.protocols)
    wanted = _several("rows", rows) or default_rows(task)
    table = data if isinstance(data, TaskData) else _load(task, data, variant)
    if encoder is None:
        from mirenc.encoder import load

        encoder = load()
    features = build_features(task, table, wanted, encoder)
    work = plan_jobs(task, table, features, chosen, seeds)
    digests = {job.key: job.digest() for job in work}
    known = {key: result for report in previous for key, result in report.known(digests).items()}

    def report_of(found: Mapping[Key, Result]) -> TaskReport:
        done = {key: (digests[key], result) for key, result in found.items()}
        return TaskReport(_record(task, variant, table, encoder, chosen, features, done), task, table)

    found: dict[Key, Result] = {}
    for place, (job, result) in enumerate(zip(work, run_jobs(work, jobs, advance, known), strict=True), 1):
        found[job.key] = result
        if keep is not None and place % len(features) == 0 and place < len(work):
            keep(report_of(found))
    return report_of(found)


def _load(task: Task, data_dir: str | Path | None, variant: str) -> TaskData:
    """The task's samples; what a task of somebody's own raises becomes an error that names it."""
    try:
        return task.load(data_dir, variant)
    except (MirencError, OSError):
        raise
    except Exception as error:
        raise TaskError(f"task {task.name}: load() fails: {type(error).__name__}: {error}. Mend it") from error


def _several(name: str, given: Sequence[str] | None) -> list[str]:
    """The names as a list. A lone string would be read letter by letter."""
    if isinstance(given, str):
        raise TaskError(f"{name} is {given!r}; it is a sequence of names: {name}=[{given!r}]")
    return list(given or ())


def static_choices(data: TaskData, folds: Sequence[tuple[Int, Int]]) -> dict[str, Int]:
    """What needs no features: the default, the best single choice, the most frequent label of the training rows."""
    from mirenc.heads.choosing import relative_log_costs

    logs = relative_log_costs(data.costs, np.inf)
    out = {name: np.full(len(data), data.default, dtype=np.int64) for name in STATIC_ROWS}
    for training, test in folds:
        out["best_single"][test] = logs[training].mean(axis=0).argmin()
        out["majority"][test] = np.bincount(data.labels[training]).argmax()
    return out


def _record(
    task: Task,
    variant: str,
    data: TaskData,
    encoder: Encoder,
    protocols: list[Protocol],
    features: list[Features],
    done: Mapping[Key, tuple[str, Result]],
) -> dict[str, Any]:
    """What is kept: everything that was decided, and what it was decided from."""
    from mirenc import __version__

    found: dict[str, dict[str, Any]] = {}
    for protocol in protocols:
        runs: dict[str, dict[str, Any]] = {}
        for seed in dict.fromkeys(seed for name, seed, _ in done if name == protocol.name):
            folds = list(protocol.split(data, seed))
            number = np.zeros(len(data), dtype=np.int64)
            for index, (_, test) in enumerate(folds):
                number[test] = index
            static = static_choices(data, folds)
            rows: dict[str, Any] = {name: {"choices": choice.tolist()} for name, choice in static.items()}
            for row in features:
                digest, result = done[protocol.name, seed, row.row]
                rows[row.row] = {"inputs": digest, "choices": result.choice.tolist(), "heads": result.heads}
            runs[str(seed)] = {"fold": number.tolist(), "rows": rows}
        if runs:
            found[protocol.name] = {"title": protocol.title, "seeds": runs}
    return {
        "format_version": 1,
        "mirenc_version": __version__,
        "task": task.name,
        "variant": variant,
        "choices": list(task.choices),
        "samples": len(data),
        "groups": len(np.unique(data.group)),
        "data_hash": data.content_hash,
        "model": {"name": encoder.name, "digest": encoder.files.digest},
        "seeds": list(dict.fromkeys(seed for _, seed, _ in done)),
        "rows": {row.row: {"note": row.note, "columns": row.matrix.shape[1]} for row in features},
        "protocols": found,
    }
