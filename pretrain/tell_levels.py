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
    compiled = [one for one in records.values() if one.status in ("ok", "duplicate") and one.opt_level in CLASSES]
    files: dict[str, set[str]] = defaultdict(set)
    for one in compiled:
        files[one.project].add(one.file)
    sample = {project: set(sorted(names, key=digest)[:cap]) for project, names in files.items()}
    builds = defaultdict(list)
    for one in compiled:
        if one.file in sample[one.project]:
            builds[one.sha256_of_ir].append(one)
    for place, origin in sorted(origins_of(folder).items()):
        sha256 = records[origin["project"], origin["file"], origin["opt_level"]].sha256_of_ir
        if sha256 in builds:
            yield folder / place, builds[sha256]


def measured(pairs: Path, cap: int) -> dict[str, Any]:
    """Figures of one folder."""
    modules: dict[str, Counter[str]] = defaultdict(Counter)  # level -> what it was told to be
    functions: dict[str, Counter[str]] = defaultdict(Counter)
    right: dict[str, dict[str, list[bool]]] = {"compilers": {}, "languages": {}, "levels": {}}
    projects, same, unread, reading, telling = set(), 0, 0, 0.0, 0.0
    for folder in sorted(path.parent for path in pairs.glob("*/log.jsonl")):
        for path, builds in builds_of(folder, cap):
            started = time.process_time()
            try:
                module = read_ir(path)
            except MirencError as error:
                print(error, file=sys.stderr)
                unread += 1
                continue
            read = time.process_time()
            level = level_of(module)
            detected_at = time.process_time()
            reading, telling = reading + read - started, telling + detected_at - read
            of_functions = levels_of_functions(module)
            for build in builds:
                is_right = level == CLASSES[build.opt_level]
                same += not is_right and level in {CLASSES[other.opt_level] for other in builds}
                projects.add(build.project)
                modules[build.opt_level][level] += 1
                functions[build.opt_level].update(of_functions)
                groups = (folder.name, build.language.removesuffix("+openmp"), build.opt_level)
                for kind, group in zip(right.values(), groups, strict=True):
                    kind.setdefault(group, []).append(is_right)
    everything = [is_right for group in right["levels"].values() for is_right in group]
    return {
        "projects": len(projects),
        **shares(everything),
        "same": same,
        "unread": unread,
        **{kind: {group: shares(hits) for group, hits in sorted(groups.items())} for kind, groups in right.items()},
        "modules": confusion(modules),
        "functions": {**function_shares(functions), "told": confusion(functions)},
        "share_of_reading": round(telling / reading, 4),
    }


def shares(right: list[bool]) -> dict[str, Any]:
    """Builds, and the share that is right."""
    return {"builds": len(right), "right": round(sum(right) / len(right), 4)}


def function_shares(answers: dict[str, Counter[str]]) -> dict[str, Any]:
    """Functions, and the share that is right, of all and by level."""
    right = {level: counter[CLASSES[level]] for level, counter in sorted(answers.items())}
    counts = {level: counter.total() for level, counter in sorted(answers.items())}
    by_level = {level: round(right[level] / count, 4) for level, count in counts.items()}
    return {
        "functions": sum(counts.values()),
        "right": round(sum(right.values()) / sum(counts.values()), 4),
        "levels": by_level,
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
        record[name] = measured(Path(folder), arguments.cap)
    out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
