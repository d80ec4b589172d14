"""Where embeddings go: JSON lines on stdout, or a file whose suffix says how.

Every output carries the model's name and digest, each file's hash, the level and the counts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, Self

import numpy as np

from mirenc import __version__
from mirenc.cli.common import check_output
from mirenc.embed import Encoder
from mirenc.embed.embedding import Embedding
from mirenc.errors import ConfigError, IRFileError
from mirenc.ir import Region
from mirenc.writing import Target

__all__ = ["SUFFIXES", "open_output"]

SUFFIXES = (".npy", ".npz", ".jsonl", ".parquet")
_NPZ_NAME = 256  # characters
# What a row is called in the output, and in `mirenc.ir.Region`.
_LABELS = {
    "name": "name",
    "function": "function",
    "symbol": "symbol",
    "header": "header",
    "depth": "depth",
    "source_file": "file",
    "source_line": "line",
}


class Writer(Protocol):
    """Takes embeddings one file at a time; delivers when left."""

    def add(self, name: str, embedding: Embedding) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def open_output(
    path: str | None, *, purpose: str = "search", whiten: bool = True
) -> Callable[[Encoder, str, str], Writer]:
    """The writer for an output path, checked before any work is done.

    Parameters
    ----------
    path : str or None
        None and ``-`` are stdout.
    purpose : str
        As the embeddings that will be added have it.
    whiten : bool
        False marks the vectors as plain means: they do not compare with whitened ones of the same model.

    Raises
    ------
    ConfigError
        Unknown suffix.
    IRFileError
        The folder does not exist, or a folder has the file's name.
    """

    def head(encoder: Encoder, level: str, part: str) -> dict[str, Any]:
        """Whose vectors these are; `mirenc.search.vectors` reads it again. What is as usual is not said."""
        unusual = {
            **({"purpose": purpose} if purpose != "search" else {}),
            **({} if whiten else {"whiten": False}),
            **({"hide_names": True} if encoder.hide_names else {}),
            **({"map": encoder.own_map.name} if encoder.own_map is not None else {}),
        }
        return {
            "model": encoder.name,
            "model_digest": encoder.digest,
            "mirenc": __version__,
            "level": level,
            "part": part,
            **unusual,
        }

    if path in (None, "-"):
        return lambda encoder, level, part: _Lines(head(encoder, level, part), None)
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        raise ConfigError(
            f"output {path!r}: unknown suffix {suffix!r}; available: {', '.join(SUFFIXES)}. For text name it .jsonl"
        )
    check_output(path)
    if suffix == ".jsonl":
        return lambda encoder, level, part: _Lines(head(encoder, level, part), path)
    return lambda encoder, level, part: _Table(head(encoder, level, part), path)


class _Lines:
    """One JSON object a row; written as files come, so that a long run can be piped."""

    def __init__(self, head: dict[str, Any], path: str | None) -> None:
        self.head = head
        self.path = path
        self.target = None if path is None else Target(path)
        self.files = 0

    def __enter__(self) -> Self:
        if self.path is None or self.target is None:
            self.stream: IO[str] = sys.stdout
            return self
        try:
            self.stream = open(self.target.part, "w", encoding="utf-8")
        except OSError as failure:
            raise _cannot_write(self.path, failure) from None
        return self

    def add(self, name: str, embedding: Embedding) -> None:
        self.files += 1
        vectors = embedding.part(self.head["part"])
        shared = {
            "file": name,
            "file_hash": embedding.file_hash,
            "content_hash": embedding.content_hash,
            **self.head,
            "counts": embedding.counts,
        }
        for row, region in zip(vectors, embedding.regions, strict=True):
            own = {} if embedding.level == "module" else {name: getattr(region, of) for name, of in _LABELS.items()}
            # Nine digits give a float32 back exactly.
            values = [float(f"{value:.9g}") for value in row]
            line = json.dumps({**shared, **own, "vector": values}) + "\n"
            try:
                self.stream.write(line)
            except OSError as failure:
                if self.path is None:
                    raise
                raise _cannot_write(self.path, failure) from None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.path is None or self.target is None:
            self.stream.flush()
            return
        try:
            self.stream.close()
            # Files without a row, as without a loop, are an output too: an earlier one would pass for theirs.
            if self.files and kind is None:
                self.target.deliver()
        except OSError as failure:
            raise _cannot_write(self.path, failure) from None
        finally:
            self.target.discard()


class _Table:
    """Rows collected, then written as one .npy, .npz or Parquet file."""

    def __init__(self, head: dict[str, Any], path: str) -> None:
        self.head = head
        self.path = path
        self.vectors: list[np.ndarray[Any, Any]] = []
        self.files: list[dict[str, Any]] = []
        self.file_row: list[int] = []
        self.regions: list[Region] = []

    def __enter__(self) -> Self:
        return self

    def add(self, name: str, embedding: Embedding) -> None:
        self.vectors.append(embedding.part(self.head["part"]))
        self.file_row += [len(self.files)] * len(embedding.regions)
        self.files.append(
            {
                "file": name,
                "file_hash": embedding.file_hash,
                "content_hash": embedding.content_hash,
                "counts": embedding.counts,
            }
        )
        self.regions += embedding.regions

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Part of a run that was interrupted would look like all of it.
        if not self.vectors or kind is not None:
            return
        # A .npy holds numbers only; who made them stands beside it.
        sidecar = [Target(f"{self.path}.json")] if Path(self.path).suffix == ".npy" else []
        written = [Target(self.path), *sidecar]
        try:
            self._write(written[0].part, np.concatenate(self.vectors))
            for target in sidecar:
                self._write_sidecar(target.part)
            for target in written:
                target.deliver()
        except OSError as failure:
            raise _cannot_write(self.path, failure) from None
        finally:
            for target in written:
                target.discard()

    def _write(self, part: Path, vectors: np.ndarray[Any, Any]) -> None:
        suffix = Path(self.path).suffix
        if suffix == ".parquet":
            self._write_parquet(part, vectors)
            return
        with open(part, "wb") as stream:
            if suffix == ".npy":
                np.save(stream, vectors)
            else:
                self._write_npz(stream, vectors)

    def _write_sidecar(self, part: Path) -> None:
        labels = {f"{name}s": self._labels(name) for name in _LABELS} | {"file_row": self.file_row}
        text = json.dumps({**self.head, "files": self.files, **labels}, indent=1)
        part.write_text(text + "\n", encoding="utf-8")

    def _write_npz(self, stream: IO[bytes], vectors: np.ndarray[Any, Any]) -> None:
        # Instructions are cut: numpy gives each the room of the longest. JSON lines and Parquet have them whole.
        cut = _NPZ_NAME if self.head["level"] == "instruction" else None
        labels = {name: self._labels(name) for name in _LABELS}
        labels["name"] = [name[:cut] for name in labels["name"]]
        columns: dict[str, Any] = {f"{name}s": np.array(column) for name, column in labels.items()}
        np.savez_compressed(
            stream,
            vectors=vectors,
            **columns,
            files=np.array([file["file"] for file in self.files], dtype=np.str_),
            file_hash=np.array([file["file_hash"] for file in self.files], dtype=np.str_),
            content_hash=np.array([file["content_hash"] for file in self.files], dtype=np.str_),
            file_row=np.array(self.file_row, dtype=np.int64),
            meta=np.array(json.dumps({**self.head, "files": self.files}), dtype=np.str_),
        )

    def _labels(self, name: str) -> list[Any]:
        return [getattr(region, _LABELS[name]) for region in self.regions]

    def _write_parquet(self, part: Path, vectors: np.ndarray[Any, Any]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        values = pa.array(vectors.ravel(), type=pa.float32())
        columns: dict[str, Any] = {
            "file": _valid([self.files[row]["file"] for row in self.file_row]),
            "file_hash": [self.files[row]["file_hash"] for row in self.file_row],
            "content_hash": [self.files[row]["content_hash"] for row in self.file_row],
        }
        for name in _LABELS:
            labels = self._labels(name)
            columns[name] = labels if name in ("depth", "source_line") else _valid(labels)
        for count in self.files[0]["counts"]:
            columns[count] = [self.files[row]["counts"][count] for row in self.file_row]
        columns["vector"] = pa.FixedSizeListArray.from_arrays(values, vectors.shape[1])
        table = pa.table(columns).replace_schema_metadata({"mirenc": json.dumps(self.head)})
        pq.write_table(table, part)


def _cannot_write(path: str, failure: OSError) -> IRFileError:
    return IRFileError(f"cannot write {path}: {failure.strerror or failure}. Free some space or name another file")


def _valid(names: list[str]) -> list[str]:
    """Names that are valid Unicode: Parquet takes no other, and a file's name may be any bytes."""
    return [name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for name in names]
