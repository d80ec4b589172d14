"""`evaluate`: a task, its protocols, its baselines and the embedding, in one report.

For each protocol, seed and fold, each row's head is searched and trained on the training rows alone, and chooses for
the test rows. What is kept is the choices; every figure of a report is computed from them (`mirenc.tasks.report`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import MirencError, MissingExtraError, TaskError
from mirenc.tasks.base import Task, get_task
from mirenc.tasks.data import TaskData
from mirenc.tasks.features import Features, build_features, default_rows
from mirenc.tasks.menu import head_search, inner_parts
from mirenc.tasks.protocols import Protocol
from mirenc.tasks.report import TaskReport

if TYPE_CHECKING:
    from mirenc.encoder import Encoder

__all__ = ["SEEDS", "STATIC_ROWS", "Job", "evaluate", "plan_jobs", "run_jobs"]

Int = NDArray[np.int64]
SEEDS = (0, 1, 2, 3, 4)
STATIC_ROWS = ("default", "best_single", "majority")


@dataclass(frozen=True, eq=False)
class Job:
    """One row under one protocol and seed: what a worker process gets."""

    protocol: str
    seed: int
    row: str
    matrix: NDArray[np.float64]
    aux: int
    costs: NDArray[np.float64]
    labels: Int
    unit: NDArray[np.generic]
    group: NDArray[np.str_]
    folds: list[tuple[Int, Int]]
    select: str
    only: str


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
) -> TaskReport:
    """Evaluate the embedding on a task, beside its baselines.

    Parameters
    ----------
    task : Task or str
        A task, its name, or the path of a ``.py`` file that defines one.
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
    results = run_jobs(work, jobs, advance)
    record = _record(task, variant, table, encoder, chosen, seeds, features, work, results)
    return TaskReport(record, task, table)


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


def plan_jobs(
    task: Task, data: TaskData, features: list[Features], protocols: list[Protocol], seeds: Sequence[int]
) -> list[Job]:
    """Every row under every protocol and seed."""
    work = []
    for protocol in protocols:
        unit = protocol.unit(data)
        for seed in seeds:
            folds = list(protocol.split(data, seed))
            work += [
                Job(
                    protocol.name,
                    seed,
                    row.row,
                    row.matrix,
                    row.aux,
                    data.costs,
                    data.labels,
                    unit,
                    data.group,
                    folds,
                    task.select,
                    row.only,
                )
                for row in features
            ]
    return work


def run_jobs(
    work: list[Job], jobs: int, advance: Callable[..., None] | None
) -> list[tuple[Int, list[dict[str, float]]]]:
    """For each job the choices (n,), and the weights of each fold's head."""
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise MissingExtraError(f"evaluating needs scikit-learn ({error}). Type: pip install 'mirenc[tasks]'") from None
    results: list[Any] = []
    stream = Parallel(n_jobs=jobs, return_as="generator")(delayed(_run)(job) for job in work)
    for job, result in zip(work, stream, strict=True):
        results.append(result)
        if advance is not None:
            advance(1, total=len(work), note=f"{job.protocol}, seed {job.seed}, {job.row}")
    return results


def _run(job: Job) -> tuple[Int, list[dict[str, float]]]:
    """Choices (n,) of one row, each made by a head that did not see the sample's fold; and the heads of the folds."""
    from threadpoolctl import threadpool_limits

    choice = np.full(len(job.costs), -1, dtype=np.int64)
    heads = []
    with threadpool_limits(1):
        for training, test in job.folds:
            columns = job.matrix.shape[1]
            groups = len(np.unique(job.group[training]))
            head = head_search(job.aux, columns - job.aux, groups, job.seed, job.select, job.only)
            part = inner_parts(job.unit[training], job.labels[training], job.seed)
            head.fit(job.matrix[training], job.costs[training], part=part)
            choice[test] = head.predict(job.matrix[test])
            heads.append({name: round(weight, 4) for name, weight in head.weights_.items()})
    return choice, heads


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
    seeds: Sequence[int],
    features: list[Features],
    work: list[Job],
    results: list[tuple[Int, list[dict[str, float]]]],
) -> dict[str, Any]:
    """What is kept: everything that was decided, and what it was decided from."""
    from mirenc import __version__

    found: dict[str, dict[str, Any]] = {}
    for protocol in protocols:
        runs: dict[str, dict[str, Any]] = {}
        for seed in seeds:
            folds = list(protocol.split(data, seed))
            number = np.zeros(len(data), dtype=np.int64)
            for index, (_, test) in enumerate(folds):
                number[test] = index
            static = static_choices(data, folds)
            rows: dict[str, Any] = {name: {"choices": choice.tolist()} for name, choice in static.items()}
            for job, (choice, heads) in zip(work, results, strict=True):
                if (job.protocol, job.seed) == (protocol.name, seed):
                    rows[job.row] = {"choices": choice.tolist(), "heads": heads}
            runs[str(seed)] = {"fold": number.tolist(), "rows": rows}
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
        "seeds": list(seeds),
        "rows": {row.row: {"note": row.note, "columns": row.matrix.shape[1]} for row in features},
        "protocols": found,
    }
