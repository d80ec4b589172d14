"""Plots of a report: each row with its interval, a panel for each protocol."""

from pathlib import Path

from mirenc.base.errors import needs
from mirenc.decide.evaluation.report import TaskReport, row_title

_BASELINE_COLOUR, _CODE_COLOUR = "#bbbbbb", "#4477aa"
_LABELS = {
    "speedup": "geometric mean speedup over the default",
    "accuracy": "accuracy",
    "mae": "mean absolute error",
    "auc": "mean area under the ROC curve",
}
_CODE = ("text", "graph", "both", "both_histogram", "both_mlp")


def plot_report(report: TaskReport, path: str | Path) -> Path:
    """Plot the figure that the task is judged by, with 95 % intervals, and return ``path``.

    Raises MissingExtraError: matplotlib is missing.
    """
    with needs("tasks", "a plot needs matplotlib"):
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    judged_by = report.judged_by
    key, interval = "speedup_geometric" if judged_by == "speedup" else judged_by, f"{judged_by}_interval"
    protocols = report.protocols
    figure = Figure(figsize=(4.2 * len(protocols) + 2.2, 4.2), layout="constrained")
    panels = figure.subplots(1, len(protocols), sharey=True, squeeze=False)[0]
    for axis, protocol in zip(panels, protocols, strict=True):
        rows = report.rows(protocol)[::-1]
        for position, row in enumerate(rows):
            figures = report.figures(protocol, row)
            low, high = figures[interval]
            colour = _CODE_COLOUR if row in _CODE else _BASELINE_COLOUR
            axis.plot([low, high], [position, position], color=colour, linewidth=3, solid_capstyle="round")
            axis.plot(figures[key], position, "o", color=colour, markeredgecolor="black", markersize=7)
        axis.set_yticks(range(len(rows)), [row_title(row) for row in rows])
        axis.set_title(report.record["protocols"][protocol]["title"], fontsize=9)
        axis.set_xlabel(_LABELS[judged_by])
        axis.grid(axis="x", alpha=0.3)
        if judged_by == "speedup":
            axis.axvline(1.0, color="black", linewidth=0.8)
    name = " ".join(filter(None, (report.task.title, report.record["variant"])))
    figure.suptitle(f"{name}: {report.record['model']['name']} and baselines, 95 % intervals over groups", fontsize=10)
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    # The same report gives the same file: no date, and element names that do not change.
    with rc_context({"svg.hashsalt": "mirenc", "svg.fonttype": "none"}):
        figure.savefig(target, metadata={"Date": None} if target.suffix == ".svg" else None)
    return target
