"""Exact labels of inlining: loaded bytes after single decisions, after all of one callee, after random sets of them.

    python downstream/inlining/labels.py WORK -o labels.jsonl

WORK as for saved.py. A line a file: project and file, whether it is held out, loaded bytes by LLVM's own decisions at
-Oz, and for each change the rows of its calls (`mirenc.inlining.calls_of`), whether LLVM inlines them, and the bytes
when they are decided the other way. Files come in an order that spreads over projects; it can be stopped at any time,
and the same command goes on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

from rich.progress import track

from mirenc.errors import MirencError
from mirenc.inlining import Decisions, calls_of
from mirenc.measure.passes.inputs import IRFile, find_ir
from mirenc.passes.installed import SharedEngine
from mirenc.passes.levels import level
from mirenc.passes.object_file import elf_sections, sums

RECIPE = Path(__file__).parents[1] / "passes" / "corpus.toml"
MOST_BYTES = 600_000  # of IR text
SINGLES, GROUPS, SETS = 30, 15, 4  # of a file, at most


def spread(files: list[IRFile]) -> list[IRFile]:
    """The projects in turns, each with its files in random order."""
    drawn = random.Random(0)
    of: dict[str, list[IRFile]] = defaultdict(list)
    for one in files:
        of[one.project].append(one)
    rows = [drawn.sample(group, len(group)) for _, group in sorted(of.items())]
    return [one for turn in itertools.zip_longest(*rows) for one in turn if one is not None]


def labels(engine: SharedEngine, text: str, seed: str) -> dict[str, Any]:
    """What a file's line says of its sizes; only the number of its calls where it has none."""
    calls = calls_of(text)
    if not calls.calls:
        return {"calls": 0}
    oz = level("Oz")

    def weigh(decisions: Decisions) -> int:
        made = engine.compile(calls.decided(decisions).encode("utf-8", "surrogateescape"), oz)
        return sums(elf_sections(made))["loaded_bytes"]

    own = weigh({})
    inlined = [not one for one in calls.kept(engine.text(text.encode("utf-8", "surrogateescape"), oz))]
    drawn = random.Random(seed)
    rows = range(len(inlined))
    of: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for row in rows:
        of[calls.calls[row].callee, inlined[row]].append(row)
    groups = [one for one in of.values() if len(one) > 1]
    changes = [[row] for row in drawn.sample(rows, min(SINGLES, len(rows)))]
    changes += drawn.sample(groups, min(GROUPS, len(groups)))
    if len(rows) > 4:
        changes += [sorted(drawn.sample(rows, drawn.randint(2, min(8, len(rows) // 2)))) for _ in range(SETS)]
    found = []
    for change in changes:
        try:
            found.append([change, weigh({row: not inlined[row] for row in change})])
        except MirencError:  # these decisions make it too large to compile
            continue
    return {"calls": len(rows), "own": own, "inlined": [row for row in rows if inlined[row]], "changes": found}


def main() -> None:
    """Label what is left."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    asked = parser.parse_args()
    files = [one for one in find_ir([RECIPE], asked.work, lambda: "clang-19", print) if small(one.path)]
    there = asked.output.read_text(encoding="utf-8").splitlines() if asked.output.exists() else []
    done = {json.loads(line)["stamp"] for line in there}
    with SharedEngine(19) as engine, asked.output.open("a", encoding="utf-8") as stream:
        for one in track([one for one in spread(files) if one.stamp not in done], "files"):
            facts = {"stamp": one.stamp, "project": one.project, "file": one.file, "held_out": one.held_out}
            try:
                facts |= labels(engine, one.path.read_bytes().decode("utf-8", "surrogateescape"), one.stamp)
            except MirencError as error:
                facts |= {"calls": 0, "problem": str(error)[:200]}
            stream.write(json.dumps(facts) + "\n")
            stream.flush()


def small(path: Path) -> bool:
    """Whether a file's labels take seconds, and not minutes."""
    return path.stat().st_size <= MOST_BYTES


if __name__ == "__main__":
    main()
