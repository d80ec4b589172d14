"""The figures of a table for each kind of target: what they are, what has intervals, and the columns of the table."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from mirenc.base.arrays import Bool, Float64, Int64
from mirenc.decide.metrics import RankedPairs, brier, decision_figures, geometric_mean, label_figures, number_figures
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData

_FEW_SETTINGS = 12  # settings: with more, how often the best one was chosen says little
# Unit of costs -> words for a gain over a baseline, a loss of more than 1 %, of more than 2 %, a gain with headroom.
_COLUMN_TITLES = {
    "seconds": ("speedup over", "slowdowns", "slower by 2 %", "speedup"),
    "bytes": ("times smaller than", "larger", "larger by 2 %", "times smaller"),
}
_BEST_OF_THREE_KEYS = ("speedup_geometric", "oracle_gain_share", "slowdowns_2", "headroom_geometric")


class Figures(ABC):
    """Figures of a task's data: n samples, of which the ``rows`` (m,) count; S seeds."""

    proof: ClassVar[str]  # the figure that shows whether a saved record is of these data (`TaskReport.proves`)
    judged_by: str  # what a row is compared with the no-code row by: ``accuracy``, ``speedup``, ``mae`` or ``auc``
    events: Bool | None = None  # (n, P) labels, or whether a number's event happens; None where there is neither

    def __init__(self, task: Task, variant: str, data: TaskData) -> None:
        self.task, self.variant, self.data = task, variant, data

    @abstractmethod
    def of_run(self, predictions: NDArray[Any], rows: Int64) -> dict[str, float]:
        """Figures of the predictions of one seed: (n,) settings or numbers, or (n, P) labels."""

    def proof_of(self, predictions: NDArray[Any], rows: Int64) -> float:
        """The figure `proof` of one seed."""
        return self.of_run(predictions, rows)[self.proof]

    @abstractmethod
    def columns(self, figures: Mapping[str, Any]) -> dict[str, str]:
        """The cells of one row of a table: title of the column -> text."""

    def per_sample(self, runs: NDArray[Any], rows: Int64) -> dict[str, Float64]:
        """What has intervals, as a mean over the seeds: hits and log speedups, or absolute errors. (m,) each."""
        return {}

    def over_all(self, runs: NDArray[Any], best_of_three: Int64 | None, rows: Int64) -> dict[str, Any]:
        """Figures of all seeds together; ``best_of_three`` (S, n): of the three preferred settings, where known."""
        return {}


class _Choices(Figures):
    proof = "oracle_geometric"

    @property
    def judged_by(self) -> str:  # type: ignore[override]
        return self.task.select

    def of_run(self, predictions: NDArray[Any], rows: Int64) -> dict[str, float]:
        data, choice = self.data, self.data.resolve(predictions)[rows]
        default, best = data.paid_baseline[rows], data.labels[rows]
        return decision_figures(data.known[rows], choice, default, best, paid=data.paid[rows])

    def per_sample(self, runs: NDArray[Any], rows: Int64) -> dict[str, Float64]:
        data = self.data
        cost = data.paid[np.arange(len(data)), runs]
        hits = (data.known[np.arange(len(data)), runs] == np.nanmin(data.known, axis=1)).mean(axis=0)
        return {"accuracy": hits[rows], "speedup": np.log(data.paid_baseline / cost).mean(axis=0)[rows]}

    def over_all(self, runs: NDArray[Any], best_of_three: Int64 | None, rows: Int64) -> dict[str, Any]:
        paid = self.data.paid[rows]
        cost = self.data.paid[np.arange(len(self.data)), runs][:, rows]
        least_cost = paid[np.arange(len(paid)), self.data.labels[rows]]
        speedups = {}
        for name, choice in self.task.baselines.items():
            has_cost = np.isfinite(paid[:, choice])
            if not has_cost.any():  # it may not be asked for in this part
                continue
            ratio = paid[has_cost, choice] / cost[:, has_cost]  # (S, m)
            best = paid[has_cost, choice] / least_cost[has_cost]
            speedups[name] = {
                "geometric": geometric_mean(ratio),
                "arithmetic": float(ratio.mean()),
                "oracle_geometric": geometric_mean(best),
                "oracle_arithmetic": float(best.mean()),
            }
        summary: dict[str, Any] = {"speedup_over": speedups}
        if best_of_three is not None:
            by_seed = [self.of_run(run, rows) for run in best_of_three]
            keys = [key for key in _BEST_OF_THREE_KEYS if key in by_seed[0]]
            summary["best_of_three"] = {key: float(np.mean([figures[key] for figures in by_seed])) for key in keys}
        return summary

    def columns(self, figures: Mapping[str, Any]) -> dict[str, str]:
        over_title, slower_title, slower_2_title, gain = _COLUMN_TITLES[self.task.cost_unit]
        line = {}
        if self.task.select == "accuracy" or self.data.width <= _FEW_SETTINGS:
            low, high = figures["accuracy_interval"]
            spread = f"± {100 * figures['accuracy_sd']:.1f} %"
            line["accuracy"] = f"{100 * figures['accuracy']:.1f} {spread} [{100 * low:.1f}, {100 * high:.1f}]"
            line["macro F1"] = f"{figures['macro_f1']:.2f}"
        default = {kind: figures[f"speedup_{kind}"] for kind in ("geometric", "arithmetic")}
        for name, mean in (figures["speedup_over"] or {"default": default}).items():
            line[f"{over_title} {name}, geom. (arith.)"] = f"{mean['geometric']:.3f} ({mean['arithmetic']:.2f})"
        line["oracle share"] = f"{100 * figures['oracle_share']:.1f} %"
        line[slower_title] = f"{100 * figures['slowdowns']:.1f} %"
        if self.task.select != "speedup":
            return line
        line[slower_2_title] = f"{100 * figures['slowdowns_2']:.1f} %"
        line["gap to best"] = f"{100 * figures['error_rate']:.1f} %"
        line["over 0.9 of oracle"] = f"{100 * figures['near_oracle']:.1f} %"
        if "oracle_gain_share" in figures:
            line["share of oracle's gain"] = f"{100 * figures['oracle_gain_share']:.1f} %"
        if "headroom_geometric" in figures:
            line[f"{gain} with headroom ({100 * figures['headroom']:.0f} %)"] = f"{figures['headroom_geometric']:.3f}"
        if "best_of_three" in figures:
            line["best of 3 measured"] = f"{figures['best_of_three']['speedup_geometric']:.3f}"
        return line


class _Numbers(Figures):
    judged_by = proof = "mae"

    def __init__(self, task: Task, variant: str, data: TaskData) -> None:
        super().__init__(task, variant, data)
        if variant in task.events:
            self.events = data.value[:, None] >= task.events[variant][1]

    def of_run(self, predictions: NDArray[Any], rows: Int64) -> dict[str, float]:
        truth = self.data.value[rows]
        figures = number_figures(truth, predictions[rows])
        if self.task.logarithm:
            figures["mape"] = float(np.abs(np.expm1(predictions[rows] - truth)).mean())
        if self.events is not None and 0 < self.events[rows].sum() < len(rows):
            event_figures = label_figures(self.events[rows], predictions[rows, None])
            figures |= {key: event_figures[key] for key in ("auc", "average_precision", "rate")}
        return figures

    def per_sample(self, runs: NDArray[Any], rows: Int64) -> dict[str, Float64]:
        error = (runs - self.data.value)[:, rows]
        errors = {"mae": np.abs(error).mean(axis=0)}
        return errors | ({"mape": np.abs(np.expm1(error)).mean(axis=0)} if self.task.logarithm else {})

    def columns(self, figures: Mapping[str, Any]) -> dict[str, str]:
        low, high = figures["mae_interval"]
        unit = f", {self.task.unit}" if self.task.unit else ""
        line = {
            f"mean absolute error{unit}": f"{figures['mae']:.4g} [{low:.4g}, {high:.4g}]",
            "median error": f"{figures['median_error']:.4g}",
            "R2": f"{figures['r2']:.3f}",
        }
        if "mape" in figures:
            low, high = figures["mape_interval"]
            line["mean error of the size"] = f"{100 * figures['mape']:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        if self.events is not None and "auc" in figures:
            title = f"{self.task.events[self.variant][0]} ({100 * figures['rate']:.0f} %)"
            line[f"AUC, {title}"] = _area_text(figures)
            line[f"average precision, {title}"] = f"{figures['average_precision']:.3f}"
        return line


class _Labels(Figures):
    judged_by, proof = "auc", "brier"

    def __init__(self, task: Task, variant: str, data: TaskData) -> None:
        super().__init__(task, variant, data)
        self.events = data.label_table

    def of_run(self, predictions: NDArray[Any], rows: Int64) -> dict[str, float]:
        return label_figures(self.data.label_table[rows], predictions[rows])

    def proof_of(self, predictions: NDArray[Any], rows: Int64) -> float:
        """Not with `of_run`, which ranks samples by each label and takes seconds for a large record."""
        return brier(self.data.label_table[rows], predictions[rows])

    def columns(self, figures: Mapping[str, Any]) -> dict[str, str]:
        return {
            f"mean AUC of {figures['labels_told']:.0f} labels": _area_text(figures),
            "mean average precision": f"{figures['average_precision']:.3f}",
            "Brier score": f"{figures['brier']:.4f}",
        }


def _area_text(figures: Mapping[str, Any]) -> str:
    low, high = figures["auc_interval"]
    return f"{figures['auc']:.3f} [{low:.3f}, {high:.3f}]"


def figures_of(task: Task, variant: str, data: TaskData) -> Figures:
    """The figures of a task's data."""
    kinds: dict[str, type[Figures]] = {"costs": _Choices, "number": _Numbers, "labels": _Labels}
    return kinds[data.target](task, variant, data)


def area_figures(
    truth: Bool, runs: Float64, group: NDArray[np.generic], *, against: Float64 | None = None, names: Sequence[str] = ()
) -> dict[str, Any]:
    """Areas under the ROC curve of labels that some samples have and others have not; {} where there is no such label.

    ``truth`` (m, P); ``runs`` (S, m, P): predictions of S seeds; ``against`` (S', m, P): those of another row.
    Bootstrap samples are of whole groups. Returns auc_interval (95 %, of the mean); auc_gain and auc_gain_interval over
    ``against``; with ``names``, labels: auc, average_precision and rate of each.
    """
    mixed_labels = np.flatnonzero(truth.any(axis=0) & ~truth.all(axis=0))
    if not len(mixed_labels):
        return {}

    def pairs_of(runs: Float64) -> RankedPairs:
        return RankedPairs.mean([RankedPairs.of(truth[:, mixed_labels], run[:, mixed_labels], group) for run in runs])

    pairs = pairs_of(runs)
    out: dict[str, Any] = {"auc_interval": pairs.interval()}
    if against is not None:
        rival_pairs = pairs_of(against)
        out["auc_gain"], out["auc_gain_interval"] = pairs.area - rival_pairs.area, pairs.interval(rival_pairs)
    if names:
        scores = [average_precision_score(truth[:, mixed_labels], run[:, mixed_labels], average=None) for run in runs]
        precision = np.atleast_1d(np.mean(scores, axis=0))  # of one label scikit-learn gives a number
        figures = np.stack([pairs.label_areas, precision, truth[:, mixed_labels].mean(axis=0)], axis=1).tolist()
        keys = ("auc", "average_precision", "rate")
        labels = zip((names[label] for label in mixed_labels.tolist()), figures, strict=True)
        out["labels"] = {name: dict(zip(keys, row, strict=True)) for name, row in labels}
    return out
