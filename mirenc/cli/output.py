"""Where embeddings go: JSON lines on stdout, or a file whose suffix says how.

Every output carries the model's name and digest, each file's hash, the level and the counts. A file is written beside
its final name and moved there when it is complete.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, Self

import numpy as np

from mirenc import __version__
from mirenc.encoder import Embedding, Encoder
from mirenc.errors import ConfigError, IRFileError

__all__ = ["SUFFIXES", "open_output"]

SUFFIXES = (".npy", ".npz", ".jsonl", ".parquet")


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


def open_output(path: str | None) -> Callable[[Encoder, str, str], Writer]:
    """The writer for an output path, checked before any work is done.

    Raises
    ------
    ConfigError
        Unknown suffix.
    IRFileError
        The folder does not exist.
    """
    if path is None:
        return lambda encoder, level, part: _Lines(encoder, level, part, None)
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        raise ConfigError(f"output {path!r}: unknown suffix {suffix!r}; available: {', '.join(SUFFIXES)}")
    parent = Path(path).parent
    if not parent.is_dir():
        raise IRFileError(f"output folder {parent} does not exist. Type: mkdir -p {parent}")
    if suffix == ".jsonl":
        return lambda encoder, level, part: _Lines(encoder, level, part, path)
    return lambda encoder, level, part: _Table(encoder, level, part, path)


class _Base:
    def __init__(self, encoder: Encoder, level: str, part: str) -> None:
        self.part = part
        self.head: dict[str, Any] = {
            "model": encoder.name,
            "model_digest": encoder.files.digest,
            "mirenc": __version__,
            "level": level,
            "part": part,
        }


class _Lines(_Base):
    """One JSON object a row; written as files come, so that a long run can be piped."""

    def __init__(self, encoder: Encoder, level: str, part: str, path: str | None) -> None:
        super().__init__(encoder, level, part)
        self.path = path
        self.rows = 0

    def __enter__(self) -> Self:
        self.stream: IO[str] = sys.stdout if self.path is None else open(f"{self.path}.part", "w", encoding="utf-8")
        return self

    def add(self, name: str, embedding: Embedding) -> None:
        vectors = embedding.part(self.part)
        shared = {
            "file": name,
            "content_hash": embedding.content_hash,
            **self.head,
            "counts": embedding.counts,
        }
        for row, label, function in zip(vectors, embedding.names, embedding.functions, strict=True):
            own = {} if embedding.level == "module" else {"name": label, "function": function}
            # Nine digits give a float32 back exactly.
            values = [float(f"{value:.9g}") for value in row]
            self.stream.write(json.dumps({**shared, **own, "vector": values}) + "\n")
            self.rows += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stream.flush()
        if self.path is not None:
            self.stream.close()
            _deliver(self.path, keep=self.rows > 0 and kind is None)


class _Table(_Base):
    """Rows collected, then written as one .npy, .npz or Parquet file."""

    def __init__(self, encoder: Encoder, level: str, part: str, path: str) -> None:
        super().__init__(encoder, level, part)
        self.path = path
        self.vectors: list[np.ndarray[Any, Any]] = []
        self.files: list[dict[str, Any]] = []
        self.file_row: list[int] = []
        self.names: list[str] = []
        self.functions: list[str] = []

    def __enter__(self) -> Self:
        return self

    def add(self, name: str, embedding: Embedding) -> None:
        self.vectors.append(embedding.part(self.part))
        self.file_row += [len(self.files)] * len(embedding.names)
        self.files.append({"file": name, "content_hash": embedding.content_hash, "counts": embedding.counts})
        self.names += embedding.names
        self.functions += embedding.functions

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self.vectors:
            return
        vectors = np.concatenate(self.vectors)
        part = f"{self.path}.part"
        suffix = Path(self.path).suffix
        try:
            if suffix == ".parquet":
                self._write_parquet(part, vectors)
            else:
                with open(part, "wb") as stream:
                    if suffix == ".npy":
                        np.save(stream, vectors)
                    else:
                        self._write_npz(stream, vectors)
            if suffix == ".npy":
                # A .npy holds numbers only; who made them stands beside it.
                labels = {
                    "names": self.names,
                    "functions": self.functions,
                    "file_row": self.file_row,
                }
                text = json.dumps({**self.head, "files": self.files, **labels}, indent=1)
                Path(f"{self.path}.json").write_text(text + "\n", encoding="utf-8")
        except OSError as failure:
            _deliver(self.path, keep=False)
            raise IRFileError(
                f"cannot write {self.path}: {failure.strerror}. Free some space or name another file"
            ) from None
        _deliver(self.path, keep=True)

    def _write_npz(self, stream: IO[bytes], vectors: np.ndarray[Any, Any]) -> None:
        np.savez_compressed(
            stream,
            vectors=vectors,
            names=np.array(self.names, dtype=np.str_),
            functions=np.array(self.functions, dtype=np.str_),
            files=np.array([file["file"] for file in self.files], dtype=np.str_),
            content_hash=np.array([file["content_hash"] for file in self.files], dtype=np.str_),
            file_row=np.array(self.file_row, dtype=np.int64),
            meta=np.array(json.dumps({**self.head, "files": self.files}), dtype=np.str_),
        )

    def _write_parquet(self, path: str, vectors: np.ndarray[Any, Any]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        values = pa.array(vectors.ravel(), type=pa.float32())
        columns: dict[str, Any] = {
            "file": [self.files[row]["file"] for row in self.file_row],
            "content_hash": [self.files[row]["content_hash"] for row in self.file_row],
            "name": self.names,
            "function": self.functions,
        }
        for count in self.files[0]["counts"]:
            columns[count] = [self.files[row]["counts"][count] for row in self.file_row]
        columns["vector"] = pa.FixedSizeListArray.from_arrays(values, vectors.shape[1])
        table = pa.table(columns).replace_schema_metadata({"mirenc": json.dumps(self.head)})
        pq.write_table(table, path)


def _deliver(path: str, *, keep: bool) -> None:
    part = f"{path}.part"
    if keep:
        os.replace(part, path)
    else:
        Path(part).unlink(missing_ok=True)
