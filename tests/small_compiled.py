"""A small table of passes, with numbers that can be told by heart, and its IR."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from mirenc.decide.tables.compiled import (
    STATUSES,
    CompiledTable,
    Fires,
    PassList,
    Piece,
    Sizes,
    hash_of_ir,
    write_piece_ir,
)

LISTS = (
    PassList("default<Oz>", "default"),
    PassList("function(sroa,instcombine,simplifycfg)", "mutation"),
    PassList("function(gvn,gvn)", "random"),
)
LEVELS = ("O0", "Oz", "Oz_plain", "O2", "O3")
RECORD = {"engine": "made", "llvm": "19.1.7", "seed": 0, "title": "LLVM 19 (made)"}


def ir_of(row: int) -> str:
    """A function with as many additions as its row says."""
    names = ["%x", *(f"%v{index}" for index in range(row + 2))]
    body = "".join(f"  {new} = add i32 {old}, {row + 3}\n" for old, new in itertools.pairwise(names))
    return f"define i32 @f{row}(i32 %x) {{\n{body}  ret i32 {names[-1]}\n}}\n"


def small_table(projects: int = 6, each: int = 4) -> CompiledTable:
    """``each`` pieces of each project, the last project held out.

    Piece i has 100 + 10 i bytes before any pass; level number j takes 2 j + i bytes less; the list 1 takes 3 bytes less
    than -Oz on even pieces and 5 more on odd ones, and the list 2 crashes on the last piece.
    """
    pieces = []
    for row in range(projects * each):
        project, number = f"p{row // each}", row % each
        module = number == 0
        file = f"f{number}.c"
        pieces.append(
            Piece(
                f"{project}/{file}" + ("" if module else f":f{row}"),
                project,
                file,
                "" if module else f"f{row}",
                "module" if module else "function",
                row // each == projects - 1,
                hash_of_ir(ir_of(row)),
                row + 3,
                100 + 10 * row,
            )
        )
    rows = np.arange(len(pieces))
    before = np.array([piece.code_bytes for piece in pieces], dtype=np.float64)
    fine = np.zeros(len(pieces), dtype=np.int8)
    levels = {level: Sizes(rows + 3.0, before - 2 * number - rows, fine.copy()) for number, level in enumerate(LEVELS)}
    oz = levels["Oz"].code_bytes
    text = np.stack([oz, np.where(rows % 2, oz + 5, oz - 3), oz + 1], axis=1)
    status = np.zeros(text.shape, dtype=np.int8)
    text[-1, 2], status[-1, 2] = np.nan, STATUSES.index("crash")
    changed = np.stack([rows % 2 == 0, rows % 3 == 0], axis=1)
    known = rows != 1
    fires = {"Oz": Fires(("instcombine", "sroa"), changed & known[:, None], known)}
    instructions = np.where(np.isnan(text), np.nan, 2.0)
    return CompiledTable(RECORD, tuple(pieces), levels, fires, LISTS, Sizes(instructions, text, status))


def write_small_table(folder: Path, projects: int = 6, each: int = 4) -> CompiledTable:
    """Write the small table and its IR; the table."""
    table = small_table(projects, each)
    table.write(folder)
    texts = {piece.ir_hash: ir_of(row) for row, piece in enumerate(table.pieces)}
    write_piece_ir(folder, texts, texts.__getitem__)
    return table
