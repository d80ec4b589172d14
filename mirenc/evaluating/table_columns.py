"""The columns of a report's table: which figures people see of a row, and how they are written."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mirenc.tasks.data import TaskData
    from mirenc.tasks.task import Task

__all__ = ["columns_of", "gain_column", "html_table", "judged_by", "speedups"]

# What costs are -> how gains and losses are called: over a baseline, from 1 % on, from 2 % on, with headroom.
_WORDS = {
    "seconds": ("speedup over", "slowdowns", "slower by 2 %", "speedup"),
    "bytes": ("times smaller than", "larger", "larger by 2 %", "times smaller"),
}
_FEW = 12  # settings, of which people want to know how often the best one was named


def judged_by(task: Task, data: TaskData) -> str:
    """What a row is compared with the no-code row by: ``accuracy``, ``speedup``, ``mae`` or ``auc``."""
    return {"costs": task.select, "number": "mae", "labels": "auc"}[data.target]


def columns_of(task: Task, variant: str, data: TaskData, figures: Mapping[str, Any]) -> dict[str, str]:
    """What a table says of one row: title of a column -> text."""
    return {"costs": _choices, "number": _numbers, "labels": _labels}[data.target](task, variant, data, figures)


def gain_column(value: str, figures: Mapping[str, Any]) -> str:
    """What a row is worth beside the no-code row, by `judged_by`'s value, with its interval."""
    gain, (low, high) = figures[f"{value}_gain"], figures[f"{value}_gain_interval"]
    if value == "speedup":
        return f"x {gain:.3f} [{low:.3f}, {high:.3f}]"
    if value == "accuracy":
        return f"{100 * gain:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
    if value == "auc":
        return f"{gain:+.3f} [{low:+.3f}, {high:+.3f}]"
    return f"{gain:+.4g} [{low:+.4g}, {high:+.4g}]"


def speedups(figures: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Speedups over the task's baselines, or over the default where it names none: as in ``speedup_over``."""
    kinds = ("geometric", "arithmetic")
    over: dict[str, float] = {kind: figures[f"speedup_{kind}"] for kind in kinds}
    over |= {f"oracle_{kind}": figures[f"oracle_{kind}"] for kind in kinds}
    return figures["speedup_over"] or {"default": over}


def html_table(title: str, lines: Iterable[Mapping[str, str]], caption: str) -> str:
    """A table for a notebook, of rows that are title of a column -> text."""
    rows = list(lines)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(row.get(column, ''))}</td>" for column in columns) + "</tr>" for row in rows
    )
    return f"<h4>{html.escape(title)}</h4><table><tr>{head}</tr>{body}</table><p>{html.escape(caption)}</p>"


def _choices(task: Task, variant: str, data: TaskData, figures: Mapping[str, Any]) -> dict[str, str]:
    line = {}
    words = _WORDS[task.cost_unit]
    if task.select == "accuracy" or data.width <= _FEW:
        line["accuracy"] = _percent(figures, "accuracy")
        line["macro F1"] = f"{figures['macro_f1']:.2f}"
    for name, over in speedups(figures).items():
        line[f"{words[0]} {name}, geom. (arith.)"] = f"{over['geometric']:.3f} ({over['arithmetic']:.2f})"
    line["oracle share"] = f"{100 * figures['oracle_share']:.1f} %"
    line[words[1]] = f"{100 * figures['slowdowns']:.1f} %"
    if task.select == "speedup":
        line |= _gain_columns(figures, words)
    return line


def _gain_columns(figures: Mapping[str, Any], words: tuple[str, str, str, str]) -> dict[str, str]:
    """What a task that is about the mean cost is judged by, beside it."""
    columns = {
        words[2]: f"{100 * figures['slowdowns_2']:.1f} %",
        "gap to best": f"{100 * figures['error_rate']:.1f} %",
        "over 0.9 of oracle": f"{100 * figures['near_oracle']:.1f} %",
    }
    if "oracle_gain_share" in figures:
        columns["share of oracle's gain"] = f"{100 * figures['oracle_gain_share']:.1f} %"
    if "headroom_geometric" in figures:
        columns[f"{words[3]} with headroom ({100 * figures['headroom']:.0f} %)"] = (
            f"{figures['headroom_geometric']:.3f}"
        )
    if "best_of_three" in figures:
        columns["best of 3 measured"] = f"{figures['best_of_three']['speedup_geometric']:.3f}"
    return columns


def _numbers(task: Task, variant: str, data: TaskData, figures: Mapping[str, Any]) -> dict[str, str]:
    low, high = figures["mae_interval"]
    unit = f", {task.unit}" if task.unit else ""
    line = {
        f"mean absolute error{unit}": f"{figures['mae']:.4g} [{low:.4g}, {high:.4g}]",
        "median error": f"{figures['median_error']:.4g}",
        "R2": f"{figures['r2']:.3f}",
    }
    if "mape" in figures:
        low, high = figures["mape_interval"]
        line["mean error of the size"] = f"{100 * figures['mape']:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
    if variant in task.events and "auc" in figures:
        title = f"{task.events[variant][0]} ({100 * figures['rate']:.0f} %)"
        line[f"AUC, {title}"] = _area(figures)
        line[f"average precision, {title}"] = f"{figures['average_precision']:.3f}"
    return line


def _labels(task: Task, variant: str, data: TaskData, figures: Mapping[str, Any]) -> dict[str, str]:
    return {
        f"mean AUC of {figures['labels_told']:.0f} labels": _area(figures),
        "mean average precision": f"{figures['average_precision']:.3f}",
        "Brier score": f"{figures['brier']:.4f}",
    }


def _area(figures: Mapping[str, Any]) -> str:
    low, high = figures["auc_interval"]
    return f"{figures['auc']:.3f} [{low:.3f}, {high:.3f}]"


def _percent(figures: Mapping[str, Any], key: str) -> str:
    low, high = figures[f"{key}_interval"]
    return f"{100 * figures[key]:.1f} ± {100 * figures[f'{key}_sd']:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
