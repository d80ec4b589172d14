"""What a decision lacks: the ceilings of OpenMP and of block sizes, before anything is modelled.

    python downstream/ceilings.py [TABLE]      # ceilings.json; a minute of one core a table. Then: tables.py

All is judged by the half of the rounds that no label was made of. Beside rows of the committed records:
- *told*: what neither code nor size says, as context features of heads. A time is of the labels' half of the rounds.
- *seen*: heads know the same kernel at other sizes; and without a head, what was best for the kernel itself.
- *tried*: fixed settings beside the default, the best of which is kept: what so many runs are worth without a head.
Heads are the candidates `HEADS` alone, which are trained at once; so each row has one that knows less beside it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track
from threadpoolctl import threadpool_limits

from mirenc.base.arrays import Float64, Int64
from mirenc.decide.estimators.candidates import candidate_search, inner_folds
from mirenc.decide.evaluation.evaluate_task import Evaluation
from mirenc.decide.evaluation.figures import figures_of
from mirenc.decide.evaluation.report import load_report
from mirenc.decide.features.feature_matrix import Features
from mirenc.decide.metrics import geometric_mean, group_interval
from mirenc.decide.protocols import Fold, Protocol
from mirenc.decide.registry import get_task
from mirenc.decide.tables.measured import MeasuredTable, read_measured
from mirenc.decide.target import target_of
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.decide.tasks.pass_tasks import covering_lists
from mirenc.tools.measure.gpu_driver import read_driver

HERE = Path(__file__).parent
RECORD = HERE / "ceilings.json"
TABLES = ("block_size", "block_size.h200", "openmp")  # a task, and the variant of its table
SEEDS = 3
KEYS = ("speedup_geometric", "oracle_gain_share", "slowdowns_2")
BY_SAMPLE = Protocol("row", "ten folds of single samples", lambda data: np.arange(len(data)), folds=10)
RUN_COUNTS = (2, 3, 4)  # runs, the default's among them
HEADS = ("rbf", "pairs, ridge")  # a Gaussian process for OpenMP, a ridge over pairs for block sizes


def openmp_facts(task: Task, data: TaskData) -> dict[str, Float64]:
    """Logarithms of what runs of a sample tell. (n, A) each."""
    cyclic = data.spaces[0].settings.index((*data.spaces[0].settings[0][:2], 1))
    seconds, single, static = (data.known[:, column] for column in (0, task.baselines["one thread"], cyclic))
    columns = np.log2(np.stack([seconds, single / seconds, static / seconds], axis=1))
    columns_by_title = {"its time to a factor of ten": np.floor(np.log10(seconds))[:, None], "its time": columns[:, :1]}
    return columns_by_title | {
        "its time and one thread's": columns[:, :2],
        "its time, one thread's, schedule(static, 1)'s": columns,
    }


def block_size_facts(table: MeasuredTable, data: TaskData) -> dict[str, Float64]:
    """What the launch says, and what a run tells. (n, A) each."""
    kernel_of = {f"{entry.kernel} {entry.part}": table.kernels[entry.kernel] for entry in table.samples}
    launch = []
    for source in (kernel_of[sample.name] for sample in data.samples):
        driver = read_driver(source.driver, source.name)
        launch.append([np.prod(driver.items(source.size)), sum(value.check(source.size) for value in driver.arguments)])
    columns = np.log2(np.column_stack([launch, data.baseline]))
    return {"work-items and bytes": columns[:, :2], "work-items, bytes, its time": columns}


def with_facts(row: Features, name: str, columns: Float64) -> Features:
    """A row that is told more beside its context features."""
    context, code = np.split(row.matrix, [row.context_columns], axis=1)
    matrix = np.concatenate([context, columns, code], axis=1)
    return replace(row, row=name, matrix=matrix, context_columns=row.context_columns + columns.shape[1])


def hindsight(data: TaskData) -> dict[str, Int64]:
    """Settings of least mean log cost over what is known of the kernel itself; the default without any. (n,) each."""
    size = np.log([float(sample.context[0]) for sample in data.samples])
    kin = data.group[:, None] == data.group[None, :]
    siblings = kin & ~np.eye(len(data), dtype=bool)
    distance = np.where(siblings, np.abs(size[:, None] - size[None, :]), np.inf)
    nearest = siblings & (distance == distance.min(axis=1, keepdims=True))
    choices = {}
    for title, mask in (("in hindsight", kin), ("at its other sizes", siblings), ("at its nearest size", nearest)):
        choices[f"best of the kernel {title}"] = choice = data.default.copy()
        for row in np.flatnonzero(mask.any(axis=1)):
            choice[row] = np.nanargmin(np.log(data.known[mask[row]]).mean(axis=0))
    return choices


def fixed_choices(data: TaskData, folds: Sequence[Fold]) -> dict[str, Int64]:
    """The best of the default and settings that complement it, the same for all kernels of a space. (n,) each."""
    choices = {f"the default and {count - 1} fixed, the best kept": data.default.copy() for count in RUN_COUNTS}
    space = np.array([id(space_id) for space_id in data.spaces])
    for training, test in folds:
        for space_id in np.unique(space):
            train_rows, test_rows = (rows[space[rows] == space_id] for rows in (training, test))
            for count, choice in zip(RUN_COUNTS, choices.values(), strict=True):
                runs = covering_lists(data.known[train_rows], count)
                choice[test_rows] = runs[data.known[test_rows][:, runs].argmin(axis=1)]
    return choices


def families(data: TaskData) -> dict[str, float]:
    """The oracle's speedup by family of kernels, the largest first."""
    gain = data.paid_baseline / data.paid[np.arange(len(data)), data.labels]
    gains = {name: geometric_mean(gain[data.suite == name]) for name in np.unique(data.suite).tolist()}
    return dict(sorted(gains.items(), key=lambda item: -item[1]))


def luck(data: TaskData) -> dict[str, float]:
    """Speedup of an oracle that is paid by the half of the rounds that it chose by, and by the other: means of both."""
    rows, halves = np.arange(len(data)), (data.known, data.paid)
    ratio = [[paid[rows, data.default] / paid[rows, np.nanargmin(half, axis=1)] for half in halves] for paid in halves]
    gains = np.log(ratio).mean(axis=2)  # (paid by, chosen by)
    own_half, other_half = (float(np.exp((gains[0, index] + gains[1, 1 - index]) / 2)) for index in (0, 1))
    return {"same": own_half, "other": other_half}


def figures(task: Task, data: TaskData, runs: Any, baseline: Any = None) -> dict[str, Any]:
    """Figures of (S, n) settings, and what they gain over the settings ``baseline``."""
    rows, kinds = np.arange(len(data)), figures_of(task, "", data)
    scores = [kinds.of_run(run, rows) for run in runs]
    means: dict[str, Any] = {key: float(np.mean([score[key] for score in scores])) for key in KEYS}
    logs = kinds.per_sample(runs, rows)["speedup"]
    means["interval"] = group_interval(logs, data.group, statistic=np.exp)
    if baseline is not None:
        gain = logs - kinds.per_sample(baseline, rows)["speedup"]
        means["gain"] = [float(np.exp(gain.mean())), *group_interval(gain, data.group, statistic=np.exp)]
    return means


def read(name: str) -> tuple[Task, str, MeasuredTable, TaskData]:
    """A table by its name in `TABLES`: its task, its variant, what was measured, and the samples."""
    task_name, _, variant = name.partition(".")
    task = get_task(task_name)
    table = read_measured(HERE / task_name / (variant or "table"), task_name)
    return task, variant, table, task.samples_of(table)  # type: ignore[attr-defined]  # all are measured


def facts_of(task: Task, table: MeasuredTable, data: TaskData) -> dict[str, Float64]:
    """What neither code nor size says. (n, A) each."""
    return openmp_facts(task, data) if task.name == "openmp" else block_size_facts(table, data)


def rows_of(task: Task, table: MeasuredTable, data: TaskData) -> list[tuple[str, Features, Protocol, str]]:
    """What heads are trained for: kind, what is known, how it is cut, and the row that knows less."""
    blind, code = Evaluation.prepare(task, data, rows=["no_code", "both"]).features
    facts = facts_of(task, table, data)
    time = next(key for key in facts if key.endswith("its time"))
    unseen, base = task.protocol("kernel"), ("no code", "code")
    rows = [("unseen", replace(row, row=title), unseen, "") for row, title in zip((blind, code), base, strict=True)]
    rows += [("told", with_facts(blind, f"no code, {key}", fact), unseen, base[0]) for key, fact in facts.items()]
    rows.append(("told", with_facts(code, f"code, {time}", facts[time]), unseen, base[1]))
    rows.append(("seen", replace(code, row="code, kernel seen at other sizes"), BY_SAMPLE, base[1]))
    return [*rows, ("seen, told", with_facts(code, f"code, kernel seen, {time}", facts[time]), BY_SAMPLE, base[1])]


def answers(task: Task, data: TaskData, row: Features, protocol: Protocol) -> list[list[int]]:
    """The setting that heads choose for each sample, a list a seed."""
    target, unit = target_of(data, task.select), protocol.unit(data)
    runs = np.zeros((SEEDS, len(data)), dtype=np.int64)
    for seed in range(SEEDS):
        for training, test in protocol.split(data, seed):
            head = candidate_search(target.shape(row, training), seed, task.select)
            head.members = [member for member in head.members if member[0] in HEADS]
            part = inner_folds(unit[training], target.strata[training], seed)
            with threadpool_limits(1):
                head.fit(row.matrix[training], target.values[training], data.settings.take(training), part=part)
                runs[seed, test], _ = target.decide(head, row, test)
    return runs.tolist()


def measure(name: str) -> dict[str, Any]:
    """All that is known of one table."""
    task, variant, measured, data = read(name)
    prefix = f"{variant}." if variant else ""
    records = {split: HERE / task.name / f"{prefix}{split}.json" for split in ("kernel", "family")}
    reports = {split: load_report(path, task, data) for split, path in records.items()}
    tries = [fixed_choices(data, list(task.protocol("kernel").split(data, seed))) for seed in range(SEEDS)]
    entries: list[tuple[str, str, Any]] = [
        ("committed", f"{title}, {split} unseen", reports[split].predictions(split, row))
        for split in reports
        for row, title in (("no_code", "no code"), ("both", "code"))
    ]
    entries.append(("committed", "best of 3 that code prefers", reports["kernel"].best_of_three("kernel", "both")))
    entries += [("seen", title, choice[None]) for title, choice in hindsight(data).items()]
    entries += [("tried", title, np.array([choices[title] for choices in tries])) for title in tries[0]]
    rows = [{"kind": kind, "title": title, **figures(task, data, runs)} for kind, title, runs in entries]
    predictions: dict[str, list[list[int]]] = {}
    for kind, row, protocol, weaker in track(rows_of(task, measured, data), name):
        predictions[row.row] = answers(task, data, row, protocol)
        runs, rival = np.array(predictions[row.row]), np.array(predictions[weaker]) if weaker else None
        rows.append({"kind": kind, "title": row.row, **figures(task, data, runs, rival)})
    counts = {"samples": len(data), "groups": len(np.unique(data.group)), "seeds": SEEDS}
    oracle = {"luck": luck(data), "families": families(data)}
    return {"data_hash": data.content_hash, **counts, **oracle, "said": predictions, "rows": rows}


def mark(name: str) -> str:
    """What a table's ceilings stand between in the README of its task."""
    return ".".join(filter(None, (name.partition(".")[2], "ceilings")))


def table(record: dict[str, Any]) -> str:
    """One table as Markdown."""
    header = ["", "what is known", "speedup over default", "share of oracle's gain, %", "slower by 2 %, % of samples"]
    lines = [[*header, "over the same, not told or seen"], ["---", "---", *["---:"] * 4]]
    for row in record["rows"]:
        speedup = "{:.3f} [{:.3f}, {:.3f}]".format(row["speedup_geometric"], *row["interval"])
        shares = [f"{100 * row[key]:.0f}" for key in KEYS[1:]]
        gain = "x {:.3f} [{:.3f}, {:.3f}]".format(*row["gain"]) if "gain" in row else ""
        lines.append([row["kind"], row["title"], speedup, *shares, gain])
    own_half, other_half = record["luck"]["same"], record["luck"]["other"]
    luck = f"An oracle gains {other_half - 1:.1%}, and {own_half - 1:.1%} where it is paid by the rounds it chose by"
    foot = f"{record['samples']} samples, {record['groups']} groups; {record['seeds']} seeds, committed rows five."
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{text}\n\n{foot} {luck}: {(own_half - other_half) / (own_half - 1):.0%} of that is luck."


if __name__ == "__main__":
    record = json.loads(RECORD.read_text(encoding="utf-8")) if sys.argv[1:] else {}
    record |= {name: measure(name) for name in sys.argv[1:] or TABLES}
    text = re.sub(r"\[[-\d.,eE\s]*\]", lambda match: re.sub(r"\s+", "", match[0]), json.dumps(record, indent=1))
    RECORD.write_text(text + "\n", encoding="utf-8")
