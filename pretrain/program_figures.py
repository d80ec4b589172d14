"""Figures of `compare_programs.py`: whether what lies near a program solves the same task.

MAP@R (Musgrave et al., "A Metric Learning Reality Check", ECCV 2020): with R right answers among the candidates, the
mean over the first R places of the precision down to that place, a wrong answer's place counting 0. Of candidates
that are equally near, the wrong ones stand first.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.embed.maps import PAIRED_FLOOR, shrinkage_floor
from mirenc.metrics import group_interval
from mirenc.model.whitening import fit_whitening

BAG = "bag of statements"
FIGURES = ("map_at_r", "recall_at_1")
# Queries and candidates of each setting, by language and level; where there are two pairs, all queries count alike.
SETTINGS = {
    "C": [(("c", "O0"), ("c", "O0"))],
    "C++": [(("cpp", "O0"), ("cpp", "O0"))],
    "C to C++": [(("c", "O0"), ("cpp", "O0"))],
    "-O0 to -O2": [(("c", "O0"), ("c", "O2")), (("cpp", "O0"), ("cpp", "O2"))],
}
_SEED = 5
# Figures of each query by its row, for each setting.
Found = dict[str, dict[int, NDArray[np.float64]]]


@dataclass(frozen=True)
class Program:
    """One module: a source at one level."""

    task: str
    number: str
    language: str
    level: str
    ir: Path

    @property
    def source(self) -> tuple[str, str, str]:
        """What its two levels share."""
        return self.task, self.number, self.language


@dataclass(frozen=True, eq=False)
class Method:
    """Vectors of all programs, one row each: as they are used, and the blocks that a map is fitted on, a map each.

    A whitened block of D columns has vectors of some sqrt(D) times its ``scales``, 1 where none are given.
    """

    name: str
    vectors: NDArray[Any]
    blocks: list[NDArray[Any]]
    scales: tuple[float, ...] = ()


def fitted(method: Method, rows: NDArray[np.int64], pairs: NDArray[np.int64] | None) -> NDArray[np.float64]:
    """A method's vectors under maps that are fitted on some rows, as `mirenc.embed.maps.fit_map` fits them.

    Parameters
    ----------
    method : Method
    rows : (k,) int64
    pairs : (P, 2) int64 or None
        Which two of the rows, counted from 0, are one source at two levels; None for a plain whitening.

    Returns
    -------
    (n, D) float64
    """
    mapped = []
    for block, scale in zip(method.blocks, method.scales or (1.0,) * len(method.blocks), strict=True):
        floor = shrinkage_floor(block[rows]) if pairs is None else PAIRED_FLOOR
        mean, matrix = fit_whitening(block[rows], pairs, floor=floor)
        mapped.append((block - mean) @ (matrix * scale))
    return np.hstack(mapped)


def query_figures(vectors: NDArray[Any], programs: list[Program], tasks: set[str]) -> Found:
    """`FIGURES` of each query of each setting, among programs of some tasks; the query's own source is no candidate."""
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    inside = [row for row, program in enumerate(programs) if program.task in tasks]
    found: Found = {}
    for setting, sides in SETTINGS.items():
        found[setting] = {}
        for asked, answered in sides:
            queries, candidates = (
                [row for row in inside if (programs[row].language, programs[row].level) == side]
                for side in (asked, answered)
            )
            for query in queries:
                others = [row for row in candidates if programs[row].source != programs[query].source]
                right = np.array([programs[row].task == programs[query].task for row in others])
                found[setting][query] = ranking_figures(unit[others] @ unit[query], right)
    return found


def ranking_figures(score: NDArray[np.float64], right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """MAP@R and recall at 1 of candidates with these scores. Shapes: two (m,) -> (2,)."""
    ranked = right[np.lexsort((right, -score.round(9)))]
    first = ranked[: right.sum()]
    precision = np.cumsum(first) / np.arange(1, len(first) + 1)
    return np.array([(precision * first).mean(), ranked[0]])


def pooled_rows(methods: list[Method], programs: list[Program]) -> list[dict[str, Any]]:
    """First table: all tasks in one pool."""
    tasks = {program.task for program in programs}
    found = {}
    for method in methods:
        found[method.name, "as it is"] = query_figures(method.vectors, programs, tasks)
        found[method.name, "centred"] = query_figures(method.vectors - method.vectors.mean(0), programs, tasks)
    return _described(found, programs)


def halved_rows(methods: list[Method], programs: list[Program], halvings: int) -> list[dict[str, Any]]:
    """Second table: maps of the other half of the tasks; a query's figures are means over the halvings."""
    tasks = sorted({program.task for program in programs})
    generator = np.random.default_rng(_SEED)
    halves: list[tuple[set[str], set[str]]] = []
    for _ in range(halvings):
        order = [tasks[row] for row in generator.permutation(len(tasks))]
        one, other = set(order[: len(order) // 2]), set(order[len(order) // 2 :])
        halves += [(one, other), (other, one)]
    found: dict[tuple[str, str], Found] = {}
    for method in methods:
        tested: dict[str, list[Found]] = {"as it is": [], "whitened": [], "level map": []}
        for fit, test in halves:
            rows = np.array([row for row, program in enumerate(programs) if program.task in fit])
            pairs = np.arange(len(rows)).reshape(-1, 2)  # the levels of one source stand side by side
            for name, vectors in zip(
                tested, (method.vectors, fitted(method, rows, None), fitted(method, rows, pairs)), strict=True
            ):
                tested[name].append(query_figures(vectors, programs, test))
        for name, several in tested.items():
            found[method.name, name] = _mean(several)
    return _described(found, programs)


def _mean(several: list[Found]) -> Found:
    """Each query's mean over the times when it was asked."""
    kept: dict[str, dict[int, list[NDArray[np.float64]]]] = {}
    for found in several:
        for setting, by_query in found.items():
            for query, figures in by_query.items():
                kept.setdefault(setting, {}).setdefault(query, []).append(figures)
    return {
        setting: {query: np.mean(figures, axis=0) for query, figures in sorted(by_query.items())}
        for setting, by_query in kept.items()
    }


def _described(found: dict[tuple[str, str], Found], programs: list[Program]) -> list[dict[str, Any]]:
    """Rows of a table: means with intervals, each task's mean, and the interval of the difference to the bag.

    The bag of statements is always the one as it is: a map makes it worse, and what it is there for is to be beaten at
    its best.
    """
    rows = []
    for (method, treatment), by_setting in found.items():
        settings: dict[str, Any] = {}
        for setting, by_query in by_setting.items():
            task = np.array([programs[query].task for query in by_query])
            values = np.array(list(by_query.values()))
            against = values - np.array([found[BAG, "as it is"][setting][query] for query in by_query])
            settings[setting] = {
                figure: {
                    "mean": float(values[:, column].mean()),
                    "interval": group_interval(values[:, column], task),
                    "against_bag": group_interval(against[:, column], task),
                    "by_task": {name: float(values[task == name, column].mean()) for name in np.unique(task).tolist()},
                }
                for column, figure in enumerate(FIGURES)
            }
        rows.append({"method": method, "vectors": treatment, "settings": settings})
    return rows


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Lines of a Markdown table: MAP@R with its interval and its standing, and recall at 1, in percent."""
    lines = [f"| Method | {' | '.join(SETTINGS)} |", "|---" * (1 + len(SETTINGS)) + "|"]
    for row in rows:
        cells = []
        for setting in SETTINGS:
            score, first = (row["settings"][setting][figure] for figure in FIGURES)
            low, high = (100 * end for end in score["interval"])
            below, above = score["against_bag"]
            sign = " +" if below > 0 else " -" if above < 0 else ""
            cells.append(f"{100 * score['mean']:.1f} [{low:.0f}, {high:.0f}]{sign} / {100 * first['mean']:.0f}")
        lines.append(f"| {row['method']} | {' | '.join(cells)} |")
    return lines
