"""Parquet files with a column of bitcode to IR: the layout of the public ComPile corpus.

Columns: ``content`` (bitcode), ``package_source``, ``language``; ``opt_level`` where it is there. No licence is read.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mirenc.errors import ConfigError
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
        for row, values in _rows(path, name, stored):
            file = _file_of(name, row)
            if file not in stored:
                folder.add(*_record(file, values, limits, stamp))
            advance(1, path.name)


def _file_of(name: str, row: int) -> str:
    return f"{name}/{row:08d}.bc"


def _rows(path: Path, name: str, known: set[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Numbers and values of rows; a row group of which all rows are known is skipped."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as table:
            names = table.schema_arrow.names
            for column in _NEEDED:
                if column not in names:
                    advice = f"Give files with the columns {', '.join(_NEEDED)}, as the ComPile corpus has them"
                    raise ConfigError(f"{path}: no column {column!r}; found: {', '.join(names)}. {advice}")
            columns = [*_NEEDED, *(["opt_level"] if "opt_level" in names else [])]
            row = 0
            for group in range(table.num_row_groups):
                count = table.metadata.row_group(group).num_rows
                if all(_file_of(name, number) in known for number in range(row, row + count)):
                    row += count
                    continue
                for batch in table.iter_batches(_ROWS_AT_ONCE, row_groups=[group], columns=columns):
                    # The content may be declared as text, which it is not.
                    content = batch.column("content").cast(pyarrow.binary())
                    for data, values in zip(content, batch.drop_columns(["content"]).to_pylist(), strict=True):
                        yield row, {**values, "content": data.as_py()}
                        row += 1
    except (OSError, pyarrow.ArrowException) as error:
        raise ConfigError(f"{path}: cannot be read as parquet ({error}). Check the file, or fetch it again") from None


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
