"""Rows of text in columns: names that cannot control a terminal, shortened in the middle where a row would not fit."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from mirenc.base.shown import printable, shorten_all

if TYPE_CHECKING:
    from rich.table import Table

_MINIMUM = 8  # cells that a shortened column keeps


def terminal_width() -> int | None:
    """Columns of the terminal that stdout is; None for a file or a pipe, where nothing is shortened."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_rows(rows: Sequence[Sequence[str]], align: str, header: Sequence[str] = ()) -> None:
    """Print rows in columns below a header. ``align`` has a character for each: ``<`` for text, ``>`` for numbers.

    Columns that are empty except for the header are left out. On a terminal, the widest columns of text are shortened
    until a line fits.
    """
    from rich.cells import cell_len

    filled_columns = [number for number, column in enumerate(zip(*rows, strict=True)) if any(column)]
    align = "".join(align[number] for number in filled_columns)
    cells = [[printable(row[number]) for number in filled_columns] for row in (header, *rows) if row]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    if (width := terminal_width()) is not None:
        sizes = [size for size, side in zip(widths, align, strict=True) if side == "<"]
        room = width - sum(widths) + sum(sizes) - 2 * (len(widths) - 1)
        longest = max(sizes, default=0)
        limit = next((n for n in range(longest, _MINIMUM, -1) if sum(min(n, size) for size in sizes) <= room), _MINIMUM)
        widths = [min(limit, size) if side == "<" else size for size, side in zip(widths, align, strict=True)]
        short_names = [shorten_all(column, size) for column, size in zip(zip(*cells, strict=True), widths, strict=True)]
        cells = [[names[cell] for cell, names in zip(row, short_names, strict=True)] for row in cells]
    for row in cells:
        line = ""
        for cell, size, side in zip(row, widths, align, strict=True):
            blank = " " * (size - cell_len(cell))
            line += f"  {cell}{blank}" if side == "<" else f"  {blank}{cell}"
        typer.echo(line[2:].rstrip())


def print_table(table: Table, width: int = 160) -> None:
    """Print a table as wide as the terminal, or ``width`` into a file or pipe; words and numbers stay whole."""
    from rich.console import Console
    from rich.measure import Measurement

    console = Console()
    width = terminal_width() or width
    min_width = Measurement.get(console, console.options.update(width=10_000), table).minimum
    Console(width=max(width, min_width)).print(table)
