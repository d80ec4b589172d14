"""`TaskReport`: the figures of an evaluation, from its record and the measured costs.

The record holds what was said of each sample and nothing that could be wrong about it; figures, intervals and tables
are computed from it whenever they are wanted. A record that was kept is read again with the same data (their hash is
compared).
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirenc.evaluating.areas import area_figures
from mirenc.evaluating.jobs import Result
from mirenc.evaluating.predictions_io import read_said
from mirenc.evaluating.table_columns import columns_of, gain_column, html_table, judged_by
from mirenc.learning.features import ROW_TITLES
from mirenc.learning.static import STATIC_TITLES
from mirenc.metrics import (
    decision_figures,
    group_interval,
    label_figures,
    number_figures,
)
from mirenc.tasks.data import TaskData
from mirenc.tasks.datasets import published_hash
from mirenc.writing import delivered

if TYPE_CHECKING:
    from rich.table import Table

    from mirenc.tasks.task import Task

__all__ = ["FORMAT", "TaskReport", "row_title"]

_AGAINST = "no_code"  # the row that every other is compared with
# Where a compiler's own choice is known (`Task.told_by_compiler`), code must beat that too.
_RIVALS = {"gain": _AGAINST, "gain_over_compiler": "compiler"}
FORMAT = 2
_OF_THREE = ("speedup_geometric", "oracle_gain_share", "slowdowns_2", "headroom_geometric")


# Of features that were kept (`downstream/kept_features.py`).
_PART_TITLES = {"taught": "embedding, what a compiler taught"}


def row_title(row: str) -> str:
    """What a table calls a row; ``both:NAME`` is that of another model than the table's own."""
    name, _, model = row.partition(":")
    title = {**STATIC_TITLES, **ROW_TITLES, **_PART_TITLES}.get(name, name)
    return f"{title} of {model}" if model else title


class TaskReport:
    """The result of `mirenc.evaluate`.

    Parameters
    ----------
    record : dict
        As `mirenc.evaluating.evaluation` makes it: choices of every row, seed and protocol, folds, heads, hashes.
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
        return "".join(html_table(self.title(one), self.lines(one), self.caption()) for one in self.protocols)

    @property
    def protocols(self) -> list[str]:
        """Names of the protocols in the report."""
        return list(self.record["protocols"])

    def rows(self, protocol: str) -> list[str]:
        """Names of the rows under a protocol, baselines first."""
        seeds = self.record["protocols"][protocol]["seeds"]
        return list(next(iter(seeds.values()))["rows"])

    def said(self, protocol: str, row: str) -> NDArray[Any]:
        """What was said of each sample while its fold was held out; 0 of those that no fold tests (`tested`).

        (seeds, n) settings chosen or numbers predicted, or (seeds, n, P) how likely each label is.
        """
        seeds = self.record["protocols"][protocol]["seeds"].values()
        return np.array([read_said(run["rows"][row]["said"], np.array(run["fold"])) for run in seeds])

    def tested(self, protocol: str) -> NDArray[np.bool_]:
        """(n,) whether a fold of the protocol tests each sample."""
        found: NDArray[np.bool_] = (
            np.array(next(iter(self.record["protocols"][protocol]["seeds"].values()))["fold"]) >= 0
        )
        return found

    def best_of_three(self, protocol: str, row: str) -> NDArray[np.int64] | None:
        """(seeds, n) best of the three preferred settings (`jobs.Result`); None where none was kept."""
        seeds = self.record["protocols"][protocol]["seeds"].values()
        found = [(run["rows"][row].get("best_of_three"), np.array(run["fold"])) for run in seeds]
        return None if any(kept is None for kept, _ in found) else np.array([read_said(*one) for one in found])

    def known(self, digests: Mapping[tuple[str, int, str], str]) -> dict[tuple[str, int, str], Result]:
        """Results whose inputs had these digests, by `Job.key`. Static rows have none."""
        return {
            (protocol, int(seed), name): Result(
                read_said(row["said"], np.array(run["fold"])),
                row["heads"],
                # Older records have none.
                read_said(row["best_of_three"], np.array(run["fold"])) if "best_of_three" in row else None,
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
            For each key of `mirenc.metrics.decision_figures`, `number_figures` or `label_figures`: mean over the seeds,
            and ``<key>_sd``, of the samples that the protocol tests. Intervals (95 %, whole groups resampled, samples
            averaged over seeds): ``<value>_interval``, and against the no-code row ``<value>_gain`` and
            ``<value>_gain_interval``, where value is ``accuracy`` and ``speedup`` (geometric), ``mae`` or ``auc``.
            ``mape``: the mean share by which a size is missed, where the number is its logarithm. Where a number has
            an event (`Task.events`), its figures are those of a label, too. ``labels``: what `area_figures` says of
            each. ``speedup_over``: geometric and arithmetic, over each static baseline. ``best_of_three``: some of the
            keys, where the three preferred settings are measured and the best is taken.
        """
        inside = np.flatnonzero(self.tested(protocol) & ((self.data.part == part) | (not part)))
        each = [self._figures(run, inside) for run in self.said(protocol, row)]
        out: dict[str, Any] = {}
        for key in each[0]:
            values = np.array([figures[key] for figures in each])
            out[key] = float(values.mean())
            out[f"{key}_sd"] = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        group = self.data.group[inside]
        rivals = {
            name: self._per_sample(protocol, rival, inside)
            for name, rival in _RIVALS.items()
            if rival in self.rows(protocol)
        }
        for value, own in self._per_sample(protocol, row, inside).items():
            statistic = np.exp if value == "speedup" else None
            out[f"{value}_interval"] = group_interval(own, group, statistic=statistic)
            for name, against in rivals.items():
                difference = own - against[value]
                gain = difference.mean()
                out[f"{value}_{name}"] = float(np.exp(gain) if statistic else gain)
                out[f"{value}_{name}_interval"] = group_interval(difference, group, statistic=statistic)
        if self._events is not None:
            out |= self._areas(protocol, row, inside)
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
        if data.label_names:
            return label_figures(data.label_table[inside], said[inside])
        if not data.chooses:
            figures = number_figures(data.value[inside], said[inside])
            if self.task.logarithm:
                figures["mape"] = float(np.abs(np.expm1(said[inside] - data.value[inside])).mean())
            if self._events is not None and 0 < self._events[inside].sum() < len(inside):
                event = label_figures(self._events[inside], said[inside, None])
                figures |= {key: event[key] for key in ("auc", "average_precision", "rate")}
            return figures
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
        if data.label_names:
            return {}
        if not data.chooses:
            error = (runs - data.value)[:, inside]
            found = {"mae": np.abs(error).mean(axis=0)}
            return found | ({"mape": np.abs(np.expm1(error)).mean(axis=0)} if self.task.logarithm else {})
        cost = self._paid(runs)
        hits = (data.known[np.arange(len(data)), runs] == np.nanmin(data.known, axis=1)).mean(axis=0)
        return {"accuracy": hits[inside], "speedup": np.log(data.paid_baseline / cost).mean(axis=0)[inside]}

    @cached_property
    def _events(self) -> NDArray[np.bool_] | None:
        """(n, P) labels, or whether a number's event happens (n, 1); None where there is neither."""
        if self.data.label_names:
            return self.data.label_table
        event = self.task.events.get(self.record["variant"])
        if event is None or self.data.chooses:
            return None
        found: NDArray[np.bool_] = self.data.value[:, None] >= event[1]
        return found

    def _areas(self, protocol: str, row: str, inside: NDArray[np.int64]) -> dict[str, Any]:
        """How well labels, or a number's event, are told."""
        assert self._events is not None
        shape = (-1, len(self.data), self._events.shape[1])
        against = self.said(protocol, _AGAINST).reshape(shape) if _AGAINST in self.rows(protocol) else None
        return area_figures(
            self._events[inside],
            self.said(protocol, row).reshape(shape)[:, inside],
            self.data.group[inside],
            against=None if against is None else against[:, inside],
            names=self.data.label_names,
        )

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
    def to_json(self, jobs: int = 1) -> dict[str, Any]:
        """The record with all figures, by so many threads: what ``--json`` prints and ``downstream/`` keeps."""
        asked = [
            (protocol, row, part)
            for protocol in self.protocols
            for row in self.rows(protocol)
            for part in ("", *self.parts)
        ]
        figures: dict[str, dict[str, dict[str, Any]]] = {protocol: {} for protocol in self.protocols}
        with ThreadPoolExecutor(jobs) as pool:
            for (protocol, row, part), found in zip(
                asked, pool.map(lambda one: self.figures(*one), asked), strict=True
            ):
                if part:
                    figures[protocol][row]["parts"][part] = found
                else:
                    figures[protocol][row] = {**found, "parts": {}}
        return {**self.record, "figures": figures}

    def save(self, path: str | Path, jobs: int = 1) -> Path:
        """Write record and figures as JSON, one line a row of the table; figures by so many threads."""
        content = self.to_json(jobs)
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        # Indented for people, but for lists of numbers: those of a row stand in one line.
        text = re.sub(r"\[[-\d.,eE\s]*\]", lambda found: re.sub(r"\s+", "", found[0]), json.dumps(content, indent=1))
        with delivered(target) as part:
            part.write_text(text + "\n", encoding="utf-8")
        return target

    def title(self, protocol: str) -> str:
        """What a protocol's table is called."""
        name = " ".join(filter(None, (self.task.title, self.record["variant"])))
        tested = self.tested(protocol)
        some = "" if tested.all() else f" ({tested.sum()} samples of {len(np.unique(self.data.group[tested]))} groups)"
        return f"{name}: {self.record['protocols'][protocol]['title']}{some}"

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
            line = {"row": row_title(row), **columns_of(self.task, self.record["variant"], self.data, figures)}
            if row not in (_AGAINST, *STATIC_TITLES) and f"{self.judged_by}_gain" in figures:
                line["against no code"] = gain_column(self.judged_by, figures)
                if self.judged_by == "mae" and "auc_gain" in figures:
                    line["AUC against no code"] = gain_column("auc", figures)
            yield line

    @property
    def judged_by(self) -> str:
        """What a row is compared with the no-code row by: ``accuracy``, ``speedup``, ``mae`` or ``auc``."""
        return judged_by(self.task, self.data)
