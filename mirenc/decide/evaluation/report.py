"""`TaskReport`: the tables of an evaluation, whose figures are computed from the predictions in its record."""

import html
import io
import json
import math
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from mirenc.base.arrays import Bool, Int64
from mirenc.base.errors import TaskError
from mirenc.base.shown import html_table
from mirenc.base.writing import delivered
from mirenc.decide.datasets.fetch import published_hash
from mirenc.decide.evaluation.figures import area_figures, figures_of
from mirenc.decide.evaluation.jobs import Key, Result, unpack_predictions
from mirenc.decide.features.feature_matrix import ROW_TITLES
from mirenc.decide.metrics import group_interval
from mirenc.decide.target import STATIC_TITLES
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData

FORMAT = 2
_NO_CODE = "no_code"  # the row that every other is compared with
# Where a compiler's own choice is known (`Context.compiler_names`), code must beat that too.
_RIVALS = {"gain": _NO_CODE, "gain_over_compiler": "compiler"}
# With fewer groups, a win in each of them may be chance: 2 / 2**5 is more than 5 % (sign test, two-sided).
_LEAST_GROUPS = 6
# Titles of rows from stored features (`downstream/kept_features.py`).
_PART_TITLES = {
    "taught": "embedding, what a compiler taught",
    "autophase": "AutoPhase's 56 counts",
    "statements": "bag of statements",
}
# Figure that rows are judged by -> format of its gain over the no-code row, and factor.
_GAINS = {
    "speedup": ("x {:.3f} [{:.3f}, {:.3f}]", 1),
    "accuracy": ("{:+.1f} [{:+.1f}, {:+.1f}]", 100),
    "auc": ("{:+.3f} [{:+.3f}, {:+.3f}]", 1),
    "mae": ("{:+.4g} [{:+.4g}, {:+.4g}]", 1),
}


def row_title(row: str) -> str:
    """The title of a row in a table; ``both:NAME`` is row ``both`` with another model than the table's own."""
    name, _, model = row.partition(":")
    title = {**STATIC_TITLES, **ROW_TITLES, **_PART_TITLES}.get(name, name)
    return f"{title} of {model}" if model else title


class TaskReport:
    """The result of `mirenc.evaluate`: a record of what each row predicted under each protocol and seed, task, data."""

    def __init__(self, record: Mapping[str, Any], task: Task, data: TaskData) -> None:
        self.record = record
        self.task = task
        self.data = data
        self._figures = figures_of(task, record.get("variant", ""), data)

    def __repr__(self) -> str:
        return f"TaskReport({self.record['task']!r}, {self.record['variant']!r}, protocols={self.protocols})"

    def __str__(self) -> str:
        text = io.StringIO()
        console = Console(width=200, file=text, force_terminal=False)
        for protocol in self.protocols:
            console.print(self.table(protocol))
        return text.getvalue()

    def _repr_html_(self) -> str:
        titles = {protocol: f"<h4>{html.escape(self.title(protocol))}</h4>" for protocol in self.protocols}
        tables = (f"{title}{html_table(self._cells(name), self._notes(name))}" for name, title in titles.items())
        return "".join(tables)

    # -- the record ------------------------------------------------------------------------------------
    @property
    def protocols(self) -> list[str]:
        return list(self.record["protocols"])

    @property
    def parts(self) -> list[str]:
        """The `Sample.part`s that are also reported separately, in the order of the data."""
        return [part for part in dict.fromkeys(self.data.part.tolist()) if part]

    @property
    def judged_by(self) -> str:
        """What a row is compared with the no-code row by: ``accuracy``, ``speedup``, ``mae`` or ``auc``."""
        return self._figures.judged_by

    def rows(self, protocol: str) -> list[str]:
        return list(self._runs(protocol)[0]["rows"])

    def predictions(self, protocol: str, row: str) -> NDArray[Any]:
        """Predictions for each sample while its fold was held out; 0 where no fold tests it (`tested`).

        (seeds, n) chosen settings or numbers, or (seeds, n, P) how likely each label is.
        """
        return np.array([_result(run, row).predictions for run in self._runs(protocol)])

    def best_of_three(self, protocol: str, row: str) -> Int64 | None:
        """(seeds, n) best of the three preferred settings (`jobs.Result`); None where none was kept."""
        settings = [_result(run, row).best_of_three for run in self._runs(protocol)]
        return None if any(setting is None for setting in settings) else np.array(settings)

    def tested(self, protocol: str) -> Bool:
        """(n,) whether a fold of the protocol tests each sample."""
        return np.asarray(np.array(self._runs(protocol)[0]["fold"]) >= 0)

    def parts_of(self, protocol: str) -> list[str]:
        """The `parts` of which a fold of the protocol tests samples."""
        tested = set(self.data.part[self.tested(protocol)])
        return [part for part in self.parts if part in tested]

    def _runs(self, protocol: str) -> list[dict[str, Any]]:
        return list(self.record["protocols"][protocol]["seeds"].values())

    def known(self, digests: Mapping[Key, str]) -> dict[Key, Result]:
        """Results whose inputs have these digests, by `Job.key`. Static rows have none."""
        return {
            (protocol, int(seed), name): _result(run, name)
            for protocol, runs in self.record["protocols"].items()
            for seed, run in runs["seeds"].items()
            for name, row in run["rows"].items()
            if "inputs" in row and digests.get((protocol, int(seed), name)) == row["inputs"]
        }

    def proves(self, saved_figures: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> bool:
        """Whether saved figures are of these data, which the hash does not show: variants of a task share files."""
        try:
            for protocol, rows in saved_figures.items():
                samples = np.flatnonzero(self.tested(protocol))
                for row, figures in rows.items():
                    proof = np.mean([self._figures.proof_of(run, samples) for run in self.predictions(protocol, row)])
                    if not math.isclose(figures[self._figures.proof], proof, rel_tol=1e-9):
                        return False
        except (AttributeError, KeyError, TypeError, ValueError):
            return False
        return True

    # -- figures ---------------------------------------------------------------------------------------
    def figures(self, protocol: str, row: str, part: str = "") -> dict[str, Any]:
        """Figures of one row, for the samples that the protocol tests; for those of one `Sample.part`, if given.

        - Each key of `mirenc.decide.metrics.decision_figures`, `number_figures` or `label_figures` (a number that has
          an event (`Task.events`) has those of a label, too): mean over the seeds, and ``<key>_sd``. ``mape``: mean
          relative error of a size whose logarithm the number is.
        - ``<value>_interval`` (95 %, bootstrap over groups, samples averaged over seeds), and against the no-code row
          ``<value>_gain`` and ``<value>_gain_interval``, where value is ``accuracy``, ``speedup`` (geometric), ``mae``
          or ``auc``.
        - ``labels``: see `area_figures`. ``speedup_over``: geometric and arithmetic, over each static baseline.
          ``best_of_three``: some of the keys, if the three preferred settings are measured and the best is kept.
        """
        rows = np.flatnonzero(self.tested(protocol) & ((self.data.part == part) | (not part)))
        group = self.data.group[rows]
        runs = self.predictions(protocol, row)
        by_seed = [self._figures.of_run(run, rows) for run in runs]
        out: dict[str, Any] = {}
        for key in by_seed[0]:
            values = np.array([figures[key] for figures in by_seed])
            out[key] = float(values.mean())
            out[f"{key}_sd"] = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        per_sample = self._figures.per_sample
        rivals = {
            name: per_sample(self.predictions(protocol, rival), rows)
            for name, rival in _RIVALS.items()
            if rival in self.rows(protocol)
        }
        for value, by_sample in per_sample(runs, rows).items():
            statistic = np.exp if value == "speedup" else None
            out[f"{value}_interval"] = group_interval(by_sample, group, statistic=statistic)
            for name, rival_values in rivals.items():
                difference = by_sample - rival_values[value]
                gain = difference.mean()
                out[f"{value}_{name}"] = float(np.exp(gain) if statistic else gain)
                out[f"{value}_{name}_interval"] = group_interval(difference, group, statistic=statistic)
        if (events := self._figures.events) is not None:
            shape, rival = (-1, len(self.data), events.shape[1]), None
            if _NO_CODE in self.rows(protocol):
                rival = self.predictions(protocol, _NO_CODE).reshape(shape)[:, rows]
            answers, names = runs.reshape(shape)[:, rows], self.data.label_names
            out |= area_figures(events[rows], answers, group, against=rival, names=names)
        return out | self._figures.over_all(runs, self.best_of_three(protocol, row), rows)

    # -- output ----------------------------------------------------------------------------------------
    def to_json(self, jobs: int = 1) -> dict[str, Any]:
        """The record with all figures, computed by so many threads: what ``--json`` prints and `save` writes."""
        rows = [(protocol, row) for protocol in self.protocols for row in self.rows(protocol)]
        keys = [(protocol, row, part) for protocol, row in rows for part in ("", *self.parts_of(protocol))]
        with ThreadPoolExecutor(jobs) as pool:
            computed = dict(zip(keys, pool.map(self.figures, *zip(*keys, strict=True)), strict=True))
        figures: dict[str, dict[str, Any]] = {protocol: {} for protocol in self.protocols}
        for protocol, row in rows:
            parts = {part: computed[protocol, row, part] for part in self.parts_of(protocol)}
            figures[protocol][row] = {**computed[protocol, row, ""], "parts": parts}
        return {**self.record, "figures": figures}

    def save(self, path: str | Path, jobs: int = 1) -> Path:
        """Write record and figures as JSON; figures are computed by so many threads."""
        content = self.to_json(jobs)
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        # Indented for people, but for lists of numbers, which get one line.
        text = re.sub(r"\[[-\d.,eE\s]*\]", lambda match: re.sub(r"\s+", "", match[0]), json.dumps(content, indent=1))
        with delivered(target) as part:
            part.write_text(text + "\n", encoding="utf-8")
        return target

    def title(self, protocol: str) -> str:
        name = " ".join(filter(None, (self.task.title, self.record["variant"])))
        tested = self.tested(protocol)
        note = "" if tested.all() else f" ({tested.sum()} samples of {len(np.unique(self.data.group[tested]))} groups)"
        return f"{name}: {self.record['protocols'][protocol]['title']}{note}"

    def caption(self) -> str:
        """What the table was computed from, and how to read it."""
        record, name = self.record, self.task.dataset
        seeds = len(record["seeds"])
        text = (
            f"{record['samples']} samples, {record['groups']} groups, {seeds} seed{'s' * (seeds > 1)}; model "
            f"{record['model']['name']}. ± spread over seeds, [95 % interval over groups]."
        )
        notes = [*dict.fromkeys(f"{row['note']}." for row in record["rows"].values() if row["note"])]
        if name and record["data_hash"] != published_hash(name):
            notes.append(f"The data are not as published, or a part of them: mirenc datasets verify {name}.")
        return " ".join([text, *notes])

    def warning(self, protocol: str) -> str:
        """Why the figures of a protocol say little, if it tests too few groups; else ""."""
        groups = len(np.unique(self.data.group[self.tested(protocol)]))
        requirement = f"{_LEAST_GROUPS} are needed before even what is better in every one is told from chance at 95 %"
        text = f"protocol {protocol!r} tests {groups} group{'s' * (groups > 1)}; {requirement}"
        return "" if groups >= _LEAST_GROUPS else text

    def _notes(self, protocol: str) -> str:
        warning = self.warning(protocol)
        return f"{self.caption()} Warning: {warning}." if warning else self.caption()

    def table(self, protocol: str) -> Table:
        title, caption = self.title(protocol), self._notes(protocol)
        table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
        header, *lines = self._cells(protocol)
        for column in header:
            table.add_column(column, justify="left" if column == "row" else "right", overflow="fold")
        for line in lines:
            table.add_row(*line)
        return table

    def _cells(self, protocol: str) -> list[list[str]]:
        """Titles of the columns, then the cells of each line: "" where a line has no such figure."""
        lines = list(self.lines(protocol))
        columns = list(dict.fromkeys(key for line in lines for key in line))
        return [columns, *([line.get(column, "") for column in columns] for line in lines)]

    def lines(self, protocol: str) -> Iterator[dict[str, str]]:
        """The lines of the table: title of the column -> text."""
        for row in self.rows(protocol):
            figures = self.figures(protocol, row)
            line = {"row": row_title(row), **self._figures.columns(figures)}
            if row not in (_NO_CODE, *STATIC_TITLES) and f"{self.judged_by}_gain" in figures:
                line["against no code"] = _gain_text(self.judged_by, figures)
                if self.judged_by == "mae" and "auc_gain" in figures:
                    line["AUC against no code"] = _gain_text("auc", figures)
            yield line


def _result(run: Mapping[str, Any], name: str) -> Result:
    """The result of a row in one seed; older records have no best of three."""
    fold, row = np.array(run["fold"]), run["rows"][name]
    best_of_three = unpack_predictions(row["best_of_three"], fold) if "best_of_three" in row else None
    return Result(unpack_predictions(row["said"], fold), row.get("heads", []), best_of_three)


def _gain_text(value: str, figures: Mapping[str, Any]) -> str:
    form, factor = _GAINS[value]
    return form.format(*(factor * number for number in (figures[f"{value}_gain"], *figures[f"{value}_gain_interval"])))


def load_report(path: str | Path, task: Task, data: TaskData) -> TaskReport:
    """The report that `TaskReport.save` wrote. Raises TaskError: another task, another format, or other data."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        advice = f"Make it with `mirenc evaluate ... -o {path}`"
        raise TaskError(f"record {path} cannot be read: {error}. {advice}") from None
    if not isinstance(content, dict) or content.get("format_version") != FORMAT:
        raise TaskError(f"record {path} has no format_version {FORMAT}. Make it with this release's `mirenc evaluate`")
    source = (content.get("task"), content.get("data_hash"), content.get("samples"))
    figures = content.pop("figures", None)
    if source != (task.name, data.content_hash, len(data)) or not TaskReport(content, task, data).proves(figures):
        problem = f"record {path} (task {source[0]!r}) was made of another task than {task.name!r}, or of other data"
        raise TaskError(f"{problem}. Evaluate again")
    return TaskReport(content, task, data)
