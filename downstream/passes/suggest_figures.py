"""What pass lists win over -Oz on unseen projects, chosen by the code or fixed: everything was compiled once.

    python downstream/passes/suggest_figures.py TABLE --features FEATURES -o downstream/passes --jobs 2

reads what `mirenc label` wrote and `downstream/pass_features.py` made of it, trains heads on the projects for
training, and writes suggest.json and suggest.md. Rows: lists that a head chooses by the code, or by its size alone;
the best lists of training in their greedy order, the same for every piece, which `mirenc suggest` tries; lists drawn at
random. Of each, the first k are tried beside -Oz, and the smallest is kept. Bytes are the table's: machine code, and
the read-only data that compiling added. Gains are means of log sizes; intervals are 95 % over the unseen projects.
Further rows of the features, such as ``both:NAME`` of a second model, are named by --row.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from rich.progress import track
from threadpoolctl import threadpool_limits

from mirenc.decide.evaluation.report import row_title
from mirenc.decide.features.feature_matrix import Features
from mirenc.decide.metrics import group_interval
from mirenc.decide.protocols import cut
from mirenc.decide.tables.compiled import CompiledTable, read_compiled
from mirenc.decide.target import CostTarget, target_of
from mirenc.decide.task_data import TaskData
from mirenc.decide.tasks.pass_tasks import HELD_OUT, LISTS, PassListChoice, covering_lists

sys.path.append(str(Path(__file__).parents[1]))  # what scripts share
from kept_features import KeptFeatures, features_of_table, model_of, read_all
from trying import WORTH_TRYING, Trial, promise_of, trial_like, trials_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]
COUNTS = (1, 10, 50, 100)
FOLDS = 10
DEFAULT_LISTS = 10  # what a user tries by default
CODE = "both"
ROWS = {
    CODE: "chosen by the code",
    "no_code": "chosen by its size",
    "cover": "best of training (`mirenc suggest`)",
    "random": "random",
}
PARTS = ("function", "module")
_RESAMPLES = 2000


def ratios_of(table: CompiledTable) -> Float:
    """Size under each list over that of -Oz, of the pieces that -Oz compiles. (n, N); what fails runs as -Oz."""
    sizes = np.maximum(table.sizes.code_bytes, 1.0)
    sizes = sizes[np.isfinite(sizes[:, 0])]
    ratios: Float = np.where(np.isfinite(sizes), sizes, sizes[:, :1]) / sizes[:, :1]
    return ratios


def gains(ratios: Float, order: Int) -> Float:
    """Log gain by the best of -Oz and the first k lists. (m, N), (m, N - 1) lists -> (m, N - 1)."""
    tried_ratios = np.take_along_axis(ratios, order, axis=1)
    result: Float = -np.log(np.minimum(np.minimum.accumulate(tried_ratios, axis=1), 1.0))
    return result


def with_other_lists(first: Int, lists: Int) -> Int:
    """Lists in a head's order, then those that it does not know. (m, K), (N - 1,) -> (m, N - 1)."""
    left = lists[~np.isin(lists, first[0])]
    return np.concatenate([first, np.tile(left, (len(first), 1))], axis=1)


def known_lists(data: TaskData, table: CompiledTable) -> Int:
    """Number in the table of each list that a head chooses among. (K,)."""
    assert data.space is not None
    places = {entry.pipeline: number for number, entry in enumerate(table.lists)}
    return np.array([places[str(setting[0])] for setting in data.space.settings], dtype=np.int64)


def share_interval(won: Float, oracle: Float, group: NDArray[np.str_]) -> tuple[float, float, float]:
    """Share of the best-of-all gain that is reached, and its interval over whole groups."""
    _, row = np.unique(group, return_inverse=True)
    sums = np.stack([np.bincount(row, weights=values) for values in (won, oracle)])
    draws = np.random.default_rng(0).integers(0, sums.shape[1], size=(_RESAMPLES, sums.shape[1]))
    totals = sums[:, draws].sum(axis=2)
    low, high = np.percentile(totals[0] / np.maximum(totals[1], 1e-12), [2.5, 97.5])
    return float(won.sum() / max(oracle.sum(), 1e-12)), float(low), float(high)


def saved(logs: Float, group: NDArray[np.str_]) -> list[float]:
    """Per cent saved, and its interval over groups."""
    interval = group_interval(logs, group, statistic=lambda means: 1 - np.exp(-means))
    return [100 * (1 - float(np.exp(-logs.mean()))), *(100 * value for value in interval)]


def figures_of(won: dict[str, Float], group: NDArray[np.str_], counts: list[int]) -> dict[str, Any]:
    """Figures of some pieces. ``won``: row -> (seeds, m, N - 1) log gains."""
    oracle = won["cover"][0][:, -1]
    figures: dict[str, Any] = {
        "pieces": len(group),
        "projects": len(np.unique(group)),
        "best_of_all": saved(oracle, group),
    }
    for row, runs in won.items():
        mean = runs.mean(axis=0)  # (m, N - 1)
        figures[row] = {
            "saved": {str(count): saved(mean[:, count - 1], group) for count in counts},
            "sd": {str(count): 100 * float(runs[:, :, count - 1].mean(axis=1).std(ddof=0)) for count in counts},
            "share": {str(count): share_interval(mean[:, count - 1], oracle, group) for count in counts},
        }
        if row != CODE:
            lead = won[CODE].mean(axis=0) - mean
            figures[row]["behind_code"] = {str(count): saved(lead[:, count - 1], group) for count in counts}
    return figures


def trials_held_out(data: TaskData, goal: CostTarget, row: Features, seed: int) -> dict[str, tuple[Trial, ...]]:
    """What trying won on pieces whose projects were held out: a head for each of ten folds says what it expects."""
    assert goal.default is not None
    expected = np.ones(goal.values.shape)
    for training, test in cut(data.group, data.labels, FOLDS, seed):
        head = goal.fit_rounded(row, training, data.group, seed)
        expected[test] = head.expected_ratios(row.matrix[test], goal.settings.take(test), default=goal.default)
    return trials_of(expected, data.paid, goal.default, data.part, data.group, LISTS)


def records(trials: dict[str, tuple[Trial, ...]], expected: Float, data: TaskData) -> list[Trial]:
    """The record of held-out answers like it, of each piece. ``expected``: (m, K)."""
    assert data.space is not None
    trials_of_pieces = []
    for part, promise in zip(data.part.tolist(), promise_of(expected, data.space.default).tolist(), strict=True):
        trial = trial_like(trials.get(part, ()), promise)
        if trial is None:
            raise SystemExit(f"the table has too few {part}s for training: {part}s of unseen projects have no record")
        trials_of_pieces.append(trial)
    return trials_of_pieces


def calibration(trials: list[Trial], won: Float, group: NDArray[np.str_], count: int) -> dict[str, Any]:
    """How often "nothing to gain" is right on unseen pieces, which won (m, N - 1)."""
    idle, nothing = np.array([trial.is_idle(count) for trial in trials]), won[:, count - 1] < np.log(WORTH_TRYING)
    record: dict[str, Any] = {
        "tried": count,
        "pieces": len(idle),
        "said": int(idle.sum()),
        "nothing_to_gain": float(nothing.mean()),
        "expected": 100 * (1 - float(np.exp(-np.mean([np.log(trial.gain(count)) for trial in trials])))),
        "saved": saved(won[:, count - 1], group),
    }
    if idle.any():
        hits = nothing[idle].astype(np.float64)
        record["right"] = [float(hits.mean()), *group_interval(hits, group[idle])]
        record["missed"] = saved(won[idle, count - 1], group[idle])
    if not idle.all():
        record["saved_where_not_said"] = saved(won[~idle, count - 1], group[~idle])
    return record


def suggest_gains(
    row: Features, data: TaskData, rows: tuple[Int, Int], list_numbers: Int, cover: Int, seen_ratios: Float, seed: int
) -> tuple[Float, dict[str, Any]]:
    """Gains (m, N - 1) on unseen pieces by the lists that a head chooses, and what it said beforehand."""
    task, (training, test) = PassListChoice(), rows
    train_data, test_data = data.subset(training), data.subset(test)
    with threadpool_limits(1):
        train_row = replace(row, matrix=row.matrix[training])
        trials_by_part = trials_held_out(train_data, target_of(train_data, task.select), train_row, seed)
        goal = target_of(data, task.select)
        head = goal.fit(row, training, data.group, seed)
        expected = head.expected_ratios(row.matrix[test], goal.settings.take(test), default=goal.default)
        trials = records(trials_by_part, expected, test_data)
    won = gains(seen_ratios, with_other_lists(list_numbers[np.array([trial.order for trial in trials])], cover))
    return won, calibration(trials, won, test_data.group, min(DEFAULT_LISTS, seen_ratios.shape[1] - 1))


def measure(folder: Path, sources: list[KeptFeatures], extra_rows: list[str], seeds: int, jobs: int) -> dict[str, Any]:
    """All figures of a table."""
    task, table = PassListChoice(), read_compiled(folder)
    complete, rows = task.load(folder), [CODE, "no_code", *extra_rows]
    data, features = features_of_table(folder, task, complete, sources, rows)
    if len(data) < len(complete):
        print(f"{len(complete) - len(data)} of {len(complete)} pieces have no features: left out")
    place = {sample.name: number for number, sample in enumerate(complete.samples)}
    ratios = ratios_of(table)[[place[sample.name] for sample in data.samples]]
    split = next(HELD_OUT.split(data, 0))
    training, test = split
    list_numbers = known_lists(data, table)
    cover = covering_lists(ratios[training], ratios.shape[1])[1:]
    test_ratios = ratios[test]
    pairs = [(row, seed) for seed in range(seeds) for row in features]
    results = Parallel(n_jobs=jobs)(
        delayed(suggest_gains)(row, data, split, list_numbers, cover, test_ratios, seed)
        for row, seed in track(pairs, "rows and seeds")
    )
    runs: dict[str, list[Float]] = {row: [] for row in (*rows, "cover", "random")}
    for (row, _), (run_gains, _) in zip(pairs, results, strict=True):
        runs[row.row].append(run_gains)
    for seed in range(seeds):
        order = np.tile(np.arange(1, ratios.shape[1]), (len(test), 1))
        runs["random"].append(gains(test_ratios, np.random.default_rng(seed).permuted(order, axis=1)))
    runs["cover"].append(gains(test_ratios, np.tile(cover, (len(test), 1))))
    won = {row: np.stack(gains_of_seeds) for row, gains_of_seeds in runs.items()}
    counts = sorted({min(count, ratios.shape[1] - 1) for count in COUNTS})
    part = data.part[test]
    figures = {"all": figures_of(won, data.group[test], counts)}
    for name in PARTS:
        inside_part = part == name
        if inside_part.any() and not inside_part.all():
            figures[name] = figures_of(
                {row: runs[:, inside_part] for row, runs in won.items()}, data.group[test][inside_part], counts
            )
    return {
        "table": table.content_hash,
        "title": table.title,
        "lists": len(table.lists),
        "training": {"pieces": len(training), "projects": len(np.unique(data.group[training]))},
        "model": model_of(sources),
        "seeds": seeds,
        "lists_of_head": len(list_numbers) - 1,
        "figures": figures,
        "nothing_to_gain": results[0][1],
    }


def markdown(record: dict[str, Any]) -> str:
    """The tables that people read."""
    training = record["training"]
    intro = [
        f"{record['title']}; {record['lists']} lists, of which heads rank {record['lists_of_head']}",
        f"{training['pieces']} pieces of {training['projects']} projects for training",
        f"{record['seeds']} seed{'s' * (record['seeds'] > 1)}; model {record['model']['name']}.",
    ]
    lines = ["; ".join(intro), ""]
    for part, figures in record["figures"].items():
        counts = list(figures[CODE]["saved"])
        best = "{:.2f} [{:.2f}, {:.2f}]".format(*figures["best_of_all"])
        extent = f"{figures['pieces']} pieces of {figures['projects']} unseen projects"
        lines += [
            f"**{part}**: {extent}; % saved over -Oz, of which all lists together reach {best}",
            "",
            "| lists tried | " + " | ".join(counts) + f" | share of that by {min(counts, key=_distance)}, % |",
            "| --- |" + " ---: |" * (len(counts) + 1),
        ]
        for row in (name for name in figures if name in ROWS or row_title(name) != name):
            title = ROWS.get(row, f"chosen by {row_title(row)}")
            cells = ["{:.2f} [{:.2f}, {:.2f}]".format(*figures[row]["saved"][count]) for count in counts]
            share = "{:.0f} [{:.0f}, {:.0f}]".format(
                *(100 * value for value in figures[row]["share"][min(counts, key=_distance)])
            )
            lines.append(f"| {title} | " + " | ".join([*cells, share]) + " |")
        lines.append("")
    idle = record["nothing_to_gain"]
    lines.append(
        f"By {idle['tried']} lists that the code chose {idle['expected']:.2f} % was expected to be saved, and "
        + "{:.2f} [{:.2f}, {:.2f}] % was.".format(*idle["saved"])
    )
    lines.append(
        f'"Nothing to gain" would be said of {idle["said"]} of {idle["pieces"]} unseen pieces; '
        f"{100 * idle['nothing_to_gain']:.0f} % of all have less than 0.5 % to gain by {idle['tried']} lists."
    )
    if "right" in idle:
        lines.append(
            "It is right for {:.0f} % [{:.0f}, {:.0f}] of them, ".format(*(100 * value for value in idle["right"]))
            + "and what trying would have saved there is {:.2f} % [{:.2f}, {:.2f}].".format(*idle["missed"])
        )
    if "saved_where_not_said" in idle:
        lines.append("On the others trying saves {:.2f} % [{:.2f}, {:.2f}].".format(*idle["saved_where_not_said"]))
    return "\n".join(lines) + "\n"


def _distance(count: str) -> int:
    """How far a column is from what a user tries."""
    return abs(int(count) - DEFAULT_LISTS)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).parent)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--features", type=Path, nargs="+", required=True, help="files or folders")
    parser.add_argument("--first", default="", help="model whose rows have plain names")
    parser.add_argument("--row", action="append", default=[], help="a row more; may be repeated")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    record = measure(
        arguments.table, read_all(arguments.features, arguments.first), arguments.row, arguments.seeds, arguments.jobs
    )
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "suggest.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (arguments.output / "suggest.md").write_text(markdown(record), encoding="utf-8")
    print(markdown(record), end="")


if __name__ == "__main__":
    main()
