"""Where branches go, predicted without a run on projects that nothing was fitted on, beside LLVM's own estimate.

    python downstream/profile/evaluate.py OUT -o downstream/profile/branches.json

OUT is what ``labels.py`` wrote. Folds are of whole projects. Rows: ``llvm`` is ``print<branch-prob>`` of the same IR
without weights; ``hand`` boosted trees of `branches.FEATURES`; ``perfect`` the best that one answer a
branch can be. Figures are of each project, then in the mean over projects, with 95 % intervals by a bootstrap over
them:

- ``missed``: share of all executions of branches that go where the prediction does not; ``fewer`` is how many fewer
  than LLVM's, in per cent of those.
- ``error``: mean difference of the probability, weighed by executions; ``unweighed``: share missed, each branch alike.
- ``trips``: share of loops in the right one of five classes of iterations each time (under 2, 8, 32, 256, and above).
- ``hottest``: of functions of ten blocks and more, share of the hottest tenth of blocks that is found.

How long: eight minutes of a core for 1,000 files with 80,000 branches.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from branches import Branches, branches_of
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from mirenc.ir import IRModule, read_ir
from mirenc.ir.loops import find_loops
from mirenc.ir.profile import Flow, profiled_flow, solve_flow
from mirenc.progress import progress

FOLDS, DRAWS = 8, 2000
CLASSES = (2, 8, 32, 256)
LEAST = 1e-3  # a way is never taken for certain
TREES = {"max_iter": 120, "max_leaf_nodes": 15, "learning_rate": 0.1, "min_samples_leaf": 20, "l2_regularization": 1.0}
_WEIGHTS = re.compile(r",? !prof !\d+")
_EDGE = re.compile(r"\s*edge %(\S+) -> %(\S+) probability is \S+ / \S+ = ([\d.]+)%")
_FUNCTION = re.compile(r"Printing analysis 'Branch Probability Analysis' for function '(.*)':")


@dataclass
class File:
    """A file's branches that ran, in the order of its module, and loops that did."""

    project: str
    module: IRModule
    branches: Branches  # all of the module
    ran: np.ndarray  # (n,) which of them ran
    counts: np.ndarray  # (n, 2) executions of both ways
    llvm: np.ndarray  # (n,) probability of the first way
    loops: list[tuple[int, float]]  # row of the forest, mean iterations


def by_llvm(path: Path) -> dict[tuple[str, str], list[tuple[str, float]]]:
    """LLVM's own probabilities: of a function's block, (successor, probability), by name."""
    text = _WEIGHTS.sub("", path.read_text(encoding="utf-8", errors="surrogateescape"))
    command = ["opt-19", "-passes=print<branch-prob>", "-disable-output", "-"]
    data = text.encode("utf-8", "surrogateescape")
    done = subprocess.run(command, input=data, capture_output=True, check=True)
    found: dict[tuple[str, str], list[tuple[str, float]]] = {}
    function = ""
    for line in done.stderr.decode("utf-8", "replace").splitlines():
        if (head := _FUNCTION.match(line)) is not None:
            function = head[1]
        elif (edge := _EDGE.match(line)) is not None:
            found.setdefault((function, edge[1].strip('"')), []).append((edge[2].strip('"'), float(edge[3]) / 100))
    return found


def read(out: Path, project: str, file: str, rows: dict[str, list[dict[str, Any]]]) -> File:
    """One file with its labels."""
    path = out / "SSA" / project / f"{file}.ll"
    module, estimate = read_ir(path), by_llvm(path)
    branches = branches_of(module)
    starts = {function.name: function.header.first_block for function in module.defined_functions}
    places = {starts[row["function"]] + row["block"]: row for row in rows["branches"] if row["function"] in starts}
    counts = np.zeros((len(branches.block), 2))
    llvm = np.full(len(branches.block), 0.5)
    names = {block.index: block.name for function in module.defined_functions for block in function.blocks}
    first = {function.header.first_block: str(len(function.arguments)) for function in module.defined_functions}
    function_of = {
        block: function.name
        for function in module.defined_functions
        for block in range(function.header.first_block, function.header.last_block)
    }
    for number, (block, edge) in enumerate(zip(branches.block.tolist(), branches.edge.tolist(), strict=True)):
        if block in places and not places[block]["saturated"]:
            counts[number] = places[block]["taken_first"], places[block]["other"]
        way = names[int(module.arrays.successor[edge])]
        told = estimate.get((function_of[block], names[block] or first[block]), [])
        llvm[number] = next((probability for name, probability in told if name == way), 0.5)
    forest = find_loops(module)
    row = {block: number for number, block in enumerate(forest.header.tolist())}
    loops = [
        (row[starts[one["function"]] + one["header"]], one["executions"] / one["entries"])
        for one in rows["loops"]
        if one["function"] in starts and one["entries"] > 0 and starts[one["function"]] + one["header"] in row
    ]
    return File(project, module, branches, counts.sum(1) > 0, counts, llvm, loops)


def read_all(out: Path) -> list[File]:
    """All files that have a branch that ran."""
    rows: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    for kind in ("branches", "loops"):
        for one in pq.read_table(out / f"{kind}.parquet").to_pylist():
            rows.setdefault((one["project"], one["file"]), {"branches": [], "loops": []})[kind].append(one)
    files = []
    with progress("reading", len(rows)) as advance:
        for (project, file), labels in sorted(rows.items()):
            files.append(read(out, project, file, labels))
            advance(note=project)
    return [one for one in files if one.ran.any()]


# -- predictions -----------------------------------------------------------------------------------------------------
def held_out(projects: np.ndarray, fit: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """What a model says of each row that was fitted on the rows of other projects."""
    found = np.full(len(projects), np.nan)
    order = np.random.default_rng(0).permutation(np.unique(projects))
    for fold in np.array_split(order, min(FOLDS, len(order))):
        asked = np.isin(projects, fold)
        found[asked] = fit(~asked, asked)
    return found


def weights(projects: np.ndarray, runs: np.ndarray) -> np.ndarray:
    """Of branches: the fourth root of a branch's share of what its project runs, projects by the root of their size."""
    found = np.zeros(len(projects))
    for project in np.unique(projects):
        own = projects == project
        share = (runs[own] / runs[own].sum()) ** 0.25
        found[own] = share / share.sum() * own.sum() ** 0.5
    return found / found.mean()


def probabilities(files: list[File]) -> np.ndarray:
    """Of the first way, for all branches of all files, by trees that saw no branch of the project."""
    features = np.concatenate([file.branches.features for file in files])
    ran = np.concatenate([file.ran for file in files])
    counts = np.concatenate([file.counts for file in files])
    projects = np.concatenate([[file.project] * len(file.ran) for file in files])
    weight = np.zeros(len(ran))
    weight[ran] = weights(projects[ran], counts[ran].sum(1))

    def fit(seen: np.ndarray, asked: np.ndarray) -> np.ndarray:
        rows = np.flatnonzero(seen & ran)
        share = counts[rows] / counts[rows].sum(1, keepdims=True)
        both, answer = np.concatenate([rows, rows]), np.repeat([1, 0], len(rows))
        weighs = np.concatenate([weight[rows] * share[:, 0], weight[rows] * share[:, 1]])
        model = HistGradientBoostingClassifier(**TREES, random_state=0)
        model.fit(features[both[weighs > 0]], answer[weighs > 0], sample_weight=weighs[weighs > 0])
        return np.asarray(model.predict_proba(features[asked])[:, 1])

    return np.clip(held_out(projects, fit), LEAST, 1 - LEAST)


def flow_of(file: File, first: np.ndarray) -> Flow:
    """The flow of a file whose functions are all entered once, by the probabilities of its branches' first ways."""
    arrays = file.module.arrays
    ways = np.diff(arrays.successor_start)
    shares = 1.0 / np.repeat(ways, ways)
    shares[file.branches.edge], shares[file.branches.edge + 1] = first, 1 - first
    every = {function.index: 1.0 for function in file.module.defined_functions}
    return solve_flow(file.module, shares, np.ones(len(ways), dtype=bool), every)


def iterations(file: File, flow: Flow) -> np.ndarray:
    """How often each loop's header runs each time the loop is entered, by a flow. (N,)."""
    arrays, forest = file.module.arrays, find_loops(file.module)
    source = np.repeat(np.arange(file.module.block_count), np.diff(arrays.successor_start))
    found = np.zeros(len(forest))
    for row, header in enumerate(forest.header.tolist()):
        into = np.flatnonzero(arrays.successor == header)
        back = [edge for edge in into.tolist() if forest.contains(row, int(source[edge]))]
        entered = flow.blocks[header] - flow.edges[back].sum()
        found[row] = flow.blocks[header] / max(entered, 1e-12)
    return found


# -- figures ---------------------------------------------------------------------------------------------------------
def of_projects(files: list[File], values: Callable[[list[int]], float | None]) -> dict[str, float]:
    """A figure of each project, from the numbers of its files; of those that have it."""
    own: dict[str, list[int]] = {}
    for number, file in enumerate(files):
        own.setdefault(file.project, []).append(number)
    figures = {project: values(numbers) for project, numbers in own.items()}
    return {project: value for project, value in figures.items() if value is not None}


def interval(figures: np.ndarray, of: Callable[[np.ndarray], float] = lambda rows: float(rows.mean())) -> list[float]:
    """A figure of some projects' rows, low, high: 95 % over projects."""
    drawn = np.random.default_rng(0).integers(len(figures), size=(DRAWS, len(figures)))
    low, high = np.quantile([of(figures[rows]) for rows in drawn], (0.025, 0.975))
    return [round(float(each), 4) for each in (of(figures), low, high)]


def branch_figures(files: list[File], first: list[np.ndarray]) -> dict[str, dict[str, float]]:
    """``missed``, ``error`` and ``unweighed`` of each project."""

    def of(numbers: list[int], kind: str) -> float:
        counts = np.concatenate([files[number].counts[files[number].ran] for number in numbers])
        said = np.concatenate([first[number][files[number].ran] for number in numbers])
        runs = counts.sum(1)
        wrong = np.where(said > 0.5, counts[:, 1], np.where(said < 0.5, counts[:, 0], runs / 2))
        if kind == "error":
            return float((runs * np.abs(said - counts[:, 0] / runs)).sum() / runs.sum())
        return float(wrong.sum() / runs.sum() if kind == "missed" else (wrong / runs).mean())

    kinds = ("missed", "error", "unweighed")
    return {kind: of_projects(files, functools.partial(of, kind=kind)) for kind in kinds}


def trip_class(count: np.ndarray) -> np.ndarray:
    """Number of the class."""
    return np.searchsorted(CLASSES, count, side="right")


def trip_figures(files: list[File], counts: list[np.ndarray]) -> dict[str, float]:
    """Share of a project's loops in the right class."""

    def of(numbers: list[int]) -> float | None:
        pairs = [(true, counts[number][row]) for number in numbers for row, true in files[number].loops]
        true, said = np.array(pairs).reshape(-1, 2).T
        return float((trip_class(true) == trip_class(said)).mean()) if pairs else None

    return of_projects(files, of)


def hot_figures(files: list[File], flows: list[Flow]) -> dict[str, float]:
    """Share of each function's hottest tenth of blocks that is found, in the mean of a project's functions."""

    def shares(file: File, flow: Flow) -> Iterator[float]:
        truth = profiled_flow(file.module)
        assert truth is not None, file.module.name
        for function in file.module.defined_functions:
            inside = slice(function.header.first_block, function.header.last_block)
            true, said = truth.blocks[inside], flow.blocks[inside]
            if len(true) >= 10 and true[0] > 0:
                most = len(true) // 10
                hot = [set(np.argsort(-each, kind="stable")[:most].tolist()) for each in (true, said)]
                yield len(hot[0] & hot[1]) / most

    def of(numbers: list[int]) -> float | None:
        found = [share for number in numbers for share in shares(files[number], flows[number])]
        return float(np.mean(found)) if found else None

    return of_projects(files, of)


def trips_learned(files: list[File], first: list[np.ndarray], flowing: list[np.ndarray]) -> list[np.ndarray]:
    """Iterations by trees of a loop's exits, what the flow says, and its place, of other projects: (N,) a file."""
    rows, true, project, place = [], [], [], []
    for number, file in enumerate(files):
        described = loops_described(file, first[number], flowing[number])
        for row, count in file.loops:
            rows.append(described[row])
            true.append(np.log2(max(count, 1)))
            project.append(file.project)
            place.append((number, row))
    features, target, projects = np.array(rows), np.array(true), np.array(project)

    def fit(seen: np.ndarray, asked: np.ndarray) -> np.ndarray:
        model = HistGradientBoostingRegressor(**TREES, loss="absolute_error", random_state=0)
        return np.asarray(model.fit(features[seen], target[seen]).predict(features[asked]))

    said = 2 ** held_out(projects, fit)
    found = [each.copy() for each in flowing]
    for (number, row), count in zip(place, said.tolist(), strict=True):
        found[number][row] = count
    return found


def loops_described(file: File, first: np.ndarray, flowing: np.ndarray) -> np.ndarray:
    """A row a loop: its first exit's features, the exit's probability, exits, depth, and what the flow says."""
    arrays, forest = file.module.arrays, find_loops(file.module)
    features = file.branches.features
    found = np.zeros((len(forest), features.shape[1] + 4))
    found[:, -4], found[:, -3] = forest.depth, np.log2(np.maximum(flowing, 1))
    for number, (block, edge) in enumerate(zip(file.branches.block.tolist(), file.branches.edge.tolist(), strict=True)):
        loop = int(forest.innermost[block])
        while loop >= 0:
            ways = arrays.successor[edge : edge + 2].tolist()
            out = [not forest.contains(loop, way) for way in ways]
            if any(out):
                if not found[loop, -1]:
                    found[loop, :-4] = features[number]
                    found[loop, -2] = first[number] if out[0] else 1 - first[number]
                found[loop, -1] += 1
            loop = int(forest.parent[loop])
    return found


def main() -> None:
    """Read, predict, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("-o", dest="output", type=Path, required=True)
    given = parser.parse_args()
    files = read_all(given.out)
    ends = np.cumsum([len(file.ran) for file in files])[:-1]
    with np.errstate(invalid="ignore"):
        truth = [np.where(file.ran, file.counts[:, 0] / file.counts.sum(1), 0.5) for file in files]
    rows = {"llvm": [file.llvm for file in files], "hand": np.split(probabilities(files), ends), "perfect": truth}
    record: dict[str, Any] = {
        "projects": len({file.project for file in files}),
        "files": len(files),
        "branches": int(sum(file.ran.sum() for file in files)),
        "loops": sum(len(file.loops) for file in files),
        "rows": {},
    }
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name, first in rows.items():
        bounded = [np.clip(each, LEAST, 1 - LEAST) for each in first]
        flows = [flow_of(file, each) for file, each in zip(files, bounded, strict=True)]
        counts = [iterations(file, flow) for file, flow in zip(files, flows, strict=True)]
        found[name] = branch_figures(files, first)
        found[name] |= {"trips": trip_figures(files, counts), "hottest": hot_figures(files, flows)}
        if name == "hand":
            found["hand"]["trips_learned"] = trip_figures(files, trips_learned(files, bounded, counts))
    for name, figures in found.items():
        record["rows"][name] = {kind: interval(np.array(list(of.values()))) for kind, of in figures.items() if of}
        pairs = np.array([[of, found["llvm"]["missed"][project]] for project, of in figures["missed"].items()])
        record["rows"][name]["fewer"] = interval(pairs, lambda each: float(1 - each[:, 0].mean() / each[:, 1].mean()))
    record["of_projects"] = {name: figures["missed"] for name, figures in found.items()}
    given.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for name, figures in record["rows"].items():
        print(name, figures)


if __name__ == "__main__":
    main()
