"""Finished pieces as a table, with what became of them in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mirenc import __version__
from mirenc.measure.passes.journal import Figures, Record
from mirenc.measure.passes.labels import LEVELS
from mirenc.tasks.compiled import STATUSES, CompiledTable, Fires, PassList, Piece, Sizes

__all__ = ["compiled_table"]


def compiled_table(
    setup: Mapping[str, Any], counts: Mapping[str, Any], records: Sequence[Record], lists: Sequence[PassList]
) -> CompiledTable:
    """The table of finished pieces.

    Parameters
    ----------
    setup : mapping
        What made them.
    counts : mapping
        What is known of those that are not here.
    records : sequence of Record
        Dropped ones too.
    lists : sequence of PassList
    """
    kept = sorted((record for record in records if not record.dropped), key=lambda record: record.name)
    pieces = tuple(
        Piece(
            one.name,
            one.project,
            one.file,
            one.symbol,
            one.level,
            one.held_out,
            one.ir_hash,
            one.before[0],
            one.before[1],
        )
        for one in kept
    )
    levels = {name: _sizes([(record.levels or {})[name] for record in kept]) for name in LEVELS}
    rows = _sizes([one for record in kept for one in record.lists])
    shape = (len(kept), len(lists))
    sizes = Sizes(rows.instructions.reshape(shape), rows.code_bytes.reshape(shape), rows.status.reshape(shape))
    record = {
        **setup,
        "title": f"{setup['engine']}; clang {' '.join(setup['flags'])}",
        "version": __version__,
        **_counts(pieces, sizes),
        **counts,
        "dropped": dict(sorted(Counter(one.dropped.split(":")[0] for one in records if one.dropped).items())),
        "winners": _winners(kept, sizes),
    }
    return CompiledTable(record, pieces, levels, _fires(kept), tuple(lists), sizes)


def _sizes(results: Sequence[Figures]) -> Sizes:
    place = {status: index for index, status in enumerate(STATUSES)}
    status = np.array([place[one[2]] for one in results], dtype=np.int8)
    numbers = np.array([one[:2] for one in results], dtype=np.float64).reshape(-1, 2)
    numbers[status != 0] = np.nan
    return Sizes(numbers[:, 0], numbers[:, 1], status)


def _fires(records: Sequence[Record]) -> dict[str, Fires]:
    found = {}
    for level in LEVELS:
        known = np.array([level in (record.fires or {}) for record in records], dtype=bool)
        if not known.any():
            continue
        names = sorted({name for record in records for name in (record.fires or {}).get(level, ())})
        changed = np.array(
            [[name in (record.fires or {}).get(level, ()) for name in names] for record in records], dtype=bool
        ).reshape(len(records), len(names))
        found[level] = Fires(tuple(names), changed, known)
    return found


def _counts(pieces: Sequence[Piece], sizes: Sizes) -> dict[str, Any]:
    cells = Counter(STATUSES[index] for index in sizes.status.ravel().tolist())
    return {
        "pieces": len(pieces),
        "functions": sum(piece.level == "function" for piece in pieces),
        "modules": sum(piece.level == "module" for piece in pieces),
        "projects": len({piece.project for piece in pieces}),
        "held_out_projects": sorted({piece.project for piece in pieces if piece.held_out}),
        "cells": dict(sorted(cells.items())),
    }


def _winners(records: Sequence[Record], sizes: Sizes) -> dict[str, int]:
    """How many pieces have a list that beats -Oz, and what LLVM's verifier says of these."""
    if not records:
        return {}
    better = np.nanmin(sizes.code_bytes, axis=1) < sizes.code_bytes[:, 0]
    said = Counter("verified" if one.winner == "ok" else "refused" for one in records if one.winner)
    return {"better_than_oz": int(better.sum()), **dict(sorted(said.items()))}
