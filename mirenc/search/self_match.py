"""Rank a query that is itself in the table first among equal vectors: the row of the same file and symbol."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mirenc.base.cosines import Nearest, nearest
from mirenc.search.table import VectorTable


def own_rows(table: VectorTable, file: str, symbols: Sequence[str], rows: Iterable[int], folder: str = "") -> list[int]:
    """Row of a table, among ``rows``, of each region of ``file``, given by their ``symbols`` in order; -1 for none.

    Paths in the table may be relative to the working folder, or to ``folder``, which holds the table.
    """
    name, path = os.path.basename(file), os.path.abspath(file)
    by_file: dict[str, list[int]] = {}
    for row in rows:
        if (entry := table.files[row]).endswith(name):
            by_file.setdefault(entry, []).append(row)
    names = [entry for entry in by_file if path in map(os.path.abspath, (entry, os.path.join(folder, entry)))]
    return matching_rows(symbols, {row: table.labels["symbol"][row] for entry in names for row in by_file[entry]})


def matching_rows(symbols: Sequence[str], candidates: dict[int, str]) -> list[int]:
    """Row of each symbol in ``candidates`` (row -> symbol), -1 for none; the n-th occurrence goes to the n-th."""
    row_of = dict(zip(_occurrences(candidates.values()), candidates, strict=True))
    return [row_of.get(key, -1) for key in _occurrences(symbols)]


def own_first(results: Nearest, self_rows: Sequence[int], queries: ArrayLike, candidates: Any) -> Nearest:
    """Results of a search with each query's own row (``self_rows``) moved to the front, unless something is nearer.

    Among vectors the own row need not be in the results, as more than k candidates may be equal. An approximate index
    (`mirenc.search.approximate`) returns no vectors, so there it must be. Shapes: two of (q, k), (q,), (q, D), (n, D)
    -> two of (q, k).
    """
    rows, cosines = results[0].copy(), results[1].copy()
    vectors = np.asarray(queries)
    for query, row in enumerate(self_rows):
        if row < 0 or not rows.shape[1]:
            continue
        is_other = rows[query] != row
        if isinstance(candidates, np.ndarray):
            cosine = nearest(vectors[query : query + 1], candidates[row : row + 1], 1)[1][0, 0]
        else:
            cosine = cosines[query, ~is_other].max(initial=-np.inf)
        if cosine >= cosines[query].max():
            rows[query] = np.append(row, rows[query, is_other])[: rows.shape[1]]
            cosines[query] = np.append(cosine, cosines[query, is_other])[: rows.shape[1]]
    return rows, cosines


def _occurrences(symbols: Iterable[str]) -> list[tuple[str, int]]:
    """Each symbol with the number of its earlier occurrences: blocks and loops share the symbol of their function."""
    counts = Counter[str]()
    occurrences = []
    for symbol in symbols:
        occurrences.append((symbol, counts[symbol]))
        counts[symbol] += 1
    return occurrences
