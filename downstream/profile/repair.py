"""Block counts from samples and from old profiles, repaired by a flow over what a model believes; beside other ways.

    python downstream/profile/repair.py OUT BELIEVED.parquet -o downstream/profile/repair.json

OUT is what ``labels.py`` wrote, with its folder ``work``: its sources are compiled once more by clang-14, into
OUT/clang-14. BELIEVED is what ``evaluate.py OUT --said`` wrote: probabilities of branches by trees that saw none of
their project.

Counts of functions that are a flow, of three files a project, each below 200 kB of IR, are spoilt:

- ``100``, ``1000``, ``10000``: every so many instructions of the SSA form, at random, one is sampled in its block.
- ``clang-14``: exact counts by line of the source, of the same file as that compiler's front end writes it.
- ``optimised``: so carried from the file at -O1, where LLVM's passes have kept the weights nearly true.
- ``moved``: so carried from the same form, but 1 to 3 lines were added at one place of each function since.

Rows: ``scaled``, what was counted by how seldom; ``flow``, `repair_counts` where all ways are alike; ``flow_llvm`` and
``flow_model``, where they are as LLVM's own estimate and as the trees say; ``profi``, LLVM's own inference (opt-19,
``sample-profile``), which is told the counts of blocks by pseudo probes. Figures are of each project, then in the mean
over projects, with 95 % intervals over them:

- ``error``: sum of all differences of blocks' counts, by the sum of the true ones.
- ``overlap``: what the profiles have in common, as shares of all executions of blocks.
- ``functions``: the same in each function with a branch and a sample, those alike.
- ``missed``: share of all executions of branches that go where the counts do not.

The eight projects of ``CHOSEN_ON`` chose how much is believed and are in no figure.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from evaluate import LEAST, interval, llvm_first
from labels import FRONT, LENIENT, PROFDATA, Counts, Program, Work

from mirenc.base.config import load_toml
from mirenc.base.progress import progress
from mirenc.llvm import IRModule, read_ir
from mirenc.llvm.analysis.profile import Flow, profiled_flow, solve_flow
from mirenc.tools.profile.branches import branches_of
from mirenc.tools.profile.counts import AVERAGE_SAMPLES, DOUBTS, SHARED_POWER, lines_of_blocks
from mirenc.tools.profile.repair import repair_counts

FILES, BYTES = 3, 200_000  # of a project, at most, and of a file
PERIODS = (100, 1000, 10000)
OTHER = "clang-14"
MODEL = "flow_model"
KINDS = ("error", "overlap", "functions", "missed")
SPOILT = (*map(str, PERIODS), OTHER, "optimised", "moved")
CHOSEN_ON = ("cminpack", "glpk", "json-c", "libzstd", "minimap2", "sqlite3", "yajl", "zlib")
UNWOUND = 1e-9
RECIPE = Path(__file__).parent / "programs.toml"
_PROFILED = re.compile(r",? !prof !\d+")
_ATTRIBUTES = re.compile(r"^(attributes #\d+ = \{)", re.MULTILINE)
_PROBE = re.compile(r"call void @llvm\.pseudoprobe\(i64 -?\d+, i64 (\d+), i32 0,")
_DESCRIBED = re.compile(r'^!\d+ = !\{i64 -?\d+, i64 (\d+), !"(.*)"\}$', re.MULTILINE)
_PROGRAMS = re.compile(r'^define [^@]*@("[^"]*"|[^ (]+)\(.* !dbg (!\d+)', re.MULTILINE)
_PROGRAM = re.compile(r"^(!\d+) = distinct !DISubprogram\((?!.*linkageName: )", re.MULTILINE)
_NODES = re.compile(r'^(!\d+) = !\{!"(?:function_entry_count|branch_weights)", (.*)\}$', re.MULTILINE)
_NUMBER = re.compile(r"\bi(?:32|64) (\d+)")
_ATTACHED = re.compile(r", !prof (!\d+)\b")
_HEAD = re.compile(r" !prof (!\d+)\b")
_DEFINES = re.compile(r"^define .*", re.MULTILINE)


@dataclass
class File:
    """A file of B blocks and C edges with what truly ran."""

    project: str
    file: str
    path: Path
    module: IRModule
    owner: np.ndarray  # (B,) function, of those whose counts are known and a flow; else -1
    blocks: np.ndarray  # (B,) executions
    edges: np.ndarray  # (C,)
    beliefs: dict[str, np.ndarray]  # shares (C,) by row


@dataclass
class Spoilt:
    """What is left of a file's counts."""

    samples: np.ndarray  # (B,)
    rate: np.ndarray  # (B,) samples an execution; 0 unknown
    counts: np.ndarray  # (B,) what scaling makes of it; -1 unknown
    doubts: int = 0


def choose_files(out: Path) -> list[tuple[str, str]]:
    """Project and file, by the digest of their names."""
    table = pq.read_table(out / "branches.parquet", columns=["project", "file"])
    pairs = {(row["project"], row["file"]) for row in table.to_pylist()}
    groups: dict[str, list[tuple[str, str]]] = {}
    for pair in sorted(pairs, key=lambda pair: hashlib.sha256(f"{pair[1]}/{pair[0]}".encode()).digest()):
        if (out / "SSA" / pair[0] / f"{pair[1]}.ll").stat().st_size < BYTES:
            groups.setdefault(pair[0], []).append(pair)
    return sorted(pair for pairs in groups.values() for pair in pairs[:FILES])


def compile_other(out: Path, files: list[tuple[str, str]]) -> None:
    """The same counts on the form of another compiler, which takes them in its own version of the file."""
    programs = {entry["name"]: Program.from_dict(entry) for entry in load_toml(RECIPE)["program"]}
    for project in sorted({project for project, _ in files}):
        work = Work(programs[project], out, RECIPE)
        text, profile = (out / OTHER / f"{project}{end}" for end in (".txt", ".profdata"))
        text.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([PROFDATA, "merge", "-text", "-o", text, work.profile], check=True)
        subprocess.run(["llvm-profdata-14", "merge", "-o", profile, text], check=True)
        for source in work.sources():
            place = out / OTHER / project / f"{source.file}.ll"
            if (project, source.file) not in files or place.exists():
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            compiler = source.command[0].replace("-19", OTHER.removeprefix("clang"))
            command = [compiler, *source.command[1:], *LENIENT, "-S", "-emit-llvm", "-o", str(place), *FRONT, "-g1"]
            command.append(f"-fprofile-instr-use={profile}")
            if subprocess.run(command, cwd=source.folder, capture_output=True, check=False).returncode:
                print(f"{project}: {source.file}: not by {OTHER}", file=sys.stderr)


# -- files -----------------------------------------------------------------------------------------------------------
def exact(module: IRModule, functions: set[str] | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Owner (-1: no flow, or not one of these), blocks' and edges' counts."""
    arrays, counts = module.arrays, Counts(module)
    owner = np.full(module.block_count, -1)
    blocks, edges = np.zeros(module.block_count), np.zeros(len(arrays.successor))
    source = np.repeat(np.arange(module.block_count), np.diff(arrays.successor_start))
    for number, entries in counts.entries.items():
        header = module.headers[number]
        if not entries or (functions is not None and header.name.strip('"') not in functions):
            continue
        span_of_blocks = slice(header.first_block, header.last_block)
        span = slice(*arrays.successor_start[[span_of_blocks.start, span_of_blocks.stop]].tolist())
        passes, agrees, _ = counts.solve(number)
        edge_counts = np.array(counts.edges[span], dtype=float)
        into = np.bincount(arrays.successor[span] - span_of_blocks.start, edge_counts, len(passes))
        into[0] += entries
        away = np.bincount(source[span] - span_of_blocks.start, edge_counts, len(passes))
        goes_on = np.diff(arrays.successor_start[span_of_blocks.start : span_of_blocks.stop + 1]) > 0
        if agrees and min(passes) >= 0 and (into == passes).all() and (away == passes)[goes_on].all():
            owner[span_of_blocks], blocks[span_of_blocks], edges[span] = number, passes, edge_counts
    return owner, blocks, edges


def read(out: Path, project: str, file: str, functions: set[str], shares: dict[int, float]) -> File:
    """One file; ``shares`` is the model's probability of the first way of each block with a branch."""
    path = out / "SSA" / project / f"{file}.ll"
    module = read_ir(path)
    arrays, degree = module.arrays, np.diff(module.arrays.successor_start)
    even = 1.0 / np.repeat(degree, degree)
    throws = np.array([form.opcode == "invoke" for form in module.forms])[arrays.form[arrays.block_start[1:] - 1]]
    unwinds = arrays.successor_start[1:][throws] - 1
    even[unwinds - 1], even[unwinds] = 1 - UNWOUND, UNWOUND
    blocks = branches_of(module).block
    model = np.array([shares.get(block, 0.5) for block in blocks.tolist()])
    rows, edges = {"flow": even}, arrays.successor_start[blocks]
    for name, first in (("flow_llvm", llvm_first(path, module)), ("flow_model", model)):
        rows[name] = even.copy()
        rows[name][edges] = np.clip(first, LEAST, 1 - LEAST)
        rows[name][edges + 1] = 1 - rows[name][edges]
    return File(project, file, path, module, *exact(module, functions), rows)


def names_of(module: IRModule) -> dict[str, tuple[int, int]]:
    """First and last block of each function that has a body."""
    return {head.name: (head.first_block, head.last_block) for head in module.headers if not head.is_declaration}


# -- spoiling --------------------------------------------------------------------------------------------------------
def sampled(file: File, period: int) -> Spoilt:
    """By instructions, phis aside."""
    seed = hashlib.sha256(f"{file.project}/{file.file}/{period}".encode()).digest()
    arrays = file.module.arrays
    counts_time = np.array([form.opcode != "phi" for form in file.module.forms])[arrays.form]
    size = np.bincount(arrays.block, counts_time, file.module.block_count)
    is_known = file.owner >= 0
    executed = (file.blocks * size * is_known).astype(np.int64)
    samples = np.random.default_rng(list(seed)).binomial(executed, 1 / period).astype(float)
    rate = np.where(is_known, size / period, 0.0)
    return Spoilt(samples, rate, np.where(rate > 0, samples / np.maximum(rate, 1e-9), -1))


def carried(file: File, old: IRModule, blocks: np.ndarray, moved: bool = False) -> Spoilt:
    """By lines, from another form of the same file and its blocks' counts, -1 unknown.

    A line has the count of the block of it that ran most, and a block, as LLVM takes it, the most of its lines. The
    flow's samples are of the one line that the fewest blocks share, then and now, and fewer by their number's power.
    """
    lines, new, old_functions = lines_of_blocks(old), lines_of_blocks(file.module), names_of(old)
    size = file.module.block_count
    counts, fewest, sharers = np.full(size, -1.0), np.full(size, -1.0), np.ones(size)
    random = np.random.default_rng(list(hashlib.sha256(f"{file.project}/{file.file}".encode()).digest()))
    for name, (begin, end) in names_of(file.module).items():
        if file.owner[begin] < 0:
            continue
        all_lines = np.unique(np.concatenate([*new[begin:end], [0]]))[1:]
        place, added = (random.choice(all_lines) if len(all_lines) else 0), int(random.integers(1, 4))
        # What stands below the place had a smaller line when it was counted.
        old_lines = [numbers - np.where(numbers >= place, added, 0) if moved else numbers for numbers in new[begin:end]]
        totals = Counter(line for numbers in old_lines for line in numbers.tolist())
        line_runs: dict[int, list[float]] = {}
        for block in range(*old_functions.get(name, (0, 0))):
            if blocks[block] >= 0:
                for line in lines[block].tolist():
                    line_runs.setdefault(line, []).append(blocks[block])
        for block, numbers in enumerate(old_lines, begin):
            there_too = [line for line in numbers.tolist() if line in line_runs]
            shared_counts = [(max(len(line_runs[line]), totals[line]), -max(line_runs[line])) for line in there_too]
            if shared_counts:
                counts[block] = max(-count for _, count in shared_counts)
                sharers[block], fewest[block] = min(shared_counts)[0], -min(shared_counts)[1]
    is_known = fewest >= 0
    function = np.where(file.owner >= 0, file.owner, 0)
    mean = np.bincount(function, np.where(is_known, fewest, 0)) / np.maximum(np.bincount(function, is_known), 1)
    average = np.maximum(mean, 1e-9)[function]
    rate = np.where(is_known & (mean[function] > 0), AVERAGE_SAMPLES / average / sharers**SHARED_POWER, 0.0)
    return Spoilt(np.where(is_known, fewest, 0) * rate, rate, counts, DOUBTS)


def spoil(out: Path, file: File, spoiling: str) -> Spoilt | None:
    """None: there is no such form of the file."""
    if spoiling.isdigit():
        return sampled(file, int(spoiling))
    if spoiling == "moved":
        return carried(file, file.module, np.where(file.owner >= 0, file.blocks, -1), moved=True)
    path = out / {"optimised": "O1"}.get(spoiling, spoiling) / file.project / f"{file.file}.ll"
    if not path.exists():
        return None
    old = read_ir(path)
    if spoiling == "optimised":
        flow = profiled_flow(old)
        return (
            None if flow is None else carried(file, old, np.where(np.isfinite(flow.blocks), np.rint(flow.blocks), -1))
        )
    owner, blocks, _ = exact(old)
    return carried(file, old, np.where(owner >= 0, blocks, -1))


# -- rows ------------------------------------------------------------------------------------------------------------
class Profi:
    """LLVM's inference on one file: its blocks get probes, which counts are told by."""

    def __init__(self, file: File) -> None:
        self.file = file
        text = _PROFILED.sub("", file.path.read_text(encoding="utf-8", errors="surrogateescape"))
        # A probe's function goes by the linker's name, which lines alone (-g1) do not tell.
        linked = {node: name.strip('"') for name, node in _PROGRAMS.findall(text)}
        text = _PROGRAM.sub(
            lambda one: f'{one[0]}linkageName: "{linked[one[1]]}", ' if one[1] in linked else one[0], text
        )
        self.text = _opt(_ATTRIBUTES.sub(r'\1 "use-sample-profile"', text), "pseudo-probe")
        self.hashes = {name: number for number, name in _DESCRIBED.findall(self.text)}
        self.probes = np.zeros(file.module.block_count, dtype=np.int64)
        for block, line in _lines_of_blocks(self.text):
            if match := _PROBE.search(line):
                self.probes[block] = int(match[1])
        assert block == file.module.block_count - 1, file.path

    def flow(self, spoilt: Spoilt, folder: Path) -> Flow | None:
        """None: nothing was counted."""
        lines = []
        for name, (begin, end) in names_of(self.file.module).items():
            counts = np.rint(spoilt.counts[begin:end]).astype(np.int64).tolist()
            if self.file.owner[begin] >= 0 and max(counts) > 0:
                probes = self.probes[begin:end].tolist()
                probe_counts = sorted(
                    (probe, count) for probe, count in zip(probes, counts, strict=True) if probe and count >= 0
                )
                lines.append(f"{name}:{sum(count for _, count in probe_counts)}:{max(counts[0], 0)}")
                lines += [f" {probe}: {count}" for probe, count in probe_counts]
                lines.append(f" !CFGChecksum: {self.hashes[name]}")
        if not lines:
            return None
        profile = folder / "samples.prof"
        profile.write_text("\n".join(lines) + "\n", encoding="utf-8")
        words = (f"-sample-profile-file={profile}", "-sample-profile-use-profi", "-disable-sample-loader-inlining")
        return self._flow(_opt(self.text, "sample-profile", *words))

    def _flow(self, text: str) -> Flow:
        """What opt wrote: each branch's weights are counts."""
        module, starts = self.file.module, self.file.module.arrays.successor_start
        nodes = {name: [*map(int, _NUMBER.findall(words))] for name, words in _NODES.findall(text)}
        shares = self.file.beliefs["flow"].copy()
        for block, line in _lines_of_blocks(text):
            match = _ATTACHED.search(line)
            counts = nodes.get(match[1], []) if match else []
            span = slice(starts[block], starts[block + 1])
            # A call's own weight is one number, a branch's has as many as it has ways.
            if len(counts) > 1 and len(counts) == span.stop - span.start and sum(counts):
                weights = np.maximum(np.array(counts) / sum(counts), UNWOUND)
                shares[span] = weights / weights.sum()
        heads = (_HEAD.search(line) for line in _DEFINES.findall(text))
        entries = ((nodes[attached[1]] or [0])[0] if attached else 0 for attached in heads)  # none: -1, unknown
        defined = (number for number, header in enumerate(module.headers) if not header.is_declaration)
        return solve_flow(module, shares, np.ones(module.block_count, bool), dict(zip(defined, entries, strict=True)))


def _opt(text: str, passes: str, *words: str) -> str:
    command = ["opt-19", "-S", f"-passes={passes}", *words, "-", "-o", "-"]
    process = subprocess.run(command, input=text.encode("utf-8", "surrogateescape"), capture_output=True, check=True)
    return process.stdout.decode("utf-8", "surrogateescape")


def _lines_of_blocks(text: str) -> Iterator[tuple[int, str]]:
    """Block of the module and line, of each line of a function's body; a label is none."""
    block, begun, in_function = -1, False, False
    for line in text.split("\n"):
        if line.startswith("define "):
            in_function, begun = True, False
        elif line == "}":
            in_function = False
        elif in_function and line:
            label = not line.startswith(" ") and not line.startswith(";")
            if label or not begun:
                block, begun = block + 1, True
            if not label:
                yield block, line


# -- figures ---------------------------------------------------------------------------------------------------------
def flows_of(file: File, spoilt: Spoilt, profi: Profi, folder: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Counts of blocks and edges by row."""
    arrays = file.module.arrays
    counts = np.maximum(spoilt.counts, 0)
    degree = np.diff(arrays.successor_start)
    source = np.repeat(np.arange(len(degree)), degree)
    # Whither, by the counts of both ways.
    flows = {"scaled": (counts, counts[arrays.successor])}
    for name, shares in file.beliefs.items():
        flow = repair_counts(file.module, spoilt.samples, spoilt.rate, shares, doubts=spoilt.doubts)
        flows[name] = (flow.blocks, flow.edges)
    inferred = profi.flow(spoilt, folder)
    none = (np.zeros(len(degree)), np.zeros(len(source)))
    flows["profi"] = none if inferred is None else (inferred.blocks, inferred.edges)
    return flows


class Sums:
    """What one row has on one project, grown file by file."""

    def __init__(self) -> None:
        self.estimated: list[np.ndarray] = []
        self.true: list[np.ndarray] = []
        self.functions: list[float] = []
        self.wrong = self.runs = 0.0

    def add(self, file: File, spoilt: Spoilt, blocks: np.ndarray, edges: np.ndarray) -> None:
        """One file."""
        is_known, starts = file.owner >= 0, file.module.arrays.successor_start
        self.estimated.append(blocks[is_known])
        self.true.append(file.blocks[is_known])
        degree = np.diff(starts)
        for function in np.unique(file.owner[is_known]).tolist():
            in_function = file.owner == function
            if (degree[in_function] > 1).any() and spoilt.samples[in_function].any():
                self.functions.append(_overlap(blocks[in_function], file.blocks[in_function]))
        forks = starts[:-1][is_known & (degree == 2)]
        actual, estimated = (np.stack([counts[forks], counts[forks + 1]], 1) for counts in (file.edges, edges))
        misses = np.where(estimated[:, 0] > estimated[:, 1], actual[:, 1], actual[:, 0])
        self.wrong += np.where(estimated[:, 0] == estimated[:, 1], actual.sum(1) / 2, misses).sum()
        self.runs += actual.sum()

    def figures(self) -> dict[str, float]:
        """All four; ``functions`` only where one has a sample."""
        estimated, actual = np.concatenate(self.estimated), np.concatenate(self.true)
        error, missed = float(np.abs(estimated - actual).sum() / actual.sum()), float(self.wrong / self.runs)
        figures = {"error": error, "overlap": _overlap(estimated, actual), "missed": missed}
        return figures | ({"functions": float(np.mean(self.functions))} if self.functions else {})


def _overlap(estimated: np.ndarray, actual: np.ndarray) -> float:
    """Of two profiles of the same blocks; one that says nothing says that all are alike."""
    estimated = estimated if estimated.sum() > 0 else np.ones(len(estimated))
    return float(np.minimum(estimated / estimated.sum(), actual / actual.sum()).sum())


def measure(out: Path, believed: Path, files: list[tuple[str, str]]) -> dict[str, Any]:
    """The record."""
    functions, table = pq.read_table(out / "functions.parquet"), pq.read_table(believed)
    functions_of_file: dict[tuple[str, str], set[str]] = {}
    for entry in functions.select(["project", "file", "function"]).to_pylist():
        functions_of_file.setdefault((entry["project"], entry["file"]), set()).add(entry["function"])
    shares: dict[tuple[str, str], dict[int, float]] = {}
    for entry in table.to_pylist():
        shares.setdefault((entry["project"], entry["file"]), {})[entry["block"]] = entry["first"]
    sums: dict[tuple[str, str, str], Sums] = {}
    record: dict[str, Any] = {"files": 0, "functions": 0, "blocks": 0}
    with TemporaryDirectory() as folder, progress("repairing", len(files)) as advance:
        for project, name in files:
            advance(note=project)
            pair = project, name
            file = read(out, *pair, functions_of_file.get(pair, set()), shares.get(pair, {}))
            if not (file.owner >= 0).any():
                continue
            record["files"] += 1
            record["functions"] += len(np.unique(file.owner[file.owner >= 0]))
            record["blocks"] += int((file.owner >= 0).sum())
            profi = Profi(file)
            for spoiling in SPOILT:
                spoilt = spoil(out, file, spoiling)
                if spoilt is not None:
                    for row, counts in flows_of(file, spoilt, profi, Path(folder)).items():
                        sums.setdefault((spoiling, row, project), Sums()).add(file, spoilt, *counts)
    figures: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for (spoiling, row, project), total in sums.items():
        figures.setdefault(spoiling, {}).setdefault(row, {})[project] = total.figures()
    record["projects"] = len({project for _, _, project in sums})
    return record | summary(figures)


def summary(figures: dict[str, dict[str, dict[str, dict[str, float]]]]) -> dict[str, Any]:
    """Intervals of rows, and of what ``flow_model`` has more than another row on the same projects."""
    rows: dict[str, Any] = {}
    gains: dict[str, Any] = {}
    for spoiling, table in figures.items():
        stats = {row: {kind: _column(projects, kind) for kind in KINDS} for row, projects in table.items()}
        rows[spoiling] = {
            row: {kind: interval(col) for kind, col in projects.items() if len(col)} for row, projects in stats.items()
        }
        gains[spoiling] = {
            row: {kind: interval(stats[MODEL][kind] - col) for kind, col in projects.items() if len(col)}
            for row, projects in stats.items()
            if row != MODEL
        }
    functions = {
        spoiling: {
            row: {name: round(entry["functions"], 4) for name, entry in projects.items() if "functions" in entry}
            for row, projects in table.items()
        }
        for spoiling, table in figures.items()
    }
    return {"rows": rows, "gains": gains, "of_projects": functions}


def _column(projects: dict[str, dict[str, float]], kind: str) -> np.ndarray:
    return np.array([entry[kind] for entry in projects.values() if kind in entry])


def main() -> None:
    """Spoil, repair and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("believed", type=Path)
    parser.add_argument("-o", dest="output", type=Path, required=True)
    arguments = parser.parse_args()
    files = [pair for pair in choose_files(arguments.out) if pair[0] not in CHOSEN_ON]
    compile_other(arguments.out, files)
    record = measure(arguments.out, arguments.believed, files)
    arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for spoiling, rows in record["rows"].items():
        for name, figures in rows.items():
            print(spoiling, name, figures)


if __name__ == "__main__":
    main()
