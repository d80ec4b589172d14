"""How often `mirenc.llvm.analysis.detect_level` tells at which level IR was compiled.

What you get: `OUT.json`. For each folder that is given: projects, builds (a source at a level by a compiler) and the
share of them that is told rightly, for all and by compiler, language and level; what each level is told to be, of
modules and of functions; and CPU time, as a share of that for reading without LLVM's. What the file says of other
folders stays.

-O3 counts as -O2, -Oz as -Os. A build whose IR is that of another one counts as often as it was made: ``same`` are the
builds told wrongly whose IR a compiler also made, byte for byte, at the level that was told, so that nothing in it
could tell. Of a function, the right level is that of its build.
How long: a minute of one core for each 25,000 lines of IR.
On what: folders that `compile_pairs.py` wrote; for IR with debug information, of a recipe with `flags = ["-g"]`.
`levels.json` is of three sources of each project of `debian-unseen.toml` and `debian-unseen-more.toml` that compiled
(clang-14, clang-19), two of ten of them with -g (debug), and up to eight each of three projects in Fortran and eight in
Rust (others).

    python pretrain/tell_levels.py pretrain/levels clang-19=PAIRS debug=PAIRS_G --cap 8
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mirenc.base.errors import MirencError
from mirenc.llvm import read_ir
from mirenc.llvm.analysis.detect_level import level_of, levels_of_functions
from mirenc.llvm.sources.ir_folder import IRRecord, digest, origins_of

CLASSES = {"O0": "O0", "O1": "O1", "O2": "O2", "O3": "O2", "Os": "Os", "Oz": "Os"}


def builds_of(folder: Path, cap: int) -> Iterator[tuple[Path, list[IRRecord]]]:
    """Each file of IR of a compiler, and the builds whose IR it is: its own, and what the log calls its duplicates.

    Of each project the first ``cap`` sources, in an order that depends on nothing but their names.
    """
    # Read here, since `IRFolder` opens its log to write.
    with (folder / "log.jsonl").open(encoding="utf-8") as log:
        records = {record.key: record for record in (IRRecord(**json.loads(line)) for line in log)}
    compiled = [item for item in records.values() if item.status in ("ok", "duplicate") and item.opt_level in CLASSES]
    files: dict[str, set[str]] = defaultdict(set)
    for build in compiled:
        files[build.project].add(build.file)
    sample = {project: set(sorted(names, key=digest)[:cap]) for project, names in files.items()}
    builds = defaultdict(list)
    for build in compiled:
        if build.file in sample[build.project]:
            builds[build.sha256_of_ir].append(build)
    for place, origin in sorted(origins_of(folder).items()):
        sha256 = records[origin["project"], origin["file"], origin["opt_level"]].sha256_of_ir
        if sha256 in builds:
            yield folder / place, builds[sha256]


def level_figures(pairs: Path, cap: int) -> dict[str, Any]:
    """Figures of one folder."""
    modules: dict[str, Counter[str]] = defaultdict(Counter)  # level -> what it was told to be
    functions: dict[str, Counter[str]] = defaultdict(Counter)
    outcomes: dict[str, dict[str, list[bool]]] = {"compilers": {}, "languages": {}, "levels": {}}
    projects, shared_ir, unread, reading, telling = set(), 0, 0, 0.0, 0.0
    for folder in sorted(path.parent for path in pairs.glob("*/log.jsonl")):
        for path, builds in builds_of(folder, cap):
            start = time.process_time()
            try:
                module = read_ir(path)
            except MirencError as error:
                print(error, file=sys.stderr)
                unread += 1
                continue
            read_end = time.process_time()
            level = level_of(module)
            level_end = time.process_time()
            reading, telling = reading + read_end - start, telling + level_end - read_end
            function_levels = levels_of_functions(module)
            for build in builds:
                is_right = level == CLASSES[build.opt_level]
                shared_ir += not is_right and level in {CLASSES[twin.opt_level] for twin in builds}
                projects.add(build.project)
                modules[build.opt_level][level] += 1
                functions[build.opt_level].update(function_levels)
                groups = (folder.name, build.language.removesuffix("+openmp"), build.opt_level)
                for kind, group in zip(outcomes.values(), groups, strict=True):
                    kind.setdefault(group, []).append(is_right)
    everything = [is_right for group in outcomes["levels"].values() for is_right in group]
    return {
        "projects": len(projects),
        **shares(everything),
        "same": shared_ir,
        "unread": unread,
        **{kind: {group: shares(hits) for group, hits in sorted(groups.items())} for kind, groups in outcomes.items()},
        "modules": confusion(modules),
        "functions": {**function_shares(functions), "told": confusion(functions)},
        "share_of_reading": round(telling / reading, 4),
    }


def shares(outcomes: list[bool]) -> dict[str, Any]:
    """Builds, and the share that is right."""
    return {"builds": len(outcomes), "right": round(sum(outcomes) / len(outcomes), 4)}


def function_shares(answers: dict[str, Counter[str]]) -> dict[str, Any]:
    """Functions, and the share that is right, of all and by level."""
    right_counts = {level: counter[CLASSES[level]] for level, counter in sorted(answers.items())}
    counts = {level: counter.total() for level, counter in sorted(answers.items())}
    share_of_level = {level: round(right_counts[level] / count, 4) for level, count in counts.items()}
    return {
        "functions": sum(counts.values()),
        "right": round(sum(right_counts.values()) / sum(counts.values()), 4),
        "levels": share_of_level,
    }


def confusion(answers: dict[str, Counter[str]]) -> dict[str, dict[str, int]]:
    """Level -> what it was told to be -> how often."""
    return {level: dict(sorted(counter.items())) for level, counter in sorted(answers.items())}


def main(words: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="name of the results, without suffix")
    parser.add_argument("pairs", nargs="+", metavar="NAME=PAIRS", help="folder with COMPILER/log.jsonl, and its name")
    parser.add_argument("--cap", type=int, default=sys.maxsize, help="at most so many sources of a project")
    arguments = parser.parse_args(words)
    out = arguments.out.with_suffix(".json")
    record = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    for name, folder in (word.split("=", 1) for word in arguments.pairs):
        record[name] = level_figures(Path(folder), arguments.cap)
    out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
