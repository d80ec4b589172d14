"""What is searched for, file by file, in the form of a table's vectors; and what is nearest."""

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
from mirenc.search.rerank import rerank_files
from mirenc.search.table import VectorTable

_EQUALS = 50  # rows that an approximate search looks for a query's own row in
_AT_ONCE = 2048  # vectors of query files that are searched for together


@dataclass(frozen=True, eq=False)
class FileQueries:
    """What is searched for in one file: ``regions``, how many ``instructions`` (q,) they have, and ``vectors`` (q, D).

    ``beside`` (m, D) are the vectors of all that is in the file.
    """

    file: str
    regions: list[Region]
    instructions: Int64
    vectors: Float32
    beside: Float32


def queries_of(
    encoder: Encoder,
    files: Sequence[Input],
    table: VectorTable,
    wanted: re.Pattern[str] | None = None,
    failed: Callable[[MirencError], object] | None = None,
    *,
    whole_files: bool = False,
    progress: bool = False,
) -> Iterator[FileQueries]:
    """What is searched for in a table, file by file.

    ``wanted`` says of which functions; with ``whole_files`` the others of a file are ``beside`` them. A file without
    any is left out. ``failed`` is told of files that cannot be embedded; without it the first such error is raised.
    """
    maker = table.maker
    # The words of a file of vectors: the encoder refuses what is none.
    how: Any = {"level": maker.level, "purpose": maker.purpose, "form": maker.form, "whiten": maker.whiten}
    how["function"] = wanted.pattern if wanted and not whole_files else None
    with closing(encoder.embed_stream(files, progress=progress, **how)) as outcomes:
        for outcome in outcomes:
            if how["function"] and len(files) > 1 and isinstance(outcome.error, ConfigError):  # it has no such function
                continue
            if (embedding := outcome.embedded(failed)) is None:
                continue
            regions, every = embedding.regions, embedding.part(maker.part)
            rows = list(range(len(regions)))
            if wanted and whole_files:
                rows = [row for row in rows if wanted.search(regions[row].symbol) or wanted.search(regions[row].name)]
            if rows:
                own, sizes = [regions[row] for row in rows], embedding.sizes[rows, 2]
                yield FileQueries(outcome.name, own, sizes, every[rows], every)


def nearest_of_files(
    queries: Iterable[FileQueries], table: VectorTable, k: int = 10, *, by_file: bool = False, approximate: bool = False
) -> Iterator[tuple[FileQueries, Nearest]]:
    """Each file with rows of the table and cosines for its queries; ``by_file``: re-ranked by what is beside them.

    The table is read once for all queries of some files.
    """
    for batch in in_batches(queries, lambda file: len(file.beside), _AT_ONCE):
        if by_file:
            found = rerank_files([(file.vectors, file.beside) for file in batch], table, k)
        elif approximate:  # some more, for the query itself to be among its equals
            found = [nearest_approximate(file.vectors, table.vectors, max(k, _EQUALS)) for file in batch]
        else:
            ends = np.cumsum([len(file.vectors) for file in batch])[:-1]
            both = nearest(np.concatenate([file.vectors for file in batch]), table.vectors, k)
            found = [*zip(*(np.split(each, ends) for each in both), strict=True)]
        yield from zip(batch, found, strict=True)
