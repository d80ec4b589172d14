"""`evaluate`: cross-validates the embedding and its baselines on a task, under each protocol, into one report.

For each protocol, seed and fold, the head of each row is chosen and fitted on the training samples alone and answers
for the test samples; the record holds these answers.
"""

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from mirenc import __version__
from mirenc.base.errors import TaskError
from mirenc.decide.evaluation.jobs import Key, Result, pack_predictions, plan_jobs, run_jobs
from mirenc.decide.evaluation.report import FORMAT, TaskReport
from mirenc.decide.features.feature_matrix import Features, build_features, default_rows
from mirenc.decide.load_samples import load_data
from mirenc.decide.protocols import Protocol
from mirenc.decide.registry import get_task
from mirenc.decide.target import target_of
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.encoder import Encoder, load

SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A task whose samples are read and embedded, once for all protocols; ``features`` are of the rows of the table."""

    task: Task
    data: TaskData
    variant: str
    model: dict[str, str]
    """Name and digest."""
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
    ) -> Self:
        """Read and embed the samples; ``advance`` is called after each. Raises TaskError: bad rows, unreadable IR."""
        task.check_data(data)
        encoder = encoder or load()
        row_names = _name_list("rows", rows) or default_rows(task, data)
        features = build_features(task, data, row_names, encoder, advance=advance)
        model = {"name": encoder.name, "digest": encoder.features_digest}
        return cls(task, data, task.check_variant(variant), model, features)

    def run(
        self,
        protocols: Sequence[str] | None = None,
        *,
        seeds: Sequence[int] = SEEDS,
        jobs: int = 1,
        advance: Callable[..., None] | None = None,
        previous_reports: Sequence[TaskReport] = (),
        on_report: Callable[[TaskReport], object] | None = None,
    ) -> TaskReport:
        """Fit and ask heads; parameters as those of `evaluate`."""
        fallback = [protocol for protocol in self.task.protocols if not protocol.only_unit(self.data)]
        chosen_protocols = [self.task.protocol(name) for name in _name_list("protocols", protocols)] or fallback
        plan = plan_jobs(target_of(self.data, self.task.select), self.data, self.features, chosen_protocols, seeds)
        digests = {job.key: job.digest() for job in plan}
        known_results = {key: result for report in previous_reports for key, result in report.known(digests).items()}
        results: dict[Key, Result] = {}
        for count, (job, result) in enumerate(zip(plan, run_jobs(plan, jobs, advance, known_results), strict=True), 1):
            results[job.key] = result
            if on_report is not None and count % len(self.features) == 0 and count < len(plan):
                on_report(self._report(chosen_protocols, seeds, digests, results))
        return self._report(chosen_protocols, seeds, digests, results)

    def _report(
        self, protocols: list[Protocol], seeds: Sequence[int], digests: Mapping[Key, str], results: Mapping[Key, Result]
    ) -> TaskReport:
        data, task = self.data, self.task
        protocol_records: dict[str, dict[str, Any]] = {}
        for protocol, seed in itertools.product(protocols, seeds):
            if all((protocol.name, seed, row.row) in results for row in self.features):
                runs = protocol_records.setdefault(protocol.name, {"title": protocol.title, "seeds": {}})["seeds"]
                runs[str(seed)] = self._run_record(protocol, seed, digests, results)
        record = {
            "format_version": FORMAT,
            "mirenc_version": __version__,
            "task": task.name,
            "variant": self.variant,
            "settings": list(task.space.names) if task.space is not None else [],
            "samples": len(data),
            "groups": len(np.unique(data.group)),
            "data_hash": data.content_hash,
            "model": self.model,
            "seeds": list(dict.fromkeys(seed for _, seed, _ in results)) if self.features else list(seeds),
            "rows": {row.row: {"note": row.note, "columns": row.matrix.shape[1]} for row in self.features},
            "protocols": protocol_records,
        }
        return TaskReport(record, task, data)

    def _run_record(
        self, protocol: Protocol, seed: int, digests: Mapping[Key, str], results: Mapping[Key, Result]
    ) -> dict[str, Any]:
        folds = list(protocol.split(self.data, seed))
        fold = np.full(len(self.data), -1, dtype=np.int64)  # -1: no fold tests the sample
        for index, (_, test) in enumerate(folds):
            fold[test] = index
        static_predictions = target_of(self.data, self.task.select).static_rows(folds, self.task.portfolios)
        rows: dict[str, Any] = {
            name: {"said": pack_predictions(predictions, fold)} for name, predictions in static_predictions.items()
        }
        for features in self.features:
            key = (protocol.name, seed, features.row)
            predictions, heads, best_of_three = results[key]
            rows[features.row] = {"inputs": digests[key], "said": pack_predictions(predictions, fold), "heads": heads}
            if best_of_three is not None:
                rows[features.row]["best_of_three"] = pack_predictions(best_of_three, fold)
        return {"fold": fold.tolist(), "rows": rows}


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
    previous_reports: Sequence[TaskReport] = (),
    on_report: Callable[[TaskReport], object] | None = None,
) -> TaskReport:
    """Evaluate the embedding on a task, beside its baselines. Raises TaskError: unknown names, bad data (`Task.load`).

    ``task``: a `Task`, its name, or the `Path` of a file that defines one, which is executed. ``data``: the samples, or
    the folder of the data sets; ``MIRENC_DATA`` or the download folder if left out. Left out, ``variant`` is the task's
    first, ``encoder`` the default model, ``protocols`` those of the task, and ``rows`` all of
    `mirenc.decide.features.feature_matrix.ROW_TITLES`.

    Each of the ``seeds`` cuts other folds and starts heads from other random states, in ``jobs`` processes;
    ``advance(done, total=..., note=...)`` is called meanwhile. Results in ``previous_reports`` are reused where
    features, folds and candidates are the same. ``on_report`` is called with the report after each seed but the last.
    """
    task = task if isinstance(task, Task) else get_task(task)
    for name in _name_list("protocols", protocols):
        task.protocol(name)
    if not seeds:
        raise TaskError("no seeds were given; give one or more, as in seeds=(0, 1, 2, 3, 4)")
    variant = task.check_variant(variant)
    table = data if isinstance(data, TaskData) else load_data(task, data, variant)
    prepared = Evaluation.prepare(task, table, variant=variant, encoder=encoder, rows=rows)
    reports: dict[str, Any] = {"previous_reports": previous_reports, "on_report": on_report}
    return prepared.run(protocols, seeds=seeds, jobs=jobs, advance=advance, **reports)


def _name_list(name: str, names: Sequence[str] | None) -> list[str]:
    """The names as a list. Raises TaskError: a single string, whose letters would be taken for names."""
    if isinstance(names, str):
        raise TaskError(f"{name} is {names!r}, but must be a sequence of names, such as {name}=[{names!r}]")
    return list(names or ())
