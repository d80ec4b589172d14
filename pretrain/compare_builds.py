"""Pairs of `mirenc diff` with all names hidden, and its sizes beside nm's.

What you get: `OUT.json`, in which settings of earlier runs stay. For each setting (compiler and level of OLD and of
NEW), form and project: functions that both builds have, the share of them that is paired rightly, what share of the
pairs is right, functions of OLD that are gone and how many of those were paired all the same; whether the sizes of all
functions are those that ``nm -S`` prints for the same objects; seconds of the processor for the whole diff (a cold
cache, LLVM started, the model loaded), without the process that reads IR.

Only files that both builds have are compared. A function is the same where file and symbol were before names were
hidden; of inline functions and templates, which have a copy in each file, where the symbol was: of these, both builds
have as many as the one with fewer.
How long: a minute of one core for each 25,000 lines of IR.
On what: the folder that `compile_pairs.py` wrote, and ``nm``. A folder in the place of COMPILER may be any, so two
versions of a program can be compared, too.

    python pretrain/compare_builds.py PAIRS pretrain/builds --settings clang-14/O0:clang-19/O2 --forms plain auto

Names are hidden as in `compare_functions.py`: numbers in the order in which they are met.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from compare_functions import hidden_copy

from mirenc.base.errors import IRParseError
from mirenc.encoder import load
from mirenc.encoder.weights import search_model
from mirenc.llvm import read_ir
from mirenc.llvm.inputs.input import path_input
from mirenc.llvm.ir.functions import linkages_of, object_name
from mirenc.llvm.passes.find_llvm import EmbeddedEngine
from mirenc.llvm.passes.optimise import FORMS, Form
from mirenc.search.builds import Function, read_builds
from mirenc.search.diff import Change, pair_builds

_COPIES = ("linkonce", "linkonce_odr", "weak", "weak_odr")
Key = tuple[str, str]


class HiddenBuild:
    """Files of a project by one compiler at one level, hidden in a folder, and what its functions were called."""

    def __init__(self, folder: Path, copy: Path, files: set[Path]) -> None:
        self.folder = copy
        names = hidden_copy(folder, copy)
        self.files = [path for path in sorted(names) if path.relative_to(copy) in files]
        self.keys: dict[Key, Key] = {}  # (file, hidden symbol) -> (file, symbol), of copies ("", symbol)
        for path in self.files:
            file = path.relative_to(copy).as_posix()
            for hidden, linkage in linkages_of(read_ir(path)).items():
                self.keys[file, hidden] = ("" if linkage in _COPIES else file, names[path][hidden])

    def key(self, function: Function) -> Key:
        """What a function is known by."""
        return self.keys[function.file, function.symbol]


def sizes_agree(changes: list[Change], builds: tuple[HiddenBuild, HiddenBuild]) -> bool:
    """Whether each function's bytes are those of ``nm -S``, which prints no size of 0."""
    size_at: dict[tuple[int, str, str], int | None] = {}
    for change in changes:
        for side, function in enumerate((change.old, change.new)):
            if function:
                size_at[side, function.file, object_name(function.symbol)] = function.bytes
    nm_sizes: dict[tuple[int, str, str], int] = {}
    with tempfile.TemporaryDirectory() as folder, EmbeddedEngine() as engine:
        object_file = Path(folder, "made.o")
        for side, build in enumerate(builds):
            for path in build.files:
                try:
                    object_file.write_bytes(engine.compile(path.read_bytes(), ""))
                except IRParseError:  # text of an old LLVM
                    object_file.write_bytes(engine.compile(read_ir(path).text.encode(), ""))
                lines = subprocess.run(["nm", "-S", object_file], capture_output=True, text=True, check=True).stdout
                for words in map(str.split, lines.splitlines()):
                    if len(words) == 4:
                        nm_sizes[side, path.relative_to(build.folder).as_posix(), words[3]] = int(words[1], 16)
    return all(nm_sizes.get(place, 0) == (size or 0) for place, size in size_at.items())


def figures(changes: list[Change], builds: tuple[HiddenBuild, HiddenBuild]) -> dict[str, Any]:
    """What was right of one diff."""
    old_changes = [change for change in changes if change.old]
    pairs = [change for change in old_changes if change.new]
    keys = [Counter(build.keys.values()) for build in builds]
    common = (keys[0] & keys[1]).total()
    right = sum(builds[0].key(change.old) == builds[1].key(change.new) for change in pairs if change.old and change.new)
    return {
        "both": common,
        "right": right,
        "share": right / common,
        "precision": right / max(len(pairs), 1),
        "gone": len(old_changes) - common,
        "gone_paired": sum(builds[0].key(change.old) not in keys[1] for change in pairs if change.old),
        "sizes_as_nm": sizes_agree(changes, builds),
    }


def measured(pairs: Path, setting: str, form: Form | None, projects: list[str], model: str) -> dict[str, Any]:
    """All projects of one setting, in one form; None: what `mirenc diff` takes by itself."""
    rows: dict[str, Any] = {}
    sides = [Path(*side.split("/")) for side in setting.split(":")]
    roots = [(pairs / compiler, level) for compiler, level in (side.parts for side in sides)]
    names = set.intersection(*({path.parent.name for path in root.glob(f"*/{level}")} for root, level in roots))
    for project in sorted(names & set(projects) if projects else names):
        folders = [root / project / level for root, level in roots]
        files = set.intersection(*({path.relative_to(base) for path in base.rglob("*.ll")} for base in folders))
        if not files:
            continue
        with tempfile.TemporaryDirectory() as folder:
            old, new = (HiddenBuild(base, Path(folder, str(number)), files) for number, base in enumerate(folders))
            cpu = sum(os.times()[:4])
            encoder = load(model, hide_names=True, cache=Path(folder, "cache"))
            inputs = [(str(build.folder), [path_input(path) for path in build.files]) for build in (old, new)]
            with EmbeddedEngine() as engine:
                read_pair = read_builds(encoder, inputs, engine, _stop, print, form=form)
            changes = pair_builds(read_pair[0], read_pair[1], hide_names=True)
            cpu_spent = sum(os.times()[:4]) - cpu
            rows[project] = figures(changes, (old, new))
            rows[project] |= {"form": read_pair[0].form, "cpu_seconds": round(cpu_spent, 2)}
            print(setting, form or "auto", project, rows[project], file=sys.stderr)
    shares = [row["share"] for row in rows.values()]
    return {
        "projects": rows,
        "share": sum(row["right"] for row in rows.values()) / sum(row["both"] for row in rows.values()),
        "mean_share": float(np.mean(shares)),
        "at_least_95": sum(share >= 0.95 for share in shares),
        "sizes_as_nm": all(row["sizes_as_nm"] for row in rows.values()),
    }


def _stop(error: Exception) -> None:
    raise error


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="folder with COMPILER/PROJECT/LEVEL")
    parser.add_argument("out", type=Path, help="name of the results, without suffix")
    parser.add_argument("--settings", nargs="+", default=["clang-14/O0:clang-19/O2"], help="COMPILER/LEVEL, both sides")
    parser.add_argument("--forms", nargs="+", choices=["auto", *FORMS], default=["auto"], help="of diff")
    parser.add_argument("--projects", nargs="*", default=[], help="these only")
    parser.add_argument("--model", default=search_model("function"), help="name or folder")
    arguments = parser.parse_args()
    settings = {}
    for setting, form in itertools.product(arguments.settings, arguments.forms):
        fixed_form = None if form == "auto" else form
        settings[f"{setting} {form}"] = measured(
            arguments.pairs, setting, fixed_form, arguments.projects, arguments.model
        )
    out = arguments.out.with_suffix(".json")
    recorded = json.loads(out.read_text(encoding="utf-8"))["settings"] if out.is_file() else {}
    record = {"model": load(arguments.model).name, "settings": recorded | settings}
    out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
