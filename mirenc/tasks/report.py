"""`TaskReport`: the figures of an evaluation, from its record and the measured costs.

The record holds what was said of each sample and nothing that could be wrong about it; figures, intervals and tables
are computed from it whenever they are wanted. A record that was kept is read again with the same data (their hash is
compared).
"""

from __future__ import annotations

import html
import io
import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import TaskError
from mirenc.metrics import decision_figures, geometric_mean, group_interval, number_figures
from mirenc.tasks.data import TaskData
from mirenc.tasks.datasets import published_hash
from mirenc.tasks.features import ROW_TITLES
from mirenc.tasks.jobs import Result
from mirenc.tasks.static import STATIC_TITLES

if TYPE_CHECKING:
    from rich.table import Table

    from mirenc.tasks.base import Task

__all__ = ["FORMAT", "TaskReport", "load_report", "row_title", "speedups"]

_AGAINST = "no_code"  # the row that every other is compared with
FORMAT = 2
_FEW = 12  # settings, of which people want to know how often the best one was named
_OF_THREE = ("speedup_geometric", "oracle_gain_share", "slowdowns_2", "headroom_geometric")


def speedups(figures: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Speedups over the task's baselines, or over the default where it names none: as in ``speedup_over``."""
    kinds = ("geometric", "arithmetic")
    over: dict[str, float] = {kind: figures[f"speedup_{kind}"] for kind in kinds}
    over |= {f"oracle_{kind}": figures[f"oracle_{kind}"] for kind in kinds}
    return figures["speedup_over"] or {"default": over}


def row_title(row: str) -> str:
    """What a table calls a row."""
    return {**STATIC_TITLES, **ROW_TITLES}.get(row, row)


class TaskReport:
    """The result of `mirenc.evaluate`.

    Parameters
    ----------
    record : dict
        As `mirenc.tasks.evaluation` makes it: choices of every row, seed and protocol, folds, heads, hashes.
    task : Task
    data : TaskData
    """

    def __init__(self, record: Mapping[str, Any], task: Task, data: TaskData) -> None:
        self.record = record
        self.task = task
        self.data = data

    def __repr__(self) -> str:
        return f"TaskReport({self.record['task']!r}, {self.record['variant']!r}, protocols={self.protocols})"

    def __str__(self) -> str:
        """Every protocol's table as text."""
        from rich.console import Console

        console = Console(width=200, file=io.StringIO(), force_terminal=False)
        for protocol in self.protocols:
            console.print(self.table(protocol))
        text: str = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO, as given above
        return text

    def _repr_html_(self) -> str:
        """The tables, for a notebook."""
        return "".join(self._html(protocol) for protocol in self.protocols)

    def _html(self, protocol: str) -> str:
        lines = list(self.lines(protocol))
        columns = list(dict.fromkeys(key for line in lines for key in line))
        head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(line.get(column, ''))}</td>" for column in columns) + "</tr>"
            for line in lines
        )
        title, caption = map(html.escape, (self.title(protocol), self.caption()))
        return f"<h4>{title}</h4><table><tr>{head}</tr>{body}</table><p>{caption}</p>"

    @property
    def protocols(self) -> list[str]:
        """Names of the protocols in the report."""
        return list(self.record["protocols"])

    def rows(self, protocol: str) -> list[str]:
        """Names of the rows under a protocol, baselines first."""
        seeds = self.record["protocols"][protocol]["seeds"]
        return list(next(iter(seeds.values()))["rows"])

    def said(self, protocol: str, row: str) -> NDArray[Any]:
        """(seeds, n) setting chosen, or number predicted, for each sample while its fold was held out."""
        seeds = self.record["protocols"][protocol]["seeds"].values()
        return np.array([run["rows"][row]["said"] for run in seeds])

    def best_of_three(self, protocol: str, row: str) -> NDArray[np.int64] | None:
        """(seeds, n) best of the three preferred settings (`mirenc.tasks.jobs.Result`); None where none was kept."""
        seeds = self.record["protocols"][protocol]["seeds"].values()
        found = [run["rows"][row].get("best_of_three") for run in seeds]
        return None if None in found else np.array(found)

    def known(self, digests: Mapping[tuple[str, int, str], str]) -> dict[tuple[str, int, str], Result]:
        """Results whose inputs had these digests, by `Job.key`. Static rows have none."""
        return {
            (protocol, int(seed), name): Result(
                np.array(row["said"]),
                row["heads"],
                np.array(row["best_of_three"]) if "best_of_three" in row else None,  # older records have none
            )
            for protocol, runs in self.record["protocols"].items()
            for seed, run in runs["seeds"].items()
            for name, row in run["rows"].items()
            if "inputs" in row and digests.get((protocol, int(seed), name)) == row["inputs"]
        }

    # -- figures ---------------------------------------------------------------------------------------
    def figures(self, protocol: str, row: str, part: str = "") -> dict[str, Any]:
        """Figures of one row.

        Parameters
        ----------
        protocol, row : str
        part : str
            Only the samples of this part (`Sample.part`); all if left out.

        Returns
        -------
        dict
            For each key of `mirenc.metrics.decision_figures`, or of `number_figures`: mean over the seeds, and
            ``<key>_sd``. Intervals (95 %, whole groups resampled, samples averaged over seeds): ``<value>_interval``,
            and against the no-code row ``<value>_gain`` and ``<value>_gain_interval``, where value is ``accuracy`` and
            ``speedup`` (geometric), or ``mae``. ``speedup_over``: geometric and arithmetic, over each static baseline.
            ``best_of_three``: some of the keys, where the three preferred settings are measured and the best is taken.
        """
        inside = np.flatnonzero(self.data.part == part) if part else np.arange(len(self.data))
        each = [self._figures(run, inside) for run in self.said(protocol, row)]
        out: dict[str, Any] = {}
        for key in each[0]:
            values = np.array([figures[key] for figures in each])
            out[key] = float(values.mean())
            out[f"{key}_sd"] = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        group = self.data.group[inside]
        against = self._per_sample(protocol, _AGAINST, inside) if _AGAINST in self.rows(protocol) else {}
        for value, own in self._per_sample(protocol, row, inside).items():
            statistic = np.exp if value == "speedup" else None
            out[f"{value}_interval"] = group_interval(own, group, statistic=statistic)
            if against:
                difference = own - against[value]
                gain = difference.mean()
                out[f"{value}_gain"] = float(np.exp(gain) if statistic else gain)
                out[f"{value}_gain_interval"] = group_interval(difference, group, statistic=statistic)
        if self.data.chooses:
            out["speedup_over"] = self._speedups(protocol, row, inside)
            runs = self.best_of_three(protocol, row)
            if runs is not None:
                three = [self._figures(run, inside) for run in runs]
                out["best_of_three"] = {
                    key: float(np.mean([one[key] for one in three])) for key in _OF_THREE if key in three[0]
                }
        return out

    def _figures(self, said: NDArray[Any], inside: NDArray[np.int64]) -> dict[str, float]:
        """Figures of one seed. (n,)."""
        data = self.data
        if not data.chooses:
            return number_figures(data.value[inside], said[inside])
        return decision_figures(
            data.known[inside],
            data.resolve(said)[inside],
            data.paid_baseline[inside],
            data.labels[inside],
            paid=data.paid[inside],
        )

    def _per_sample(self, protocol: str, row: str, inside: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        """Mean over the seeds of what intervals are of: hits and log speedups, or absolute errors. (m,) each."""
        data, runs = self.data, self.said(protocol, row)
        if not data.chooses:
            return {"mae": np.abs(runs - data.value).mean(axis=0)[inside]}
        cost = self._paid(runs)
        hits = (data.known[np.arange(len(data)), runs] == np.nanmin(data.known, axis=1)).mean(axis=0)
        return {"accuracy": hits[inside], "speedup": np.log(data.paid_baseline / cost).mean(axis=0)[inside]}

    def _paid(self, runs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Reported cost of what runs. (seeds, n) -> (seeds, n)."""
        found: NDArray[np.float64] = self.data.paid[np.arange(len(self.data)), runs]
        return found

    def _speedups(self, protocol: str, row: str, inside: NDArray[np.int64]) -> dict[str, dict[str, float]]:
        """Geometric and arithmetic mean speedup over each static baseline, and the oracle's."""
        cost = self._paid(self.said(protocol, row))[:, inside]
        paid = self.data.paid[inside]
        least = paid[np.arange(len(paid)), self.data.labels[inside]]
        out = {}
        for name, choice in self.task.baselines.items():
            there = np.isfinite(paid[:, choice])
            if not there.any():  # nobody may ask for it in this part
                continue
            ratio = paid[there, choice] / cost[:, there]  # (seeds, m)
            best = paid[there, choice] / least[there]
            out[name] = {
                "geometric": float(np.exp(np.log(ratio).mean())),
                "arithmetic": float(ratio.mean()),
                "oracle_geometric": float(np.exp(np.log(best).mean())),
                "oracle_arithmetic": float(best.mean()),
            }
        return out

    @property
    def parts(self) -> list[str]:
        """Parts of the table that are reported by themselves, in the order of the data."""
        return [part for part in dict.fromkeys(self.data.part.tolist()) if part]

    # -- output ----------------------------------------------------------------------------------------
    def to_json(self) -> dict[str, Any]:
        """The record with all figures: what ``--json`` prints and ``downstream/`` keeps."""
        figures = {
            protocol: {
                row: {
                    **self.figures(protocol, row),
                    "parts": {part: self.figures(protocol, row, part) for part in self.parts},
                }
                for row in self.rows(protocol)
            }
            for protocol in self.protocols
        }
        return {**self.record, "figures": figures}

    def save(self, path: str | Path) -> Path:
        """Write record and figures as JSON, one line a row of the table."""
        content = self.to_json()
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        # Indented for people, but for lists of numbers: those of a row stand in one line.
        text = re.sub(r"\[[-\d.,eE\s]*\]", lambda found: re.sub(r"\s+", "", found[0]), json.dumps(content, indent=1))
        part.write_text(text + "\n", encoding="utf-8")
        os.replace(part, target)
        return target

    def title(self, protocol: str) -> str:
        """What a protocol's table is called."""
        name = " ".join(filter(None, (self.task.title, self.record["variant"])))
        return f"{name}: {self.record['protocols'][protocol]['title']}"

    def caption(self) -> str:
        """What the tables are made of, and how to read them."""
        record = self.record
        seeds = len(record["seeds"])
        notes = [f"{row['note']}." for row in record["rows"].values() if row["note"]]
        text = (
            f"{record['samples']} samples, {record['groups']} groups, {seeds} seed{'s' * (seeds > 1)}; model "
            f"{record['model']['name']}. ± spread over seeds, [95 % interval over groups]."
        )
        name = self.task.dataset
        if name and record["data_hash"] != published_hash(name):
            notes.append(f"The data are not as published, or a part of them: mirenc datasets verify {name}.")
        return " ".join([text, *notes])

    def table(self, protocol: str) -> Table:
        """A protocol's rows as a `rich` table."""
        from rich.table import Table

        table = Table(title=self.title(protocol), caption=self.caption(), title_justify="left", caption_justify="left")
        lines = list(self.lines(protocol))
        columns = list(dict.fromkeys(key for line in lines for key in line))
        for column in columns:
            table.add_column(column, justify="left" if column == "row" else "right", overflow="fold")
        for line in lines:
            table.add_row(*(line.get(column, "") for column in columns))
        return table

    def lines(self, protocol: str) -> Iterator[dict[str, str]]:
        """Rows of the table, each a title and the figures as text."""
        for row in self.rows(protocol):
            figures = self.figures(protocol, row)
            line = {"row": row_title(row)}
            if self.data.chooses:
                if self.task.select == "accuracy" or self.data.width <= _FEW:
                    line["accuracy"] = _percent(figures, "accuracy")
                    line["macro F1"] = f"{figures['macro_f1']:.2f}"
                for name, over in speedups(figures).items():
                    line[f"speedup over {name}, geom. (arith.)"] = f"{over['geometric']:.3f} ({over['arithmetic']:.2f})"
                line["oracle share"] = f"{100 * figures['oracle_share']:.1f} %"
                line["slowdowns"] = f"{100 * figures['slowdowns']:.1f} %"
                if self.task.select == "speedup":
                    line |= _speed_columns(figures)
            else:
                low, high = figures["mae_interval"]
                unit = f", {self.task.unit}" if self.task.unit else ""
                line[f"mean absolute error{unit}"] = f"{figures['mae']:.4g} [{low:.4g}, {high:.4g}]"
                line["median error"] = f"{figures['median_error']:.4g}"
                line["R2"] = f"{figures['r2']:.3f}"
            if row not in (_AGAINST, *STATIC_TITLES) and f"{self.judged_by}_gain" in figures:
                line["against no code"] = self._gain(figures)
            yield line

    @property
    def judged_by(self) -> str:
        """What a row is compared with the no-code row by: ``accuracy``, ``speedup`` or ``mae``."""
        return self.task.select if self.data.chooses else "mae"

    def _gain(self, figures: Mapping[str, Any]) -> str:
        gain, (low, high) = figures[f"{self.judged_by}_gain"], figures[f"{self.judged_by}_gain_interval"]
        if self.judged_by == "speedup":
            return f"x {gain:.3f} [{low:.3f}, {high:.3f}]"
        if self.judged_by == "accuracy":
            return f"{100 * gain:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
        return f"{gain:+.4g} [{low:+.4g}, {high:+.4g}]"


def _speed_columns(figures: Mapping[str, Any]) -> dict[str, str]:
    """What a task that is about time is judged by, beside the mean."""
    columns = {
        "slower by 2 %": f"{100 * figures['slowdowns_2']:.1f} %",
        "gap to best": f"{100 * figures['error_rate']:.1f} %",
        "over 0.9 of oracle": f"{100 * figures['near_oracle']:.1f} %",
    }
    if "oracle_gain_share" in figures:
        columns["share of oracle's gain"] = f"{100 * figures['oracle_gain_share']:.1f} %"
    if "headroom_geometric" in figures:
        columns[f"speedup with headroom ({100 * figures['headroom']:.0f} %)"] = f"{figures['headroom_geometric']:.3f}"
    if "best_of_three" in figures:
        columns["best of 3 measured"] = f"{figures['best_of_three']['speedup_geometric']:.3f}"
    return columns


def _percent(figures: Mapping[str, Any], key: str) -> str:
    low, high = figures[f"{key}_interval"]
    return f"{100 * figures[key]:.1f} ± {100 * figures[f'{key}_sd']:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def _same_target(figures: Any, report: TaskReport) -> bool:
    """Whether figures that were kept are of these data: variants of a task share their files' hash.

    The oracle of costs says so, and the errors of the numbers that were said.
    """
    data, key = report.data, "oracle_geometric" if report.data.chooses else "mae"
    try:
        kept = {(name, row): one[key] for name, rows in figures.items() for row, one in rows.items()}
        if data.chooses:
            now = dict.fromkeys(kept, geometric_mean(data.paid_baseline / data.paid[np.arange(len(data)), data.labels]))
        else:
            now = {place: float(np.abs(report.said(*place) - data.value).mean()) for place in kept}
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
