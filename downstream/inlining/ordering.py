"""Whether a head orders changes of inlining better than sizes do: what LLVM's features and vectors add.

    python downstream/inlining/ordering.py IR TABLE -o downstream/inlining/ordering.json

TABLE is what ``labels.py`` beside it made of IR. Of each module, changes (a call
decided the other way, or all calls of a function that LLVM decides alike) are ordered by what a row says that they
save; counted is the best of the first five, in bytes under -Oz, on projects that nothing was fitted on. What a head
gets of a module (features, vectors) is kept in TABLE/work/ordering.joblib.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import pyarrow.parquet as pq
from asking import compile_asking, llvm_rule
from numpy.typing import NDArray
from rich.progress import track
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingRegressor

import mirenc
from mirenc.base.errors import MirencError
from mirenc.decide.metrics import group_interval
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.pass_lists import level
from mirenc.tools.inline import Calls, calls_of
from mirenc.tools.inline.search_decisions import State, by_size
from mirenc.tools.inline.trial import weight
from mirenc.tools.measure.passes.inputs import IRFile, find_ir

FIRST = 5
MAX_BYTES = 200  # bytes that a change may save or cost, in fitting
COMPONENTS = 64  # of vectors
THRESHOLDS = (-60, -30, -15, -5, 20, 35, 50, 80)
Array = NDArray[np.float64]


class Module(NamedTuple):
    """The changes of a module: bytes saved, and what rows know of each."""

    project: str
    held_out: bool
    own_bytes: int
    saved: Array  # (n,)
    sizes: Array  # (n, S): by sizes, the first what they promise
    llvm: Array  # (n, F): of the first call, mean over those asked about; NaN where LLVM did not ask
    vectors: Array  # (n, 2 D): of caller and callee


def make_module(file: IRFile, rows: Sequence[dict[str, Any]], engine: SharedEngine, encoder: mirenc.Encoder) -> Module:
    """What there is to know of a module's changes."""
    ir = file.path.read_bytes()
    calls = calls_of(engine.text(ir))
    inlined = [not stays for stays in calls.kept(engine.text(ir, level("Oz")))]
    oz_sizes = weight(engine.compile(ir, level("Oz"))).functions
    nothing = calls.decided(dict.fromkeys(range(len(inlined)), False)).encode()
    solo = weight(engine.deciding.compile(nothing, level("Oz"))).functions
    place = {(call.caller, call.callee, call.number): row for row, call in enumerate(calls.calls)}
    changes = [tuple(place[call["caller"], call["callee"], call["number"]] for call in row["calls"]) for row in rows]
    promises = by_size(calls, State({}, tuple(inlined), oz_sizes, solo), changes)
    sizes = [
        [promise, *size_facts(calls, inlined, solo, change)] for promise, change in zip(promises, changes, strict=True)
    ]
    sites = llvm_facts(file.path, calls)
    llvm = [np.mean([sites[row] for row in change if row in sites] or [NOTHING], axis=0) for change in changes]
    embedding = encoder.embed_parts(file.path, level="function", purpose="features")
    row_of_name = {region.symbol: row for row, region in enumerate(embedding.regions)}
    middle = np.asarray(embedding.vector).mean(axis=0)

    def vector(name: str) -> Array:
        return np.asarray(embedding.vector[row_of_name[name]] if name in row_of_name else middle, dtype=np.float64)

    pairs = [calls.calls[change[0]] for change in changes]
    vectors = [np.concatenate([vector(pair.caller), vector(pair.callee)]) for pair in pairs]
    own_bytes = rows[0]["own_bytes"]
    saved = np.array([own_bytes - row["bytes"] for row in rows], dtype=np.float64)
    arrays = [np.array(values, dtype=np.float64) for values in (sizes, llvm, vectors)]
    return Module(file.project, file.held_out, own_bytes, saved, *arrays)


def size_facts(calls: Calls, inlined: Sequence[bool], solo: Mapping[str, int], change: Sequence[int]) -> list[float]:
    """Callee and caller alone, calls of the callee and how many LLVM inlines, those that change, whether it may go."""
    call = calls.calls[change[0]]
    same_callee = [row for row, item in enumerate(calls.calls) if item.callee == call.callee]
    into = sum(item.caller == call.caller for item in calls.calls)
    out = sum(item.caller == call.callee for item in calls.calls)
    counts = [len(same_callee), sum(inlined[row] for row in same_callee), len(change), into, out]
    sizes = [solo.get(call.callee, np.nan), solo.get(call.caller, np.nan)]
    return [*sizes, *counts, inlined[change[0]], call.callee in calls.local]


NAMES: list[str] = []  # of LLVM's features
NOTHING = np.full(38, np.nan)


def llvm_facts(path: Path, calls: Calls) -> dict[int, Array]:
    """Row of a call -> LLVM's features of it, as clang -Oz asks."""
    scratch = path.with_suffix(".scratch.o")
    words = ["clang-19", "-Oz", "-w", "-c", str(path), "-o", str(scratch)]
    features_of_pair: dict[tuple[str, str], list[Array]] = defaultdict(list)
    for site, _ in compile_asking(words, llvm_rule):
        features_of_pair[site.caller, site.callee].append(np.array(list(site.features.values()), dtype=np.float64))
        NAMES[:] = list(site.features)
    scratch.unlink()
    features_of_call = {}
    for row, call in enumerate(calls.calls):
        if len(features := features_of_pair[call.caller, call.callee]) > call.number:
            features_of_call[row] = features[call.number]
    return features_of_call


def fit_order(train: Sequence[Module], names: Sequence[str]) -> Callable[[Module], Array]:
    """A head on some blocks: the mean of three, of what a change saves; of vectors their principal components."""
    reduced = PCA(min(COMPONENTS, train[0].vectors.shape[1]), random_state=0)
    reduced.fit(np.concatenate([module.vectors for module in train]))

    def block(module: Module) -> Array:
        blocks = {"sizes": module.sizes, "llvm": module.llvm, "vectors": reduced.transform(module.vectors)}
        return np.concatenate([blocks[name] for name in names], axis=1)

    x = np.concatenate([block(module) for module in train])
    y = np.clip(np.concatenate([module.saved for module in train]), -MAX_BYTES, MAX_BYTES)
    weights = np.concatenate([np.full(len(item.saved), 1 / len(item.saved)) for item in train])  # a module counts once
    settings = {"max_iter": 300, "learning_rate": 0.05, "min_samples_leaf": 20, "max_features": 0.3}
    heads = [HistGradientBoostingRegressor(random_state=seed, **settings).fit(x, y, weights) for seed in range(3)]
    return lambda module: np.mean([head.predict(block(module)) for head in heads], axis=0)


def threshold(module: Module, limit: float) -> Array:
    """How far LLVM's estimate of the cost is on the other side of a limit than its decision."""
    cost, inlined = module.llvm[:, NAMES.index("cost_estimate")], module.sizes[:, -2]
    return np.where(np.isnan(cost), -np.inf, np.where(inlined > 0, cost - limit, limit - cost))


def log_gain(module: Module, order: Array) -> float:
    """Logarithm of what the best of the first saves; LLVM's own decisions are always there."""
    best = max(0.0, *module.saved[np.argsort(-order, kind="stable")[:FIRST]])
    return float(-np.log(1 - best / module.own_bytes))


def main() -> None:
    """Fit, order, count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("ir", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    modules, refused = read(arguments.ir, arguments.table)
    train, test = ([module for module in modules if module.held_out == is_held_out] for is_held_out in (False, True))
    rows: dict[str, Callable[[Module], Array]] = {
        "in random order": lambda module: np.random.default_rng(len(module.saved)).random(len(module.saved)),
        "what sizes promise": lambda module: module.sizes[:, 0],
    }
    for limit in THRESHOLDS:
        rows[f"cost below {limit}"] = lambda module, limit=limit: threshold(module, limit)  # type: ignore[misc]
    best = max(THRESHOLDS, key=lambda limit: np.mean([log_gain(module, threshold(module, limit)) for module in train]))
    heads = {
        "head, LLVM's features": ["llvm"],
        "head, vectors": ["vectors"],
        "head, LLVM's features and vectors": ["llvm", "vectors"],
        "head, sizes": ["sizes"],
        "head, sizes and LLVM's features": ["sizes", "llvm"],
        "head, sizes, LLVM's features, vectors": ["sizes", "llvm", "vectors"],
    }
    rows |= {name: fit_order(train, blocks) for name, blocks in heads.items()}
    rows["oracle"] = lambda module: module.saved
    group = np.array([module.project for module in test])
    baseline = np.array([log_gain(module, rows["what sizes promise"](module)) for module in test])
    share = np.array([log_gain(module, module.saved) for module in test]).mean()
    lines = [
        [
            f"{len(test)} modules of {len(set(group))} projects",
            f"best of {FIRST}, %",
            "of the oracle",
            "more than sizes",
        ]
    ]
    for name, order in rows.items():
        if name.startswith("cost") and name != f"cost below {best}":
            continue
        title = f"{name}, the best in training" if name.startswith("cost") else name
        gains = np.array([log_gain(module, order(module)) for module in test])
        lines.append([title, interval(gains, group), f"{gains.mean() / share:.2f}", interval(gains - baseline, group)])
    singles = Counter(module.held_out for module in modules)
    record = {
        "modules": {"training": singles[False], "held_out": singles[True], "refused": refused},
        "projects": len({module.project for module in modules}),
        "changes": sum(len(module.saved) for module in modules),
        "lines": lines,
    }
    arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def read(ir: Path, table: Path) -> tuple[list[Module], int]:
    """The modules with changes that are not random sets."""
    rows_by_stamp: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in pq.read_table(table / "changes.parquet").to_pylist():
        callees = {(call["callee"], call["inlined"]) for call in row["calls"]}
        if len(callees) == 1:
            rows_by_stamp[row["stamp"]].append(row)
    files = {file.stamp: file for file in find_ir([ir], table / "work", lambda: "clang-19", lambda _: None)}
    cache_file = table / "work" / "ordering.joblib"
    known_modules, NAMES[:] = joblib.load(cache_file) if cache_file.exists() else ({}, [])
    encoder = mirenc.load("mirenc-fast")
    with SharedEngine(19) as engine:
        try:
            for stamp, rows in track(rows_by_stamp.items(), "modules"):
                if stamp not in known_modules:
                    try:
                        known_modules[stamp] = make_module(files[stamp], rows, engine, encoder)
                    except MirencError:
                        known_modules[stamp] = None
        finally:
            joblib.dump((known_modules, NAMES), cache_file)
    modules = [known_modules[stamp] for stamp in rows_by_stamp]
    return [module for module in modules if module is not None], sum(module is None for module in modules)


def interval(logs: Array, group: NDArray[np.str_]) -> str:
    """Per cent, and its interval over projects."""
    low, high = group_interval(logs, group, statistic=lambda means: 1 - np.exp(-means))
    return f"{100 * (1 - np.exp(-logs.mean())):.2f} [{100 * low:.2f}, {100 * high:.2f}]"


if __name__ == "__main__":
    main()
