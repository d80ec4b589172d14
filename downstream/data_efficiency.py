r"""Score against the share of the training kernels: what the embedding, the baselines and no code make of few kernels.

Grouped by kernel source, as `mirenc evaluate -p kernel`; of each fold's training groups only a share is used, nested
(the 5 % are among the 10 %), and the search for a head sees nothing but these. Rows: no code, opcode histogram, IR2Vec
(where installed), embedding; of kept features also AutoPhase's counts and statements.

    MIRENC_DATA=... python downstream/data_efficiency.py device_mapping --variant nvidia --jobs 2
    python downstream/data_efficiency.py size_after --data TABLE --protocol held_out --counts 100 300 1000 3000 10000 \
        --features FEATURES

The second line's --features are files of `downstream/pass_features.py`, in place of embedding the samples again.

With --counts, so many training samples are used in place of shares, nested likewise. The score is the accuracy of a
choice, or what it wins where the task is about that (`Task.select`), R2 of a number, and the mean AUC of labels. The
script writes downstream/<task>/<variant>.efficiency.json and .svg. The whole training set is the evaluation itself: it
is read from the record <variant>.<protocol>.json where that has the same inputs. With --resume, so are all points from
the record of an earlier run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from kept_features import KeptFeatures, features_of_table, known_rows, model_of, read_all
from rich.progress import track

import mirenc
from mirenc.decide.evaluation.figures import area_figures
from mirenc.decide.evaluation.jobs import Job, plan_jobs, run_jobs
from mirenc.decide.evaluation.report import TaskReport, load_report, row_title
from mirenc.decide.features.feature_matrix import build_features, default_rows
from mirenc.decide.metrics import decision_figures, group_interval, label_figures, number_figures
from mirenc.decide.target import target_of
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData

SHARES = (0.05, 0.1, 0.25, 0.5)  # and 1, which is the evaluation itself
ROWS = ("no_code", "histogram", "autophase", "statements", "ir2vec", "both")
COLOURS = {
    "no_code": "#bbbbbb",
    "histogram": "#ddaa33",
    "autophase": "#117733",
    "statements": "#aa4499",
    "ir2vec": "#cc6677",
    "both": "#4477aa",
}
OTHER_MODEL = "#332288"
SCORES = {
    "accuracy": "accuracy on unseen kernels",
    "speedup_geometric": "times better than the default, on unseen kernels",
    "r2": "R2 on unseen kernels",
    "auc": "mean AUC on unseen kernels",
}


def take_groups(training: np.ndarray, group: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Training rows of a share of their groups; smaller shares are part of larger ones."""
    names = np.unique(group[training])
    order = np.random.default_rng(seed).permutation(len(names))
    chosen = names[order[: max(2, round(share * len(names)))]]
    return training[np.isin(group[training], chosen)]


def take_rows(training: np.ndarray, count: int, seed: int) -> np.ndarray:
    """So many of the training rows; fewer are part of more."""
    return np.sort(np.random.default_rng(seed).permutation(training)[:count])


def full_report(folder: Path, variant: str, protocol: str, task: Task, data: TaskData) -> TaskReport | None:
    """The evaluation's own record, if it is there and of the same data; of a table of passes it has the task's name.

    Figures that `pass_tasks.py` publishes have that name, too, and nothing of what was said.
    """
    name = ".".join(filter(None, (variant, protocol, "json")))
    paths = [path for path in (folder / name, folder / f"{task.name}.{name}") if path.is_file()]
    paths = [path for path in paths if "protocols" in json.loads(path.read_text(encoding="utf-8"))]
    return load_report(paths[0], task, data) if paths else None


def score_of(task: Task, data: TaskData) -> str:
    """Which figure the curve is of."""
    if data.target == "costs":
        return "accuracy" if task.select == "accuracy" else "speedup_geometric"
    return "auc" if data.label_names else "r2"


def figures_of(data: TaskData, runs: list[np.ndarray]) -> dict[str, Any]:
    """Mean figures of what was said, (n,) or (n, P), one array a seed."""
    if data.label_names:
        label_scores = [label_figures(data.label_table, run) for run in runs]
        areas = area_figures(data.label_table, np.array(runs), data.group)
        return {key: float(np.mean([score[key] for score in label_scores])) for key in label_scores[0]} | areas
    if data.target == "number":
        numbers = [number_figures(data.value, run) for run in runs]
        error = np.mean([(run - data.value) ** 2 for run in runs], axis=0)
        low, high = group_interval(error, data.group)
        spread = float(data.value.var())
        interval = {"r2_interval": (1 - high / spread, 1 - low / spread)}
        return {key: float(np.mean([score[key] for score in numbers])) for key in numbers[0]} | interval
    scores = [decision_figures(data.known, data.resolve(run), data.baseline, data.labels) for run in runs]
    cost = data.known[np.arange(len(data)), np.array(runs)]  # (seeds, n)
    hits = (cost == np.nanmin(data.known, axis=1)).mean(axis=0)
    return {
        "accuracy": float(hits.mean()),
        "accuracy_sd": float(np.std([score["accuracy"] for score in scores], ddof=1)) if len(scores) > 1 else 0.0,
        "accuracy_interval": group_interval(hits, data.group),
        "speedup_geometric": float(np.mean([score["speedup_geometric"] for score in scores])),
        "speedup_geometric_interval": group_interval(
            np.log(data.baseline / cost).mean(axis=0), data.group, statistic=np.exp
        ),
        "oracle_share": float(np.mean([score["oracle_share"] for score in scores])),
    }


def points_of(job: Job, group: np.ndarray, counts: list[int]) -> dict[str, Job]:
    """The job with few of its training rows, by what a record calls the point; the last is the job itself."""
    if not counts:
        draws = {str(share): (lambda rows, share=share: take_groups(rows, group, share, job.seed)) for share in SHARES}
        last = "1.0"
    else:
        size = min(len(training) for training, _ in job.folds)
        draws = {
            str(count): (lambda rows, count=count: take_rows(rows, count, job.seed)) for count in counts if count < size
        }
        last = str(size)
    points = {
        name: replace(job, folds=[(choose(training), test) for training, test in job.folds])
        for name, choose in draws.items()
    }
    return {**points, last: job}


def measure(
    task: Task,
    data_dir: str | None,
    variant: str,
    seeds: int,
    jobs: int,
    folder: Path,
    recorded: dict[str, Any],
    *,
    protocol_name: str = "kernel",
    counts: list[int] | None = None,
    sources: Sequence[KeptFeatures] = (),
) -> dict[str, Any]:
    """Figures of each row at each point; those in ``recorded`` that are of the same inputs are taken from there."""
    data = task.load(data_dir, variant)
    if sources:
        assert data_dir is not None
        available = known_rows(sources)
        rows = ["no_code", *(row for row in available if row.partition(":")[0] in ROWS)]
        data, features = features_of_table(data_dir, task, data, sources, rows)
        model = model_of(sources)
    else:
        encoder = mirenc.load()
        rows = [row for row in ROWS if row in default_rows(task, data)]
        features = build_features(task, data, rows, encoder)
        model = {"name": encoder.name, "digest": encoder.features_digest}
    protocol = task.protocol(protocol_name)
    report = full_report(folder, variant, protocol_name, task, data)
    jobs_of_points: dict[tuple[str, str], list[Job]] = {}
    is_tested = np.zeros(len(data), dtype=bool)
    for job in plan_jobs(target_of(data, task.select), data, features, [protocol], range(seeds)):
        is_tested[np.concatenate([test for _, test in job.folds])] = True
        for point, folds in points_of(job, data.group, counts or []).items():
            jobs_of_points.setdefault((job.features.row, point), []).append(folds)
    tested_rows = np.flatnonzero(is_tested)
    tested_data = data.subset(tested_rows)
    figures: dict[str, dict[str, Any]] = {row: {} for row in rows}
    for (row, point), point_jobs in track(sorted(jobs_of_points.items(), key=lambda item: item[0]), "points"):
        digests = {job.key: job.digest() for job in point_jobs}
        inputs = hashlib.sha256("".join(digests.values()).encode()).hexdigest()
        old = recorded.get(row, {}).get(point, {})
        if old.get("inputs") != inputs:
            recorded_runs = report.known(digests) if report is not None else {}
            runs = [result.predictions[tested_rows] for result in run_jobs(point_jobs, jobs, known=recorded_runs)]
            old = {**figures_of(tested_data, runs), "inputs": inputs}
        figures[row][point] = old
    return {
        "task": task.name,
        "variant": variant,
        "protocol": protocol.title,
        "seeds": seeds,
        "kernels": len(np.unique(data.group)),
        "score": score_of(task, data),
        "counts": bool(counts),
        "data_hash": data.content_hash,
        "model": model,
        "figures": figures,
    }


def plot(record: dict[str, Any], path: Path) -> None:
    """The score against the share or count, with intervals over groups."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axis = figure.subplots()
    score = record["score"]
    for row, points in record["figures"].items():
        positions = np.array([float(point) for point in points]) * (1 if record["counts"] else 100)
        order = np.argsort(positions)
        values = np.array([figures[score] for figures in points.values()])[order]
        low, high = np.array([figures[f"{score}_interval"] for figures in points.values()])[order].T
        colour = COLOURS.get(row, OTHER_MODEL)
        axis.fill_between(positions[order], low, high, color=colour, alpha=0.15)
        axis.plot(positions[order], values, "o-", color=colour, label=row_title(row))
    axis.set_xscale("log")
    axis.set_xticks(sorted(positions), [f"{tick:g}" for tick in sorted(positions)])
    axis.set_xlabel("training samples" if record["counts"] else "% of the training kernels")
    axis.set_ylabel(SCORES[score])
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
    parser.add_argument("--protocol", default="kernel")
    parser.add_argument("--counts", type=int, nargs="+", default=[], help="training samples, in place of shares")
    parser.add_argument("--features", type=Path, nargs="+", default=[], help="of a table of passes; files or folders")
    parser.add_argument("--first", default="", help="model whose rows have plain names")
    parser.add_argument("--records", type=Path, help="folder of the evaluation's own records [default: the output's]")
    parser.add_argument("--resume", action="store_true", help="take what the record holds of the same inputs")
    arguments = parser.parse_args()
    task = mirenc.get_task(arguments.task_file or arguments.task)
    variant = task.check_variant(arguments.variant)
    folder = arguments.output or Path(__file__).parent / task.name
    folder.mkdir(parents=True, exist_ok=True)
    stem = ".".join(filter(None, (task.name if arguments.features else "", variant, "efficiency")))
    recorded = {}
    if arguments.resume and (folder / f"{stem}.json").is_file():
        recorded = json.loads((folder / f"{stem}.json").read_text(encoding="utf-8"))["figures"]
    record = measure(
        task,
        arguments.data,
        variant,
        arguments.seeds,
        arguments.jobs,
        arguments.records or folder,
        recorded,
        protocol_name=arguments.protocol,
        counts=arguments.counts,
        sources=read_all(arguments.features, arguments.first) if arguments.features else (),
    )
    (folder / f"{stem}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    plot(record, folder / f"{stem}.svg")
    print(f"\nwrote {folder / stem}.json and .svg")


if __name__ == "__main__":
    main()
