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

from mirenc.decide.metrics import group_interval
from mirenc.encoder.domain_map import PAIRED_FLOOR, shrinkage_floor
from mirenc.model.whitening import fit_whitening

BAGS = ("bag of statements", "bag of words")
WORDS, PLAIN, UNMAPPED = "its words", "plain", "no map"
"""Beside the bags, what a row is compared with: the model's lexical view, the same in the form plain, without a map."""
FIGURES = ("map_at_r", "recall_at_1")
LEVELS = ("O0", "O2", "O1", "O3", "Os", "Oz")
Side = tuple[str, str]  # languages of programs, joined by "+", and their level


def _each_language(query_level: str, answered: str) -> list[tuple[Side, Side]]:
    return [((language, query_level), (language, answered)) for language in ("c", "cpp")]


# Queries and candidates of each setting; where there are two pairs, all queries count alike. Right is the same task.
SETTINGS = {
    "C": [(("c", "O0"), ("c", "O0"))],
    "C++": [(("cpp", "O0"), ("cpp", "O0"))],
    "C to C++": [(("c", "O0"), ("cpp", "O0"))],
    "-O0": _each_language("O0", "O0"),
    "-O2": _each_language("O2", "O2"),
    "-O0 to -O2": _each_language("O0", "O2"),
}
# Right is the program itself. Levels but -O0 and -O2 are of the programs in C.
ITSELF = {
    f"itself, -{level} to -O2": [(("c+cpp" if level == "O0" else "c", level), ("c+cpp", "O2"))]
    for level in LEVELS
    if level != "O2"
}
_SEED = 5
Key = tuple[str, str]  # a method, and the form of the programs
# Figures of each query by its row, for each setting.
QueryFigures = dict[str, dict[int, NDArray[np.float64]]]


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


Methods = dict[Key, Method]


def apply_map(method: Method, rows: NDArray[np.int64], pairs: NDArray[np.int64] | None) -> NDArray[np.float64]:
    """A method's vectors under maps that are fitted on some rows, as `mirenc.encoder.domain_map.fit_map` fits them.

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
    mapped_blocks = []
    for block, scale in zip(method.blocks, method.scales or (1.0,) * len(method.blocks), strict=True):
        floor = shrinkage_floor(block[rows]) if pairs is None else PAIRED_FLOOR
        mean, matrix = fit_whitening(block[rows], pairs, floor=floor)
        mapped_blocks.append((block - mean) @ (matrix * scale))
    return np.hstack(mapped_blocks)


def query_figures(vectors: NDArray[Any], programs: list[Program], tasks: set[str]) -> QueryFigures:
    """`FIGURES` of each query of each setting that has one, among programs of some tasks.

    The query's own source is no candidate, or, of `ITSELF`, the only right one.
    """
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    score = unit @ unit.T
    rows = [row for row, program in enumerate(programs) if program.task in tasks]
    figures: QueryFigures = {}
    for setting, sides in (SETTINGS | ITSELF).items():
        figures_of_query: dict[int, NDArray[np.float64]] = {}
        for side in sides:
            queries, candidates = (
                [row for row in rows if programs[row].language in languages.split("+") and programs[row].level == level]
                for languages, level in side
            )
            for query in queries:
                source, task = programs[query].source, programs[query].task
                if setting in ITSELF:
                    pool = candidates
                    is_right = np.array([programs[row].source == source for row in pool])
                else:
                    pool = [row for row in candidates if programs[row].source != source]
                    is_right = np.array([programs[row].task == task for row in pool])
                figures_of_query[query] = ranking_figures(score[query, pool], is_right)
        if figures_of_query:
            figures[setting] = figures_of_query
    return figures


def ranking_figures(score: NDArray[np.float64], is_right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """MAP@R and recall at 1 of candidates with these scores. Shapes: two (m,) -> (2,)."""
    ranked = is_right[np.lexsort((is_right, -score.round(9)))]
    first = ranked[: is_right.sum()]
    precision = np.cumsum(first) / np.arange(1, len(first) + 1)
    return np.array([(precision * first).mean(), ranked[0]])


def pooled_rows(methods: Methods, programs: list[Program]) -> list[dict[str, Any]]:
    """First table: all tasks in one pool."""
    tasks = {program.task for program in programs}
    return _table_rows(
        {key: query_figures(method.vectors, programs, tasks) for key, method in methods.items()}, programs
    )


def halved_rows(methods: Methods, programs: list[Program], halvings: int) -> list[dict[str, Any]]:
    """Second table: maps of the other half of the tasks; a query's figures are means over the halvings."""
    tasks = sorted({program.task for program in programs})
    generator = np.random.default_rng(_SEED)
    halves: list[tuple[set[str], set[str]]] = []
    for _ in range(halvings):
        order = [tasks[row] for row in generator.permutation(len(tasks))]
        first_half, second_half = set(order[: len(order) // 2]), set(order[len(order) // 2 :])
        halves += [(first_half, second_half), (second_half, first_half)]
    figures_of_method: dict[Key, QueryFigures] = {}
    for (name, form), method in methods.items():
        figures: dict[str, list[QueryFigures]] = {"": [], ", whitened": [], ", level map": []}
        for fit, test in halves:
            # The two levels of one source stand side by side.
            fitting = (row for row, entry in enumerate(programs) if entry.task in fit and entry.level in LEVELS[:2])
            rows = np.array(list(fitting))
            pairs = np.arange(len(rows)).reshape(-1, 2)
            for title, vectors in zip(
                figures, (method.vectors, apply_map(method, rows, None), apply_map(method, rows, pairs)), strict=True
            ):
                figures[title].append(query_figures(vectors, programs, test))
        figures_of_method |= {(name + title, form): _mean(results) for title, results in figures.items()}
    return _table_rows(figures_of_method, programs)


def _mean(results: list[QueryFigures]) -> QueryFigures:
    """Each query's mean over the times when it was asked."""
    collected: dict[str, dict[int, list[NDArray[np.float64]]]] = {}
    for figures_of_half in results:
        for setting, figures_of_query in figures_of_half.items():
            for query, figures in figures_of_query.items():
                collected.setdefault(setting, {}).setdefault(query, []).append(figures)
    return {
        setting: {query: np.mean(figures, axis=0) for query, figures in sorted(figures_of_query.items())}
        for setting, figures_of_query in collected.items()
    }


def _table_rows(figures: dict[Key, QueryFigures], programs: list[Program]) -> list[dict[str, Any]]:
    """Rows of a table: means with intervals, and differences, with theirs, to what a row is compared with."""
    rows = []
    for (method, form), figures_of_setting in figures.items():
        peers = {bag: (bag, form) for bag in BAGS} | {PLAIN: (method, PLAIN)}
        if method.endswith(" both"):
            peers[WORDS] = (method.removesuffix("both") + "words", form)
        peers[UNMAPPED] = (method.partition(",")[0], form)
        peers = {title: key for title, key in peers.items() if key in figures and key != (method, form)}
        settings: dict[str, Any] = {}
        for setting, figures_of_query in figures_of_setting.items():
            task = np.array([programs[query].task for query in figures_of_query])
            values = np.array(list(figures_of_query.values()))
            gaps = {title: values - np.array(list(figures[key][setting].values())) for title, key in peers.items()}
            settings[setting] = {
                figure: {
                    "mean": _rounded(values[:, column].mean()),
                    "interval": _rounded(*group_interval(values[:, column], task)),
                    "over": {
                        title: _rounded(gap[:, column].mean(), *group_interval(gap[:, column], task))
                        for title, gap in gaps.items()
                    },
                }
                for column, figure in enumerate(FIGURES)
                if setting in SETTINGS or figure == "recall_at_1"
            }
        rows.append({"method": method, "form": form, "settings": settings})
    return rows


def _rounded(*values: float) -> Any:
    numbers = [round(float(value), 5) for value in values]
    return numbers if len(numbers) > 1 else numbers[0]


def standing(score: dict[str, Any]) -> int:
    """1 where a figure is above all bags by more than the interval of the difference, -1 where below one, else 0."""
    bags = [score["over"][bag] for bag in BAGS if bag in score["over"]]
    return int(bool(bags) and all(low > 0 for _, low, _ in bags)) - any(high < 0 for _, _, high in bags)


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Lines of a Markdown table: MAP@R with its interval and its standing, and recall at 1, in percent."""
    settings = [setting for setting in (SETTINGS | ITSELF) if all(setting in row["settings"] for row in rows)]
    lines = [f"| Method | Form | {' | '.join(settings)} |", "|---" * (2 + len(settings)) + "|"]
    for row in rows:
        cells = []
        for setting in settings:
            figures = row["settings"][setting]
            first = figures["recall_at_1"]
            score = figures.get("map_at_r", first)
            low, high = (100 * end for end in score["interval"])
            sign = {1: " +", 0: "", -1: " -"}[standing(score)]
            last = f" / {100 * first['mean']:.0f}" if score is not first else ""
            cells.append(f"{100 * score['mean']:.1f} [{low:.0f}, {high:.0f}]{sign}{last}")
        lines.append(f"| {row['method']} | {row['form']} | {' | '.join(cells)} |")
    return lines
