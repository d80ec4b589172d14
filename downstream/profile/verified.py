"""Whether IR with written probabilities is IR: LLVM's verifier, and mirenc that reads it back.

    python downstream/profile/verified.py OUT TABLE -o downstream/profile/verified.json --older FOLDER

Takes 1,000 files of OUT/SSA that have rows in TABLE (see worth.py), drawn by their names, and writes the table's
weights in place of their own. ``opt -passes=verify`` must take each, and `profiled_flow` must tell every weight
written. FOLDER has IR of clang 14, with typed pointers: there weights are drawn at random, and opt-14 must take them.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from labels import FailedError, call
from worth import Rows, read_table

from mirenc.base.arrays import Int64
from mirenc.base.progress import progress
from mirenc.decide.tables.table_folder import write_json
from mirenc.llvm import IRModule, read_ir
from mirenc.llvm.analysis.profile import profiled_flow
from mirenc.llvm.sources.ir_folder import digest
from mirenc.tools.profile.write_profile import predicted_weights, with_profile

FILES, SECONDS = 1000, 120.0
TOLERANCE = 1e-3  # how far a weight may be from what is predicted: they are whole numbers of a small sum
_PROF = re.compile(r"^( .*), !prof !\d+\b", re.MULTILINE)  # of a branch, not of a function: those tell how often it ran


def check(path: Path, rows: Rows | None, opt: str, target: Path) -> Counter[str]:
    """What is found of one file; without rows they are drawn."""
    module = read_ir(path)
    unweighted = _PROF.sub(r"\1", path.read_text(encoding="utf-8", errors="surrogateescape"))
    if rows is None:
        blocks = two_ways(module)
        rows = blocks, np.random.default_rng(digest(path.name)).random(len(blocks))
    text, count = with_profile(unweighted, module, predicted_weights(*rows))
    target.write_text(text, encoding="utf-8", errors="surrogateescape")
    counts = Counter(files=1, rows=len(rows[0]), branches=count)
    try:
        call([opt, "-passes=verify", "-disable-output", str(target)], SECONDS)
        counts["verified"] = 1
    except FailedError as error:
        print(f"{path}: {error}", file=sys.stderr)
    flow, arrays = profiled_flow(read_ir(target)), module.arrays
    if flow is not None:
        first, has_run = arrays.successor_start[rows[0]], flow.blocks[rows[0]] > 0
        share = flow.edges[first[has_run]] / flow.blocks[rows[0][has_run]]
        counts["told"] = int(flow.known[rows[0]].sum())
        counts["ran"] = int(has_run.sum())
        counts["right"] = int((np.abs(share - rows[1][has_run]) <= TOLERANCE).sum())
    return counts


def two_ways(module: IRModule) -> Int64:
    """Blocks that end with a branch of two ways."""
    arrays = module.arrays
    blocks = np.flatnonzero(np.diff(arrays.successor_start) == 2)
    ends = [module.forms[form].opcode for form in arrays.form[arrays.block_start[blocks + 1] - 1].tolist()]
    return blocks[[end == "br" for end in ends]]


def main(words: Sequence[str] | None = None) -> None:
    """Write, verify, and read back what is asked for on the command line, or in ``words``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--older", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args(words)
    rows = read_table(arguments.table)
    chosen = sorted(rows, key=lambda key: digest("/".join(key)))[:FILES]
    asks: dict[str, list[tuple[Path, Rows | None]]] = {
        "opt-19": [(arguments.out / "SSA" / project / f"{file}.ll", rows[project, file]) for project, file in chosen],
    }
    asks["opt-14"] = [(path, None) for path in sorted(arguments.older.rglob("*.ll"))]
    record: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder, progress("writing", sum(map(len, asks.values()))) as advance:
        for opt, files in asks.items():
            record[opt] = Counter()
            for path, rows_of_file in files:
                record[opt] += check(path, rows_of_file, opt, Path(folder, "written.ll"))
                advance()
    write_json(arguments.output, record)
    print(record)


if __name__ == "__main__":
    main()
