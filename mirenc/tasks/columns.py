"""Reading numbers from a table's row, with errors that name the row and the column."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mirenc.errors import TaskError

__all__ = ["real", "require_columns"]


def require_columns(table: str, row: Mapping[str, str], columns: Sequence[str], dataset: str) -> None:
    """Refuse a table that lacks one of the columns. Raises TaskError: the missing columns are named."""
    missing = [column for column in columns if row.get(column) is None]
    if missing:
        raise TaskError(
            f"{table}: no column {', '.join(map(repr, missing))}. To compare it with what was published, type: "
            f"mirenc datasets verify {dataset}"
        )


def real(row: Mapping[str, str], column: str, where: str) -> float:
    """A finite number. Raises TaskError: ``where`` and the column are named."""
    try:
        value = float(row[column])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise TaskError(
            f"{where}: column {column!r} is {row[column]!r}, not a finite number. Mend or leave out the row"
        )
    return value
