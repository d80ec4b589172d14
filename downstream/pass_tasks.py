"""Every task over a table of passes, with features that are computed once for all of them.

    python downstream/pass_tasks.py TABLE -o downstream/passes --features TABLE/features.npz --jobs 2
    python downstream/pass_tasks.py TABLE -o downstream/passes --task pass_fires --protocol held_out --seeds 1

What `mirenc evaluate TASK --data TABLE` would do for each task and variant, with the same records: reading and
embedding twenty thousand pieces is most of the work, and all tasks see the same. --features keeps them in a file, which
is taken again where table, model and rows are the same. Records are <task>.<variant>.<protocol>.json; one that is there
is gone on with, as by --resume.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import mirenc
from mirenc.encoder import Encoder
from mirenc.errors import TaskError
from mirenc.progress import progress
from mirenc.tasks import Evaluation, Sample, Task, TaskData, TaskReport, get_task, load_report
from mirenc.tasks.compiled import CompiledTable
from mirenc.tasks.features import Features, build_features, default_rows
from mirenc.tasks.size_after import SizeAfter

TASKS = ("size_after", "oz_benefit", "pass_fires", "pass_list")
ROWS = ("no_code", "histogram", "autophase", "statements", "ir2vec", "text", "graph", "both")


class Pieces(SizeAfter):
    """All pieces of a table, whatever became of them."""

    def ask(self, table: CompiledTable, samples: list[Sample], variant: str) -> TaskData:
        """Every piece, with nothing to predict."""
        return TaskData([replace(sample, value=0.0) for sample in samples], None, table.content_hash, table.title)


def features_of(task: Task, data: TaskData, rows: list[str], encoder: Encoder, path: Path | None) -> list[Features]:
    """The rows' features of all pieces, from the file where it has them."""
    about = {"data": data.content_hash, "model": encoder.files.digest, "rows": rows}
    if path is not None and path.is_file():
        with np.load(path) as kept:
            notes = json.loads(str(kept["about"]))
            if {key: notes[key] for key in about} == about:
                print(f"features from {path}")
                made = [kept[row].astype(np.float64) for row in rows]
                return [Features(row, one, 2, "", notes["notes"][row]) for row, one in zip(rows, made, strict=True)]
    with progress("embedding", None) as advance:
        found = build_features(task, data, rows, encoder, advance=advance)
    # As they are kept, so that what is computed from them is the same either way.
    found = [replace(one, matrix=one.matrix.astype(np.float32).astype(np.float64)) for one in found]
    if path is not None:
        said = json.dumps({**about, "notes": {one.row: one.note for one in found}})
        part = path.with_suffix(".part.npz")
        np.savez(part, about=said, **{one.row: one.matrix.astype(np.float32) for one in found})
        os.replace(part, path)
    return found


def evaluate(task: Task, data: TaskData, variant: str, features: list[Features], encoder: Encoder, given: Any) -> None:
    """One task and variant under each protocol, into records."""
    model = {"name": encoder.name, "digest": encoder.files.digest}
    prepared = Evaluation(task, data, variant, model, features)
    for protocol in given.protocol or [one.name for one in task.protocols]:
        path = given.output / ".".join(filter(None, (task.name, variant, protocol, "json")))
        previous = [load_report(path, task, data)] if path.is_file() else []
        with progress(path.stem, None) as advance:
            report: TaskReport = prepared.run(
                [protocol], seeds=range(given.seeds), jobs=given.jobs, advance=advance, previous=previous
            )
        report.save(path)
        print(report)


def main() -> None:
    """Features, then every task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the records")
    parser.add_argument("--features", type=Path, help=".npz that keeps the features")
    parser.add_argument("--task", action="append", choices=TASKS, help="may be repeated [default: all]")
    parser.add_argument("--row", action="append", help="may be repeated")
    parser.add_argument("--protocol", action="append", help="may be repeated [default: all of the task]")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--model")
    given = parser.parse_args()
    encoder = mirenc.load(given.model)
    pieces = Pieces()
    whole = pieces.load(given.table, "O0")
    there = default_rows(pieces, whole)
    rows = given.row or [row for row in ROWS if row in there]
    features = features_of(pieces, whole, rows, encoder, given.features)
    place = {sample.name: number for number, sample in enumerate(whole.samples)}
    for name in given.task or TASKS:
        task = get_task(name)
        for variant in task.variants:
            try:
                data = task.load(given.table, variant)
            except TaskError as error:
                print(f"{name} {variant}: left out: {error}")
                continue
            chosen = np.array([place[sample.name] for sample in data.samples])
            own = [replace(one, matrix=one.matrix[chosen]) for one in features]
            evaluate(task, data, variant, own, encoder, given)


if __name__ == "__main__":
    main()
