"""One head for all pass lists: what it says of lists that nobody tried, on projects that it never saw.

    python downstream/untried_lists.py TABLE --features FEATURES -o downstream/passes/untried_lists.json --jobs 2
    python downstream/untried_lists.py TABLE --features FEATURES --rows no_code --rows both --folds 5 --pairs 200000

TABLE is a folder of `mirenc label`, FEATURES what `downstream/pass_features.py` made of it. The lists but -Oz
are cut into folds; a `PairHead` learns from the pieces of the training projects under the other folds' lists, where a
list is how often each pass stands in it, and says how large the held-out pieces are under the lists of the fold. So
neither the code nor the list was seen.
Figures of each row of features: R2 and mean absolute error of log(size / size after -Oz), the mean rank correlation
within a piece, and what trying the k lists that it prefers wins over -Oz (kept where none is smaller), beside k
lists at random and the best of all. Intervals (95 %) are over the held-out projects.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from kept_features import KeptFeatures, features_of_table, known_rows, model_of, read_all
from list_columns import ListColumns
from rich.progress import track
from scipy.stats import rankdata
from threadpoolctl import threadpool_limits

from mirenc.decide import BoostedRegressor, PairHead, Settings
from mirenc.decide.evaluation.report import row_title
from mirenc.decide.features.feature_matrix import Features
from mirenc.decide.metrics import group_interval, number_figures
from mirenc.decide.registry import get_task
from mirenc.decide.tables.compiled import read_compiled
from mirenc.decide.task_data import TaskData

ROWS = ("no_code", "histogram", "autophase", "statements", "both")
TRIES = (1, 3, 10)


def read_table(folder: Path) -> tuple[TaskData, np.ndarray, list[str]]:
    """Pieces as samples, bytes under each list (n, N) with NaN where one failed, and the lists."""
    table = read_compiled(folder)
    sizes = np.where(np.isnan(table.sizes.code_bytes), np.nan, np.maximum(table.sizes.code_bytes, 1.0))
    data = get_task("size_after").load(folder, "Oz")
    row = {piece.name: number for number, piece in enumerate(table.pieces)}
    places = np.array([row[sample.name] for sample in data.samples])
    complete = np.flatnonzero(np.isfinite(sizes[places, 0]))
    return (
        replace(data.subset(complete), content_hash=table.content_hash),
        sizes[places[complete]],
        [entry.pipeline for entry in table.lists],
    )


def predict(
    features: Features, held_out: np.ndarray, sizes: np.ndarray, lists: list[str], folds: int, pairs: int, seed: int
) -> np.ndarray:
    """log(size / size after -Oz) of held-out pieces under lists of a fold that the head was not shown. (m, N - 1)."""
    training, test = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    fold = np.random.default_rng(seed).permutation(len(lists) - 1) % folds
    predicted = np.zeros((len(test), len(lists) - 1))
    for number in range(folds):
        fit_ids = np.array([0, *(1 + np.flatnonzero(fold != number))])
        test_ids = np.array([0, *(1 + np.flatnonzero(fold == number))])
        columns = ListColumns.of([lists[index] for index in fit_ids])
        regressor = BoostedRegressor(components=4096, trees=200, random_state=seed)
        head = PairHead(
            regressor, features.context_columns, components=24, clip=1.0, most_pairs=pairs, random_state=seed
        )
        with threadpool_limits(1):
            head.fit(
                features.matrix[training], sizes[training][:, fit_ids], settings(columns, lists, fit_ids, len(training))
            )
            log_costs = head.predict_log_costs(features.matrix[test], settings(columns, lists, test_ids, len(test)))
        predicted[:, test_ids[1:] - 1] = log_costs[:, 1:] - log_costs[:, :1]
    return predicted


def settings(columns: ListColumns, lists: list[str], chosen: np.ndarray, rows: int) -> Settings:
    """Some lists, the same for so many pieces."""
    return Settings(columns([lists[index] for index in chosen]), np.tile(np.arange(len(chosen)), (rows, 1)))


def best_saving(predicted: np.ndarray, truth: np.ndarray, tries: int) -> np.ndarray:
    """Log saving over -Oz of the best of the so many lists that are preferred, 0 at least. (m, N) twice -> (m,)."""
    first = np.argsort(predicted, axis=1, kind="stable")[:, :tries]
    smaller = np.take_along_axis(np.where(np.isnan(truth), 0.0, -truth), first, axis=1)
    return np.maximum(smaller.max(axis=1), 0.0)


def share_saved(saving: Any) -> Any:
    """The share of its bytes that a piece lost, of a log saving."""
    return -np.expm1(-saving)


def figures_of(predicted: np.ndarray, truth: np.ndarray, group: np.ndarray) -> dict[str, Any]:
    """Figures of one row. (m, N), (m, N) with NaN where a list failed, (m,)."""
    valid = np.isfinite(truth)
    rank = [
        np.corrcoef(rankdata(log_costs[mask]), rankdata(true_costs[mask]))[0, 1]
        for log_costs, true_costs, mask in zip(predicted, truth, valid, strict=True)
        if mask.sum() > 1 and np.ptp(log_costs[mask]) > 0 and np.ptp(true_costs[mask]) > 0
    ]
    figures: dict[str, Any] = {
        key: value for key, value in number_figures(truth[valid], predicted[valid]).items() if key in ("r2", "mae")
    }
    figures["rank_correlation"] = float(np.mean(rank)) if rank else float("nan")
    finite_costs = np.where(valid, predicted, np.inf)
    for tries in TRIES:
        saved = best_saving(finite_costs, truth, tries)
        figures[f"saved_{tries}"] = float(share_saved(saved.mean()))
        figures[f"saved_{tries}_interval"] = group_interval(saved, group, statistic=share_saved)
    return figures


def measure(
    folder: Path, sources: list[KeptFeatures], rows: list[str], folds: int, pairs: int, seed: int, jobs: int = 1
) -> dict[str, Any]:
    """Figures of each row, and of lists at random and of the best."""
    data, sizes, lists = read_table(folder)
    if not data.held_out.any() or len(lists) <= folds:
        raise SystemExit(f"{folder}: {int(data.held_out.sum())} held-out pieces and {len(lists)} lists are too few")
    available = [row for row in rows if row == "no_code" or row in known_rows(sources)]
    place = {sample.name: number for number, sample in enumerate(data.samples)}
    table = data.content_hash
    data, features = features_of_table(folder, get_task("size_after"), data, sources, available)
    if len(data) < len(place):
        print(f"{len(place) - len(data)} of {len(place)} pieces have no features: left out")
    sizes = sizes[[place[sample.name] for sample in data.samples]]
    test = data.held_out
    truth = np.log(sizes[test][:, 1:] / sizes[test][:, :1])
    group = data.group[test]
    chance = np.random.default_rng(seed).random(truth.shape)
    figures = {
        "random": figures_of(chance, truth, group),
        "best": figures_of(np.where(np.isnan(truth), np.inf, truth), truth, group),
    }
    predictions = Parallel(n_jobs=jobs)(
        delayed(predict)(row, data.held_out, sizes, lists, folds, pairs, seed) for row in track(features, "rows")
    )
    figures |= {row.row: figures_of(scores, truth, group) for row, scores in zip(features, predictions, strict=True)}
    return {
        "pieces": int((~test).sum()),
        "held_out": int(test.sum()),
        "projects_held_out": len(np.unique(group)),
        "lists": len(lists),
        "folds": folds,
        "pairs": pairs,
        "seed": seed,
        "table": table,
        "data_hash": data.content_hash,
        "model": model_of(sources),
        "figures": figures,
    }


def lines(record: dict[str, Any]) -> list[str]:
    """The table in Markdown."""
    header = ["", "R2", "mean error", "rank correlation", *(f"saved by {tries}" for tries in TRIES)]
    table = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    for row, figures in record["figures"].items():
        saved = [
            "{:.2f} % [{:.2f}, {:.2f}]".format(*(100 * value for value in (figures[key], *figures[f"{key}_interval"])))
            for key in (f"saved_{tries}" for tries in TRIES)
        ]
        headings = (
            ["", "", ""]
            if row in ("random", "best")
            else [f"{figures[key]:.3f}" for key in ("r2", "mae", "rank_correlation")]
        )
        title = {"random": "lists at random", "best": "the best of all"}.get(row, row_title(row))
        table.append("| " + " | ".join([title, *headings, *saved]) + " |")
    return table


def main() -> None:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--rows", action="append", help="features; may be repeated")
    parser.add_argument("--folds", type=int, default=5, help="of lists")
    parser.add_argument("--pairs", type=int, default=200_000, help="of a piece and a list, that a head is trained on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--features", type=Path, nargs="+", required=True, help="files or folders")
    parser.add_argument("--first", default="", help="model whose rows have plain names")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    sources = read_all(arguments.features, arguments.first)
    rows = arguments.rows or ["no_code", *(row for row in known_rows(sources) if row.partition(":")[0] in ROWS)]
    record = measure(arguments.table, sources, rows, arguments.folds, arguments.pairs, arguments.seed, arguments.jobs)
    if arguments.output is not None:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print("\n".join(lines(record)))


if __name__ == "__main__":
    main()
