"""Exact bytes of modules whose calls are decided other than LLVM does.

    python downstream/inlining/labels.py SOURCES -o TABLE

SOURCES are those of ``mirenc label``; stopped, the same command goes on. Of each module: -Oz as it is, single
decisions the other way, all calls of one function that LLVM decides alike, and random sets. A line of the journal is a
module; the table, ``changes.parquet``, has a row for each change.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mirenc import __version__
from mirenc.base.errors import IRFileError, MirencError, TaskError
from mirenc.base.progress import progress
from mirenc.base.writing import only_one
from mirenc.decide.tables.table_folder import MACHINE, write_json, write_parquet
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.pass_lists import level
from mirenc.tools.inline import Calls, Decisions, calls_of
from mirenc.tools.inline.trial import weight
from mirenc.tools.measure.passes.inputs import FLAGS, IRFile, find_ir
from mirenc.tools.measure.passes.run import EngineRun
from mirenc.tools.run.compilers import clang_of
from mirenc.tools.run.run_folder import Journal, Plan, one_line

FORMAT = 1
LARGE = 600_000  # bytes of a module's file: larger ones take minutes each
_SINGLES, _GROUPS, _SETS, _LARGEST = 30, 15, 4, 8  # changes of a module, at most; and calls of a random set
_AHEAD = 2  # modules that wait for each job


class InliningRun(EngineRun):
    """Labelling into a folder, which is there: ``plan.modules`` of the sources, in turns over their projects."""

    def prepare(self) -> None:
        """Find and compile the modules. A `ConfigError`: another setup's run is here; a `TaskError`: no module."""
        self.unread = 0  # modules that LLVM cannot read or compile, of those labelled now
        self.work.mkdir(exist_ok=True)
        with self.make_engine() as engine:
            version, name = engine.version, engine.name
        self.setup = {"format": FORMAT, "engine": name, "flags": [*FLAGS, *self.plan.cflags], "seed": self.plan.seed}
        self.journal = _Modules(self.work / "inlining.jsonl", self.setup)
        clang, reports = partial(clang_of, version, self.plan.compiler), (self.report, self.failed)
        facts: dict[str, Any] = {"cflags": self.plan.cflags, "held_out": self.plan.held_out, "jobs": self.plan.jobs}
        modules = find_ir(self.plan.sources, self.work, clang, *reports, **facts)
        small = [file for file in modules if file.path.stat().st_size <= LARGE]
        if len(small) < len(modules):
            self.report(f"{len(modules) - len(small)} modules are left out: more than {LARGE:,} bytes")
        if not small:
            raise TaskError("the sources have no module. Give folders of C, C++ or IR")
        self.files = list(itertools.islice(_interleaved(small, self.plan.seed), self.plan.modules))

    @property
    def left(self) -> list[IRFile]:
        """Modules that are not labelled yet."""
        return [file for file in self.files if file.stamp not in self.journal.known]

    def measure(self, advance: Callable[..., None]) -> None:
        for file, facts in self.beside(self._label, self.in_time(self.left), _AHEAD * self.plan.jobs):
            origin = {"stamp": file.stamp, "project": file.project, "file": file.file, "held_out": file.held_out}
            self.journal.add(origin | facts)
            if problem := facts.get("problem"):
                self.failed(IRFileError(f"{file.path}: {problem}"))
                self.unread += 1
            advance(note=file.project)

    def _label(self, file: IRFile) -> dict[str, Any]:
        try:
            return self._labels(file.path.read_bytes(), f"{self.plan.seed} {file.stamp}")
        except MirencError as error:
            return {"problem": one_line(str(error))}

    def _labels(self, ir: bytes, seed: str) -> dict[str, Any]:
        engine, oz = self.engine, level("Oz")
        calls = calls_of(engine.text(ir))

        def weigh(decisions: Decisions) -> int:
            return weight(engine.deciding.compile(calls.decided(decisions).encode(), oz)).loaded_bytes

        oz_bytes = weigh({})
        inlined = [not stays for stays in calls.kept(engine.text(ir, oz))] if calls.calls else []
        changes = []
        for rows in _changes(calls, inlined, random.Random(seed)):
            try:
                size = weigh({row: not inlined[row] for row in rows})
            except MirencError:  # these decisions make it too large to compile
                continue
            changed = [{**calls.calls[row]._asdict(), "inlined": inlined[row]} for row in rows]
            changes.append({"calls": changed, "bytes": size})
        return {"own_bytes": oz_bytes, "calls": len(inlined), "inlined": sum(inlined), "changes": changes}

    def save(self) -> Mapping[str, Any]:
        """Write the table, and return its record."""
        import pyarrow as pa

        call = pa.struct({"caller": pa.string(), "callee": pa.string(), "number": pa.int32(), "inlined": pa.bool_()})
        words = {name: pa.string() for name in ("project", "file", "stamp")}
        sizes = {"own_bytes": pa.int32(), "bytes": pa.int32()}
        schema = pa.schema({**words, "held_out": pa.bool_(), "calls": pa.list_(call), **sizes})
        modules = [data for ir in self.files if (data := self.journal.known.get(ir.stamp)) and "own_bytes" in data]
        rows = [{**module, **change} for module in modules for change in module["changes"]]
        write_parquet(self.folder / "changes.parquet", pa.Table.from_pylist(rows, schema))
        record = {
            "task": "inlining",
            **self.setup,
            "version": __version__,
            "sources": [source.resolve().name for source in self.plan.sources],
            "projects": len({module["project"] for module in modules}),
            "held_out_projects": sorted({module["project"] for module in modules if module["held_out"]}),
            "modules": len(modules),
            "modules_with_calls": sum(module["calls"] > 0 for module in modules),
            "calls": sum(module["calls"] for module in modules),
            "inlined": sum(module["inlined"] for module in modules),
            "changes": len(rows),
            "single_changes": sum(len(row["calls"]) == 1 for row in rows),
            "smaller": sum(row["bytes"] < row["own_bytes"] for row in rows),
            "problems": sum("problem" in entry for entry in self.journal.known.values()),
            "left": len(self.left),
        }
        write_json(self.folder / MACHINE, record)
        return record


class _Modules(Journal):
    """What is known of modules, by the state of their files."""

    def __init__(self, path: Path, setup: dict[str, Any]) -> None:
        self.known: dict[str, dict[str, Any]] = {}
        super().__init__(path, setup)

    def take(self, values: dict[str, Any]) -> None:
        self.known[values["stamp"]] = values

    def add(self, values: dict[str, Any]) -> None:
        self.write(values)
        self.take(values)


def _changes(calls: Calls, inlined: list[bool], rng: random.Random) -> Iterator[list[int]]:
    rows = range(len(inlined))
    rows_by_callee: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for row in rows:
        rows_by_callee[calls.calls[row].callee, inlined[row]].append(row)
    groups = [group for group in rows_by_callee.values() if len(group) > 1]
    yield from ([row] for row in rng.sample(rows, min(_SINGLES, len(rows))))
    yield from rng.sample(groups, min(_GROUPS, len(groups)))
    for _ in range(_SETS if len(rows) > 4 else 0):
        yield sorted(rng.sample(rows, rng.randint(2, min(_LARGEST, len(rows) // 2))))


def _interleaved(files: list[IRFile], seed: int) -> Iterator[IRFile]:
    """The projects in turns, each with its files in random order, so that a run that is stopped has seen all."""
    rng = random.Random(seed)
    files_of_project: dict[str, list[IRFile]] = defaultdict(list)
    for file in files:
        files_of_project[file.project].append(file)
    rows = [rng.sample(group, len(group)) for _, group in sorted(files_of_project.items())]
    return (file for turn in itertools.zip_longest(*rows) for file in turn if file is not None)


def main(words: Sequence[str] | None = None) -> None:
    """Label what is asked for on the command line, or in ``words``."""
    parser = argparse.ArgumentParser(description="Exact bytes of modules under changed inlining decisions.")
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--modules", type=int, default=2_010, help="at most so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--held-out", default="", help="projects to be tested on only, as lua,zlib")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args(words)
    held_out = tuple(arguments.held_out.split(",")) if arguments.held_out else ()
    plan = Plan(tuple(arguments.sources), arguments.seed, arguments.jobs, modules=arguments.modules, held_out=held_out)
    run = InliningRun(plan, arguments.output, lambda: SharedEngine(19), say, say)
    with only_one(arguments.output):
        run.prepare()
        say(f"{len(run.files) - len(run.left)} of {len(run.files)} modules are there already")
        try:
            with progress("inlining, modules", len(run.left)) as advance:
                run.go(advance)
        finally:
            record = run.save()
    changes = f"{record['changes']} changes of decisions, {record['smaller']} of them smaller than -Oz"
    say(f"{record['modules']} modules of {record['projects']} projects; {changes}; {record['left']} left")


def say(line: object) -> None:
    """A line of the log, on stderr."""
    print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
