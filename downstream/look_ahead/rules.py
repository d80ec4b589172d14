"""Choices without learning, on the task's table: ``python downstream/look_ahead/rules.py`` (llvm-mca-19 on PATH).

Each is told how often the loop of a sample ran:

- ``pgo``: LLVM's own choice. What profile-guided optimisation gives the vectorizer is branch weights at the loop's
  latch. Where LLVM 22 then chooses another width or count than without, the measured setting of that name is taken. A
  lower bound, as a forced setting lacks the vectorised epilogue that LLVM's own may have.
- ``costs``: the setting of least rough cost (`mirenc.decide.features.look_ahead_features`), of what a look-ahead reads.
- ``mca``: the same sum over the parts of a loop, each with the cycles that llvm-mca has for a turn of it. As that takes
  long, one loop of some structures, of those that were measured for all instruction sets; the other rules beside it.

With a margin, the default is left only for an expected gain above one that the training folds of the protocol
``structure`` choose, as cautious heads do. Settings of equal cost are one, the first. Written to ``rules.json``.
"""

from __future__ import annotations

import collections
import hashlib
import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from mirenc import __version__
from mirenc.base.arrays import Float64, Int64
from mirenc.base.cache import Cache, cache_key
from mirenc.base.child_process import EndedError
from mirenc.base.progress import progress
from mirenc.decide.estimators.chooser import preferences
from mirenc.decide.estimators.ensemble import best_margin
from mirenc.decide.evaluation.figures import figures_of
from mirenc.decide.features import look_ahead_features as columns
from mirenc.decide.features.feature_matrix import context_with_run
from mirenc.decide.load_samples import load_data
from mirenc.decide.metrics import group_interval
from mirenc.decide.registry import get_task
from mirenc.decide.sample import Sample
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.encoder import Encoder, load
from mirenc.llvm.passes import assembly, look_ahead
from mirenc.llvm.passes.assembly import Loop
from mirenc.llvm.passes.look_ahead import LoopCode
from mirenc.llvm.passes.vectorizer import ask_llvm, loop_node, marked

HERE = Path(__file__).parent
TABLE = HERE.parent / "vectorization/table"
PROTOCOL, SEEDS, MOST_SLOW = "structure", (0, 1, 2), 0.05
_PROCESSOR = "znver4"  # caches and instruction sets of machine.json are those of Zen 4
_MCA = ("llvm-mca-19", "--json", "--all-views=false", "--summary-view", f"-mcpu={_PROCESSOR}")
_TURNS = (10, 30)
_STRUCTURES = 120  # that llvm-mca is asked about
_HEAD = ("speedup over default, geom.", "share of oracle's gain, %", "slower by 2 %, %", "best of 3 measured", "oracle")
_TITLES = {
    "pgo": "LLVM's choice, told by a profile",
    "costs": "least rough cost",
    "costs, margin": "least rough cost, with a margin",
    "mca": "least cost by llvm-mca",
    "mca, margin": "least cost by llvm-mca, with a margin",
}
_NODE = 9_000_000  # above all that a module has
_BRANCH = re.compile(r"  br i1 [^,]+, label (\S+), label (\S+),")


def main() -> None:
    """Ask each rule about each sample, and write the figures."""
    task, encoder = get_task("vectorization"), load("mirenc-fast")
    data = load_data(task, TABLE)
    ran = np.array([max(task.iterations(context_with_run(task, one)), default=0.0) for one in data.samples])
    with progress("look-ahead", len(data)) as advance:
        rough = log_costs(columns.look_ahead_tables(task, data, encoder, advance), ran)
    record: dict[str, Any] = {"rules": ruled(task, data, "costs", rough)}
    write(record)
    pgo_choice = pgo(task, encoder, data)
    record["pgo_changes"] = int((pgo_choice != data.default).sum())
    record["rules"]["pgo"] = worth(task, data, pgo_choice[None])
    write(record)
    chosen = one_a_structure(data)
    part = data.subset(chosen)
    rules = {"pgo": worth(task, part, pgo_choice[None, chosen]), **ruled(task, part, "costs", rough[chosen])}
    rules |= ruled(task, part, "mca", log_costs(mca_tables(task, encoder, part), ran[chosen]))
    record["some"] = {"samples": len(part), "structures": len(np.unique(part.group)), "rules": rules}
    write(record)


def write(record: dict[str, Any]) -> None:
    """Keep the record, with the lines of a table."""
    lines = [["told the trip count, nothing learned but margins", *_HEAD]]
    lines += [[_TITLES[name], *cells(one)] for name, one in record["rules"].items()]
    if part := record.get("some"):
        samples = f"{part['samples']} samples of {part['structures']} structures"
        lines += [[f"{_TITLES[name]}: {samples}", *cells(one)] for name, one in part["rules"].items()]
    (HERE / "rules.json").write_text(json.dumps({**record, "lines": lines}, indent=1) + "\n", encoding="utf-8")


def cells(one: dict[str, Any]) -> list[str]:
    """What `_HEAD` says of some figures."""
    three = f"{one['best_of_three']:.3f}" if "best_of_three" in one else ""
    share, slower = (f"{100 * one[name]:.0f}" for name in ("oracle_gain_share", "slowdowns_2"))
    return [between(one["speedup_geometric"], *one["interval"]), share, slower, three, f"{one['oracle_geometric']:.3f}"]


def between(value: float, low: float, high: float) -> str:
    """A figure with its interval."""
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


# -- what choices are worth ----------------------------------------------------------------------------
def worth(task: Task, data: TaskData, runs: Int64, three: Int64 | None = None) -> dict[str, Any]:
    """Figures of choices, (S, n), means over the S seeds, and of the best of three, (S, n)."""
    every, figures = np.arange(len(data)), figures_of(task, "", data)
    each = [figures.of_run(run, every) for run in runs]
    record: dict[str, Any] = {
        name: float(np.mean([one[name] for one in each]))
        for name in ("speedup_geometric", "oracle_geometric", "oracle_gain_share", "slowdowns_2")
    }
    logs = figures.per_sample(runs, every)["speedup"]
    record["interval"] = group_interval(logs, data.group, statistic=np.exp)
    if three is not None:
        record["best_of_three"] = figures.over_all(runs, three, every)["best_of_three"]["speedup_geometric"]
    return record


def ruled(task: Task, data: TaskData, name: str, logs: Float64) -> dict[str, dict[str, Any]]:
    """Figures of the least of log costs, (n, K), NaN: not known; and of the same with a margin."""
    logs = with_default(data, logs)
    raised, margins = with_margins(task, data, logs, SEEDS)
    three = np.array([best_of_three(data, logs_of_head) for logs_of_head in raised])
    cautious = worth(task, data, np.nanargmin(raised, axis=2), three)
    return {
        name: worth(task, data, np.nanargmin(logs, axis=1)[None], best_of_three(data, logs)[None]),
        f"{name}, margin": {"margin": float(np.median(margins)), **cautious},
    }


def with_default(data: TaskData, logs: Float64) -> Float64:
    """Log costs of the settings that may be asked for, else NaN; the default's is one of them. (n, K)."""
    logs = np.where(np.isfinite(data.known), logs, np.nan)
    rows = np.arange(len(data))
    default_logs = logs[rows, data.default]
    logs[rows, data.default] = np.where(np.isnan(default_logs), 0.0, default_logs)
    return logs


def with_margins(task: Task, data: TaskData, logs: Float64, seeds: Sequence[int]) -> tuple[Float64, list[float]]:
    """Log costs less the default's head start, which the other folds choose. (n, K) -> (S, n, K); all margins."""
    (default,) = np.unique(data.default)
    preference = preferences(np.where(np.isnan(logs), np.inf, logs))
    raised, margins = np.tile(logs, (len(seeds), 1, 1)), []
    for member, seed in zip(raised, seeds, strict=True):
        for training, test in task.protocol(PROTOCOL).split(data, seed):
            margin, _ = best_margin(preference[training], data.known[training], default, MOST_SLOW)
            member[test, default] -= margin
            margins.append(margin)
    return raised, margins


def best_of_three(data: TaskData, logs: Float64) -> Int64:
    """Of the three settings of least log costs, all different, the one that is measured best. (n, K) -> (n,)."""
    choices = []
    for costs, known in zip(logs, data.known, strict=True):
        different, first = np.unique(costs, return_index=True)
        three = first[np.isfinite(different)][:3]
        choices.append(three[known[three].argmin()])
    return np.array(choices)


def log_costs(tables: Float64, ran: Float64) -> Float64:
    """Rough log costs of each setting for the iterations of a run. (n, K, NUMBERS), (n,) -> (n, K), NaN: not known."""
    costs = [columns._Columns(table).cost(count) for table, count in zip(tables, ran, strict=True)]
    return np.where(ran[:, None] > 0, np.array(costs), np.nan)


# -- LLVM's own choice ---------------------------------------------------------------------------------
def pgo(task: Task, encoder: Encoder, data: TaskData) -> Int64:
    """The setting that LLVM chooses where it is told how often a loop runs, if that is another one than else. (n,)."""
    choice = data.default.copy()
    cache, keys = _cache("profile"), _keys(data)
    stored = cache.get(keys)
    with progress("profiles", len(data)) as advance:
        for row, (sample, key) in enumerate(zip(data.samples, keys, strict=True)):
            advance()
            if key not in stored:
                stored[key] = json.dumps(_choices(task, encoder, sample)).encode()
                cache.put({key: stored[key]})
            before, after = map(tuple, json.loads(bytes(stored[key])))
            if before != after and after in data.spaces[row].settings:
                column = data.spaces[row].settings.index(after)
                if np.isfinite(data.known[row, column]):
                    choice[row] = column
    return choice


def _choices(task: Task, encoder: Encoder, sample: Sample) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Width and count without the trip count, and with it; both () where nobody knows them."""
    assert sample.ir is not None
    assert sample.region is not None
    count = float(dict(sample.run).get("trip_count", sample.context[0]))
    if not count:
        return (), ()
    module = task.read_sample(encoder, sample.ir)
    text, loops = marked(module)
    place = loops.index((sample.region.symbol, sample.region.header))
    bits = int(float(sample.context[1]))
    try:
        return _choice(module, text, bits, place), _choice(module, _weighed(text, place, sample, count), bits, place)
    except EndedError:
        return (), ()


def _cache(name: str) -> Cache:
    """What was asked before, as two dozen compilations take long."""
    return Cache(hashlib.sha256(f"{name} {version('llvmlite')} {__version__}".encode()).hexdigest())


def _keys(data: TaskData) -> list[bytes]:
    return [cache_key("rules", repr((one.ir, one.region, one.context, one.run))) for one in data.samples]


def _choice(module: Any, text: str, bits: int, place: int) -> tuple[int, int]:
    ((answer, _),) = ask_llvm(module, text, [""], bits)
    choices = [(width, count) for line, width, count in answer["choices"] if line == place + 1]
    return max(choices, key=lambda one: (one[0] * one[1], one[0]), default=(1, 1))


def _weighed(text: str, place: int, sample: Sample, count: float) -> str:
    """The text with weights at the loop's latches, and with the entry count that a profile has."""
    assert sample.region is not None
    lines = text.split("\n")
    end = f"!llvm.loop !{loop_node(place)}"
    for number, line in enumerate(lines):
        if line.endswith(end) and (branch := _BRANCH.match(line)):
            again, out = max(round(1000 * (count - 1)), 1), 1000
            first, second = (again, out) if branch[1] == sample.region.header else (out, again)
            lines[number] += f", !prof !{_NODE}"
            lines.append(f'!{_NODE} = !{{!"branch_weights", i32 {min(first, 2**31)}, i32 {min(second, 2**31)}}}')
    return "\n".join([*lines, ""])


# -- llvm-mca ------------------------------------------------------------------------------------------
def one_a_structure(data: TaskData) -> Int64:
    """Rows of the first loop of so many structures that was measured for all instruction sets."""
    loops: dict[str, list[int]] = collections.defaultdict(list)
    for row, sample in enumerate(data.samples):
        loops[sample.name.removesuffix(f" {sample.part}")].append(row)
    sets = len(set(data.part))
    first: dict[str, list[int]] = {}
    for name in sorted(loops):
        if len(loops[name]) == sets:
            first.setdefault(data.group[loops[name][0]], loops[name])
    drawn = np.random.default_rng(0).permutation(sorted(first))[:_STRUCTURES]
    return np.array(sorted(row for name in drawn for row in first[name]))


def mca_tables(task: Task, encoder: Encoder, data: TaskData) -> Float64:
    """As `look_ahead_tables`, with such numbers of instructions that a part costs what llvm-mca says. (n, K, NUMBERS).

    That of what is around a loop is of many entries one after another, as of all else. Kept in the cache.
    """
    cache, keys = _cache(f"{_MCA} {_TURNS}"), _keys(data)
    stored = cache.get(keys)
    tables = np.full((len(data), data.width, columns.NUMBERS), np.nan)
    with progress("llvm-mca", len(data)) as advance, _kept_text():
        for row, (sample, key) in enumerate(zip(data.samples, keys, strict=True)):
            advance()
            if key in stored:
                tables[row] = np.frombuffer(stored[key]).reshape(-1, columns.NUMBERS)
                continue
            assert sample.ir is not None
            module = task.read_sample(encoder, sample.ir)
            codes = task.look_ahead(module, sample.region, sample.context)
            cycles = _cycles({text for code in codes if code for loop in _parts(code) if (text := _text(loop))})
            for column, code in enumerate(codes):
                if code is not None:
                    tables[row, column] = _weighted(code, cycles)
            cache.put({key: tables[row].tobytes()})
    return tables


def _parts(code: LoopCode) -> list[Loop | None]:
    return [code.vector, code.epilogue, code.scalar, code.around]


def _text(loop: Loop | None) -> str:
    return "".join(getattr(loop, "text", ()))


@contextmanager
def _kept_text() -> Iterator[None]:
    """Inside, each loop that a look-ahead reads keeps the text of its instructions."""
    classes, loop_code = assembly._classify_x86, look_ahead._loop_code

    def read(loop: Any, name: str, operands: str) -> list[int]:
        loop.__dict__.setdefault("text", []).append(f"\t{name}\t{operands}\n")
        return classes(loop, name, operands)

    def gathered(answer: dict[str, Any], loops: list[Loop], line: int) -> LoopCode:
        code = loop_code(answer, loops, line)
        around: Any = code.around
        around.text = [_text(loop) for loop in loops if loop.depth == around.depth]
        return code

    with patch.object(assembly, "_classify_x86", read), patch.object(look_ahead, "_loop_code", gathered):
        yield


def _cycles(texts: set[str]) -> dict[str, float]:
    """Cycles of a turn of each text by llvm-mca, where many are under way: what more turns cost more."""
    named = sorted(texts)
    regions = [f"# LLVM-MCA-BEGIN {place}\n{text}# LLVM-MCA-END\n" for place, text in enumerate(named)]
    totals = []
    for turns in _TURNS:
        command = [*_MCA, f"--iterations={turns}"]
        ran = subprocess.run(command, input="".join(regions), capture_output=True, text=True, check=True)
        totals.append([one["SummaryView"]["TotalCycles"] for one in json.loads(ran.stdout)["CodeRegions"]])
    few, many = totals
    return {
        text: (later - first) / (_TURNS[1] - _TURNS[0]) for text, first, later in zip(named, few, many, strict=True)
    }


def _weighted(code: LoopCode, cycles: dict[str, float]) -> Float64:
    row = columns.loop_numbers(code)
    starts = [columns._HEAD + place * columns._PART + 2 for place in range(3)]
    starts.append(columns.NUMBERS - columns._COUNTS - 2)
    for start, loop, turn in zip(starts, _parts(code), (columns._TURN, columns._TURN, columns._TURN, 0.0), strict=True):
        row[start : start + columns._COUNTS] = 0.0
        if loop is not None:
            row[start] = (cycles.get(_text(loop), 0.0) - turn) / columns._WEIGHTS[0]
    return row


if __name__ == "__main__":
    main()
