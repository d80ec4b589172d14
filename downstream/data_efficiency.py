"""Score against the share of the training kernels: what the embedding, the baselines and no code make of few kernels.

Grouped by kernel source, as `mirenc evaluate -p kernel`; of each fold's training groups only a share is used, nested
(the 5 % are among the 10 %), and the search for a head sees nothing but these. Rows: no code, opcode histogram, IR2Vec
(where installed), embedding.

    MIRENC_DATA=... python downstream/data_efficiency.py device_mapping --variant nvidia --jobs 2

writes downstream/<task>/<variant>.efficiency.json and .svg. The whole training set is the evaluation itself: it is read
from the record <variant>.kernel.json where that was made with the same data, model and number of seeds.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import mirenc
from mirenc.metrics import decision_figures, group_interval, oracle_choice
from mirenc.tasks import Task, TaskData
from mirenc.tasks.features import build_features, default_rows
from mirenc.tasks.jobs import plan_jobs, run_jobs
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


def whole(folder: Path, variant: str, task: Task, data: TaskData, digest: str, seeds: int) -> TaskReport | None:
    """The evaluation's own record, if it is there and of the same data, model and seeds."""
    path = folder / ".".join(filter(None, (variant, "kernel", "json")))
    if not path.is_file():
        return None
    report = load_report(path, task, data)
    same = report.record["model"]["digest"] == digest and report.record["seeds"] == list(range(seeds))
    return report if same else None


def measure(task_name: str, data_dir: str | None, variant: str, seeds: int, jobs: int, folder: Path) -> dict[str, Any]:
    """Figures of each row at each share."""
    task = mirenc.get_task(task_name)
    variant = task.check_variant(variant)
    data = task.load(data_dir, variant)
    encoder = mirenc.load()
    rows = [row for row in ROWS if row in default_rows(task)]
    features = build_features(task, data, rows, encoder)
    protocol = task.protocol("kernel")
    truth = oracle_choice(data.costs)
    work, keys = [], []
    known = whole(folder, variant, task, data, encoder.files.digest, seeds)
    for job in plan_jobs(task, data, features, [protocol], range(seeds)):
        for share in SHARES if known else (*SHARES, 1.0):
            folds = [(few(training, data.group, share, job.seed), test) for training, test in job.folds]
            work.append(replace(job, folds=folds))
            keys.append((job.row, share))
    found: dict[tuple[str, float], list[np.ndarray]] = {}

    def told(done: int, total: int, note: str) -> None:
        print(f"\r{note:60}", end="", flush=True)

    for key, result in zip(keys, run_jobs(work, jobs, told), strict=True):
        found.setdefault(key, []).append(result.choice)
    for row in rows if known else ():
        found[row, 1.0] = list(known.choices("kernel", row))
    figures: dict[str, dict[str, Any]] = {row: {} for row in rows}
    for (row, share), runs in sorted(found.items()):
        each = [decision_figures(data.costs, run, data.baseline) for run in runs]
        hits = np.mean([data.resolve(run) == truth for run in runs], axis=0)
        figures[row][str(share)] = {
            "accuracy": float(hits.mean()),
            "accuracy_sd": float(np.std([one["accuracy"] for one in each], ddof=1)) if len(each) > 1 else 0.0,
            "accuracy_interval": group_interval(hits, data.group),
            "speedup_geometric": float(np.mean([one["speedup_geometric"] for one in each])),
            "oracle_share": float(np.mean([one["oracle_share"] for one in each])),
        }
    kernels = len(np.unique(data.group))
    return {
        "task": task.name,
        "variant": variant,
        "protocol": protocol.title,
        "seeds": seeds,
        "kernels": kernels,
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
    parser.add_argument("task")
    parser.add_argument("--data")
    parser.add_argument("--variant", default="")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, help="folder [default: downstream/TASK]")
    given = parser.parse_args()
    folder = given.output or Path(__file__).parent / mirenc.get_task(given.task).name
    folder.mkdir(parents=True, exist_ok=True)
    record = measure(given.task, given.data, given.variant, given.seeds, given.jobs, folder)
    stem = ".".join(filter(None, (record["variant"], "efficiency")))
    (folder / f"{stem}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    plot(record, folder / f"{stem}.svg")
    print(f"\nwrote {folder / stem}.json and .svg")


if __name__ == "__main__":
    main()
