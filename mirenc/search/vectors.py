"""`VectorTable`: vectors with names and with who made them; what ``mirenc embed -o`` wrote, read again.

Two vectors compare only if one model made both, so a table without its model's digest is refused.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import IRFileError, ModelError

__all__ = ["VECTOR_SUFFIXES", "VectorTable", "read_vectors"]

VECTOR_SUFFIXES = (".npy", ".npz", ".jsonl", ".parquet")
_HEAD = ("model", "model_digest", "level", "part")
# What is written only where it is not as usual.
_USUAL: dict[str, Any] = {"whiten": True, "purpose": "search", "hide_names": False, "map": ""}


@dataclass(frozen=True, eq=False)
class VectorTable:
    """Vectors of many files, one row a module, function or other level.

    Attributes
    ----------
    vectors : (n, D) float32
    files : list of str, length n
        File of each row.
    names : list of str, length n
        What the row is called in its file: the file itself at level module.
    model, digest : str
        Name of the model that made them, and `Encoder.digest`.
    level, part : str
        As in `mirenc.Encoder.embed`.
    whiten : bool
        False for the plain means of ``--no-whiten``. Files from before this was written count as whitened.
    purpose : str
        As in `mirenc.Encoder.embed`.
    hide_names : bool
        As in `mirenc.load`.
    map : str
        Name of the map that whitened them; "" for the model's own.
    """

    vectors: NDArray[np.float32]
    files: list[str]
    names: list[str]
    model: str
    digest: str
    level: str
    part: str = "both"
    whiten: bool = True
    purpose: str = "search"
    hide_names: bool = False
    map: str = ""

    def __len__(self) -> int:
        return len(self.vectors)

    def check_model(self, name: str, digest: str, where: str) -> None:
        """Refuse to compare with another model's vectors.

        Raises
        ------
        ModelError
            The digest is not the table's.
        """
        if digest != self.digest:
            mapped = f" under the map {self.map!r}, which may have been fitted again since" if self.map else ""
            options = (f" --map {self.map}" if self.map else "") + (" --hide-names" if self.hide_names else "")
            raise ModelError(
                f"{where} holds vectors of {self.model} (digest {self.digest[:12]}){mapped}, and those of {name} "
                f"(digest {digest[:12]}) do not compare with them. Give the model that made them (--model), or embed "
                f"the files again: mirenc embed FOLDER --model {name}{options} -o {where}"
            )


def read_vectors(path: str | os.PathLike[str]) -> VectorTable:
    """Read a file of vectors that ``mirenc embed -o`` wrote.

    Parameters
    ----------
    path : str or path
        ``.npz``, ``.parquet``, ``.jsonl``, or ``.npy`` with its ``.npy.json`` beside it.

    Raises
    ------
    IRFileError
        The file is missing, damaged, or not of ``mirenc embed``; or JSON lines without a line.
    """
    where = os.fspath(path)
    read = _READERS.get(Path(where).suffix)
    if read is None:
        raise IRFileError(
            f"{where}: is no file of vectors; known are {', '.join(VECTOR_SUFFIXES)}. "
            f"Make one with: mirenc embed FOLDER -o vectors.npz"
        )
    try:
        table = read(where)
    except FileNotFoundError as error:
        raise IRFileError(f"{error.filename or where}: does not exist. Check the path") from None
    except IRFileError:
        raise
    except OSError as error:
        raise IRFileError(f"{where}: cannot be read: {error.strerror or error}. Check the file") from None
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        # numpy takes what it does not know for a pickle, and says how to load that.
        why = "no file of numpy's" if "pickle" in str(error) else f"{type(error).__name__}: {error}"
        raise _no_table(where, why) from None
    if table.vectors.ndim != 2 or not len(table.vectors) == len(table.files) == len(table.names):
        raise _no_table(where, f"{len(table.files)} names for vectors of shape {table.vectors.shape}")
    return table


def _no_table(where: str, why: str) -> IRFileError:
    return IRFileError(
        f"{where}: is no file of vectors by `mirenc embed`, or is damaged ({why}). "
        f"Make it again: mirenc embed FOLDER -o {where}"
    )


def _table(vectors: Any, files: list[str], names: list[str], head: Mapping[str, Any]) -> VectorTable:
    """The table that a file's head describes; KeyError where the head lacks who made it."""
    model, digest, level, part = (str(head[key]) for key in _HEAD)
    values = np.asarray(vectors, dtype=np.float32)
    how = {key: type(usual)(head.get(key, usual)) for key, usual in _USUAL.items()}
    return VectorTable(values, files, names, model, digest, level, part, **how)


def _read_npy(path: str) -> VectorTable:
    vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    sidecar = f"{path}.json"
    if not os.path.exists(sidecar):
        raise IRFileError(
            f"{path}: {sidecar}, which says who made the vectors, is not beside it. Keep the two together, "
            "or write .npz, which holds both"
        )
    head = json.loads(Path(sidecar).read_text(encoding="utf-8"))
    files = [head["files"][row]["file"] for row in head["file_row"]]
    return _table(vectors, files, head["names"], head)


def _read_npz(path: str) -> VectorTable:
    with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        files = arrays["files"][arrays["file_row"]].tolist()
        return _table(arrays["vectors"], files, arrays["names"].tolist(), json.loads(str(arrays["meta"])))


def _read_jsonl(path: str) -> VectorTable:
    with open(path, encoding="utf-8") as stream:
        count = sum(1 for line in stream if line.strip())
        stream.seek(0)
        files: list[str] = []
        names: list[str] = []
        head: dict[str, Any] = {}
        vectors = np.zeros((count, 0), dtype=np.float32)
        for row in (json.loads(line) for line in stream if line.strip()):
            own = {key: row[key] for key in _HEAD} | {key: row.get(key, usual) for key, usual in _USUAL.items()}
            if not files:
                head, vectors = own, np.empty((count, len(row["vector"])), dtype=np.float32)
            elif own != head:
                raise ValueError(f"row {len(files) + 1} is of {own}, row 1 of {head}")
            vectors[len(files)] = row["vector"]
            files.append(row["file"])
            names.append(row.get("name", row["file"]))
    if not files:
        # Each row says who made it, so that nothing says who made none.
        raise IRFileError(
            f"{path}: has no rows; its files had none at the level asked for, as files without a loop. "
            f"Embed the files at another level (--level): mirenc embed FOLDER --level function -o {path}"
        )
    return _table(vectors, files, names, head)


def _read_parquet(path: str) -> VectorTable:
    import pyarrow.parquet as pq
    from pyarrow import ArrowInvalid

    try:
        with pq.ParquetFile(path) as file:
            head = json.loads((file.schema_arrow.metadata or {})[b"mirenc"])
            size = file.schema_arrow.field("vector").type.list_size
            # Row by row group, so that nothing but the result is whole in memory.
            vectors = np.empty((file.metadata.num_rows, size), dtype=np.float32)
            files: list[str] = []
            names: list[str] = []
            for batch in file.iter_batches(columns=["file", "name", "vector"]):
                values = batch.column("vector").flatten().to_numpy(zero_copy_only=False)
                vectors[len(files) : len(files) + len(batch)] = values.reshape(len(batch), size)
                files += batch.column("file").to_pylist()
                names += batch.column("name").to_pylist()
    except (ArrowInvalid, AttributeError) as error:
        raise _no_table(path, str(error)) from None
    return _table(vectors, files, names, head)


_READERS: dict[str, Callable[[str], VectorTable]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".jsonl": _read_jsonl,
    ".parquet": _read_parquet,
}
