"""Vectors of query files, made like those of a table, and the nearest rows of the table."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from mirenc.base.arrays import Float32, Int64
from mirenc.base.cosines import Nearest, nearest
from mirenc.base.errors import ConfigError, MirencError
from mirenc.encoder import Encoder
from mirenc.encoder.batches import in_batches
from mirenc.llvm import Region
from mirenc.llvm.inputs.input import Input
from mirenc.search.approximate import nearest_approximate
from mirenc.search.rerank import rerank
from mirenc.search.table import VectorTable

_MIN_APPROXIMATE = 50  # results of an approximate search, among which the query's own row should be
_BATCH = 2048  # vectors of query files that are searched for together


@dataclass(frozen=True, eq=False)
class FileQueries:
    """The q queries of one file: ``regions``, their numbers of ``instructions`` (q,), and ``vectors`` (q, D).

    ``file_vectors`` (m, D) are the vectors of all regions of the file.
    """

    file: str
    regions: list[Region]
    instructions: Int64
    vectors: Float32
    file_vectors: Float32


def queries_of(
    encoder: Encoder,
    files: Sequence[Input],
    table: VectorTable,
    pattern: re.Pattern[str] | None = None,
    failed: Callable[[MirencError], object] | None = None,
    *,
    whole_files: bool = False,
    progress: bool = False,
) -> Iterator[FileQueries]:
    """Queries of each file, embedded like the vectors of ``table``.

    ``pattern`` selects functions by name; with ``whole_files``, `FileQueries.file_vectors` has the file's others, too.
    A file without a query is skipped. ``failed`` is called with the error of each file that cannot be embedded; without
    it the first is raised.
    """
    maker = table.maker
    # These come from a file: the encoder checks them.
    options: Any = {"level": maker.level, "purpose": maker.purpose, "form": maker.form, "whiten": maker.whiten}
    function = pattern.pattern if pattern and not whole_files else None
    with closing(encoder.embed_stream(files, function=function, progress=progress, **options)) as outcomes:
        for outcome in outcomes:
            if function and len(files) > 1 and isinstance(outcome.error, ConfigError):  # it has no such function
                continue
            if (embedding := outcome.embedded(failed)) is None:
                continue
            regions, vectors = embedding.regions, embedding.part(maker.part)
            rows = list(range(len(regions)))
            if pattern and whole_files:
                rows = [row for row in rows if pattern.search(regions[row].symbol) or pattern.search(regions[row].name)]
            if rows:
                query_regions, sizes = [regions[row] for row in rows], embedding.sizes[rows, 2]
                yield FileQueries(outcome.name, query_regions, sizes, vectors[rows], vectors)


def nearest_of_files(
    queries: Iterable[FileQueries], table: VectorTable, k: int = 10, *, by_file: bool = False, approximate: bool = False
) -> Iterator[tuple[FileQueries, Nearest]]:
    """Each file with the rows of ``table`` nearest to its queries, and their cosines.

    ``by_file`` re-ranks by what else is in the files (`mirenc.search.rerank`). The table is read once a batch of files.
    """
    for batch in in_batches(queries, lambda file: len(file.file_vectors), _BATCH):
        if by_file:
            results = rerank([(file.vectors, file.file_vectors) for file in batch], table, k)
        elif approximate:
            results = [nearest_approximate(file.vectors, table.vectors, max(k, _MIN_APPROXIMATE)) for file in batch]
        else:
            ends = np.cumsum([len(file.vectors) for file in batch])[:-1]
            arrays = nearest(np.concatenate([file.vectors for file in batch]), table.vectors, k)
            results = [*zip(*(np.split(array, ends) for array in arrays), strict=True)]
        yield from zip(batch, results, strict=True)
