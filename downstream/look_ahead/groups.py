"""What each group of columns adds to heads that look ahead, and the time: ``python downstream/look_ahead/groups.py``.

Rows ``look_ahead_run``, which is told the trip count of each run, and ``look_ahead``, which is not, are learned anew
without one group of columns: zeros, at which no tree cuts. All heads are one candidate, without the search;
the margin of a fold is chosen on held-out answers for the other folds. So these figures are to be compared with each
other, not with those of a table.

Written to ``groups.json``, after each head; answers are kept in the cache. The time is CPU time of this process and of
the one with LLVM in it, so that a busy machine counts less.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rules import HERE, PROTOCOL, TABLE, between, with_default, with_margins, worth

from mirenc import __version__
from mirenc.base.arrays import Float64, Int64
from mirenc.base.cache import Cache, cache_key
from mirenc.decide.estimators.candidates import candidates
from mirenc.decide.estimators.chooser import SHARPNESS, Settings
from mirenc.decide.evaluation.evaluate_task import Evaluation
from mirenc.decide.evaluation.figures import figures_of
from mirenc.decide.evaluation.jobs import Job, plan_jobs
from mirenc.decide.features import look_ahead_features as columns
from mirenc.decide.features.feature_matrix import ROW_TITLES, Features
from mirenc.decide.load_samples import load_data
from mirenc.decide.metrics import group_interval
from mirenc.decide.registry import get_task
from mirenc.decide.sample import Sample
from mirenc.decide.target import target_of
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.encoder import Encoder, load

RECORD = HERE / "groups.json"
ROWS = ("look_ahead_run", "look_ahead")
SEED, MEMBER = 0, "pairs"
_LOOPS = 30  # that are timed
# Of the columns of `_Columns.static`: log2 of width, count, unrolling, bits; parts that are there, loops; lengths.
_SHAPE, _CODE = 11, 16 + len(columns.CLASSES)
_ROUGH = (13, 15)  # among these, rough costs of an element


def main() -> None:
    """Train heads, time loops, and write the record after each step."""
    task, encoder = get_task("vectorization"), load("mirenc-fast")
    data = load_data(task, TABLE)
    record: dict[str, Any] = {"member": MEMBER, "seed": SEED, "rows": {}}
    record["milliseconds"] = milliseconds(task, encoder, data)
    width = data.settings.features.shape[1]
    for row in ROWS:
        (features,) = Evaluation.prepare(task, data, encoder=encoder, rows=[row]).features
        figures = record["rows"][row] = {}
        full: Int64 | None = None
        for name in ("", *places(width)):
            choices = chosen(task, data, without(features, name, width))
            full = choices if full is None else full
            figures[name or "nothing"] = worth(task, data, choices) | {"factor": factor(task, data, choices, full)}
            text = json.dumps({**record, "lines": lines(record["rows"])}, indent=1)
            RECORD.write_text(text + "\n", encoding="utf-8")


def lines(rows: dict[str, dict[str, dict[str, Any]]]) -> list[list[str]]:
    """The record as a table: a line for a group that is left out."""
    head = ["without"]
    for row in rows:
        head += [f"{ROW_TITLES[row]}: speedup over default", "slower by 2 %, %", "over all columns, factor"]
    table = [head]
    for name in rows[ROWS[0]]:
        table.append([name])
        for figures in rows.values():
            if (one := figures.get(name)) is None:
                table[-1] += ["", "", ""]
                continue
            slower = f"{100 * one['slowdowns_2']:.1f}"
            over = between(*one["factor"]) if one is not figures["nothing"] else ""
            table[-1] += [between(one["speedup_geometric"], *one["interval"]), slower, over]
    return table


# -- heads ---------------------------------------------------------------------------------------------
def chosen(task: Task, data: TaskData, features: Features) -> Int64:
    """What heads choose of samples that they did not see, (1, n): each with its margin."""
    (job,) = plan_jobs(target_of(data, task.select), data, [features], [task.protocol(PROTOCOL)], [SEED])
    cache = Cache(hashlib.sha256(f"groups {__version__}".encode()).hexdigest())
    key = cache_key("groups", job.digest())
    if (stored := cache.get([key]).get(key)) is None:
        stored = held_out(job).tobytes()
        cache.put({key: stored})
    logs = np.frombuffer(stored).reshape(data.known.shape)
    raised, _ = with_margins(task, data, with_default(data, logs), [SEED])
    choices: Int64 = np.nanargmin(raised, axis=2)
    return choices


def held_out(job: Job) -> Float64:
    """The log cost of each setting by a head that did not see its sample's fold, NaN where it says none. (n, K)."""
    target, features = job.target, job.features
    assert features.settings is not None
    logs = np.full(target.values.shape, np.nan)
    for training, test in job.folds:
        member = dict(candidates(target.shape(features, training), job.seed, target.select))[MEMBER]
        head = member.fit(features.matrix[training], target.values[training], features.settings.take(training))
        settings = [one.take(test) for one in features.question_settings or (features.settings,)]
        preference = np.mean([head.predict_proba(features.matrix[test], one) for one in settings], axis=0)
        logs[test] = -np.log(np.where(preference > 0, preference, np.nan)) / SHARPNESS
    return logs


# -- columns -------------------------------------------------------------------------------------------
def places(width: int) -> dict[str, list[int]]:
    """Columns of settings of each group; the first ``width`` are the setting's numbers; none: the default's."""
    code, grid = width + _CODE, width + _CODE + len(columns._GRID)
    shape, each, costs = range(width, width + _SHAPE), range(width + _SHAPE, code), range(code, grid)
    trip = width + columns.SETTING_NAMES.index("log rough cost over the default's")
    trip_columns = range(trip, trip + columns.TRIP_COLUMNS)
    return {
        "what the trip count tells": [*trip_columns],
        "rough costs for eight trip counts": [*costs],
        "costs with branches, and what these may skip": [*range(grid + columns.TAKEN_COLUMNS, trip)],
        "instructions by class, an element": [*each],
        "widths, parts, loops, lengths": [*shape],
        "both of these": [*shape, *each],
        "the default's code": [],
        "the setting's numbers": [*range(width)],
        "all rough costs of settings": [*(width + place for place in _ROUGH), *costs, trip],
    }


def without(features: Features, group: str, setting_width: int) -> Features:
    """A row without one of the `places`, for one candidate; "": with all columns."""
    row = f"{features.row} - {group}" if group else features.row
    features = replace(features, row=row, candidate=MEMBER)
    assert features.settings is not None
    assert features.settings.features.shape[1] == setting_width + len(columns.SETTING_NAMES)
    if not group:
        return features
    gone = places(setting_width)[group]
    if not gone:
        return replace(features, matrix=features.matrix[:, : features.context_columns])
    views = features.question_settings and tuple(_zeroed(one, gone) for one in features.question_settings)
    if views and all(np.array_equal(one.features, views[0].features) for one in views):
        views = views[:1]  # the mean of equals
    return replace(features, settings=_zeroed(features.settings, gone), question_settings=views)


def _zeroed(settings: Settings, gone: Sequence[int]) -> Settings:
    numbers = settings.features.copy()
    numbers[:, gone] = 0.0
    return Settings(numbers, settings.row)


# -- figures -------------------------------------------------------------------------------------------
def factor(task: Task, data: TaskData, runs: Int64, others: Int64) -> list[float]:
    """Geometric mean of how much faster choices are than others, (S, n) each; its interval over structures."""
    every, of = np.arange(len(data)), figures_of(task, "", data)
    logs, against = (of.per_sample(one, every)["speedup"] for one in (runs, others))
    return [float(np.exp(np.mean(logs - against))), *group_interval(logs - against, data.group, statistic=np.exp)]


# -- time ----------------------------------------------------------------------------------------------
def milliseconds(task: Task, encoder: Encoder, data: TaskData) -> dict[str, Any]:
    """CPU time of reading a loop's file and of a look-ahead, of loops that are drawn. LLVM is loaded before."""
    drawn = np.random.default_rng(0).permutation(len(data))
    for part in np.unique(data.part):  # each has an LLVM of its own
        _ahead(task, encoder, data.samples[drawn[data.part[drawn] == part][0]])
    llvm = _children()
    spent = np.array([_ahead(task, encoder, data.samples[row], llvm) for row in drawn[:_LOOPS]])
    record: dict[str, Any] = {"loops": _LOOPS}
    for name, part in zip(("reading", "look-ahead"), spent.T, strict=True):
        middle, most = np.percentile(part, (50, 90)).tolist()
        record[name] = {"median": middle, "90th percentile": most, "mean": float(part.mean())}
    return record


def _ahead(task: Task, encoder: Encoder, sample: Sample, llvm: Sequence[Path] = ()) -> tuple[float, float]:
    """Milliseconds of reading, and of a look-ahead."""
    assert sample.ir is not None
    start = _cpu(llvm)
    module = task.read_sample(encoder, sample.ir)
    read = _cpu(llvm)
    task.look_ahead(module, sample.region, sample.context)
    return read - start, _cpu(llvm) - read


def _children() -> list[Path]:
    """What says how long each process that this one started has run."""
    stat_files = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # another's, which ended
            if status.read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                stat_files.append(status.with_name("schedstat"))
    return stat_files


def _cpu(others: Sequence[Path]) -> float:
    """Milliseconds that this process and others have run."""
    return (time.process_time_ns() + sum(int(one.read_text().split()[0]) for one in others)) / 1e6


if __name__ == "__main__":
    main()
