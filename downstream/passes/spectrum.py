"""Whether a piece of code's reactions to eight probing pass lists say which other lists suit it, and what -Oz saves.

    python downstream/passes/spectrum.py [downstream/passes/table]       # spectrum.json beside it; a minute
    python downstream/passes/readme_tables.py

A behaviour spectrum (Pan et al., PREP) is how the size of a piece changes under each of a few probing lists. It needs
the compiler and no code features, but as many compilations as there are probes, so it stands beside trying fixed lists
at the same number of compilations. Probes are chosen on the projects for training: the eight that save most together
(``cover``, which anybody would try), or the eight of which a linear map predicts all others best (``predict``). The
lists that follow are those of most expected gain over the best so far, by a ridge, by trees, or by the 200 pieces for
training of most similar reactions, whose lists complement each other; ``picked`` is the way that saves most on inner
folds of the projects for training. All is judged on projects that nothing saw.

The benefit of -Oz is predicted by boosted trees, from probes that are no mutations of -Oz. Two compilations measure it.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from mirenc.decide import BoostedRegressor, RatioTreesHead, RidgeHead
from mirenc.decide.estimators.chooser import portfolio
from mirenc.decide.features.feature_matrix import context_matrix
from mirenc.decide.metrics import group_interval, number_figures
from mirenc.decide.protocols import cut
from mirenc.decide.registry import get_task
from mirenc.decide.tables.compiled import CompiledTable, read_compiled
from mirenc.decide.task_data import TaskData
from mirenc.decide.tasks.pass_tasks import HELD_OUT, covering_lists

HERE = Path(__file__).parent
PROBES = 8
EXTRA = (0, 1, 2, 4, 8)  # lists tried after the probes
NEIGHBOURS = 200  # answers that an order is made of, as in trying.py
INNER_FOLDS = 2
_CLIP = 1.0  # of log ratios of sizes
_SCALE = 1e-9

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def predicting_lists(logs: Float, count: int) -> Int:
    """Columns from which a linear map predicts all columns best, greedily: each takes most off what is left. (n, N)."""
    left = np.clip(logs, -_CLIP, _CLIP)
    left = left - left.mean(axis=0)
    chosen: list[int] = []
    for _ in range(count):
        length = np.maximum((left**2).sum(axis=0), _SCALE)
        explained = ((left.T @ left) ** 2).sum(axis=1) / length
        explained[chosen] = -np.inf
        chosen.append(int(explained.argmax()))
        axis = left[:, chosen[-1]] / np.sqrt(length[chosen[-1]])
        left = left - np.outer(axis, axis @ left)
    return np.array(chosen, dtype=np.int64)


def probe_sets(logs: Float, lists: Int) -> dict[str, Int]:
    """Eight of some lists each way, by the pieces for training. Log size over -Oz's (n, N), (L,)."""
    covering = lists[portfolio(np.minimum(logs[:, lists], 0.0), PROBES)]
    return {"cover": covering, "predict": lists[predicting_lists(logs[:, lists], PROBES)]}


def after_head(head: Any, columns: tuple[Float, Float], gains: Float) -> Int:
    """Lists of each unseen piece, of most expected gain first. Gains of the pieces for training (n, L) -> (m, L)."""
    costs = np.exp(-np.column_stack([np.zeros(len(gains)), gains]))  # column 0: to stop
    with threadpool_limits(1):
        order: Int = head.fit(columns[0], costs).predict_log_costs(columns[1])[:, 1:].argsort(axis=1, kind="stable")
    return order


def after_neighbours(columns: tuple[Float, Float], gains: Float) -> Int:
    """Lists that complement each other for the pieces for training that are most alike. -> (m, most of EXTRA)."""
    spread = np.maximum(columns[0].std(axis=0), _SCALE)
    neighbours = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(gains))).fit(columns[0] / spread)
    nearest_rows = neighbours.kneighbors(columns[1] / spread, return_distance=False)
    return np.stack([portfolio(-gains[rows], max(EXTRA)) for rows in nearest_rows])


def best_gains(logs: Float, order: Int) -> Float:
    """Log gain over -Oz by the best of the first k lists. (m, N), (m, k) -> (m, k)."""
    best: Float = np.maximum.accumulate(np.maximum(-np.take_along_axis(logs, order, axis=1), 0.0), axis=1)
    return best


def saved(logs: Float, group: NDArray[np.str_]) -> list[float]:
    """Per cent of the bytes, and its interval over projects."""
    interval = group_interval(logs, group, statistic=lambda means: -np.expm1(-means))
    return [100 * value for value in (-np.expm1(-logs.mean()), *interval)]


def choosing(logs: Float, context: Float, training: Int, test: Int, group: NDArray[np.str_]) -> dict[str, Any]:
    """What further lists save, by how they are chosen."""
    lists = np.arange(1, logs.shape[1])
    fixed_lists = covering_lists(np.exp(logs[training]), logs.shape[1])[1:]
    baseline = best_gains(logs[test], np.tile(fixed_lists, (len(test), 1)))
    curve = baseline.mean(axis=0)
    runs = {"fixed": baseline, "all": best_gains(logs[test], np.tile(lists, (len(test), 1)))}
    probes = probe_sets(logs[training], lists)
    for name, first in probes.items():
        left = np.setdiff1d(lists, first)
        so_far = np.minimum(logs[:, first].min(axis=1, keepdims=True), 0.0)
        gains = np.maximum(so_far - logs[:, left], 0.0)[training]
        inputs = {"reactions": np.column_stack([context, np.clip(logs[:, first], -_CLIP, _CLIP)])}
        orders = {}
        for title, matrix in (inputs | ({"size": context} if name == "cover" else {})).items():
            columns = (matrix[training], matrix[test])
            trees = RatioTreesHead(matrix.shape[1], trees=16, leaf=60, share=1.0)  # as the menu has them for so many
            orders[f"{title}, ridge"] = after_head(RidgeHead(0.1), columns, gains)
            orders[f"{title}, trees"] = after_head(trees, columns, gains)
            orders[f"{title}, neighbours"] = after_neighbours(columns, gains)
        start = np.tile(first, (len(test), 1))
        for head_name, order in orders.items():
            runs[f"{name}, {head_name}"] = best_gains(logs[test], np.hstack([start, left[order[:, : max(EXTRA)]]]))
    rows = {}
    for row, run in runs.items():
        places = [-1] if row == "all" else [PROBES + count - 1 for count in EXTRA]
        rows[row] = {
            "saved": [saved(run[:, place], group) for place in places],
            "over_fixed": [saved(run[:, place] - baseline[:, place], group) for place in places],
            # How many fixed lists save as much in the mean
            "fixed_lists": [int(np.searchsorted(curve, run[:, place].mean() - _SCALE)) + 1 for place in places],
        }
    return {"probes": {name: numbers.tolist() for name, numbers in probes.items()}, "rows": rows}


def pick_way(logs: Float, context: Float, training: Int, group: NDArray[np.str_]) -> str:
    """The way that saves most with all lists tried, on inner folds of the projects for training."""
    sums: Counter[str] = Counter()
    for fit_rows, test_rows in cut(group[training], np.zeros(len(training), dtype=np.int64), INNER_FOLDS, 0):
        parts = training[fit_rows], training[test_rows]
        for row, figures in choosing(logs, context, *parts, group[parts[1]])["rows"].items():
            if row not in ("fixed", "all"):
                sums[row] += figures["saved"][-1][0]
    return sums.most_common(1)[0][0]


def benefit(data: TaskData, table: CompiledTable, training: Int, test: Int, probes: dict[str, Int]) -> dict[str, Any]:
    """Mean error of the benefit of -Oz, from the sizes under probes over those before any pass."""
    start_sizes = np.maximum([[piece.code_bytes] for piece in table.pieces], 1)
    errors, group = {}, data.group[test]
    for name, first in probes.items():
        shrunk = np.log(np.maximum(table.sizes.code_bytes[:, first], 1.0) / start_sizes)
        columns = np.column_stack([context_matrix(get_task("oz_benefit"), data), shrunk])
        with threadpool_limits(1):
            head = BoostedRegressor(columns.shape[1]).fit(columns[training], data.value[training])
            predicted = head.predict(columns[test])
        figures = number_figures(data.value[test], predicted)
        interval = group_interval(np.abs(predicted - data.value[test]), group)
        errors[name] = {"r2": figures["r2"], "mae": figures["mae"], "mae_interval": interval}
    return errors


def measure(folder: Path) -> dict[str, Any]:
    """All figures of a table."""
    table, task = read_compiled(folder), get_task("oz_benefit")
    benefits = {variant: task.load(folder, variant) for variant in task.variants}
    data = benefits["Oz_over_O0"]
    sizes = np.maximum(table.sizes.code_bytes, 1.0)
    logs = np.log(sizes / sizes[:, :1])
    if np.isnan(logs).any() or {len(task_data) for task_data in benefits.values()} != {len(logs)}:
        raise SystemExit(f"{folder}: some pieces did not compile under all lists and levels. Leave them out")
    training, test = next(iter(HELD_OUT.split(data, 0)))
    context, group = context_matrix(task, data), data.group
    foreign = probe_sets(logs[training], np.array([row for row, one in enumerate(table.lists) if "random" in one.kind]))
    return {
        "table": table.content_hash,
        "training": {"pieces": len(training), "projects": len(np.unique(group[training]))},
        "held_out": {"pieces": len(test), "projects": len(np.unique(group[test]))},
        "picked": pick_way(logs, context, training, group),
        "pass_list": choosing(logs, context, training, test, group[test]),
        "oz_benefit": {
            "probes": {name: numbers.tolist() for name, numbers in foreign.items()},
            **{variant: benefit(task_data, table, training, test, foreign) for variant, task_data in benefits.items()},
        },
    }


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, nargs="?", default=HERE / "table")
    parser.add_argument("-o", "--output", type=Path, default=HERE / "spectrum.json")
    arguments = parser.parse_args()
    arguments.output.write_text(json.dumps(measure(arguments.table), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
