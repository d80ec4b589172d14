"""Plots of records: each row with its interval. ``python downstream/plot_records.py downstream/openmp/*.json``.

A record ``kernel.json`` of `mirenc evaluate -o` becomes ``kernel.svg`` beside it, a panel for each protocol.
"""

import json
import sys
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from mirenc.decide.evaluation.report import row_title
from mirenc.decide.registry import get_task

BASELINE, OURS = "#bbbbbb", "#4477aa"
LABELS = {
    "speedup": "geometric mean speedup over the default",
    "accuracy": "accuracy",
    "mae": "mean absolute error",
    "auc": "mean area under the ROC curve",
}
JUDGED_BY = {"number": "mae", "labels": "auc"}
CODE = ("text", "graph", "both", "both_histogram", "both_mlp")


def plot_record(path: Path) -> Path:
    """Plot the figure that a record's task is judged by, with 95 % intervals, and return where."""
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    task, figures = get_task(record["task"]), record["figures"]
    by = JUDGED_BY.get(task.target, task.select)
    key, interval = "speedup_geometric" if by == "speedup" else by, f"{by}_interval"
    figure = Figure(figsize=(4.2 * len(figures) + 2.2, 4.2), layout="constrained")
    panels = figure.subplots(1, len(figures), sharey=True, squeeze=False)[0]
    for axis, (protocol, rows) in zip(panels, figures.items(), strict=True):
        names = list(rows)[::-1]
        for place, row in enumerate(names):
            low, high = rows[row][interval]
            colour = OURS if row in CODE else BASELINE
            axis.plot([low, high], [place, place], color=colour, linewidth=3, solid_capstyle="round")
            axis.plot(rows[row][key], place, "o", color=colour, markeredgecolor="black", markersize=7)
        axis.set_yticks(range(len(names)), [row_title(row) for row in names])
        axis.set_title(record["protocols"][protocol]["title"], fontsize=9)
        axis.set_xlabel(LABELS[by])
        axis.grid(axis="x", alpha=0.3)
        if by == "speedup":
            axis.axvline(1.0, color="black", linewidth=0.8)
    name = " ".join(filter(None, (task.title, record["variant"])))
    figure.suptitle(f"{name}: {record['model']['name']} and baselines, 95 % intervals over groups", fontsize=10)
    target = path.with_suffix(".svg")
    # The same record gives the same file: no date, and element names that do not change.
    with rc_context({"svg.hashsalt": "mirenc", "svg.fonttype": "none"}):
        figure.savefig(target, metadata={"Date": None})
    return target


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(plot_record(Path(name)))
