"""Label a piece: its sizes at every level and under every list, and the passes that change it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mirenc import __version__
from mirenc.decide.tables.compiled import STATUSES, CompiledTable, Fires, PassList, Piece, Sizes, hash_of_ir
from mirenc.llvm.passes.extract import without_size_attributes
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.size_after_passes import CODEGEN, Failed, Optimised, code_bytes
from mirenc.tools.run.run_folder import Journal

Figures = tuple[int, int, str]
"""Instructions, bytes of code (`mirenc.llvm.passes.size_after_passes.code_bytes`), and what became of it (one of
`mirenc.decide.tables.compiled.STATUSES`); 0 where it failed."""


@dataclass(frozen=True, slots=True)
class Level:
    """A compiler's level: passes, code generation, and whether it gets the code without minsize and optsize."""

    pipeline: str
    codegen: int
    plain: bool


LEVELS: Mapping[str, Level] = {
    "O0": Level("default<O0>", 0, plain=True),
    "Oz": Level("default<Oz>", CODEGEN, plain=False),
    "Oz_plain": Level("default<Oz>", CODEGEN, plain=True),
    "O2": Level("default<O2>", CODEGEN, plain=True),
    "O3": Level("default<O3>", 3, plain=True),
}
"""``Oz_plain`` is the weak baseline: ``opt -Oz`` on code whose functions do not say that they should be small."""

_WATCHED_LEVELS = ("Oz", "O3")  # levels whose passes are asked whether they change a piece


def label(engine: SharedEngine, text: str, lists: Sequence[PassList]) -> dict[str, Any]:
    """Compile a piece at every level and with every list: fields of a `Record`. Raises IRParseError."""
    marked_ir, plain_ir = text.encode(), without_size_attributes(text).encode()
    (unoptimised,) = engine.run_all(marked_ir, [""], codegen=0)
    results: dict[str, Optimised | Failed] = {}
    list_results: list[Optimised | Failed] = []
    # One call for all lists of one IR and code generation: equal results are made into code once.
    for is_plain, codegen in sorted({(level.plain, level.codegen) for level in LEVELS.values()}):
        names = [name for name, level in LEVELS.items() if (level.plain, level.codegen) == (is_plain, codegen)]
        pipelines = [LEVELS[name].pipeline for name in names]
        pipelines += [] if is_plain else [entry.pipeline for entry in lists]
        optimised = engine.run_all(plain_ir if is_plain else marked_ir, pipelines, codegen=codegen)
        results.update(zip(names, optimised, strict=False))
        list_results += optimised[len(names) :]

    def figures(result: Optimised | Failed) -> Figures:
        """Figures of a result; its size is relative to the module before any pass."""
        if isinstance(result, Failed):
            return 0, 0, result.status
        return result.instructions, code_bytes(result, result if isinstance(unoptimised, Failed) else unoptimised), "ok"

    facts: dict[str, Any] = {
        "ir_hash": hash_of_ir(text),
        "before": figures(unoptimised),
        "levels": {name: figures(results[name]) for name in LEVELS},
        "lists": tuple(map(figures, list_results)),
    }
    for name, (_, size, status) in (("code generation", facts["before"]), ("-Oz", facts["levels"]["Oz"])):
        if not size:
            return facts | {"dropped": f"{name}: {status if status != 'ok' else 'no machine code'}"}
    facts["fires"] = {}
    for name in _WATCHED_LEVELS:
        (passes,) = engine.fires(plain_ir if LEVELS[name].plain else marked_ir, [LEVELS[name].pipeline])
        if not isinstance(passes, Failed):
            facts["fires"][name] = tuple(sorted(passes))
    return facts


@dataclass(frozen=True, slots=True)
class Record:
    """A finished piece (`mirenc.decide.tables.compiled.Piece`)."""

    name: str
    project: str
    file: str
    symbol: str
    level: str
    held_out: bool
    stamp: str  # of its file
    ir_hash: str = ""  # "" where it was dropped before its text was known
    dropped: str = ""  # why it is not in the table, or ""
    before: Figures = (0, 0, "")  # before any pass
    levels: Mapping[str, Figures] = field(default_factory=dict)
    lists: Sequence[Figures] = ()
    # Level -> passes that changed it, without levels that nobody could tell about
    fires: Mapping[str, Sequence[str]] = field(default_factory=dict)


class Records(Journal):
    """Finished pieces, by name and by the state of their files."""

    def __init__(self, path: Path, setup: dict[str, Any]) -> None:
        self.records: dict[tuple[str, str], Record] = {}
        super().__init__(path, setup)

    def take(self, values: dict[str, Any]) -> None:
        record = Record(**values)
        self.records[record.name, record.stamp] = record

    def add(self, record: Record) -> None:
        self.write(asdict(record))
        self.records[record.name, record.stamp] = record


def compiled_table(
    setup: Mapping[str, Any], counts: Mapping[str, Any], records: Sequence[Record], lists: Sequence[PassList]
) -> CompiledTable:
    """The table of finished pieces; its record counts dropped ones, and has ``counts`` beside."""
    usable = sorted((record for record in records if not record.dropped), key=lambda record: record.name)
    pieces = tuple(
        Piece(row.name, row.project, row.file, row.symbol, row.level, row.held_out, row.ir_hash, *row.before[:2])
        for row in usable
    )
    levels = {name: _sizes([record.levels[name] for record in usable]) for name in LEVELS}
    sizes = _sizes([label for record in usable for label in record.lists], (len(usable), len(lists)))
    cells = Counter(STATUSES[index] for index in sizes.status.ravel().tolist())
    winners = {}
    if usable:
        is_better = np.nanmin(sizes.code_bytes, axis=1) < sizes.code_bytes[:, 0]
        winners = {"better_than_oz": int(is_better.sum())}
    record = {
        **setup,
        "title": f"{setup['engine']}; clang {' '.join(setup['flags'])}",
        "version": __version__,
        "pieces": len(pieces),
        "functions": sum(piece.level == "function" for piece in pieces),
        "modules": sum(piece.level == "module" for piece in pieces),
        "projects": len({piece.project for piece in pieces}),
        "held_out_projects": sorted({piece.project for piece in pieces if piece.held_out}),
        "cells": dict(sorted(cells.items())),
        **counts,
        "dropped": dict(sorted(Counter(record.dropped.split(":")[0] for record in records if record.dropped).items())),
        "winners": winners,
    }
    return CompiledTable(record, pieces, levels, _fires(usable), tuple(lists), sizes)


def _sizes(results: Sequence[Figures], shape: tuple[int, ...] = (-1,)) -> Sizes:
    status = np.array([STATUSES.index(figures[2]) for figures in results], dtype=np.int8)
    numbers = np.array([figures[:2] for figures in results], dtype=np.float64).reshape(-1, 2)
    numbers[status != 0] = np.nan
    return Sizes(numbers[:, 0].reshape(shape), numbers[:, 1].reshape(shape), status.reshape(shape))


def _fires(records: Sequence[Record]) -> dict[str, Fires]:
    """Passes that changed each piece, by level; a level that is not known of any piece is missing."""
    levels = {}
    for level in LEVELS:
        passes_by_record = [record.fires.get(level) for record in records]
        is_known = np.array([passes is not None for passes in passes_by_record], dtype=bool)
        if is_known.any():
            names = sorted({name for passes in passes_by_record for name in passes or ()})
            changed = np.array([[name in (passes or ()) for name in names] for passes in passes_by_record], dtype=bool)
            levels[level] = Fires(tuple(names), changed.reshape(len(records), len(names)), is_known)
    return levels
