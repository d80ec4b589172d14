"""The nearest of very many vectors, by an index that is mapped from its file and never read whole: HNSW, by usearch.

`mirenc.cosines.nearest` reads every vector for each query. The index has a byte a component: it finds nearly the same,
with cosines that are some thousandths off.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirenc.arrays import Float32
from mirenc.cosines import Nearest
from mirenc.errors import needs
from mirenc.progress import progress
from mirenc.writing import delivered, refused

_HOW = {"metric": "cos", "dtype": "i8", "connectivity": 16, "expansion_add": 64, "expansion_search": 512}
_ROWS_AT_ONCE = 4096


def index_of(path: str, rows: Any, head: dict[str, Any]) -> Any:
    """The index of the column ``vector`` of a ``ParquetFile`` at ``path``, whose maker is ``head``, mapped from disk.

    It is ``x.usearch`` beside ``x.parquet``, and ``x.usearch.json`` says of what it is. They are made where they are
    missing or of another ``x.parquet``: by all cores, in memory. Raises MissingExtraError: no usearch.
    """
    with needs("ann", "an approximate index needs usearch"):
        from usearch.index import Index
    file, sidecar = Path(path).with_suffix(".usearch"), Path(path).with_suffix(".usearch.json")
    with open(path, "rb") as stream:
        # The footer: place, size, least and largest value of every part of every column.
        stream.seek(-rows.metadata.serialized_size - 8, os.SEEK_END)
        made_of = {**head, **_HOW, "footer": hashlib.sha256(stream.read()).hexdigest()}
    index = Index(ndim=rows.schema_arrow.field("vector").type.list_size, **_HOW)
    if not (file.is_file() and sidecar.is_file() and json.loads(sidecar.read_text(encoding="utf-8")) == made_of):
        with progress("indexing", rows.metadata.num_rows) as advance:
            for batch in rows.iter_batches(_ROWS_AT_ONCE, columns=["vector"]):
                values = batch.column("vector").flatten().to_numpy(zero_copy_only=False).reshape(len(batch), index.ndim)
                index.add(np.arange(len(index), len(index) + len(batch)), _bytes(values))
                advance(len(batch))
        with refused(file), delivered(file) as part:
            index.save(os.fspath(part))
        with refused(sidecar), delivered(sidecar) as part:
            part.write_text(json.dumps(made_of, indent=1) + "\n", encoding="utf-8")
    index.view(os.fspath(file))
    return index


def nearest_approximate(queries: ArrayLike, index: Any, k: int = 10) -> Nearest:
    """As `mirenc.cosines.nearest`, of the ``vectors`` of ``read_vectors(path, approximate=True)``; rarely fewer."""
    found = index.search(_bytes(np.asarray(queries, dtype=np.float32)), min(k, len(index)))
    keys, distances = np.atleast_2d(found.keys), np.atleast_2d(found.distances)
    counts: Any = getattr(found, "counts", keys.shape[1])  # one query has none: all is found for it
    return keys[:, : np.min(counts)].astype(np.int64), 1 - distances[:, : np.min(counts)]


def _bytes(vectors: Float32) -> NDArray[np.int8]:
    """Components as whole numbers, of each vector's largest; cosines do not see the scale."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    return np.rint(vectors * (127 / np.where(largest > 0, largest, 1))).astype(np.int8)
