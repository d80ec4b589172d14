"""Parquet files with a column of bitcode or text, row by row."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mirenc.base.errors import ConfigError, needs
from mirenc.llvm.inputs.input import Input

_ROWS_AT_ONCE = 32  # modules in memory


def find_parquet(source: Path) -> list[Path]:
    """The file itself, or the parquet files below a folder, sorted."""
    return sorted(source.rglob("*.parquet")) if source.is_dir() else [source]


def row_groups(files: Iterable[Path]) -> list[tuple[Path, int, int]]:
    """Path, first row and number of rows of each row group. Raises ConfigError: no parquet file, or no rows."""
    groups = []
    for path in files:
        with _open(path) as table:
            counts = [table.metadata.row_group(number).num_rows for number in range(table.num_row_groups)]
        groups += [(path, sum(counts[:number]), count) for number, count in enumerate(counts) if count]
    if not groups:
        raise ConfigError("the given .parquet files have no rows. Name a file with rows, or a folder of such files")
    return groups


def row_inputs(group: tuple[Path, int, int], column: str, names: str | None) -> Iterator[Input]:
    """The rows of a row group as inputs, a few at a time in memory: IR is what ``column`` holds, as bitcode or text.

    A row is called what the column ``names`` says, or by its number. ConfigError: no parquet, or without a column.
    """
    path, first, _ = group
    columns = [column] if names is None else [column, names]
    for row, (data, *name_values) in enumerate(read_rows(path, first, columns), first):
        yield Input(f"{path}/{row:08d}.bc" if name_values in ([], [None]) else str(name_values[0]), data or b"")


def read_rows(path: Path, first: int, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    """Values of the rows of the group beginning at row ``first``; the first column holds bytes. Raises ConfigError."""
    with _open(path) as table:
        import pyarrow

        column_names = table.schema_arrow.names
        for column in columns:
            if column not in column_names:
                advice = f"Give files with the columns {', '.join(columns)}"
                raise ConfigError(f"{path}: no column {column!r}; found: {', '.join(column_names)}. {advice}")
        row = 0
        for number in range(table.num_row_groups):
            if row == first:
                for batch in table.iter_batches(_ROWS_AT_ONCE, row_groups=[number], columns=columns):
                    # The content may be declared as text, which it is not.
                    content = batch.column(columns[0]).cast(pyarrow.binary())
                    other_columns = (batch.column(column).to_pylist() for column in columns[1:])
                    yield from zip((data.as_py() for data in content), *other_columns, strict=True)
            row += table.metadata.row_group(number).num_rows


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    with needs("parquet", "a .parquet file needs pyarrow"):
        import pyarrow
        import pyarrow.parquet
    try:
        with pyarrow.parquet.ParquetFile(path) as table:
            yield table
    except (OSError, pyarrow.ArrowException) as error:
        raise ConfigError(f"{path}: cannot be read as parquet ({error}). Check the file, or fetch it again") from None
