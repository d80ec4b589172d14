"""`evaluate`: a task, its protocols, its baselines and the embedding, in one report.

For each protocol, seed and fold, each row's head is searched and trained on the training rows alone, and answers for
the test rows. What is kept is the answers; every figure of a report is computed from them (`mirenc.evaluating.report`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mirenc.errors import TaskError
from mirenc.evaluating.jobs import Result, plan_jobs, run_jobs
from mirenc.evaluating.predictions_io import keep_said
from mirenc.evaluating.report import FORMAT, TaskReport
from mirenc.learning.features import Features, build_features, default_rows
from mirenc.learning.goal import Goal
from mirenc.learning.static import static_rows
from mirenc.tasks.data import TaskData
from mirenc.tasks.given_ir import load_data
from mirenc.tasks.protocols import Protocol
from mirenc.tasks.registry import get_task
from mirenc.tasks.task import Task

if TYPE_CHECKING:
    from mirenc.embed import Encoder

__all__ = ["SEEDS", "Evaluation", "evaluate"]

Key = tuple[str, int, str]  # protocol, seed, row
SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A task with its samples read and embedded, once for all protocols.

    Attributes
    ----------
    task : Task
    data : TaskData
    variant : str
    model : dict of str to str
        ``name`` and ``digest`` of the model.
    features : list of Features
        One a row of the table.
    """

    task: Task
    data: TaskData
    variant: str
    model: dict[str, str]
    features: list[Features]

    @classmethod
    def prepare(
        cls,
        task: Task,
        data: TaskData,
        *,
        variant: str = "",
        encoder: Encoder | None = None,
        rows: Sequence[str] | None = None,
        advance: Callable[..., None] | None = None,
    ) -> Evaluation:
        """Read and embed the samples; ``advance`` is called after each piece of code.

        Raises
        ------
        TaskError
            Unknown rows, or IR that cannot be read.
        """
        task.check_data(data)
        if encoder is None:
            from mirenc.embed import load

            encoder = load()
        wanted = _several("rows", rows) or default_rows(task, data)
        features = build_features(task, data, wanted, encoder, advance=advance)
        model = {"name": encoder.name, "digest": encoder.features_digest}
        return cls(task, data, task.check_variant(variant), model, features)

    def run(
        self,
        protocols: Sequence[str] | None = None,
        *,
        seeds: Sequence[int] = SEEDS,
        jobs: int = 1,
        advance: Callable[..., None] | None = None,
        previous: Sequence[TaskReport] = (),
        keep: Callable[[TaskReport], object] | None = None,
    ) -> TaskReport:
        """Train and ask heads; parameters as those of `evaluate`."""
        if not seeds:
            raise TaskError("no seeds were given; give one or more, as in seeds=(0, 1, 2, 3, 4)")
        chosen = [self.task.protocol(name) for name in _several("protocols", protocols)] or list(self.task.protocols)
        work = plan_jobs(Goal.of(self.data, self.task.select), self.data, self.features, chosen, seeds)
        digests = {job.key: job.digest() for job in work}
        known = {key: result for report in previous for key, result in report.known(digests).items()}

        def report_of(found: Mapping[Key, Result]) -> TaskReport:
            done = {key: (digests[key], result) for key, result in found.items()}
            made = list(dict.fromkeys(seed for _, seed, _ in found)) if self.features else list(seeds)
            return TaskReport(self._record(chosen, made, done), self.task, self.data)

        found: dict[Key, Result] = {}
        for place, (job, result) in enumerate(zip(work, run_jobs(work, jobs, advance, known), strict=True), 1):
            found[job.key] = result
            if keep is not None and place % len(self.features) == 0 and place < len(work):
                keep(report_of(found))
        return report_of(found)

    def _record(
        self, protocols: list[Protocol], seeds: list[int], done: Mapping[Key, tuple[str, Result]]
    ) -> dict[str, Any]:
        """What is kept: everything that was said, and what it was said from."""
        from mirenc import __version__

        data, task = self.data, self.task
        found: dict[str, dict[str, Any]] = {}
        for protocol in protocols:
            runs: dict[str, dict[str, Any]] = {}
            for seed in seeds:
                if not all((protocol.name, seed, row.row) in done for row in self.features):
                    continue
                folds = list(protocol.split(data, seed))
                number = np.full(len(data), -1, dtype=np.int64)  # no fold tests it
                for index, (_, test) in enumerate(folds):
                    number[test] = index
                rows: dict[str, Any] = {
                    name: {"said": keep_said(said, number)}
                    for name, said in static_rows(data, folds, task.portfolios).items()
                }
                for row in self.features:
                    digest, result = done[protocol.name, seed, row.row]
                    kept = {"inputs": digest, "said": keep_said(result.said, number), "heads": result.heads}
                    if result.best_of_three is not None:
                        kept["best_of_three"] = keep_said(result.best_of_three, number)
                    rows[row.row] = kept
                runs[str(seed)] = {"fold": number.tolist(), "rows": rows}
            if runs:
                found[protocol.name] = {"title": protocol.title, "seeds": runs}
        return {
            "format_version": FORMAT,
            "mirenc_version": __version__,
            "task": task.name,
            "variant": self.variant,
            "settings": list(task.space.names) if task.space is not None else [],
            "samples": len(data),
            "groups": len(np.unique(data.group)),
            "data_hash": data.content_hash,
            "model": self.model,
            "seeds": seeds,
            "rows": {row.row: {"note": row.note, "columns": row.matrix.shape[1]} for row in self.features},
            "protocols": found,
        }


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
    task : Task, str or path
        A task, its name, or the `Path` of a file that defines one, which is executed.
    data : path or TaskData, optional
        Where the data sets are; ``MIRENC_DATA`` or the download folder if left out. Or the samples themselves, such as
        `TaskData.subset` of those that `Task.load` gave.
    variant : str
        One of the task's variants; its first if left out.
    encoder : Encoder, optional
        The default model if left out.
    protocols, rows : sequence of str, optional
        All if left out (`Task.protocols`, `mirenc.learning.features.ROW_TITLES`).
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
    for name in _several("protocols", protocols):
        task.protocol(name)
    if not seeds:
        raise TaskError("no seeds were given; give one or more, as in seeds=(0, 1, 2, 3, 4)")
    variant = task.check_variant(variant)
    table = data if isinstance(data, TaskData) else load_data(task, data, variant)
    prepared = Evaluation.prepare(task, table, variant=variant, encoder=encoder, rows=rows)
    return prepared.run(protocols, seeds=seeds, jobs=jobs, advance=advance, previous=previous, keep=keep)


def _several(name: str, given: Sequence[str] | None) -> list[str]:
    """The names as a list. A lone string would be read letter by letter."""
    if isinstance(given, str):
        raise TaskError(f"{name} is {given!r}; it is a sequence of names: {name}=[{given!r}]")
    return list(given or ())
