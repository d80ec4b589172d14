"""Every task over a table of passes, from features that were computed once: neither a compiler nor weights are needed.

    python downstream/pass_tasks.py TABLE -o downstream/passes --records RECORDS --features FEATURES --seeds 5 --jobs 15
    python downstream/pass_tasks.py TABLE -o OUT --records RECORDS --features FEATURES --task pass_fires --seeds 1

FEATURES are files of `downstream/pass_features.py`, or a folder of them. The first model's rows are ``text``, ``graph``
and ``both``, those of any other ``both:NAME``; --first NAME says which is the first. It is what
`mirenc evaluate TASK --data TABLE` would do for each task and variant, and RECORDS gets the same records,
<task>.<variant>.<protocol>.json: each seed is kept once it is done, and one that is there is gone on with, as by
--resume. They hold what was said of every piece, which is too much to publish: OUT gets their figures under the same
names, and what each row that is pre-trained wins over each that is not (``beside``), with 95 % intervals over projects.

A model that a compiler taught has seen answers about the projects for training, which are what protocol ``project``
tests on: its rows are left out there.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from kept_features import features_of_table, known_rows, model_of, read_all, taught_rows

from mirenc.base.errors import TaskError
from mirenc.base.progress import progress
from mirenc.decide.evaluation.evaluate_task import Evaluation
from mirenc.decide.evaluation.report import TaskReport, load_report
from mirenc.decide.features.feature_matrix import Features
from mirenc.decide.metrics import RankedPairs, group_interval
from mirenc.decide.registry import get_task
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.decide.tasks.pass_tasks import HELD_OUT

TASKS = ("size_after", "oz_benefit", "pass_fires", "pass_list")
WITHOUT = ("no_code", "histogram", "autophase", "statements", "ir2vec")


def gains_over_peers(report: TaskReport, protocol: str, jobs: int) -> dict[str, dict[str, list[float]]]:
    """What each row wins over each that was not pre-trained: row -> other -> difference and interval.

    Of labels the mean AUC, of choices the log of the speedup, of numbers the mean absolute error that is gone.
    """
    rows = report.rows(protocol)
    data, tested_rows = report.data, np.flatnonzero(report.tested(protocol))
    group = data.group[tested_rows]
    gains_by_row: dict[str, dict[str, list[float]]] = {}
    peers = [row for row in rows if row in WITHOUT]
    if data.label_names:
        truth = data.label_table[tested_rows]
        varying = truth.any(axis=0) & ~truth.all(axis=0)

        def pairs_of(row: str) -> RankedPairs:
            predictions = report.predictions(protocol, row)[:, tested_rows][:, :, varying]
            return RankedPairs.mean([RankedPairs.of(truth[:, varying], predicted, group) for predicted in predictions])

        def gains_of(row: str) -> dict[str, list[float]]:
            row_pairs = pairs[row]
            return {
                peer: [row_pairs.area - pairs[peer].area, *row_pairs.interval(pairs[peer])]
                for peer in peers
                if peer != row
            }

        with ThreadPoolExecutor(jobs) as pool:
            pairs = dict(zip(rows, pool.map(pairs_of, rows), strict=True))
            return dict(zip(rows, pool.map(gains_of, rows), strict=True))
    values = {}
    for row in rows:
        predicted = report.predictions(protocol, row)
        if data.target == "costs":
            cost = data.paid[np.arange(len(data)), predicted]
            values[row] = np.log(data.paid_baseline / cost).mean(axis=0)[tested_rows]
        else:
            values[row] = -np.abs(predicted - data.value).mean(axis=0)[tested_rows]
    for row in rows:
        gains = {peer: values[row] - values[peer] for peer in peers if peer != row}
        gains_by_row[row] = {peer: [float(gain.mean()), *group_interval(gain, group)] for peer, gain in gains.items()}
    return gains_by_row


def figures_of(
    report: TaskReport, record: dict[str, Any], protocol: str, seconds: float, jobs: int, table: str
) -> dict[str, Any]:
    """What is published of a record, as it was saved."""
    settings = {key: value for key, value in record.items() if key not in ("protocols", "figures")}
    run = next(iter(record["protocols"][protocol]["seeds"].values()))
    is_tested = report.tested(protocol)
    return {
        **settings,
        "table": table,
        "protocol": protocol,
        "title": record["protocols"][protocol]["title"],
        "tested": int(is_tested.sum()),
        "tested_groups": len(np.unique(report.data.group[is_tested])),
        "trained": int((~report.data.held_out).sum()),
        "labels": list(report.data.label_names),
        "seconds": round(seconds, 1),
        "heads": {row: values["heads"] for row, values in run["rows"].items() if "heads" in values},
        "beside": gains_over_peers(report, protocol, jobs),
        "figures": record["figures"][protocol],
    }


def evaluate(
    task: Task,
    data: TaskData,
    variant: str,
    features: list[Features],
    model: Any,
    arguments: Any,
    table: str,
    taught: set[str],
) -> None:
    """One task and variant under each protocol, into records."""
    for protocol in arguments.protocol or [item.name for item in task.protocols]:
        fair_rows = [row for row in features if protocol == HELD_OUT.name or row.row not in taught]
        evaluation = Evaluation(task, data, variant, model, fair_rows)
        name = ".".join(filter(None, (task.name, variant, protocol, "json")))
        path = arguments.records / name
        previous = [load_report(path, task, data)] if path.is_file() else []
        start = time.monotonic()
        with progress(path.stem, None) as advance:
            report: TaskReport = evaluation.run(
                [protocol],
                seeds=range(arguments.seeds),
                jobs=arguments.jobs,
                advance=advance,
                previous_reports=previous,
                on_report=lambda report, path=path: report.save(path),
            )
        seconds = time.monotonic() - start
        report.save(path, arguments.jobs)
        record = json.loads(path.read_text(encoding="utf-8"))
        figures = figures_of(report, record, protocol, seconds, arguments.jobs, table)
        (arguments.output / name).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        print(f"{path.stem}: {seconds:.0f} s")


def main() -> None:
    """Features, then every task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the figures")
    parser.add_argument("--records", type=Path, required=True, help="folder of the records")
    parser.add_argument("--features", type=Path, nargs="+", required=True, help="files or folders")
    parser.add_argument("--first", default="", help="model whose rows have plain names [default: the first file's]")
    parser.add_argument("--task", action="append", choices=TASKS, help="may be repeated [default: all]")
    parser.add_argument("--variant", action="append", help="may be repeated [default: all of the task]")
    parser.add_argument("--row", action="append", help="may be repeated [default: all that the features have]")
    parser.add_argument("--protocol", action="append", help="may be repeated [default: all of the task]")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    for folder in (arguments.output, arguments.records):
        folder.mkdir(parents=True, exist_ok=True)
    sources = read_all(arguments.features, arguments.first)
    rows = arguments.row or ["no_code", *sorted(known_rows(sources), key=lambda row: row not in WITHOUT)]
    for name in arguments.task or TASKS:
        task = get_task(name)
        for variant in task.variants:
            if arguments.variant and variant not in arguments.variant:
                continue
            try:
                complete = task.load(arguments.table, variant)
            except TaskError as error:
                print(f"{name} {variant}: left out: {error}")
                continue
            data, features = features_of_table(arguments.table, task, complete, sources, rows)
            if len(data) < len(complete):
                lacking = len(complete) - len(data)
                print(f"{name} {variant}: {lacking} of {len(complete)} pieces have no features: left out")
            evaluate(
                task, data, variant, features, model_of(sources), arguments, complete.content_hash, taught_rows(sources)
            )


if __name__ == "__main__":
    main()
