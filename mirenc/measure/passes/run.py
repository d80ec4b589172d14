"""A run of ``mirenc measure passes``: pieces are labelled in turns until all are done or time is up."""

from __future__ import annotations

import contextlib
import json
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from mirenc.errors import ConfigError, IRFileError, IRParseError, MirencError, PassError, TaskError
from mirenc.measure.passes.choosing import Chosen, choose
from mirenc.measure.passes.executing import execute, winning_lists
from mirenc.measure.passes.inputs import FLAGS, clang_of, find_ir
from mirenc.measure.passes.journal import Figures, Journal, Record
from mirenc.measure.passes.labels import LEVELS, Watcher, figures, fires, label
from mirenc.measure.passes.pool import make_lists, read_lists, write_lists
from mirenc.measure.passes.scanning import scan_all
from mirenc.measure.passes.summary import compiled_table
from mirenc.measure.passes.texts import Texts
from mirenc.measure.passes.verifying import find_opt, verify
from mirenc.passes.engine import Engine
from mirenc.tasks.compiled import FORMAT, CompiledTable, PassList, hash_of_ir, write_piece_ir

__all__ = ["Plan", "Run"]

Tool = TypeVar("Tool", Engine, Watcher)  # what runs LLVM for one job

_SHOWN = 3  # files of another table that are named
_AHEAD = 2  # pieces that wait for each job
_ASKED = {"function": 20, "module": 3}  # pieces that say which passes change anything


@dataclass(frozen=True)
class Plan:
    """What the user asked for.

    Attributes
    ----------
    sources : tuple of Path
    functions, modules : int
        At most so many.
    lists : int
        Pass lists, -Oz itself included.
    seed, jobs : int
    minutes : float
        When to stop; infinity: when all are done.
    compiler : str or None
        A clang; None: the one of the engine's version.
    cflags : tuple of str
        For folders of sources and single sources.
    """

    sources: tuple[Path, ...]
    functions: int
    modules: int
    lists: int
    seed: int = 0
    jobs: int = 1
    minutes: float = math.inf
    compiler: str | None = None
    cflags: tuple[str, ...] = ()


@dataclass
class Run:
    """Labelling into one folder, which is there already.

    Parameters
    ----------
    plan : Plan
    folder : Path
    make_engine, make_watcher : callable
        A new engine, and what says which passes fire; each job has one.
    report : callable
        Told what is left out.
    failed : callable
        Told of each file that does not compile or cannot be read.

    Attributes
    ----------
    files : int
        Files of IR; known after `prepare`.
    pieces : tuple of Chosen
        All that were asked for; known after `prepare`.
    seconds : dict of str to (int, float)
        Level of a piece -> how many were labelled now, and the seconds it took a job.
    executed : dict
        What `execute` found: the lists' numbers, and counts; {} before.
    """

    plan: Plan
    folder: Path
    make_engine: Callable[[], Engine]
    make_watcher: Callable[[], Watcher]
    report: Callable[[str], None]
    failed: Callable[[MirencError], None] = lambda error: None
    files: int = 0
    pieces: tuple[Chosen, ...] = ()
    seconds: dict[str, tuple[int, float]] = field(default_factory=dict)
    executed: dict[str, Any] = field(default_factory=dict)

    @property
    def work(self) -> Path:
        """Folder for everything that a table is made from."""
        return self.folder / "work"

    def prepare(self) -> None:
        """Compile, scan and choose; make the pass lists.

        Raises
        ------
        ConfigError
            The folder has a run of another setup.
        TaskError
            The sources have no piece.
        ToolchainError, IRFileError, CompileError, IRResourceError
            A source cannot be used.
        """
        plan = self.plan
        self.work.mkdir(exist_ok=True)
        with self.make_engine() as engine:
            version = engine.version
            self.opt = find_opt(version)
            if self.opt is None:
                self.report(f"no opt of LLVM {version} is on PATH: best lists are verified in the engine only")
            self.setup: dict[str, Any] = {
                "format": FORMAT,
                "engine": engine.name,
                "llvm": version,
                "flags": [*FLAGS, *plan.cflags],
                "pipelines": {name: level.pipeline for name, level in LEVELS.items()},
                "list_count": plan.lists,
                "seed": plan.seed,
            }
            self.journal = Journal(self.work / "journal.jsonl", self.setup)
            self._check_sources()
            files = find_ir(
                plan.sources,
                self.work,
                lambda: clang_of(version, plan.compiler),
                cflags=plan.cflags,
                jobs=plan.jobs,
                report=self.report,
                failed=self.failed,
            )
            self.files = len(files)
            known = self.journal.sources()
            if known and known.isdisjoint((one.project, one.file) for one in files):
                raise self._replaced(sorted({f"{project}/{file}" for project, file in known})[:_SHOWN])
            self.report(f"{len(files)} files of IR; those that are new are read")
            scans = scan_all(files, self.work / "scan.jsonl", jobs=plan.jobs)
            unread = [scan.problem for scan in scans if scan.problem]
            for problem in unread:
                self.failed(IRFileError(problem))
            self.choice = choose(files, scans, functions=plan.functions, modules=plan.modules, seed=plan.seed)
            self.unread = len(unread)
            self.pieces = self.choice.pieces
            if not self.pieces:
                raise TaskError(
                    "the sources have no function that is large enough to decide about. Give more of them, and see "
                    f"{self.work / 'scan.jsonl'}"
                )
            self.texts = Texts(self.work / "pieces", self.pieces)
            self.lists = self._drawn(engine)
        changed = self.journal.names().intersection(piece.name for piece in self.left)
        if changed:
            self.report(f"{len(changed)} pieces are measured again: their IR is not what it was")

    def _check_sources(self) -> None:
        """Refuse to replace a table by one that lacks some of its sources, before their IR goes.

        Raises
        ------
        ConfigError
        """
        place = self.folder / "machine.json"
        before = json.loads(place.read_text(encoding="utf-8"))["sources"] if place.is_file() else []
        now = _names(self.plan)
        if set(before) - set(now):
            raise self._replaced(before)

    def _replaced(self, before: Sequence[str]) -> ConfigError:
        return ConfigError(
            f"{self.folder} has a table of {', '.join(before)}, which {', '.join(_names(self.plan))} would replace. "
            "Name another folder with -o, or give all sources in one command"
        )

    def _drawn(self, engine: Engine) -> list[PassList]:
        """The pass lists, drawn when first asked."""
        place = self.work / "lists.json"
        lists = read_lists(place, self.setup)
        if lists is None:
            self.report(f"drawing {self.plan.lists} pass lists")
            lists = make_lists(engine, self._first_texts(), self.plan.lists, self.plan.seed)
            write_lists(place, self.setup, lists)
        return lists

    def _first_texts(self) -> Iterator[str]:
        """Some pieces, which say what passes are worth drawing; of those for training, where there are any."""
        pieces = [piece for piece in self.pieces if not piece.source.held_out] or self.pieces
        functions = [piece for piece in pieces if piece.symbol][: _ASKED["function"]]
        modules = [piece for piece in pieces if not piece.symbol][: _ASKED["module"]]
        for piece in (*functions, *modules):
            # One that cannot stand alone is dropped when its turn comes.
            with contextlib.suppress(IRParseError):
                yield self.texts.of(piece)

    @property
    def left(self) -> list[Chosen]:
        """Pieces that are not labelled yet."""
        return [piece for piece in self.pieces if self._known(piece) is None]

    def _known(self, piece: Chosen) -> Record | None:
        return self.journal.get(piece.name, piece.source.stamp)

    def go(self, advance: Callable[..., None]) -> None:
        """Label what is left. What was finished is kept whatever ends this, Ctrl-C too.

        Raises
        ------
        ToolchainError
            The engine does not start.
        """
        end = time.monotonic() + 60 * self.plan.minutes
        engines, watchers = _ForEachJob(self.make_engine), _ForEachJob(self.make_watcher)
        waiting: deque[tuple[Chosen, Future[tuple[Record, float]]]] = deque()
        pool = ThreadPoolExecutor(self.plan.jobs)
        try:
            for piece in self.left:
                if time.monotonic() > end:
                    break
                waiting.append((piece, pool.submit(self._label, engines, watchers, piece)))
                if len(waiting) >= _AHEAD * self.plan.jobs:
                    self._keep(*waiting.popleft(), advance)
            while waiting:
                self._keep(*waiting.popleft(), advance)
        finally:
            pool.shutdown(cancel_futures=True)
            engines.close()
            watchers.close()

    def _keep(self, piece: Chosen, future: Future[tuple[Record, float]], advance: Callable[..., None]) -> None:
        record, seconds = future.result()
        self.journal.add(record)
        count, total = self.seconds.get(piece.level, (0, 0.0))
        self.seconds[piece.level] = count + 1, total + seconds
        advance(note=piece.source.project)

    def _label(
        self, engines: _ForEachJob[Engine], watchers: _ForEachJob[Watcher], piece: Chosen
    ) -> tuple[Record, float]:
        start = time.monotonic()
        source = piece.source
        facts: dict[str, Any] = {
            "name": piece.name,
            "project": source.project,
            "file": source.file,
            "symbol": piece.symbol,
            "level": piece.level,
            "held_out": source.held_out,
            "stamp": source.stamp,
        }
        try:
            record = self._finished(engines.mine(), watchers.mine(), piece, facts)
        except (IRParseError, PassError) as error:
            record = Record(**facts, dropped=" ".join(str(error).split())[:200])
        return record, time.monotonic() - start

    def _finished(self, engine: Engine, watcher: Watcher, piece: Chosen, facts: dict[str, Any]) -> Record:
        text = self.texts.of(piece)
        labels = label(engine, text, self.lists)
        facts |= {
            "ir_hash": hash_of_ir(text),
            "before": figures(labels.before, labels.before),
            "levels": {name: figures(result, labels.before) for name, result in labels.levels.items()},
            "lists": tuple(figures(result, labels.before) for result in labels.lists),
        }
        for name, (_, size, status) in (("code generation", facts["before"]), ("-Oz", facts["levels"]["Oz"])):
            if not size:
                return Record(**facts, dropped=f"{name}: {status if status != 'ok' else 'no machine code'}")
        facts["fires"] = fires(watcher, text)
        if self.opt is not None:
            facts["winner"] = self._winner(engine, self.opt, text, facts["lists"])
        return Record(**facts)

    def _winner(self, engine: Engine, opt: str, text: str, lists: Sequence[Figures]) -> str:
        """What opt says of what the best list makes; "" where none is better than -Oz."""
        fine = [(size, number) for number, (_, size, status) in enumerate(lists) if status == "ok"]
        size, number = min(fine, default=(0, 0))
        if not number or size >= lists[0][1]:
            return ""
        return verify(opt, engine.run(text.encode(), self.lists[number].pipeline).ir)

    def table(self) -> CompiledTable:
        """What is finished, sorted by name."""
        records = [record for piece in self.pieces if (record := self._known(piece)) is not None]
        versions = {piece.source.project: piece.source.version for piece in self.pieces}
        counts: dict[str, Any] = {
            "sources": _names(self.plan),
            "versions": {project: versions[project] for project in sorted({record.project for record in records})},
            "available": self.choice.available,
            "copies": self.choice.copies,
            "files_unread": self.unread,
        }
        counts |= {"left": len(self.pieces) - len(records), "executed": self.executed}
        return compiled_table(self.setup, counts, records, self.lists)

    def execute(self) -> None:
        """Run the lists that win on the project's own loops; what came out stands in the table from then on.

        Raises
        ------
        ToolchainError
            There is no clang of the engine's version, or nothing can be run here.
        """
        table = self.table()
        numbers = winning_lists(table)
        if not numbers:
            return
        with self.make_engine() as engine:
            compiler = clang_of(engine.version)
            counts = execute(engine, compiler, [self.lists[number] for number in (0, *numbers)])
        self.executed = {"lists": numbers, **counts}

    def save(self) -> CompiledTable:
        """Write the table and its IR.

        Raises
        ------
        OSError
        """
        table = self.table()
        if table.pieces:
            table.write(self.folder)
            chosen = {piece.name: piece for piece in self.pieces}
            write_piece_ir(
                self.folder, _TextsByHash({one.ir_hash: chosen[one.name] for one in table.pieces}, self.texts)
            )
        return table


def _names(plan: Plan) -> list[str]:
    """What the sources are called, however they were typed."""
    return [source.resolve().name for source in plan.sources]


class _ForEachJob(Generic[Tool]):
    """A tool for each thread that asks."""

    def __init__(self, make: Callable[[], Tool]) -> None:
        self._make: Callable[[], Tool] = make
        self._own = threading.local()
        self._all: list[Tool] = []

    def mine(self) -> Tool:
        tool: Tool | None = getattr(self._own, "tool", None)
        if tool is None:
            tool = self._own.tool = self._make()
            self._all.append(tool)
        return tool

    def close(self) -> None:
        for tool in self._all:
            tool.close()


class _TextsByHash(Mapping[str, str]):
    """Texts that are read when they are wanted: all of them may be more than memory holds."""

    def __init__(self, pieces: Mapping[str, Chosen], texts: Texts) -> None:
        self._pieces, self._texts = pieces, texts

    def __getitem__(self, ir_hash: str) -> str:
        return self._texts.of(self._pieces[ir_hash])

    def __iter__(self) -> Iterator[str]:
        return iter(self._pieces)

    def __len__(self) -> int:
        return len(self._pieces)
