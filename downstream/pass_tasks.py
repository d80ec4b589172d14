"""Every task over a table of passes, from features that were computed once: neither a compiler nor weights are needed.

    python downstream/pass_tasks.py TABLE -o downstream/passes --records RECORDS --features FEATURES --seeds 5 --jobs 15
    python downstream/pass_tasks.py TABLE -o OUT --records RECORDS --features FEATURES --task pass_fires --protocol held_out

FEATURES are files of `downstream/pass_features.py`, or a folder of them. The first model's rows are ``text``, ``graph``
and ``both``, those of any other ``both:NAME``; --first NAME says which is the first. It is what
`mirenc evaluate TASK --data TABLE` would do for each task and variant, and RECORDS gets the same records,
<task>.<variant>.<protocol>.json: one that is there is gone on with, as by --resume. They hold what was said of every
piece, which is too much to publish: OUT gets their figures under the same names, and what each row that is pre-trained
wins over each that is not (``beside``), with 95 % intervals over projects.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.errors import TaskError
from mirenc.metrics import RankedPairs, group_interval
from mirenc.progress import progress
from mirenc.tasks import Evaluation, Sample, Task, TaskData, TaskReport, get_task, load_report
from mirenc.tasks.compiled import CompiledTable, read_compiled
from mirenc.tasks.features import Features, context_matrix
from mirenc.tasks.kept_features import KeptFeatures, features_of, known_rows, read_kept
from mirenc.tasks.size_after import SizeAfter

TASKS = ("size_after", "oz_benefit", "pass_fires", "pass_list")
WITHOUT = ("no_code", "histogram", "autophase", "statements", "ir2vec")


class Pieces(SizeAfter):
    """All pieces of a table, whatever became of them."""

    def ask(self, table: CompiledTable, samples: list[Sample], variant: str) -> TaskData:
        """Every piece, with nothing to predict."""
        return TaskData([replace(sample, value=0.0) for sample in samples], None, table.content_hash, table.title)


def read_features(paths: list[Path], first: str = "") -> list[KeptFeatures]:
    """Files of features, or folders of them, the first model before all others."""
    files = [one for path in paths for one in (sorted(path.glob("*.npz")) if path.is_dir() else [path])]
    found = [read_kept(path) for path in files]
    models = [one.source for one in found if one.digest]
    if first and first not in models:
        raise SystemExit(f"--first {first}: features are of {', '.join(models) or 'no model'}")
    return sorted(found, key=lambda one: bool(first) and one.source != first)


def features_of_table(table: Path, sources: list[KeptFeatures], rows: list[str]) -> tuple[list[str], list[Features]]:
    """Names of the pieces that all sources have, and the rows' features of them; the others are counted aloud."""
    pieces = Pieces().load(table, "O0")
    hashes = {piece.name: piece.ir_hash for piece in read_compiled(table).pieces}
    known = known_rows(sources)
    lists = [set(known[row][0].hashes.tolist()) for row in rows if row in known]
    kept = [row for row, sample in enumerate(pieces.samples) if all(hashes[sample.name] in one for one in lists)]
    if len(kept) < len(pieces):
        print(f"{len(pieces) - len(kept)} of {len(pieces)} pieces have no features and are left out")
    part = pieces.subset(np.array(kept, dtype=np.int64))
    names = [sample.name for sample in part.samples]
    return names, features_of(sources, [hashes[name] for name in names], context_matrix(Pieces(), part), rows)


def of_task(
    task: Task, table: Path, variant: str, names: list[str], features: list[Features]
) -> tuple[TaskData, list[Features]]:
    """A task's samples among the pieces, and their features; an error says why there are none."""
    data = task.load(table, variant)
    place = {name: number for number, name in enumerate(names)}
    kept = [row for row, sample in enumerate(data.samples) if sample.name in place]
    if len(kept) < len(data):  # a subset has a hash of its own
        data = data.subset(np.array(kept))
    chosen = np.array([place[sample.name] for sample in data.samples])
    return data, [replace(one, matrix=one.matrix[chosen]) for one in features]


def beside(report: TaskReport, protocol: str) -> dict[str, dict[str, list[float]]]:
    """What each row wins over each that was not pre-trained: row -> other -> difference and interval.

    Of labels the mean AUC, of choices the log of the speedup, of numbers the mean absolute error that is gone.
    """
    rows = report.rows(protocol)
    data, inside = report.data, np.flatnonzero(report.tested(protocol))
    group = data.group[inside]
    found: dict[str, dict[str, list[float]]] = {}
    others = [row for row in rows if row in WITHOUT]
    if data.label_names:
        truth = data.label_table[inside]
        told = truth.any(axis=0) & ~truth.all(axis=0)
        pairs = {
            row: RankedPairs.mean(
                [RankedPairs.of(truth[:, told], said[inside][:, told], group) for said in report.said(protocol, row)]
            )
            for row in rows
        }
        for row in rows:
            found[row] = {
                other: [pairs[row].area - pairs[other].area, *pairs[row].interval(pairs[other])]
                for other in others
                if other != row
            }
        return found
    values = {}
    for row in rows:
        said = report.said(protocol, row)
        if data.chooses:
            cost = data.paid[np.arange(len(data)), said]
            values[row] = np.log(data.paid_baseline / cost).mean(axis=0)[inside]
        else:
            values[row] = -np.abs(said - data.value).mean(axis=0)[inside]
    for row in rows:
        gains = {other: values[row] - values[other] for other in others if other != row}
        found[row] = {other: [float(gain.mean()), *group_interval(gain, group)] for other, gain in gains.items()}
    return found


def figures_of(report: TaskReport, protocol: str, seconds: float) -> dict[str, Any]:
    """What is published of a record."""
    record = report.to_json()
    kept = {key: value for key, value in record.items() if key not in ("protocols", "figures")}
    run = next(iter(record["protocols"][protocol]["seeds"].values()))
    tested = report.tested(protocol)
    return {
        **kept,
        "protocol": protocol,
        "title": record["protocols"][protocol]["title"],
        "tested": int(tested.sum()),
        "tested_groups": len(np.unique(report.data.group[tested])),
        "trained": int((~report.data.held_out).sum()),
        "labels": list(report.data.label_names),
        "seconds": round(seconds, 1),
        "heads": {row: one["heads"] for row, one in run["rows"].items() if "heads" in one},
        "beside": beside(report, protocol),
        "figures": record["figures"][protocol],
    }


def evaluate(task: Task, data: TaskData, variant: str, features: list[Features], model: Any, given: Any) -> None:
    """One task and variant under each protocol, into records."""
    prepared = Evaluation(task, data, variant, model, features)
    for protocol in given.protocol or [one.name for one in task.protocols]:
        name = ".".join(filter(None, (task.name, variant, protocol, "json")))
        path = given.records / name
        previous = [load_report(path, task, data)] if path.is_file() else []
        started = time.monotonic()
        with progress(path.stem, None) as advance:
            report: TaskReport = prepared.run(
                [protocol], seeds=range(given.seeds), jobs=given.jobs, advance=advance, previous=previous
            )
        seconds = time.monotonic() - started
        report.save(path)
        found = figures_of(report, protocol, seconds)
        (given.output / name).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
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
    given = parser.parse_args()
    for folder in (given.output, given.records):
        folder.mkdir(parents=True, exist_ok=True)
    sources = read_features(given.features, given.first)
    there = known_rows(sources)
    rows = given.row or ["no_code", *sorted(there, key=lambda row: row not in WITHOUT)]
    names, features = features_of_table(given.table, sources, rows)
    first = next((one for one in sources if one.digest), None)
    model = {"name": first.source if first else "", "digest": first.digest if first else ""}
    model |= {f"digest of {one.source}": one.digest for one in sources if one.digest and one is not first}
    for name in given.task or TASKS:
        task = get_task(name)
        for variant in task.variants:
            if given.variant and variant not in given.variant:
                continue
            try:
                data, own = of_task(task, given.table, variant, names, features)
            except TaskError as error:
                print(f"{name} {variant}: left out: {error}")
                continue
            evaluate(task, data, variant, own, model, given)


if __name__ == "__main__":
    main()
