"""What each group of columns adds to heads that look ahead, and the time: ``python downstream/look_ahead/groups.py``.

Rows ``look_ahead_run``, which is told the trip count of each run, and ``look_ahead``, which is not, are learned anew
without one group of columns: zeros, at which no tree cuts. All heads are one member of the menu, so that what is
compared are columns and not searches. What mirenc's vectors add is of ``structure.json``.

Written to ``groups.json``; what that holds of the same inputs is not made again. The time is CPU time of this process
and of the one with LLVM in it, so that a busy machine counts less.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rules import HERE, PROTOCOL, TABLE, worth

from mirenc.arrays import Int64
from mirenc.embed import Encoder, load
from mirenc.evaluating import Evaluation
from mirenc.evaluating.figures import figures_of
from mirenc.evaluating.jobs import plan_jobs, run_jobs
from mirenc.evaluating.report import TaskReport
from mirenc.heads.choosing import Settings
from mirenc.learning import look_ahead as columns
from mirenc.learning.features import Features
from mirenc.learning.target import target_of
from mirenc.metrics import group_interval
from mirenc.tasks import Task, TaskData, get_task
from mirenc.tasks.loading import load_data
from mirenc.tasks.sample import Sample

RECORD = HERE / "groups.json"
ROWS = ("look_ahead_run", "look_ahead")
SEED, MEMBER = 0, "pairs, risk 1"
_LOOPS = 30  # that are timed
# Of the columns of `_Columns.static`: log2 of width, count, unrolling, bits; parts that are there, loops; lengths.
_SHAPE, _CODE = 11, 16 + len(columns.CLASSES)
_ROUGH = (13, 15)  # among these, rough costs of an element


def main() -> None:
    """Train the heads that are not in the record yet, time loops, and write it after each head."""
    task, encoder = get_task("vectorization"), load("mirenc-fast")
    data = load_data(task, TABLE)
    kept = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {"said": {}}
    record: dict[str, Any] = {"member": MEMBER, "seed": SEED, "said": {}}
    rows = Evaluation.prepare(task, data, encoder=encoder, rows=ROWS).features
    names = ["", *places(data.settings.features.shape[1])]
    work = [without(row, name, data.settings.features.shape[1]) for row in rows for name in names]
    for job in plan_jobs(target_of(data, task.select), data, work, [task.protocol(PROTOCOL)], [SEED]):
        name, inputs = job.features.row, job.digest()
        record["said"][name] = kept["said"].get(name, {})
        if record["said"][name].get("inputs") != inputs:
            (result,) = run_jobs([job], 1)
            assert result.best_of_three is not None
            said = {"choices": result.predictions.tolist(), "best_of_three": result.best_of_three.tolist()}
            record["said"][name] = {"inputs": inputs, **said}
            write({**kept, **record, "said": {**kept["said"], **record["said"]}})
    record["figures"] = figures(task, data, record["said"])
    record["vectors"] = vectors(task, data)
    record["milliseconds"] = kept.get("milliseconds") or milliseconds(task, encoder, data)
    write(record)
    print(json.dumps({name: part for name, part in record.items() if name != "said"}, indent=1))


def write(record: dict[str, Any]) -> None:
    """Keep the record, a line for what a head said."""
    said = [f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in record["said"].items()]
    rest = json.dumps({name: part for name, part in record.items() if name != "said"}, indent=1)
    RECORD.write_text(rest[:-2] + ',\n "said": {\n' + ",\n".join(said) + "\n }\n}\n", encoding="utf-8")


# -- columns -------------------------------------------------------------------------------------------
def places(own: int) -> dict[str, list[int]]:
    """Columns of settings of each group, of which the first ``own`` are the setting's numbers; none: the default's."""
    code, grid = own + _CODE, own + _CODE + len(columns._GRID)
    shape, each, costs = range(own, own + _SHAPE), range(own + _SHAPE, code), range(code, grid)
    told = range(grid, grid + columns.TOLD)
    return {
        "told": [*told],
        "costs of a few trip counts": [*costs],
        "instructions": [*each],
        "shape": [*shape],
        "the default's code": [],
        "the setting's numbers": [*range(own)],
        "all rough costs": [*(own + place for place in _ROUGH), *costs, grid],
        "shape, instructions": [*shape, *each],
    }


def without(features: Features, group: str, own: int) -> Features:
    """A row without one of the `places`, for one member of the menu; "": with all columns."""
    row = f"{features.row} - {group}" if group else features.row
    features = replace(features, row=row, only=MEMBER)
    assert features.settings is not None
    assert features.settings.features.shape[1] == own + _CODE + len(columns._GRID) + columns.TOLD
    if not group:
        return features
    gone = places(own)[group]
    if not gone:
        return replace(features, matrix=features.matrix[:, : features.context])
    asked = features.asked and tuple(_zeroed(one, gone) for one in features.asked)
    if asked and all(np.array_equal(one.features, asked[0].features) for one in asked):
        asked = asked[:1]  # the mean of equals
    return replace(features, settings=_zeroed(features.settings, gone), asked=asked)


def _zeroed(settings: Settings, gone: Sequence[int]) -> Settings:
    numbers = settings.features.copy()
    numbers[:, gone] = 0.0
    return Settings(numbers, settings.row)


# -- figures -------------------------------------------------------------------------------------------
def figures(task: Task, data: TaskData, said: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Figures of each head, and factors over the head of the same row that has all columns."""
    found = {}
    for name, one in said.items():
        runs, three = np.array(one["choices"])[None], np.array(one["best_of_three"])[None]
        found[name] = worth(task, data, runs, three)
        if (full := name.partition(" - ")[0]) != name:
            found[name]["over_all_columns"] = factor(task, data, runs, np.array(said[full]["choices"])[None])
    return found


def factor(task: Task, data: TaskData, runs: Int64, others: Int64) -> list[float]:
    """Geometric mean of how much faster choices are than others, (S, n) each; its interval over structures."""
    every, of = np.arange(len(data)), figures_of(task, "", data)
    logs, against = (of.per_sample(one, every)["speedup"] for one in (runs, others))
    return [float(np.exp(np.mean(logs - against))), *group_interval(logs - against, data.group, statistic=np.exp)]


def vectors(task: Task, data: TaskData) -> dict[str, list[float]]:
    """What mirenc's vectors beside a look-ahead are worth, over a look-ahead alone, by the task's own record."""
    report = TaskReport(json.loads((HERE / f"{PROTOCOL}.json").read_text(encoding="utf-8")), task, data)
    found = {}
    for row in ROWS:
        both = report.predictions(PROTOCOL, row.replace("ahead", "ahead_both"))
        found[row] = factor(task, data, both, report.predictions(PROTOCOL, row))
    return found


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
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # another's, which ended
            if status.read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                found.append(status.with_name("schedstat"))
    return found


def _cpu(others: Sequence[Path]) -> float:
    """Milliseconds that this process and others have run."""
    return (time.process_time_ns() + sum(int(one.read_text().split()[0]) for one in others)) / 1e6


if __name__ == "__main__":
    main()
