"""Tables that ``mirenc label`` writes: what a compiler's own passes make of functions and modules.

A folder with ``machine.json`` (what made it), ``pieces.parquet`` (a row a function or module; other files name it by
its row), ``levels.parquet`` (a row a piece and optimisation level), ``fires.parquet`` (which passes changed a piece),
``lists.json`` and ``lists.parquet`` (pass lists, and a row a piece and list). ``ir.parquet`` has the pieces' IR by its
hash: it is other people's code, so a table may travel without it.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.arrays import Bool, Float64, Int8
from mirenc.base.errors import TaskError
from mirenc.base.writing import delivered
from mirenc.decide.tables.table_folder import MACHINE, read_folder, write_json, write_parquet

FORMAT = 2
STATUSES = ("ok", "pipeline", "broken", "backend", "crash", "timeout", "memory")
"""What became of one run: ok, or how it failed (`mirenc.llvm.passes.size_after_passes.Failed`)."""

_TASK = "passes"
_LEVEL = 12  # of zstd
_BATCH = 256  # texts that are written and read at once
MAKE_ONE = "Make one: mirenc label SOURCES -o FOLDER, then give --data FOLDER"


@dataclass(frozen=True, slots=True)
class Piece:
    """A row of ``pieces.parquet``: a function as a module of its own, or a module."""

    name: str  # ``project/file`` of a module, ``project/file:symbol`` of a function
    project: str
    file: str
    symbol: str  # function, without ``@``; "" for a module
    level: str  # ``function`` or ``module``
    held_out: bool  # to be tested on only: the model's held-out projects, and programs reserved for evaluation
    ir_hash: str  # `hash_of_ir` of the text
    instructions: int  # before any pass
    code_bytes: int


@dataclass(frozen=True, slots=True)
class PassList:
    """One pass list."""

    pipeline: str  # as ``opt -passes=`` takes it
    kind: str  # ``default`` (-Oz itself, list 0), ``mutation`` of -Oz, or ``random``


@dataclass(frozen=True, eq=False)
class Sizes:
    """What compiling gave. n pieces, K lists; without the last dimension for a level."""

    instructions: Float64  # (n, K) or (n,) float64: NaN where it failed
    # (n, K) or (n,) float64, bytes, NaN where it failed: machine code, and read-only data added, such as jump tables
    code_bytes: Float64
    status: Int8  # (n, K) or (n,) int8: index into `STATUSES`


@dataclass(frozen=True, eq=False)
class Fires:
    """Which passes of a level changed a piece. n pieces, P passes."""

    passes: tuple[str, ...]  # names, sorted
    changed: Bool  # (n, P) bool
    known: Bool  # (n,) bool: whether it was found out; rows of ``changed`` without are False


@dataclass(frozen=True, eq=False)
class CompiledTable:
    """A table of n pieces and K lists."""

    record: Mapping[str, Any]  # ``machine.json``: engine, flags, seed and counts
    pieces: tuple[Piece, ...]
    # Level (``O0``, ``Oz``, ``Oz_plain`` without minsize and optsize, ``O2``, ``O3``) -> (n,) sizes
    levels: Mapping[str, Sizes]
    fires: Mapping[str, Fires]  # by level; {} where no opt was there to say
    lists: tuple[PassList, ...]
    sizes: Sizes  # (n, K) under each list
    content_hash: str = ""  # SHA-256 of the tables; "" for one that was not read from files

    @property
    def title(self) -> str:
        """Compiler and flags in one line for people."""
        return str(self.record["title"])

    def write(self, folder: Path) -> None:
        """Write all but the IR (`write_piece_ir`); each file is complete or not there, the same table the same."""
        import pyarrow as pa

        count, width = self.sizes.status.shape
        rows = np.arange(count, dtype=np.int32)
        lists = np.tile(np.arange(width, dtype=np.int16), count)
        level = pa.array(np.repeat(list(self.levels), count).tolist(), pa.string())
        level_columns = (
            np.concatenate([getattr(sizes, field.name) for sizes in self.levels.values()]) for field in fields(Sizes)
        )
        fired_rows = [
            {"piece": row, "level": level, "changed_by": [fires.passes[index] for index in np.flatnonzero(changed)]}
            for level, fires in self.fires.items()
            for row, changed in enumerate(fires.changed)
            if fires.known[row]
        ]
        schema = pa.schema({"piece": pa.int32(), "level": pa.string(), "changed_by": pa.list_(pa.string())})
        level_rows = {"piece": np.tile(rows, len(self.levels)), "level": level, **_size_columns(Sizes(*level_columns))}
        tables = {
            "pieces": pa.Table.from_pylist([asdict(piece) for piece in self.pieces]),
            "levels": pa.table(level_rows),
            "fires": pa.Table.from_pylist(fired_rows, schema),
            "lists": pa.table({"piece": np.repeat(rows, width), "list": lists, **_size_columns(self.sizes)}),
        }
        for name, table in tables.items():
            write_parquet(folder / f"{name}.parquet", table, compression_level=_LEVEL)
        write_json(folder / "lists.json", [asdict(pass_list) for pass_list in self.lists])
        passes = {level: list(fires.passes) for level, fires in self.fires.items()}
        header = {"task": _TASK, "format": FORMAT}
        write_json(folder / MACHINE, {**header, **self.record, "levels": list(self.levels), "passes": passes})


def hash_of_ir(text: str) -> str:
    """SHA-256 of IR text, as hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _size_columns(sizes: Sizes) -> dict[str, Any]:
    """Numbers with nothing where it failed, and the status in words."""
    import pyarrow as pa

    status = pa.DictionaryArray.from_arrays(pa.array(sizes.status.ravel(), pa.int8()), list(STATUSES))
    columns: dict[str, Any] = {}
    for name in ("instructions", "code_bytes"):
        values = getattr(sizes, name).ravel()
        is_missing = np.isnan(values)
        columns[name] = pa.array(np.where(is_missing, 0, values).astype(np.int32), mask=is_missing)
    return {**columns, "status": status.cast(pa.string())}


def read_compiled(folder: str | Path) -> CompiledTable:
    """Read a table, without its IR. Raises TaskError: no table there, of another task or format, or a damaged one."""
    names = ["lists.json", *(f"{name}.parquet" for name in ("pieces", "levels", "fires", "lists"))]
    with read_folder(Path(folder), _TASK, FORMAT, names, title="table of passes", advice=MAKE_ONE) as contents:
        lists, pieces, level_rows, fire_rows, list_rows = contents.files
        count, level_of = pieces.num_rows, np.array(level_rows["level"].to_pylist(), dtype=object)
        return CompiledTable(
            contents.machine,
            tuple(Piece(**row) for row in pieces.to_pylist()),
            {level: _sizes(level_rows.filter(level_of == level), (count,)) for level in contents.machine["levels"]},
            {level: _fires(fire_rows, level, names, count) for level, names in contents.machine["passes"].items()},
            tuple(PassList(**row) for row in lists),
            _sizes(list_rows, (count, len(lists))),
            contents.content_hash,
        )


def _sizes(table: Any, shape: tuple[int, ...]) -> Sizes:
    """Rows (of Arrow) in the order of pieces, and lists, as arrays of that shape. Raises ValueError: another order."""
    for name, expected in zip(("piece", "list"), np.indices(shape).reshape(len(shape), -1), strict=False):
        if not np.array_equal(table[name].to_numpy(), expected):
            raise ValueError(f"column {name!r} does not number the rows in the order of a table of shape {shape}")
    # Nothing becomes NaN.
    numbers = [table[name].to_numpy().astype(np.float64).reshape(shape) for name in ("instructions", "code_bytes")]
    encoded = table["status"].combine_chunks().dictionary_encode()
    status_codes = np.array([STATUSES.index(word) for word in encoded.dictionary.to_pylist()], dtype=np.int8)
    return Sizes(numbers[0], numbers[1], status_codes[encoded.indices.to_numpy()].reshape(shape))


def _fires(table: Any, level: str, names: Sequence[str], count: int) -> Fires:
    column_of = {name: index for index, name in enumerate(names)}
    changed = np.zeros((count, len(names)), dtype=bool)
    known = np.zeros(count, dtype=bool)
    for row in table.to_pylist():
        if row["level"] == level:
            known[row["piece"]] = True
            changed[row["piece"], [column_of[name] for name in row["changed_by"]]] = True
    return Fires(tuple(names), changed, known)


def write_piece_ir(folder: Path, hashes: Iterable[str], text_of: Callable[[str], str]) -> None:
    """Write ``ir.parquet``: hash -> IR text, which is asked for when it is written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = sorted(hashes)
    schema = pa.schema([("ir_hash", pa.string()), ("ir", pa.large_string())])
    with (
        delivered(folder / "ir.parquet") as path,
        pq.ParquetWriter(path, schema, compression="zstd", compression_level=_LEVEL) as writer,
    ):
        for start in range(0, len(rows), _BATCH):  # in parts: all texts together may be more than memory holds
            part = rows[start : start + _BATCH]
            writer.write_table(pa.table({"ir_hash": part, "ir": [*map(text_of, part)]}, schema=schema))


def read_piece_ir(folder: str | Path, pieces: Sequence[Piece]) -> list[str]:
    """IR text of pieces, in their order. Raises TaskError: no IR, none of a piece, or other than its hash says."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(folder) / "ir.parquet"
    hashes = {piece.ir_hash for piece in pieces}
    texts: dict[str, str] = {}
    try:
        for batch in pq.ParquetFile(path).iter_batches(batch_size=_BATCH):
            rows = zip(batch["ir_hash"].to_pylist(), batch["ir"].to_pylist(), strict=True)
            texts |= {ir_hash: text for ir_hash, text in rows if ir_hash in hashes}
    except FileNotFoundError:
        raise TaskError(
            f"{path}: this file of the table is missing; tables are published without it. To get it, make the "
            "table again with the settings in machine.json: mirenc label SOURCES -o FOLDER"
        ) from None
    except (OSError, KeyError, TypeError, pa.ArrowException) as error:
        raise TaskError(f"{path}: the file of IR is damaged ({error}). {MAKE_ONE}") from None
    for piece in pieces:
        if piece.ir_hash not in texts:
            raise TaskError(f"{path}: no IR of {piece.name}. The file belongs to another table. {MAKE_ONE}")
    for digest, text in texts.items():
        if hash_of_ir(text) != digest:
            raise TaskError(f"{path}: damaged: the IR stored under hash {digest[:12]} has another hash. {MAKE_ONE}")
    return [texts[piece.ir_hash] for piece in pieces]
