"""What is searched for, file by file, in the forms in which rows are compared with it; and what is nearest."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from mirenc.arrays import Float32
from mirenc.cosines import Nearest, nearest
from mirenc.embed import Embedding, Encoder
from mirenc.embed.request import in_batches
from mirenc.errors import ConfigError, MirencError
from mirenc.ir import Region
from mirenc.ir.forms import Form
from mirenc.ir.inputs import Input
from mirenc.search.approximate import nearest_approximate
from mirenc.search.forms import FOR_SIZE, SIZE_FORM, merged, rows_by_form
from mirenc.search.rerank import rerank_files
from mirenc.search.table import Maker, VectorTable

_EQUALS = 50  # rows that an approximate search looks for a query's own row in
_AT_ONCE = 2048  # vectors of query files that are searched for together


@dataclass(frozen=True, eq=False)
class FileQueries:
    """What is searched for in one file: ``regions`` and their vectors, (q, D); those of all its regions, (m, D).

    ``for_size`` are both in the form in which they are compared with rows built for size, where a table has some.
    """

    file: str
    regions: list[Region]
    vectors: Float32
    beside: Float32
    for_size: tuple[Float32, Float32] | None = None

    def in_form(self, form: Form) -> tuple[Float32, Float32]:
        """``vectors`` and ``beside`` in one of the forms of `mirenc.search.forms.rows_by_form`."""
        return self.for_size if form == SIZE_FORM and self.for_size is not None else (self.vectors, self.beside)


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
    """What is searched for in a table, file by file, in the forms of its rows.

    ``wanted`` says of which functions; with ``whole_files`` the others of a file are ``beside`` them. A file without
    any is left out. ``failed`` is told of files that cannot be embedded; without it the first such error is raised.
    """
    maker = table.maker
    how: Any = {"level": maker.level, "purpose": maker.purpose, "whiten": maker.whiten}
    how["function"] = wanted.pattern if wanted and not whole_files else None
    for_size = SIZE_FORM in rows_by_form(table) and maker.form != SIZE_FORM
    with closing(encoder.embed_stream(files, form=maker.form, progress=progress, **how)) as outcomes:  # type: ignore[arg-type]
        for file, outcome in zip(files, outcomes, strict=True):
            if how["function"] and len(files) > 1 and isinstance(outcome.error, ConfigError):  # it has no such function
                continue
            if (embedding := outcome.embedded(failed)) is None:
                continue
            regions, every = embedding.regions, embedding.part(maker.part)
            rows = list(range(len(regions)))
            if wanted and whole_files:
                rows = [row for row in rows if wanted.search(regions[row].symbol) or wanted.search(regions[row].name)]
            if rows:
                own = [regions[row] for row in rows]
                brought = _for_size(encoder, file, embedding, maker, how) if for_size else None
                both = None if brought is None else (brought[rows], brought)
                yield FileQueries(outcome.name, own, every[rows], every, both)


def _for_size(encoder: Encoder, file: Input, embedding: Embedding, maker: Maker, how: dict[str, Any]) -> Float32:
    """Vectors of an embedding's regions in the form for size; of those built for size, as they are. -> (m, D)."""
    vectors = embedding.part(maker.part)
    if all(region.built == FOR_SIZE for region in embedding.regions):
        return vectors
    brought = encoder.embed_parts(file, form=SIZE_FORM, **how)
    others, row_of = brought.part(maker.part), {region.symbol: row for row, region in enumerate(brought.regions)}
    rows = [-1 if region.built == FOR_SIZE else row_of.get(region.symbol, -1) for region in embedding.regions]
    return np.array([vectors[at] if row < 0 else others[row] for at, row in enumerate(rows)], dtype=np.float32)


def nearest_of_files(
    queries: Iterable[FileQueries], table: VectorTable, k: int = 10, *, by_file: bool = False, approximate: bool = False
) -> Iterator[tuple[FileQueries, Nearest]]:
    """Each file with rows of the table and cosines for its queries; ``by_file``: re-ranked by what is beside them.

    A row is compared with a query in the form of `mirenc.search.forms.rows_by_form`. The table is read once for all
    queries of some files.
    """
    forms = rows_by_form(table)
    parts = [(form, table if rows is None else table.take(rows), rows) for form, rows in forms.items()]
    for batch in in_batches(queries, lambda file: len(file.beside), _AT_ONCE):
        found = []
        for form, part, rows in parts:
            near = _nearest([file.in_form(form) for file in batch], part, k, by_file=by_file, approximate=approximate)
            found.append([(each, rows) for each in near])
        yield from zip(batch, (merged(each, k) for each in zip(*found, strict=True)), strict=True)


def _nearest(
    files: Sequence[tuple[Float32, Float32]], table: VectorTable, k: int, *, by_file: bool, approximate: bool
) -> list[Nearest]:
    """Rows of one table and cosines for the queries of each of some files, given with all that is in their file."""
    if by_file:
        return rerank_files(files, table, k)
    if approximate:  # some more, for the query itself to be among its equals
        return [nearest_approximate(vectors, table.vectors, max(k, _EQUALS)) for vectors, _ in files]
    ends = np.cumsum([len(vectors) for vectors, _ in files])[:-1]
    both = nearest(np.concatenate([vectors for vectors, _ in files]), table.vectors, k)
    return [*zip(*(np.split(each, ends) for each in both), strict=True)]
