"""Where branches go and how long loops run, told of projects that no tree saw, beside LLVM's own estimate.

    python downstream/profile/evaluate.py OUT -o downstream/profile/branches.json
    python downstream/profile/evaluate.py OUT --head mirenc/tools/profile/ready

OUT is what ``labels.py`` wrote. Folds are of whole projects, for the axes of vectors, too. Rows: ``llvm`` is
``print<branch-prob>`` of the same IR without weights; ``hand`` boosted trees of what is written about a branch
(`mirenc.tools.profile.branches`), as shipped; ``vectors`` of that and the vectors of the blocks around it; ``perfect``
the best that one answer a branch can be. Figures are of each project, then in the mean over projects, with 95 %
intervals by a bootstrap over them:

- ``missed``: share of all executions of branches that go where the prediction does not; ``fewer`` is how many fewer
  than LLVM's, in per cent of those; ``unseen``: the same over projects whose code no ancestor of the model saw.
- ``error``: mean difference of the probability, weighed by executions; ``unweighed``: share missed, each branch alike.
- ``trips``: share of loops in the right one of five classes of iterations each time (`TRIP_CLASSES`): by the flow of
  LLVM's probabilities, by trees of loops, and by saying the commonest class of all (``commonest``); ``seen``: by
  trees that saw other files of the project, which is no result, but a bound.
- ``hottest``: of functions of ten blocks and more, share of the hottest tenth of blocks that is found.

``--head`` grows the trees on all projects and writes them; ``--said`` writes what was said of each branch, held out.
How long: 30 minutes of a core for 1,300 files with 110,000 branches.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import mirenc
from mirenc.base.progress import progress
from mirenc.decide import BoostedChances, save_head
from mirenc.decide.tables.table_folder import write_parquet
from mirenc.encoder import Encoder
from mirenc.encoder.weights import load_files
from mirenc.encoder.weights.provenance import read_provenance, seen_by
from mirenc.llvm import IRModule, read_ir
from mirenc.llvm.analysis.loops import find_loops
from mirenc.llvm.analysis.profile import Flow, profiled_flow, solve_flow
from mirenc.llvm.analysis.regions import block_name
from mirenc.tools.profile.branches import Branches, branches_of
from mirenc.tools.profile.loops import Loops, describe_loops
from mirenc.tools.profile.static_profile import CLASS_STARTS, Prediction, StaticProfile, with_constant_trips

FOLDS, DRAWS, LEAST = 8, 2000, 1e-3
COMPONENTS = 16  # of a block's vector
LOOP_TREES = {"trees": 60, "leaves": 8, "learning_rate": 0.08}
_WEIGHTS = re.compile(r",? !prof !\d+")
_EDGE = re.compile(r"\s*edge %(\S+) -> %(\S+) probability is \S+ / \S+ = ([\d.]+)%")
_FUNCTION = re.compile(r"Printing analysis 'Branch Probability Analysis' for function '(.*)':")


@dataclass
class File:
    """A file's branches that ran, in the order of its module, and loops that did."""

    project: str
    name: str
    module: IRModule
    branches: Branches  # all of the module
    described: Loops
    vectors: np.ndarray  # (B, D) of its blocks, in half precision
    ran: np.ndarray  # (n,) which of them ran
    counts: np.ndarray  # (n, 2) executions of both ways
    llvm: np.ndarray  # (n,) probability of the first way
    loops: list[tuple[int, float]]  # row of the forest, mean iterations


def llvm_probabilities(path: Path) -> dict[tuple[str, str], list[tuple[str, float]]]:
    """LLVM's own probabilities: of a function's block, (successor, probability), by name."""
    text = _WEIGHTS.sub("", path.read_text(encoding="utf-8", errors="surrogateescape"))
    command = ["opt-19", "-passes=print<branch-prob>", "-disable-output", "-"]
    data = text.encode("utf-8", "surrogateescape")
    process = subprocess.run(command, input=data, capture_output=True, check=True)
    estimates: dict[tuple[str, str], list[tuple[str, float]]] = {}
    function = ""
    for line in process.stderr.decode("utf-8", "replace").splitlines():
        if (heading := _FUNCTION.match(line)) is not None:
            function = heading[1]
        elif (edge := _EDGE.match(line)) is not None:
            estimates.setdefault((function, edge[1].strip('"')), []).append((edge[2].strip('"'), float(edge[3]) / 100))
    return estimates


def llvm_first(path: Path, module: IRModule) -> np.ndarray:
    """LLVM's probability of the first way of each of `branches_of`; half where it says none."""
    estimate, probabilities = llvm_probabilities(path), []
    names = [block_name(module, block)[1:].strip('"') for block in range(module.block_count)]
    function_of = {
        block: function.name
        for function in module.defined_functions
        for block in range(function.header.first_block, function.header.last_block)
    }
    branches = branches_of(module)
    for block, edge in zip(branches.block.tolist(), branches.edge.tolist(), strict=True):
        successor = names[int(module.arrays.successor[edge])]
        edges = estimate.get((function_of[block], names[block]), [])
        probabilities.append(next((probability for name, probability in edges if name == successor), 0.5))
    return np.array(probabilities)


def read(out: Path, project: str, file: str, rows: dict[str, list[dict[str, Any]]], encoder: Encoder) -> File:
    """One file with its labels."""
    path = out / "SSA" / project / f"{file}.ll"
    module = read_ir(path)
    branches = branches_of(module)
    starts = {function.name: function.header.first_block for function in module.defined_functions}
    places = {starts[row["function"]] + row["block"]: row for row in rows["branches"] if row["function"] in starts}
    counts = np.zeros((len(branches.block), 2))
    for number, block in enumerate(branches.block.tolist()):
        if block in places and not places[block]["saturated"]:
            counts[number] = places[block]["taken_first"], places[block]["other"]
    forest = find_loops(module)
    row = {block: number for number, block in enumerate(forest.header.tolist())}
    loops = [
        (row[starts[loop["function"]] + loop["header"]], loop["executions"] / loop["entries"])
        for loop in rows["loops"]
        if loop["function"] in starts and loop["entries"] > 0 and starts[loop["function"]] + loop["header"] in row
    ]
    vectors = encoder.embed(module, level="block", purpose="features").astype(np.float16)
    described = describe_loops(module, branches)
    return File(
        project, file, module, branches, described, vectors, counts.sum(1) > 0, counts, llvm_first(path, module), loops
    )


def read_all(out: Path, encoder: Encoder) -> list[File]:
    """All files that have a branch that ran."""
    rows: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    for kind in ("branches", "loops"):
        for entry in pq.read_table(out / f"{kind}.parquet").to_pylist():
            rows.setdefault((entry["project"], entry["file"]), {"branches": [], "loops": []})[kind].append(entry)
    files = []
    with progress("reading", len(rows)) as advance:
        for (project, file), labels in sorted(rows.items()):
            files.append(read(out, project, file, labels, encoder))
            advance(note=project)
    return [labelled for labelled in files if labelled.ran.any()]


# -- predictions -----------------------------------------------------------------------------------------------------
def weights(projects: np.ndarray, runs: np.ndarray) -> np.ndarray:
    """Of branches: the fourth root of a branch's share of what its project runs, projects by the root of their size."""
    weight = np.zeros(len(projects))
    for project in np.unique(projects):
        in_project = projects == project
        share = (runs[in_project] / runs[in_project].sum()) ** 0.25
        weight[in_project] = share / share.sum() * in_project.sum() ** 0.5
    return weight / weight.mean()


class Axes:
    """Principal components of blocks' vectors, of any projects: sums of each project are added up."""

    def __init__(self, files: Sequence[File]) -> None:
        self.sums: dict[str, list[Any]] = {}
        for file in files:
            vectors = file.vectors.astype(np.float64)
            count, total, square = self.sums.get(file.project, (0, 0.0, 0.0))
            self.sums[file.project] = [count + len(vectors), total + vectors.sum(0), square + vectors.T @ vectors]

    def of(self, projects: set[str]) -> tuple[np.ndarray, np.ndarray]:
        """Mean (D,) and axes (D, `COMPONENTS`) of columns of unit variance."""
        count, total, square = (sum(part) for part in zip(*(self.sums[name] for name in sorted(projects)), strict=True))
        center = total / count
        covariance = square / count - np.outer(center, center)
        spread = np.sqrt(np.diag(covariance).clip(0)) + 1e-3
        _, vectors = np.linalg.eigh(covariance / np.outer(spread, spread))
        return center.astype(np.float32), (vectors[:, -COMPONENTS:] / spread[:, None]).astype(np.float32)


def branch_trees(files: Sequence[File], axes: tuple[np.ndarray, np.ndarray] | None) -> BoostedChances:
    """Trees of the branches that ran, with vectors on such axes or without."""
    masks = [file.ran for file in files]
    rows = np.concatenate([tree_features(file, axes)[mask] for file, mask in zip(files, masks, strict=True)])
    counts = np.concatenate([file.counts[mask] for file, mask in zip(files, masks, strict=True)])
    projects = np.concatenate([[file.project] * mask.sum() for file, mask in zip(files, masks, strict=True)])
    runs = counts.sum(axis=1)
    return BoostedChances().fit(rows, counts / runs[:, None], weights(projects, runs))


def tree_features(file: File, axes: tuple[np.ndarray, np.ndarray] | None) -> np.ndarray:
    """What trees see of a file's branches."""
    if axes is None or not len(file.branches.block):
        return file.branches.features
    blocks, successor = (file.vectors - axes[0]) @ axes[1], file.module.arrays.successor
    blocks_around = (file.branches.block, successor[file.branches.edge], successor[file.branches.edge + 1])
    return np.concatenate([file.branches.features, *(blocks[row] for row in blocks_around)], axis=1)


def loop_trees(files: Sequence[File]) -> BoostedChances:
    """Trees of the loops that ran; projects weigh by the root of their size."""
    pairs = [(file, row, count) for file in files for row, count in file.loops]
    projects, size = np.unique([file.project for file, _, _ in pairs], return_inverse=True)
    rows = np.array([file.described.features[row] for file, row, _ in pairs])
    classes = np.eye(len(CLASS_STARTS) + 1)[trip_class(np.array([count for _, _, count in pairs]))]
    weight = np.bincount(size, minlength=len(projects))[size] ** -0.5
    return BoostedChances(**LOOP_TREES).fit(rows, classes, weight / weight.mean())


def held_out(files: list[File], vectors: bool) -> list[Prediction]:
    """What trees say of each file that saw no file of its project."""
    axes, predictions = Axes(files) if vectors else None, {}
    projects = {file.project for file in files}
    order = np.random.default_rng(0).permutation(sorted(projects))
    with progress("growing trees", min(FOLDS, len(order))) as advance:
        for fold in np.array_split(order, min(FOLDS, len(order))):
            training_projects = projects - set(fold)
            training = [file for file in files if file.project in training_projects]
            axes_of_fold = axes.of(training_projects) if axes is not None else None
            branches, loops = branch_trees(training, axes_of_fold), loop_trees(training)
            for number, file in enumerate(files):
                if file.project in training_projects:
                    continue
                chances = np.zeros((len(file.described.exit), len(CLASS_STARTS) + 1))
                chances = loops.predict(file.described.features) if len(chances) else chances
                first = branches.predict(tree_features(file, axes_of_fold))[:, 0] if len(file.ran) else np.zeros(0)
                prediction = Prediction(file.branches.block, first, chances, file.described.constant)
                predictions[number] = with_constant_trips(prediction, file.described)
            advance()
    return [predictions[number] for number in range(len(files))]


def flow_of(file: File, first: np.ndarray) -> Flow:
    """The flow of a file whose functions are all entered once, by the probabilities of its branches' first ways."""
    arrays = file.module.arrays
    successors = np.diff(arrays.successor_start)
    shares = 1.0 / np.repeat(successors, successors)
    shares[file.branches.edge], shares[file.branches.edge + 1] = first, 1 - first
    entries = {function.index: 1.0 for function in file.module.defined_functions}
    return solve_flow(file.module, shares, np.ones(len(successors), dtype=bool), entries)


def iterations(file: File, flow: Flow) -> np.ndarray:
    """How often each loop's header runs each time the loop is entered, by a flow. (N,)."""
    arrays, forest = file.module.arrays, find_loops(file.module)
    source = np.repeat(np.arange(file.module.block_count), np.diff(arrays.successor_start))
    counts = np.zeros(len(forest))
    for row, header in enumerate(forest.header.tolist()):
        into = np.flatnonzero(arrays.successor == header)
        back_edges = [edge for edge in into.tolist() if forest.contains(row, int(source[edge]))]
        entries = flow.blocks[header] - flow.edges[back_edges].sum()
        counts[row] = flow.blocks[header] / max(entries, 1e-12)
    return counts


# -- figures ---------------------------------------------------------------------------------------------------------
def project_figures(files: list[File], values: Callable[[list[int]], float | None]) -> dict[str, float]:
    """A figure of each project, from the numbers of its files; of those that have it."""
    numbers_of_project: dict[str, list[int]] = {}
    for number, file in enumerate(files):
        numbers_of_project.setdefault(file.project, []).append(number)
    figures = {project: values(numbers) for project, numbers in numbers_of_project.items()}
    return {project: value for project, value in figures.items() if value is not None}


def interval(figures: np.ndarray, stat: Callable[[np.ndarray], float] = lambda rows: float(rows.mean())) -> list[float]:
    """A figure of some projects' rows, low, high: 95 % over projects."""
    draws = np.random.default_rng(0).integers(len(figures), size=(DRAWS, len(figures)))
    low, high = np.quantile([stat(figures[rows]) for rows in draws], (0.025, 0.975))
    return [round(float(value), 4) for value in (stat(figures), low, high)]


def branch_figures(files: list[File], first: list[np.ndarray]) -> dict[str, dict[str, float]]:
    """``missed``, ``error`` and ``unweighed`` of each project."""

    def figure_of(numbers: list[int], kind: str) -> float:
        counts = np.concatenate([files[number].counts[files[number].ran] for number in numbers])
        predicted = np.concatenate([first[number][files[number].ran] for number in numbers])
        runs = counts.sum(1)
        misses = np.where(predicted > 0.5, counts[:, 1], np.where(predicted < 0.5, counts[:, 0], runs / 2))
        if kind == "error":
            return float((runs * np.abs(predicted - counts[:, 0] / runs)).sum() / runs.sum())
        return float(misses.sum() / runs.sum() if kind == "missed" else (misses / runs).mean())

    kinds = ("missed", "error", "unweighed")
    return {kind: project_figures(files, functools.partial(figure_of, kind=kind)) for kind in kinds}


def trip_class(count: np.ndarray) -> np.ndarray:
    """Number of the class."""
    return np.searchsorted(CLASS_STARTS, count, side="right")


def trip_figures(files: list[File], counts: list[np.ndarray]) -> dict[str, float]:
    """Share of a project's loops in the right class."""

    def share_right(numbers: list[int]) -> float | None:
        pairs = [(actual, counts[number][row]) for number in numbers for row, actual in files[number].loops]
        actual, predicted = np.array(pairs).reshape(-1, 2).T
        return float((trip_class(actual) == trip_class(predicted)).mean()) if pairs else None

    return project_figures(files, share_right)


def hot_figures(files: list[File], flows: list[Flow]) -> dict[str, float]:
    """Share of each function's hottest tenth of blocks that is found, in the mean of a project's functions."""

    def shares(file: File, flow: Flow) -> Iterator[float]:
        truth = profiled_flow(file.module)
        assert truth is not None, file.module.name
        for function in file.module.defined_functions:
            blocks = slice(function.header.first_block, function.header.last_block)
            actual, predicted = truth.blocks[blocks], flow.blocks[blocks]
            if len(actual) >= 10 and actual[0] > 0:
                count = len(actual) // 10
                hot = [set(np.argsort(-counts, kind="stable")[:count].tolist()) for counts in (actual, predicted)]
                yield len(hot[0] & hot[1]) / count

    def mean_overlap(numbers: list[int]) -> float | None:
        overlaps = [share for number in numbers for share in shares(files[number], flows[number])]
        return float(np.mean(overlaps)) if overlaps else None

    return project_figures(files, mean_overlap)


def trips_of_seen_projects(files: list[File]) -> dict[str, float]:
    """Share of a project's loops in the right class where trees saw the project's other files: a bound, no result."""
    fold = np.random.default_rng(0).integers(FOLDS, size=len(files))
    counts = []
    trees = [
        loop_trees([file for file, file_fold in zip(files, fold, strict=True) if file_fold != test_fold])
        for test_fold in range(FOLDS)
    ]
    for file, file_fold in zip(files, fold.tolist(), strict=True):
        exits = len(file.described.exit) > 0
        chances = trees[file_fold].predict(file.described.features) if exits else np.zeros((0, len(CLASS_STARTS) + 1))
        counts.append(np.append(1, CLASS_STARTS)[chances.argmax(axis=1)])
    return trip_figures(files, counts)


def main() -> None:
    """Read, predict, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("-o", dest="output", type=Path, help="record of the comparison")
    parser.add_argument("--said", type=Path, help="Parquet of what was said of each branch, held out")
    parser.add_argument("--head", type=Path, help="folder for the trees of all projects")
    arguments = parser.parse_args()
    encoder = mirenc.load("mirenc-fast")
    files = read_all(arguments.out, encoder)
    record = compare(files, arguments.output, arguments.said) if arguments.output or arguments.said else None
    if arguments.head:
        worth = {} if record is None else evidence_words(record)
        head = StaticProfile(branch_trees(files, None), loop_trees(files), worth)
        save_head(head, arguments.head, extra={"projects": sorted({file.project for file in files})})


def evidence_words(record: dict[str, Any]) -> dict[str, str]:
    """What answers were worth, as the command line says it."""
    shipped, projects = record["rows"]["hand"], record["projects"]
    fewer = "{:.0f} % [{:.0f}, {:.0f}]".format(*(100 * bound for bound in shipped["fewer"]))
    loops_right = "{:.0f} % [{:.0f}, {:.0f}]".format(*(100 * bound for bound in shipped["trips"]))
    always = f"{100 * record['commonest'][0]:.0f} %"
    return {
        "branch_probability": f"of {projects} projects, each unseen: {fewer} fewer executions missed than by LLVM",
        "trip_count": f"of {projects} projects, each unseen: {loops_right} of loops right, always 2 to 7: {always}",
    }


def compare(files: list[File], output: Path | None, predictions_file: Path | None) -> dict[str, Any]:
    """Predict held out, and write the record and what was said; the record."""
    shipped, vectors = held_out(files, False), held_out(files, True)
    if predictions_file:
        columns = ("project", "file", "block", "first")
        rows = zip(files, shipped, strict=True)
        table = [
            (item.project, item.name, *pair) for item, prediction in rows for pair in zip(*prediction[:2], strict=True)
        ]
        write_parquet(predictions_file, pa.table(dict(zip(columns, zip(*table, strict=True), strict=True))))
    with np.errstate(invalid="ignore"):
        truth = [np.where(file.ran, file.counts[:, 0] / file.counts.sum(1), 0.5) for file in files]
    rows = {"llvm": [file.llvm for file in files], "perfect": truth}
    rows |= {
        name: [answer.first_probability for answer in predictions]
        for name, predictions in (("hand", shipped), ("vectors", vectors))
    }
    commonest = [np.full(len(file.described.exit), float(CLASS_STARTS[0])) for file in files]
    seen_projects = seen_by(read_provenance(load_files("mirenc-fast").folder) or ())
    record: dict[str, Any] = {
        "projects": len({file.project for file in files}),
        "unseen": sorted({file.project for file in files} - seen_projects.keys()),
        "files": len(files),
        "branches": int(sum(file.ran.sum() for file in files)),
        "loops": sum(len(file.loops) for file in files),
        "commonest": interval(np.array(list(trip_figures(files, commonest).values()))),
        "seen": interval(np.array(list(trips_of_seen_projects(files).values()))),
        "rows": {},
    }
    figures_by_row: dict[str, dict[str, dict[str, float]]] = {}
    for name, first in rows.items():
        flows = [flow_of(file, shares.clip(LEAST, 1 - LEAST)) for file, shares in zip(files, first, strict=True)]
        counts = [iterations(file, flow) for file, flow in zip(files, flows, strict=True)]
        if name in ("hand", "vectors"):
            trees = {"hand": shipped, "vectors": vectors}[name]
            counts = [np.append(1, CLASS_STARTS)[answer.class_probabilities.argmax(axis=1)] for answer in trees]
        figures_by_row[name] = branch_figures(files, first)
        figures_by_row[name] |= {"trips": trip_figures(files, counts), "hottest": hot_figures(files, flows)}

    def fewer(name: str, projects: Sequence[str]) -> list[float]:
        pairs = np.array([[figures_by_row[row]["missed"][project] for row in (name, "llvm")] for project in projects])
        return interval(pairs, lambda missed: float(1 - missed[:, 0].mean() / missed[:, 1].mean()))

    for name, figures in figures_by_row.items():
        record["rows"][name] = {kind: interval(np.array(list(data.values()))) for kind, data in figures.items() if data}
        record["rows"][name]["fewer"] = fewer(name, list(figures["missed"]))
        record["rows"][name]["unseen"] = fewer(name, record["unseen"])
    record["of_projects"] = {name: figures["missed"] for name, figures in figures_by_row.items()}
    if output:
        output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for name, figures in record["rows"].items():
        print(name, figures)
    return record


if __name__ == "__main__":
    main()
