"""A run of ``mirenc label``: label pieces in parallel until all are done or the time is up."""

import json
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from mirenc.base.errors import ConfigError, IRFileError, IRParseError, MirencError, PassError, TaskError
from mirenc.decide.tables.compiled import FORMAT, CompiledTable, PassList, write_piece_ir
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.tools.measure.passes.choosing import Chosen, Texts, choose, scan_all
from mirenc.tools.measure.passes.inputs import FLAGS, find_ir
from mirenc.tools.measure.passes.labels import LEVELS, Record, Records, compiled_table, label
from mirenc.tools.run.compilers import clang_of
from mirenc.tools.run.run_folder import Plan, Run, one_line

_MAX_LISTED = 3  # files of another table that are named
_QUEUED = 2  # pieces that wait for each job
_LISTS = Path(__file__).with_name("lists.json")


def pass_lists(count: int) -> list[PassList]:
    """So many of the lists that mirenc has, 100 at most: -Oz first, and of each kind (`PassList.kind`) its share."""
    lists = [PassList(**entry) for entry in json.loads(_LISTS.read_text(encoding="utf-8"))]
    return [lists[index * len(lists) // count] for index in range(count)]


class EngineRun(Run):
    """A run with an LLVM for each job, into an existing folder.

    ``make_engine`` gives each job a new engine. ``report`` is told what is left out, ``failed`` what cannot be read.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        make_engine: Callable[[], SharedEngine],
        report: Callable[[str], None],
        failed: Callable[[MirencError], None] = lambda error: None,
    ) -> None:
        super().__init__(plan, folder)
        self.make_engine, self.report, self.failed = make_engine, report, failed
        self._thread = threading.local()
        self._engines: list[SharedEngine] = []

    @property
    def engine(self) -> SharedEngine:
        """The engine of this job."""
        if not hasattr(self._thread, "engine"):  # its first work
            self._thread.engine = self.make_engine()
            self._engines.append(self._thread.engine)
        return cast(SharedEngine, self._thread.engine)

    def close(self) -> None:
        for engine in self._engines:
            engine.close()
        self._engines, self._thread = [], threading.local()


class PassRun(EngineRun):
    """Labelling of pieces: functions and modules."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # Files of IR, those that cannot be read, and those without a function body; known after `prepare`.
        self.files = self.unread = self.empty = 0
        self.pieces: tuple[Chosen, ...] = ()  # all that were asked for
        self._names = [source.resolve().name for source in self.plan.sources]  # however they were typed

    def prepare(self) -> None:
        """Compile, scan, choose. A `ConfigError`: another setup's run is here; a `TaskError`: no piece."""
        plan = self.plan
        self.work.mkdir(exist_ok=True)
        with self.make_engine() as engine:
            name, version = engine.name, engine.version
        self.setup: dict[str, Any] = {
            "format": FORMAT,
            "engine": name,
            "llvm": version,
            "flags": [*FLAGS, *plan.cflags],
            "pipelines": {name: level.pipeline for name, level in LEVELS.items()},
            "list_count": plan.lists,
            "seed": plan.seed,
        }
        self.journal = Records(self.work / "labels.jsonl", self.setup)
        self._check_sources()
        clang, callbacks = partial(clang_of, version, plan.compiler), (self.report, self.failed)
        facts: dict[str, Any] = {"cflags": plan.cflags, "held_out": plan.held_out, "jobs": plan.jobs}
        files = find_ir(plan.sources, self.work, clang, *callbacks, **facts)
        self.files = len(files)
        self._check_files({(file.project, file.file) for file in files})
        self.report(f"{len(files)} files of IR; those that are new are read")
        scans = scan_all(files, self.work, jobs=plan.jobs)
        problems = [scan.problem for scan in scans if scan.problem]
        self.unread = len(problems)
        for problem in problems:
            self.failed(IRFileError(problem))
        self.empty = sum(not scan.candidates for scan in scans) - self.unread
        self.choice = choose(files, scans, functions=plan.functions, modules=plan.modules, seed=plan.seed)
        self.pieces = self.choice.pieces
        if not self.pieces:
            reason = "the sources have no function that is large enough to decide about"
            raise TaskError(f"{reason}. Give more of them")
        self.texts = Texts(self.work / "pieces", self.pieces)
        self.lists = pass_lists(plan.lists)
        changed_names = {name for name, _ in self.journal.records}.intersection(piece.name for piece in self.left)
        if changed_names:
            self.report(f"{len(changed_names)} pieces are measured again: their IR is not what it was")

    def _check_sources(self) -> None:
        """Raise ConfigError if this run would replace a table that has other sources."""
        path = self.folder / "machine.json"
        old_sources = json.loads(path.read_text(encoding="utf-8"))["sources"] if path.is_file() else []
        if set(old_sources) - set(self._names):
            raise self._conflict(old_sources)

    def _check_files(self, files: set[tuple[str, str]]) -> None:
        """Raise ConfigError if a project would be replaced by another of its name; report missing files."""
        old_files = {(record.project, record.file) for record in self.journal.records.values()}
        absent = sorted(old_files - files)
        for project in sorted({project for project, _ in absent}):
            if not any(entry[0] == project for entry in old_files & files):
                raise self._conflict([f"{project}/{file}" for owner, file in absent if owner == project][:_MAX_LISTED])
        if absent:
            self.report(f"{len(absent)} files of the table are gone, and so are their pieces, as {'/'.join(absent[0])}")
        if not old_files and (self.folder / "pieces.parquet").exists():
            self.report(f"{self.work / 'labels.jsonl'} is not there: everything is measured again")

    def _conflict(self, names: Sequence[str]) -> ConfigError:
        return ConfigError(
            f"{self.folder} has a table of {', '.join(names)}, which {', '.join(self._names)} would replace. "
            "Name another folder with -o, or give all sources in one command"
        )

    @property
    def left(self) -> list[Chosen]:
        """Pieces that are not labelled yet."""
        return [piece for piece in self.pieces if self._record(piece) is None]

    def _record(self, piece: Chosen) -> Record | None:
        """None: not finished, or of a file that has changed since."""
        return self.journal.records.get((piece.name, piece.source.stamp))

    def measure(self, advance: Callable[..., None]) -> None:
        for piece, record in self.beside(self._label, self.in_time(self.left), _QUEUED * self.plan.jobs):
            self.journal.add(record)
            advance(note=piece.source.project)

    def _label(self, piece: Chosen) -> Record:
        try:
            labels = label(self.engine, self.texts.of(piece), self.lists)
        except (IRParseError, PassError) as error:
            labels = {"dropped": one_line(str(error))}
        source = piece.source
        facts = (piece.name, source.project, source.file, piece.symbol, piece.level, source.held_out, source.stamp)
        return Record(*facts, **labels)

    def table(self) -> CompiledTable:
        records = [record for piece in self.pieces if (record := self._record(piece)) is not None]
        versions = {piece.source.project: piece.source.version for piece in self.pieces}
        counts: dict[str, Any] = {
            "sources": self._names,
            "versions": {project: versions[project] for project in sorted({record.project for record in records})},
            "available": self.choice.available,
            "copies": self.choice.copies,
            "files_unread": self.unread,
            "left": len(self.pieces) - len(records),
        }
        return compiled_table(self.setup, counts, records, self.lists)

    def save(self) -> CompiledTable:
        """Write the table and its IR."""
        table = self.table()
        if table.pieces:
            table.write(self.folder)
            pieces_by_name = {piece.name: piece for piece in self.pieces}
            places = {piece.ir_hash: pieces_by_name[piece.name] for piece in table.pieces}
            write_piece_ir(self.folder, places, lambda ir_hash: self.texts.of(places[ir_hash]))
        return table
