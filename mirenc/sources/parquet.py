"""Parquet files with a column of bitcode: to IR for a corpus, or row by row.

A corpus is made of the layout of the public ComPile corpus. Columns: ``content`` (bitcode), ``package_source``,
``language``; ``opt_level`` where it is there. No licence is read.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from mirenc.errors import ConfigError, needs
from mirenc.ir.inputs import Input
from mirenc.ir.worker import BITCODE_MAGIC
from mirenc.sources.compiling import Advance, Limits
from mirenc.sources.ir_folder import IRFolder, IRRecord, Status, digest, stamp_of
from mirenc.sources.reserved import is_reserved_package

_ROWS_AT_ONCE = 32  # modules in memory
_NEEDED = ("content", "package_source", "language")
_UNKNOWN = "unknown"
_LONGEST_PROJECT = 100


def find_parquet(source: Path) -> dict[str, Path]:
    """The file itself, or the parquet files below a folder, by their names below it, sorted."""
    if not source.is_dir():
        return {source.name: source}
    return {path.relative_to(source).as_posix(): path for path in sorted(source.rglob("*.parquet"))}


def unpack_parquet(files: Mapping[str, Path], folder: IRFolder, *, limits: Limits, advance: Advance) -> None:
    """Write the modules of parquet files to a folder of IR as bitcode; the project is the package they come from.

    Rows the folder knows are not read again. A row that is no bitcode, is too large or comes from a package kept for
    evaluation is one record. ``files`` are as of `find_parquet`. ConfigError: no parquet, or without a column.
    """
    for name, path in files.items():
        stored = {record.file for record in folder.records() if record.file.startswith(f"{name}/")}
        stamp = stamp_of([path])
        for row, values in _rows(path, _NEEDED, ["opt_level"], partial(_has_new, name, stored)):
            file = _file_of(name, row)
            if file not in stored:
                folder.add(*_record(file, values, limits, stamp))
            advance(1, path.name)


def _file_of(name: str, row: int) -> str:
    return f"{name}/{row:08d}.bc"


def _has_new(name: str, known: set[str], first: int, count: int) -> bool:
    return not all(_file_of(name, row) in known for row in range(first, first + count))


def row_groups(files: Iterable[Path]) -> list[tuple[Path, int, int]]:
    """Path, first row and number of rows of each row group. ConfigError: no parquet, or not a row."""
    groups = []
    for path in files:
        with _opened(path) as table:
            counts = [table.metadata.row_group(number).num_rows for number in range(table.num_row_groups)]
        groups += [(path, sum(counts[:number]), count) for number, count in enumerate(counts) if count]
    if not groups:
        raise ConfigError("no .parquet file with a row is given. Name one, or a folder of them")
    return groups


def row_inputs(group: tuple[Path, int, int], column: str, names: str | None) -> Iterator[Input]:
    """The rows of a row group as inputs, a few at a time in memory: IR is what ``column`` holds, as bitcode or text.

    A row is called what the column ``names`` says, or by its number. ConfigError: no parquet, or without a column.
    """
    path, first, _ = group
    needed = (column,) if names is None else (column, names)
    for row, values in _rows(path, needed, wanted=lambda start, count: start == first):
        named = values.get(names or "")
        yield Input(_file_of(str(path), row) if named is None else str(named), values[column] or b"")


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    with needs("parquet", "a .parquet file needs pyarrow"):
        import pyarrow
        import pyarrow.parquet
    try:
        with pyarrow.parquet.ParquetFile(path) as table:
            yield table
    except (OSError, pyarrow.ArrowException) as error:
        raise ConfigError(f"{path}: cannot be read as parquet ({error}). Check the file, or fetch it again") from None


def _rows(
    path: Path, needed: Sequence[str], more: Sequence[str] = (), wanted: Callable[[int, int], bool] = lambda *_: True
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Numbers and values of rows, of which the first column is bytes, of row groups ``wanted(first row, rows)``."""
    with _opened(path) as table:
        import pyarrow

        names = table.schema_arrow.names
        for column in needed:
            if column not in names:
                advice = f"Give files with the columns {', '.join(needed)}, as the ComPile corpus has them"
                raise ConfigError(f"{path}: no column {column!r}; found: {', '.join(names)}. {advice}")
        columns = [*needed, *(column for column in more if column in names)]
        row = 0
        for group in range(table.num_row_groups):
            count = table.metadata.row_group(group).num_rows
            if not wanted(row, count):
                row += count
                continue
            for batch in table.iter_batches(_ROWS_AT_ONCE, row_groups=[group], columns=columns):
                # The content may be declared as text, which it is not.
                content = batch.column(needed[0]).cast(pyarrow.binary())
                for data, values in zip(content, batch.drop_columns([needed[0]]).to_pylist(), strict=True):
                    yield row, {**values, needed[0]: data.as_py()}
                    row += 1


def _record(file: str, values: dict[str, Any], limits: Limits, stamp: str) -> tuple[IRRecord, bytes | None]:
    data = values["content"] or b""
    package = values["package_source"] or _UNKNOWN
    status: Status = "large" if len(data) > limits.max_file_bytes else "ok"
    if is_reserved_package(package):
        status = "reserved"
    elif not data.startswith(BITCODE_MAGIC):
        status = "failed"
    reason = "no bitcode" if status == "failed" else ""
    language, level = values["language"] or _UNKNOWN, _folder_name(str(values.get("opt_level") or _UNKNOWN))
    origin = (_folder_name(package), "", file, language, level, _UNKNOWN)
    record = IRRecord(*origin, hashlib.sha256(data).hexdigest(), len(data), status, reason, stamp)
    return record, data if status == "ok" else None


def _folder_name(package: str) -> str:
    """Name of a folder for a package, which may be an address; two packages never share one."""
    name = re.sub(r"[^A-Za-z0-9._+-]+", "_", package.split("://")[-1]).strip("._") or "_"
    if name == package and len(name) <= _LONGEST_PROJECT:
        return name
    return f"{name[-_LONGEST_PROJECT:]}-{digest(package) % 16**8:08x}"
