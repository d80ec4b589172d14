"""Finished pieces: a line each in the journal of a run, and the table that they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mirenc import __version__
from mirenc.measure.journal import Journal
from mirenc.measure.passes.labels import LEVELS, Figures
from mirenc.tasks.compiled import STATUSES, CompiledTable, Fires, PassList, Piece, Sizes


@dataclass(frozen=True, slots=True)
class Record:
    """A finished piece (`mirenc.tasks.compiled.Piece`), of a file with a ``stamp``.

    ``ir_hash`` is "" where it was dropped before its text was known; ``dropped`` why it is not in the table, or "".
    ``before`` is before any pass. ``fires``: level -> passes that changed it, without levels that nobody could tell
    about. ``winner`` is what ``opt`` says of the module that the best list makes: ``ok``, or why not; "" where it was
    not asked.
    """

    name: str
    project: str
    file: str
    symbol: str
    level: str
    held_out: bool
    stamp: str
    ir_hash: str = ""
    dropped: str = ""
    before: Figures = (0, 0, "")
    levels: Mapping[str, Figures] = field(default_factory=dict)
    lists: Sequence[Figures] = ()
    fires: Mapping[str, Sequence[str]] = field(default_factory=dict)
    winner: str = ""


class Records(Journal):
    """Finished pieces, by name and by the state of their files."""

    def __init__(self, path: Path, setup: dict[str, Any]) -> None:
        self.known: dict[tuple[str, str], Record] = {}
        super().__init__(path, setup)

    def take(self, values: dict[str, Any]) -> None:
        record = Record(**values)
        self.known[record.name, record.stamp] = record

    def add(self, record: Record) -> None:
        """Keep a finished piece."""
        self.write(asdict(record))
        self.known[record.name, record.stamp] = record


def compiled_table(
    setup: Mapping[str, Any], counts: Mapping[str, Any], records: Sequence[Record], lists: Sequence[PassList]
) -> CompiledTable:
    """The table of finished pieces, dropped ones among them; ``counts`` tells what they do not."""
    kept = sorted((record for record in records if not record.dropped), key=lambda record: record.name)
    pieces = tuple(
        Piece(one.name, one.project, one.file, one.symbol, one.level, one.held_out, one.ir_hash, *one.before[:2])
        for one in kept
    )
    levels = {name: _sizes([record.levels[name] for record in kept]) for name in LEVELS}
    sizes = _sizes([one for record in kept for one in record.lists], (len(kept), len(lists)))
    cells = Counter(STATUSES[index] for index in sizes.status.ravel().tolist())
    winners = {}
    if kept:
        better = np.nanmin(sizes.code_bytes, axis=1) < sizes.code_bytes[:, 0]
        verdicts = Counter("verified" if one.winner == "ok" else "refused" for one in kept if one.winner)
        winners = {"better_than_oz": int(better.sum()), **dict(sorted(verdicts.items()))}
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
        "dropped": dict(sorted(Counter(one.dropped.split(":")[0] for one in records if one.dropped).items())),
        "winners": winners,
    }
    return CompiledTable(record, pieces, levels, _fires(kept), tuple(lists), sizes)


def _sizes(results: Sequence[Figures], shape: tuple[int, ...] = (-1,)) -> Sizes:
    status = np.array([STATUSES.index(one[2]) for one in results], dtype=np.int8)
    numbers = np.array([one[:2] for one in results], dtype=np.float64).reshape(-1, 2)
    numbers[status != 0] = np.nan
    return Sizes(numbers[:, 0].reshape(shape), numbers[:, 1].reshape(shape), status.reshape(shape))


def _fires(records: Sequence[Record]) -> dict[str, Fires]:
    """By level; a level that nobody could tell of any piece is missing."""
    levels = {}
    for level in LEVELS:
        fired = [record.fires.get(level) for record in records]
        known = np.array([passes is not None for passes in fired], dtype=bool)
        if known.any():
            names = sorted({name for passes in fired for name in passes or ()})
            changed = np.array([[name in (passes or ()) for name in names] for passes in fired], dtype=bool)
            levels[level] = Fires(tuple(names), changed.reshape(len(records), len(names)), known)
    return levels
