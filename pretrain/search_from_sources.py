"""Functions of a library's sources searched in an index of a build of it: how often the first answer is right.

What you get: `OUT.json`. For each library ten functions (those of the index whose hash is least, with ten instructions
and more in both builds, neither inline nor static): what the search showed for each, and whether its first answer was
the function itself; and of all functions of the sources, those that the index does not have included, the percentage
shown and the share that was right, in the mean and in each fifth of the answers.
On what: of each library two folders of IR (of the sources at -O0; of the build) and what a search printed, all by
clang and mirenc themselves:

    clang++-14 -O0 -S -emit-llvm ... -o OLD/x.ll ; clang++-19 -O2 -S -emit-llvm ... -o NEW/x.ll
    mirenc embed NEW --level function -o index.npz
    mirenc search OLD index.npz -k 1 -o found.csv
    python pretrain/search_from_sources.py pretrain/search_from_sources jsoncpp=OLD,NEW,found.csv ...
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from calibrate import fifths

LEAST, MOST = 10, 10
_FUNCTION = re.compile(r'^define ([^@\n]*)@("[^"]*"|[-\w$.]+)\([^\n]*\{\n(.*?)^\}', re.MULTILINE | re.DOTALL)
_LOCAL = ("linkonce", "weak", "internal", "private")


def functions_of(folder: Path) -> dict[str, tuple[str, int]]:
    """Linkage and attributes, and number of instructions, of each symbol that the IR of a folder defines."""
    functions: dict[str, tuple[str, int]] = {}
    for path in sorted(folder.glob("*.ll")):
        for signature, symbol, body in _FUNCTION.findall(path.read_text(encoding="utf-8")):
            functions.setdefault(symbol.strip('"'), (signature, len(re.findall(r"^  (?! )", body, re.MULTILINE))))
    return functions


def figures(old: Path, new: Path, results: Path) -> dict[str, Any]:
    """Of one library."""
    queries, index = functions_of(old), functions_of(new)
    with results.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["rank"] == "1"]
    first = {row["query_symbol"]: row for row in reversed(rows)}  # inline functions stand in several files
    such_functions = [
        symbol
        for symbol in queries.keys() & index.keys()
        if not any(word in queries[symbol][0] for word in _LOCAL) and min(queries[symbol][1], index[symbol][1]) >= LEAST
    ]
    queried = sorted(such_functions, key=lambda symbol: hashlib.sha256(symbol.encode()).digest())[:MOST]
    hits = {symbol: row["symbol"] == symbol for symbol, row in first.items()}
    chance = {symbol: float(row["right"]) for symbol, row in first.items()}
    return {
        "functions": {symbol: {"shown": round(chance[symbol], 4), "right": hits[symbol]} for symbol in queried},
        "right": sum(hits[symbol] for symbol in queried),
        "such_functions": [len(such_functions), sum(hits[symbol] for symbol in such_functions)],
        "in_index": [len(first.keys() & index.keys()), sum(hits[symbol] for symbol in first.keys() & index.keys())],
        "all": [len(first), round(float(np.mean([*chance.values()])), 4), round(float(np.mean([*hits.values()])), 4)],
        "fifths": fifths(np.array([*chance.values()]), np.array([*hits.values()])),
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="name of the record, without suffix")
    parser.add_argument("libraries", nargs="+", metavar="NAME=OLD,NEW,FOUND.csv")
    arguments = parser.parse_args()
    record = {}
    for library in arguments.libraries:
        name, _, paths = library.partition("=")
        record[name] = figures(*map(Path, paths.split(",")))
    arguments.out.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
