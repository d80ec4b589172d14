"""Write and read tables of vectors in files: .npy .npz .jsonl .csv .parquet.

To add a format, add a line to `_FORMATS` with a function that writes a table and one that reads it; for a text format,
one that writes rows and one that reads them.
"""

from __future__ import annotations

import csv
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import numpy as np

from mirenc.base.arrays import Float32
from mirenc.base.errors import ConfigError, IRFileError, MirencError, needs
from mirenc.base.writing import check_output, delivered, refused
from mirenc.encoder import Embedding
from mirenc.llvm.inputs.file_kind import refuse_pointer
from mirenc.search.npz import read_npz, write_npz
from mirenc.search.table import COUNTS, LABELS, NUMBERS, SOURCE, Maker, VectorTable

_MAGIC_BYTES = 64  # bytes at the start of a file that tell its kind
_ROW_GROUP = 4096  # rows


def check_vectors_output(path: str | os.PathLike[str] | None) -> None:
    """Check, before any work is done, that vectors can be written to a path; None and ``-`` are stdout.

    Raises ConfigError: unknown suffix; IRFileError: the folder does not exist, or a folder has the file's name.
    """
    if path is None or os.fspath(path) == "-":
        return
    if _format_of(path) is None:
        raise ConfigError(
            f"output {os.fspath(path)!r}: unknown suffix {Path(path).suffix!r}; available: "
            f"{', '.join(VECTOR_SUFFIXES)}. For text, use .jsonl"
        )
    check_output(path)


def _format_of(path: str | os.PathLike[str]) -> _Format | None:
    """The format of a suffix, None if unknown. Raises MissingExtraError: it needs a package that is not installed."""
    file_format = _FORMATS.get(suffix := Path(path).suffix)
    if file_format is not None and file_format.needs:
        with needs(suffix[1:], f"a {suffix} file needs {file_format.needs}"):
            importlib.import_module(file_format.needs)
    return file_format


def write_vectors(path: str | os.PathLike[str], table: VectorTable) -> None:
    """Write a table, all or nothing, in the format of the suffix. Raises ConfigError: unknown suffix; IRFileError."""
    check_vectors_output(path)
    with refused(path), delivered(path) as part:
        _FORMATS[Path(path).suffix].write(part, table, os.fspath(path))


def read_vectors(path: str | os.PathLike[str], *, approximate: bool = False) -> VectorTable:
    """Read a table that `write_vectors` or ``mirenc embed -o`` wrote.

    With ``approximate``, for .parquet alone, the table has no ``sources``, and its ``vectors`` are an index for
    `mirenc.search.approximate.nearest_approximate`. Raises IRFileError: the file is missing, damaged, or not a table of
    mirenc; text without a row; .npy without its .npy.json.
    """
    file = os.fspath(path)
    if (file_format := _format_of(path)) is None:
        problem = f"{file}: is not a file of vectors; allowed: {', '.join(VECTOR_SUFFIXES)}"
        raise IRFileError(f"{problem}. Make one with: mirenc embed FOLDER -o vectors.npz")
    try:
        if approximate and file_format.read is not _read_parquet:
            raise _table_error(file, "only .parquet has an approximate index")
        table = _read_indexed(file) if approximate else file_format.read(file)
    except FileNotFoundError as error:
        raise IRFileError(f"{error.filename or file}: does not exist. Check the path") from None
    except (MirencError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - of damaged files numpy, zlib and Arrow raise what they stumble over
        if isinstance(error, OSError) and error.errno is not None:  # Arrow's have none
            raise IRFileError(f"{file}: cannot be read: {error.strerror}. Check the file") from None
        with open(file, "rb") as stream:
            refuse_pointer(file, stream.read(_MAGIC_BYTES), IRFileError)
        # numpy takes an unknown file for a pickle, and its message says how to load that.
        reason = "no file of numpy's" if "pickle" in str(error) else f"{type(error).__name__}: {error}"
        raise _table_error(file, reason) from None
    if not approximate and (reason := table.contradiction):
        raise _table_error(file, reason)
    return table


class VectorWriter:
    """A context manager that takes the embeddings of one file at a time, and completes the output on exit.

        with VectorWriter("x.npz", Maker.of(encoder, "function")) as writer:
            for outcome in encoder.embed_stream("project", level="function"):
                writer.add(outcome.name, outcome.embedded())

    ``path`` is as for `check_vectors_output`; stdout gets JSON lines. Text is written file by file, so that a long run
    can be piped, and Parquet some thousand rows at a time.
    """

    def __init__(self, path: str | os.PathLike[str] | None, maker: Maker) -> None:
        self.path = None if path is None or os.fspath(path) == "-" else os.fspath(path)
        self.maker = maker
        self._suffix = ".jsonl" if self.path is None else Path(self.path).suffix
        self._lines = _FORMATS[self._suffix].lines
        self._stack = ExitStack()
        self._stream: IO[str] | None = None
        self._parquet: Any = None
        self._embeddings: list[tuple[str, Embedding]] = []
        self._rows = 0

    def __enter__(self) -> Self:
        return self

    def add(self, file: str, embedding: Embedding) -> None:
        """Write the rows of one file."""
        if self._lines is None:
            self._embeddings.append((file, embedding))
            self._rows += len(embedding.regions)
            if self._rows >= _ROW_GROUP and self._suffix == ".parquet":
                self._flush()
            return
        with refused(self.path):
            first = self._stream is None
            if self._stream is None:
                self._stream = sys.stdout if self.path is None else self._open_text(self.path)
            self._lines(self._stream, VectorTable.of(self.maker, [(file, embedding)]), first)

    def add_rows(self, rows: Any) -> None:
        """Write rows from `parquet_rows` to a .parquet file at once."""
        import pyarrow.parquet as pq

        with refused(self.path):
            if self._parquet is None:
                part = self._stack.enter_context(delivered(str(self.path)))
                self._parquet = self._stack.enter_context(pq.ParquetWriter(part, rows.schema))
                self._stack.push(lambda kind, *error: self._flush() if kind is None else None)
            self._parquet.write_table(rows)

    def _flush(self) -> None:
        if self._rows:
            self.add_rows(parquet_rows(VectorTable.of(self.maker, self._embeddings)))
            self._embeddings, self._rows = [], 0

    def _open_text(self, path: str) -> IO[str]:
        part = self._stack.enter_context(delivered(path))
        return self._stack.enter_context(open(part, "w", encoding="utf-8", newline=""))

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        # Without a row a file is written, too, so that an earlier one is not taken for it; after an error none is.
        with refused(self.path):
            self._stack.__exit__(kind, *error)
        if self.path is None:
            sys.stdout.flush()
        elif self._embeddings and self._parquet is None and kind is None:
            write_vectors(self.path, VectorTable.of(self.maker, self._embeddings))


def _table_error(file: str, reason: str) -> IRFileError:
    return IRFileError(
        f"{file}: is not a file of vectors that `mirenc embed` wrote, or is damaged ({reason}). "
        f"Make one: mirenc embed FOLDER -o vectors{Path(file).suffix}"
    )


def _valid_unicode(names: Iterable[str]) -> list[str]:
    """Names as valid Unicode: names of files may be any bytes, which some formats refuse."""
    return [name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for name in names]


# -- .npy: numbers only; the rest stands in a JSON file beside it --------------------------------------
def _write_npy(part: Path, table: VectorTable, path: str) -> None:
    labels = {f"{name}s": column for name, column in table.labels.items()}
    header = {**table.maker.to_json(), "files": table.sources, **labels, "file_row": table.source_row}
    with delivered(f"{path}.json") as sidecar:
        sidecar.write_text(json.dumps(header, indent=1) + "\n", encoding="utf-8")
        with open(part, "wb") as stream:
            np.save(stream, table.vectors)


def _read_npy(path: str) -> VectorTable:
    vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    sidecar = f"{path}.json"
    if not os.path.exists(sidecar):
        problem = f"{path}: the file {sidecar}, which names the model of these vectors, is missing"
        raise IRFileError(f"{problem}. Copy it here, or embed again with -o NAME.npz, which needs no second file")
    header = json.loads(Path(sidecar).read_text(encoding="utf-8"))
    labels = {name: header[f"{name}s"] for name in LABELS}
    return VectorTable(Maker.from_json(header), vectors, labels, header["files"], header["file_row"])


# -- .parquet ------------------------------------------------------------------------------------------
def parquet_rows(table: VectorTable) -> Any:
    """A table for Arrow: columns ``vector``, labels, source and counts of each row; the `Maker` in the metadata."""
    import pyarrow as pa

    sources = [table.sources[row] for row in table.source_row]
    columns: dict[str, Any] = {}
    for name, cells in ({name: [source[name] for source in sources] for name in SOURCE} | table.labels).items():
        numeric = name in NUMBERS
        columns[name] = pa.array(cells if numeric else _valid_unicode(cells), pa.int64() if numeric else pa.string())
    for count in table.sources[0]["counts"] if table.sources else COUNTS:
        columns[count] = pa.array([source["counts"][count] for source in sources], pa.int64())
    values = pa.array(table.vectors.ravel(), type=pa.float32())
    columns["vector"] = pa.FixedSizeListArray.from_arrays(values, table.vectors.shape[1])
    return pa.table(columns).replace_schema_metadata({"mirenc": json.dumps(table.maker.to_json())})


def _write_parquet(part: Path, table: VectorTable, path: str) -> None:
    import pyarrow.parquet as pq

    pq.write_table(parquet_rows(table), part)


def _read_parquet(path: str) -> VectorTable:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        schema = file.schema_arrow
        maker = Maker.from_json(json.loads((schema.metadata or {})[b"mirenc"]))
        size = schema.field("vector").type.list_size
        table = VectorTable(maker, np.empty((file.metadata.num_rows, size), dtype=np.float32))
        # Row by row group, so that nothing but the result is whole in memory.
        for batch in file.iter_batches():
            first = len(table.source_row)
            values = batch.column("vector").flatten().to_numpy(zero_copy_only=False)
            table.vectors[first : first + len(batch)] = values.reshape(len(batch), size)
            for row in batch.drop_columns("vector").to_pylist():
                _add_row(table, row)
    return table


class _Column:
    """An Arrow column as a list whose values are converted when they are accessed."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def __getitem__(self, row: int) -> Any:
        return self._column[row].as_py()


def _read_indexed(path: str) -> VectorTable:
    import pyarrow.parquet as pq

    from mirenc.search.approximate import index_of

    with pq.ParquetFile(path, memory_map=True) as file:
        maker = Maker.from_json(json.loads((file.schema_arrow.metadata or {})[b"mirenc"]))
        label_columns = file.read(["file", *LABELS])
        columns: dict[str, Any] = {name: _Column(label_columns[name]) for name in label_columns.column_names}
        table = VectorTable(maker, index_of(path, file, asdict(maker)), columns)
        table.files = columns["file"]
        return table


def _add_row(table: VectorTable, row: dict[str, Any]) -> None:
    """Add the labels and source of a row; its other cells are counts. Neighbouring rows share an equal source."""
    source = {name: row.pop(name) for name in SOURCE}
    for name, column in table.labels.items():
        column.append(row.pop(name, 0 if name in NUMBERS else source["file"] if name == "name" else ""))
    source["counts"] = row
    if not table.sources or table.sources[-1] != source:
        table.sources.append(source)
    table.source_row.append(len(table.sources) - 1)


# -- text: a line a row --------------------------------------------------------------------------------
def _text_rows(table: VectorTable) -> Iterator[dict[str, Any]]:
    for row, vector in enumerate(table.vectors):
        source = table.sources[table.source_row[row]]
        header = {name: source[name] for name in SOURCE} | table.maker.to_json() | {"counts": source["counts"]}
        is_module = table.level == "module"
        labels = {name: column[row] for name, column in table.labels.items() if name == "built" or not is_module}
        # Nine digits are exact for a float32.
        yield {**header, **labels, "vector": [float(f"{value:.9g}") for value in vector]}


def _json_lines(stream: IO[str], table: VectorTable, first: bool) -> None:
    stream.writelines(json.dumps(row) + "\n" for row in _text_rows(table))


def _csv_lines(stream: IO[str], table: VectorTable, first: bool) -> None:
    """Columns for header, labels, counts and each component; values that are no text are JSON."""
    writer = csv.writer(stream)
    for row in _text_rows(table):
        vector, counts = row.pop("vector"), row.pop("counts")
        cells = {**row, **counts, **{f"v{place}": value for place, value in enumerate(vector)}}
        if first:
            writer.writerow(cells)
            first = False
        writer.writerow(_valid_unicode(cell if isinstance(cell, str) else json.dumps(cell) for cell in cells.values()))


def _json_rows(stream: Iterable[str]) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in stream if line.strip())


def _csv_rows(stream: Iterable[str]) -> Iterator[dict[str, Any]]:
    text = {*SOURCE, *LABELS, "model", "model_digest", "mirenc", "level", "part", "purpose", "map", "form"} - {*NUMBERS}
    for cells in csv.DictReader(stream):
        row: dict[str, Any] = {key: cell if key in text else json.loads(cell) for key, cell in cells.items()}
        vector = [row.pop(key) for key in list(row) if key[0] == "v" and key[1:].isdigit()]
        header = {key: row.pop(key) for key in (*text, *NUMBERS, "whiten", "hide_names") if key in row}
        yield {**header, "counts": row, "vector": vector}


def _complete_lines(stream: Iterable[str]) -> Iterator[str]:
    """Lines. Raises ValueError: the last has no end, so its last number may be cut."""
    line = "\n"
    for line in stream:
        yield line
    if not line.endswith("\n"):
        raise ValueError("its last line is incomplete")


def _read_rows(parse_rows: Callable[[Iterable[str]], Iterator[dict[str, Any]]], path: str) -> VectorTable:
    table: VectorTable | None = None
    vectors: list[Float32] = []
    with open(path, encoding="utf-8", newline="") as stream:
        for row in parse_rows(_complete_lines(stream)):
            maker = Maker.from_json(row)
            if table is None:
                table = VectorTable(maker, np.zeros((0, 0), np.float32))
            if maker != table.maker:
                raise ValueError(f"row {len(vectors) + 1} was made by {maker}, row 1 by {table.maker}")
            vectors.append(np.array(row["vector"], dtype=np.float32))
            _add_row(table, {key: row[key] for key in (*SOURCE, *LABELS) if key in row} | row["counts"])
    if table is None:
        # The model stands in each row, so without rows it is unknown.
        raise IRFileError(
            f"{path}: has no rows: its files contain nothing at the level that was asked for (no loop, for example). "
            f"Embed the files at another level (--level): mirenc embed FOLDER --level function -o {path}"
        )
    table.vectors = np.stack(vectors)
    return table


def _write_lines(lines: _Lines, part: Path, table: VectorTable, path: str) -> None:
    with open(part, "w", encoding="utf-8", newline="") as stream:
        lines(stream, table, True)


_Lines = Callable[[IO[str], VectorTable, bool], None]
"""Writes the rows of a table, with the header if they are the first."""


class _Format(NamedTuple):
    """``write(part, table, path)`` writes to ``part``, which is then renamed to ``path``; ``read(path)``."""

    write: Callable[[Path, VectorTable, str], None]
    read: Callable[[str], VectorTable]
    needs: str = ""  # package of an optional extra, which is named like the suffix
    lines: _Lines | None = None  # of text formats, which are written file by file


_FORMATS = {
    ".npy": _Format(_write_npy, _read_npy),
    ".npz": _Format(write_npz, read_npz),
    ".jsonl": _Format(partial(_write_lines, _json_lines), partial(_read_rows, _json_rows), lines=_json_lines),
    ".csv": _Format(partial(_write_lines, _csv_lines), partial(_read_rows, _csv_rows), lines=_csv_lines),
    ".parquet": _Format(_write_parquet, _read_parquet, needs="pyarrow"),
}
VECTOR_SUFFIXES = tuple(_FORMATS)
