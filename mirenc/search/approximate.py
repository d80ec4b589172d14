"""Approximate nearest vectors among very many, by an HNSW index (usearch) that is mapped from its file.

`mirenc.base.cosines.nearest` reads every vector for each query. The index has one byte a component: it finds nearly the
same rows, with cosines that are off by some thousandths.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirenc.base.arrays import Float32
from mirenc.base.cosines import Nearest
from mirenc.base.errors import ConfigError, IRFileError, needs
from mirenc.base.progress import progress
from mirenc.base.writing import delivered, refused

_INDEX_OPTIONS = {"metric": "cos", "dtype": "i8", "connectivity": 16, "expansion_add": 64, "expansion_search": 512}
_BATCH = 4096
_CHUNK = 1 << 20  # bytes


def index_of(path: str, rows: Any, header: dict[str, Any]) -> Any:
    """The index of the column ``vector`` of ``rows``, a ``ParquetFile`` at ``path`` with the header ``header``.

    The index of ``x.parquet`` is ``x.usearch``, mapped from disk; ``x.usearch.json`` says which vectors it is of. Both
    are built, in memory by all cores, where they are missing or those of another ``x.parquet``. Raises
    MissingExtraError: no usearch; IRFileError: the index is damaged, or is a file that mirenc did not write.
    """
    with needs("ann", "an approximate index needs usearch"):
        from usearch.index import Index
    file, sidecar = Path(path).with_suffix(".usearch"), Path(path).with_suffix(".usearch.json")
    with open(path, "rb") as stream:
        # The footer: place, size, least and largest value of every part of every column.
        stream.seek(-rows.metadata.serialized_size - 8, os.SEEK_END)
        built_from = {**header, **_INDEX_OPTIONS, "footer": hashlib.sha256(stream.read()).hexdigest()}
    index = Index(ndim=rows.schema_arrow.field("vector").type.list_size, **_INDEX_OPTIONS)
    shape = (rows.metadata.num_rows, index.ndim)
    record = _sidecar_of(file, sidecar)
    graph_sum = record.pop("graph_crc32", None)
    if record != built_from:
        with progress("indexing", rows.metadata.num_rows) as advance:
            for batch in rows.iter_batches(_BATCH, columns=["vector"]):
                values = batch.column("vector").flatten().to_numpy(zero_copy_only=False).reshape(len(batch), index.ndim)
                index.add(np.arange(len(index), len(index) + len(batch)), _quantise(values))
                advance(len(batch))
        with refused(file), delivered(file) as part:
            index.save(os.fspath(part))
        built_from["graph_crc32"] = _graph_sum(file, shape)
        with refused(sidecar), delivered(sidecar) as part:
            part.write_text(json.dumps(built_from, indent=1) + "\n", encoding="utf-8")
    # Before it is mapped: usearch follows a damaged graph out of memory, which ends Python.
    elif graph_sum != _graph_sum(file, shape):
        raise _unusable(file, "is damaged")
    try:
        index.view(os.fspath(file))
    except RuntimeError as error:
        raise _unusable(file, f"is damaged ({error})") from None
    if (len(index), index.ndim) != shape:
        raise _unusable(file, f"has {len(index)} vectors of {index.ndim} components, its table {shape}")
    return index


def _sidecar_of(file: Path, sidecar: Path) -> dict[str, Any]:
    """The record of what an index was built from; {} without an index. Raises IRFileError: not an index of mirenc."""
    if not os.path.lexists(file):
        return {}
    record = None
    if file.is_file() and sidecar.is_file():
        with contextlib.suppress(ValueError):
            record = json.loads(sidecar.read_bytes())
    if not isinstance(record, dict):
        raise _unusable(file, f"mirenc did not make it, or {sidecar.name}, which says of what it was made, is lost")
    return record


def _graph_sum(file: Path, shape: tuple[int, int]) -> int:
    """CRC-32 of an index behind its vectors, which come first with a byte a component: of a tenth of the file."""
    checksum = 0
    with open(file, "rb") as stream:
        stream.seek(shape[0] * shape[1])
        while part := stream.read(_CHUNK):
            checksum = zlib.crc32(part, checksum)
    return checksum


def _unusable(file: Path, problem: str) -> IRFileError:
    command = f"rm {'-r ' if file.is_dir() else ''}{shlex.quote(os.fspath(file))}"
    return IRFileError(f"{file}: {problem}. To have the index made anew, move this file away, or type: {command}")


def nearest_approximate(queries: ArrayLike, index: Any, k: int = 10) -> Nearest:
    """`mirenc.base.cosines.nearest` with an index, the ``vectors`` of ``read_vectors(path, approximate=True)``.

    It may, rarely, find fewer than k. Ties are in the order of their rows.
    """
    result = index.search(_quantise(np.asarray(queries, dtype=np.float32)), min(k, len(index)))
    keys, distances = np.atleast_2d(result.keys), np.atleast_2d(result.distances)
    counts: Any = getattr(result, "counts", keys.shape[1])  # results of a single query have no counts, and are complete
    keys, distances = keys[:, : np.min(counts)].astype(np.int64), distances[:, : np.min(counts)]
    order = np.lexsort((keys, distances))  # (q, k)
    return np.take_along_axis(keys, order, 1), 1 - np.take_along_axis(distances, order, 1)


def _quantise(vectors: Float32) -> NDArray[np.int8]:
    """Vectors scaled so that the largest component is 127, and rounded. Raises ConfigError: not finite."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    if not np.isfinite(largest).all():
        raise ConfigError("a vector has values that are not finite. Embed its file again")
    return np.rint(vectors * (127 / np.where(largest > 0, largest, 1))).astype(np.int8)
