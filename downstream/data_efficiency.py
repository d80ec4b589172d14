"""Score against the share of the training kernels: what the embedding, the baselines and no code make of few kernels.

Grouped by kernel source, as `mirenc evaluate -p kernel`; of each fold's training groups only a share is used, nested
(the 5 % are among the 10 %), and the search for a head sees nothing but these. Rows: no code, opcode histogram, IR2Vec
(where installed), embedding.

    MIRENC_DATA=... python downstream/data_efficiency.py device_mapping --variant nvidia --jobs 2

writes downstream/<task>/<variant>.efficiency.json and .svg. The whole training set is the evaluation itself: it is read
from the record <variant>.kernel.json where that has the same inputs. With --resume, so are all points from the record
of an earlier run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

import mirenc
from mirenc.metrics import decision_figures, group_interval
from mirenc.tasks import Task, TaskData
from mirenc.tasks.features import build_features, default_rows
from mirenc.tasks.jobs import Goal, Job, plan_jobs, run_jobs
from mirenc.tasks.report import TaskReport, load_report, row_title

SHARES = (0.05, 0.1, 0.25, 0.5)  # and 1, which is the evaluation itself
ROWS = ("no_code", "histogram", "ir2vec", "both")
COLOURS = {"no_code": "#bbbbbb", "histogram": "#ddaa33", "ir2vec": "#cc6677", "both": "#4477aa"}


def few(training: np.ndarray, group: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Training rows of a share of their groups; smaller shares are part of larger ones."""
    names = np.unique(group[training])
    order = np.random.default_rng(seed).permutation(len(names))
    kept = names[order[: max(2, round(share * len(names)))]]
    return training[np.isin(group[training], kept)]


def whole(folder: Path, variant: str, task: Task, data: TaskData) -> TaskReport | None:
    """The evaluation's own record, if it is there and of the same data."""
    path = folder / ".".join(filter(None, (variant, "kernel", "json")))
    return load_report(path, task, data) if path.is_file() else None


def figures_of(data: TaskData, runs: list[np.ndarray]) -> dict[str, Any]:
    """Mean figures of chosen settings (n,), one array a seed."""
    each = [decision_figures(data.known, data.resolve(run), data.baseline, data.labels) for run in runs]
    cost = data.known[np.arange(len(data)), np.array(runs)]  # (seeds, n)
    hits = (cost == np.nanmin(data.known, axis=1)).mean(axis=0)
    return {
        "accuracy": float(hits.mean()),
        "accuracy_sd": float(np.std([one["accuracy"] for one in each], ddof=1)) if len(each) > 1 else 0.0,
        "accuracy_interval": group_interval(hits, data.group),
        "speedup_geometric": float(np.mean([one["speedup_geometric"] for one in each])),
        "oracle_share": float(np.mean([one["oracle_share"] for one in each])),
    }


def measure(
    task: Task, data_dir: str | None, variant: str, seeds: int, jobs: int, folder: Path, kept: dict[str, Any]
) -> dict[str, Any]:
    """Figures of each row at each share; those in ``kept`` that are of the same inputs are taken from there."""
    data = task.load(data_dir, variant)
    encoder = mirenc.load()
    rows = [row for row in ROWS if row in default_rows(task, data)]
    features = build_features(task, data, rows, encoder)
    protocol = task.protocol("kernel")
    report = whole(folder, variant, task, data)
    work: dict[tuple[str, float], list[Job]] = {}
    for job in plan_jobs(Goal.of(data, task.select), data, features, [protocol], range(seeds)):
        for share in (*SHARES, 1.0):
            folds = [(few(training, data.group, share, job.seed), test) for training, test in job.folds]
            work.setdefault((job.features.row, share), []).append(job if share == 1.0 else replace(job, folds=folds))
    figures: dict[str, dict[str, Any]] = {row: {} for row in rows}
    for (row, share), together in track(sorted(work.items(), key=lambda item: item[0]), "points"):
        digests = {job.key: job.digest() for job in together}
        inputs = hashlib.sha256("".join(digests.values()).encode()).hexdigest()
        old = kept.get(row, {}).get(str(share), {})
        if old.get("inputs") != inputs:
            taken = report.known(digests) if report is not None else {}
            runs = [result.said for result in run_jobs(together, jobs, known=taken)]
            old = {**figures_of(data, runs), "inputs": inputs}
        figures[row][str(share)] = old
    return {
        "task": task.name,
        "variant": variant,
        "protocol": protocol.title,
        "seeds": seeds,
        "kernels": len(np.unique(data.group)),
        "data_hash": data.content_hash,
        "model": {"name": encoder.name, "digest": encoder.files.digest},
        "figures": figures,
    }


def plot(record: dict[str, Any], path: Path) -> None:
    """Accuracy against the share, with intervals over groups."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axis = figure.subplots()
    for row, by_share in record["figures"].items():
        shares = np.array([float(share) for share in by_share])
        values = np.array([one["accuracy"] for one in by_share.values()])
        low, high = np.array([one["accuracy_interval"] for one in by_share.values()]).T
        axis.fill_between(100 * shares, low, high, color=COLOURS[row], alpha=0.15)
        axis.plot(100 * shares, values, "o-", color=COLOURS[row], label=row_title(row))
    axis.set_xscale("log")
    ticks = [100 * share for share in (*SHARES, 1.0)]
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_xlabel("% of the training kernels")
    axis.set_ylabel("accuracy on unseen kernels")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    axis.set_title(f"{record['task']} {record['variant']}: {record['protocol']}, {record['seeds']} seeds", fontsize=9)
    with rc_context({"svg.hashsalt": "mirenc", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Measure, write, plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?", default="device_mapping")
    parser.add_argument("--task-file", type=Path, help="a task of your own; the file is executed")
    parser.add_argument("--data")
    parser.add_argument("--variant", default="")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, help="folder [default: downstream/TASK]")
    parser.add_argument("--resume", action="store_true", help="take what the record holds of the same inputs")
    given = parser.parse_args()
    task = mirenc.get_task(given.task_file or given.task)
    variant = task.check_variant(given.variant)
    folder = given.output or Path(__file__).parent / task.name
    folder.mkdir(parents=True, exist_ok=True)
    stem = ".".join(filter(None, (variant, "efficiency")))
    kept = {}
    if given.resume and (folder / f"{stem}.json").is_file():
        kept = json.loads((folder / f"{stem}.json").read_text(encoding="utf-8"))["figures"]
    record = measure(task, given.data, variant, given.seeds, given.jobs, folder, kept)
    (folder / f"{stem}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    plot(record, folder / f"{stem}.svg")
    print(f"\nwrote {folder / stem}.json and .svg")


if __name__ == "__main__":
    main()
