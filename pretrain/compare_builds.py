"""Pairs of `mirenc diff` with all names hidden, its sizes beside nm's, and how far vectors drift between builds.

What you get: `OUT.json`. For each setting (compiler and level of OLD and of NEW) and project: functions that both
builds have, the share of them that is paired rightly, what share of the pairs is right, functions of OLD that are gone
and how many of those were paired all the same; whether the sizes of all functions are those that ``nm -S`` prints for
the same objects; seconds of the whole diff (a cold cache, LLVM started, the model loaded), by the clock and of the
processor, there without the process that reads IR. And the drift: the mean cosine, not centred, of a function in both
builds, and of it and another one there.

A function is the same where file and symbol were before names were hidden; of inline functions and templates, which
have a copy in each file, where the symbol was.
How long: a minute of one core for each 25,000 lines of IR.
On what: the folder that `compile_pairs.py` wrote, and ``nm``.

    python pretrain/compare_builds.py PAIRS pretrain/builds --settings clang-14/O2:clang-19/O2

Names are hidden as in `compare_functions.py`: numbers in the order in which they are met.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from compare_functions import hidden_copy

from mirenc.cosines import compare
from mirenc.embed import Encoder, load
from mirenc.errors import IRParseError
from mirenc.ir import read_ir
from mirenc.ir.functions import linkages_of, object_name
from mirenc.ir.inputs import path_input
from mirenc.passes import EmbeddedEngine
from mirenc.search import index
from mirenc.search.diff import Change, Function, pair_builds, read_build
from mirenc.weights import search_model

_COPIES = ("linkonce", "linkonce_odr", "weak", "weak_odr")
Key = tuple[str, str]


class HiddenBuild:
    """A project by one compiler at one level, hidden in a folder, and what its functions were called."""

    def __init__(self, folder: Path, copy: Path) -> None:
        self.folder = copy
        names = hidden_copy(folder, copy)
        self.files = sorted(names)
        self.keys: dict[Key, Key] = {}  # (file, hidden symbol) -> (file, symbol), of copies ("", symbol)
        for path, called in names.items():
            for hidden, linkage in linkages_of(read_ir(path)).items():
                file = path.relative_to(copy).as_posix()
                self.keys[file, hidden] = ("" if linkage in _COPIES else file, called[hidden])

    def key(self, one: Function) -> Key:
        """What a function is known by."""
        return self.keys[one.file, one.symbol]


def sizes_agree(changes: list[Change], builds: tuple[HiddenBuild, HiddenBuild]) -> bool:
    """Whether each function's bytes are those of ``nm -S``, which prints no size of 0."""
    found: dict[tuple[int, str, str], int | None] = {}
    for one in changes:
        for side, function in enumerate((one.old, one.new)):
            if function:
                found[side, function.file, object_name(function.symbol)] = function.bytes
    printed: dict[tuple[int, str, str], int] = {}
    with tempfile.TemporaryDirectory() as folder, EmbeddedEngine() as engine:
        made = Path(folder, "made.o")
        for side, build in enumerate(builds):
            for path in build.files:
                try:
                    made.write_bytes(engine.compile(path.read_bytes(), ""))
                except IRParseError:  # text of an old LLVM
                    made.write_bytes(engine.compile(read_ir(path).text.encode(), ""))
                lines = subprocess.run(["nm", "-S", made], capture_output=True, text=True, check=True).stdout
                for words in map(str.split, lines.splitlines()):
                    if len(words) == 4:
                        printed[side, path.relative_to(build.folder).as_posix(), words[3]] = int(words[1], 16)
    return all(printed.get(place, 0) == (size or 0) for place, size in found.items())


def figures(changes: list[Change], builds: tuple[HiddenBuild, HiddenBuild]) -> dict[str, Any]:
    """What was right of one diff."""
    there = {builds[1].key(one.new) for one in changes if one.new}
    of_old = [one for one in changes if one.old]
    both = [one for one in of_old if one.old and builds[0].key(one.old) in there]
    pairs = [one for one in of_old if one.new]
    right = sum(builds[0].key(one.old) == builds[1].key(one.new) for one in pairs if one.old and one.new)
    return {
        "both": len(both),
        "right": right,
        "share": right / len(both),
        "precision": right / max(len(pairs), 1),
        "gone": len(of_old) - len(both),
        "gone_paired": len(pairs) - sum(one.new is not None for one in both),
        "sizes_as_nm": sizes_agree(changes, builds),
    }


def drift(encoder: Encoder, builds: tuple[HiddenBuild, HiddenBuild]) -> tuple[list[float], list[float]]:
    """Cosines of each function with itself in the other build, and means of those with the others there."""
    tables = [index(encoder, build.files, level="function") for build in builds]
    keys = []
    for build, table in zip(builds, tables, strict=True):
        places = [Path(file).relative_to(build.folder).as_posix() for file in table.files]
        keys.append([build.keys[place] for place in zip(places, table.labels["symbol"], strict=True)])
    column = {key: at for at, key in enumerate(keys[1])}
    matrix = compare(tables[0].vectors, tables[1].vectors)
    same = [(row, column[key]) for row, key in enumerate(keys[0]) if key in column]
    own = [float(matrix[row, at]) for row, at in same]
    return own, [float((matrix[row].sum() - matrix[row, at]) / max(matrix.shape[1] - 1, 1)) for row, at in same]


def measured(pairs: Path, setting: str, projects: list[str], model: str) -> dict[str, Any]:
    """All projects of one setting."""
    rows: dict[str, Any] = {}
    own: list[float] = []
    others: list[float] = []
    sides = [Path(*side.split("/")) for side in setting.split(":")]
    roots = [(pairs / compiler, level) for compiler, level in (side.parts for side in sides)]
    both = set.intersection(*({path.parent.name for path in root.glob(f"*/{level}")} for root, level in roots))
    for project in sorted(both & set(projects) if projects else both):
        with tempfile.TemporaryDirectory() as folder:
            one, two = (
                HiddenBuild(root / project / level, Path(folder, f"side{number}"))
                for number, (root, level) in enumerate(roots)
            )
            builds = (one, two)
            started, cpu = time.monotonic(), sum(os.times()[:4])
            encoder = load(model, hide_names=True, cache=Path(folder, "cache"))
            with EmbeddedEngine() as engine:
                read = [
                    read_build(encoder, str(build.folder), map(path_input, build.files), engine, _stop, print)
                    for build in builds
                ]
            changes = pair_builds(read[0], read[1], hide_names=True)
            seconds, used = time.monotonic() - started, sum(os.times()[:4]) - cpu
            rows[project] = figures(changes, builds)
            rows[project] |= {"seconds": seconds, "cpu_seconds": used}
            print(setting, project, rows[project], file=sys.stderr)
            more = drift(encoder, builds)
            own += more[0]
            others += more[1]
    shares = [row["share"] for row in rows.values()]
    return {
        "projects": rows,
        "share": sum(row["right"] for row in rows.values()) / sum(row["both"] for row in rows.values()),
        "mean_share": float(np.mean(shares)),
        "at_least_95": sum(share >= 0.95 for share in shares),
        "sizes_as_nm": all(row["sizes_as_nm"] for row in rows.values()),
        "longest": {name: max(row[name] for row in rows.values()) for name in ("seconds", "cpu_seconds")},
        "drift": {"functions": len(own), "same": float(np.mean(own)), "other": float(np.mean(others))},
    }


def _stop(error: Exception) -> None:
    raise error


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="folder with COMPILER/PROJECT/LEVEL")
    parser.add_argument("out", type=Path, help="name of the results, without suffix")
    parser.add_argument("--settings", nargs="+", default=["clang-14/O2:clang-19/O2"], help="COMPILER/LEVEL, both sides")
    parser.add_argument("--projects", nargs="*", default=[], help="these only")
    parser.add_argument("--model", default=search_model("function"), help="name or folder")
    given = parser.parse_args()
    found = {setting: measured(given.pairs, setting, given.projects, given.model) for setting in given.settings}
    record = {"model": load(given.model).name, "settings": found}
    given.out.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
