"""Reading what `TaskReport.save` wrote: of this task, this format and these data, or not at all."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mirenc.errors import TaskError
from mirenc.evaluating.report import FORMAT, TaskReport
from mirenc.metrics import geometric_mean
from mirenc.tasks.data import TaskData

if TYPE_CHECKING:
    from mirenc.tasks.task import Task

__all__ = ["load_report"]


def _same_target(figures: Any, report: TaskReport) -> bool:
    """Whether figures that were kept are of these data: variants of a task share their files' hash.

    The oracle of costs says so, and the errors of the numbers and labels that were said.
    """
    data = report.data
    key = {"costs": "oracle_geometric", "number": "mae", "labels": "brier"}[data.target]
    try:
        kept = {(name, row): one[key] for name, rows in figures.items() for row, one in rows.items()}
        now = {}
        for name, row in kept:
            inside = report.tested(name)
            if data.chooses:
                least = data.paid[np.arange(len(data)), data.labels]
                now[name, row] = geometric_mean((data.paid_baseline / least)[inside])
            else:
                said = report.said(name, row)
                # As `label_figures` compares them.
                error = np.clip(said, 0.0, 1.0) - data.label_table if data.label_names else said - data.value
                error = error[:, inside]
                now[name, row] = float((error**2 if data.label_names else np.abs(error)).mean())
        return all(math.isclose(value, now[place], rel_tol=1e-9) for place, value in kept.items())
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


def load_report(path: str | Path, task: Task, data: TaskData) -> TaskReport:
    """Read what `TaskReport.save` wrote, with the data it was made from.

    Raises
    ------
    TaskError
        Another task, another format, or other data.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TaskError(
            f"record {path} cannot be read: {error}. Make it with `mirenc evaluate ... -o {path}`"
        ) from None
    if not isinstance(content, dict) or content.get("format_version") != FORMAT:
        raise TaskError(f"record {path} has no format_version {FORMAT}. Make it with this release's `mirenc evaluate`")
    found = (content.get("task"), content.get("data_hash"), content.get("samples"))
    figures, report = content.pop("figures", None), TaskReport(content, task, data)
    if found != (task.name, data.content_hash, len(data)) or not _same_target(figures, report):
        raise TaskError(f"record {path} is of task {found[0]!r} or of other data. Evaluate again")
    return report
