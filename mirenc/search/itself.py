"""A query that is in the table comes first: of equal vectors, the row of the same file and symbol before the others."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mirenc.base.cosines import Nearest, nearest
from mirenc.search.table import VectorTable


def own_rows(table: VectorTable, file: str, symbols: Sequence[str], rows: Iterable[int], folder: str = "") -> list[int]:
    """Which of some rows of a table stand for a file's regions, their ``symbols`` given in order; -1 for none.

    Paths of the table may be relative to the working folder, or to ``folder``, where the table lies.
    """
    name, path = os.path.basename(file), os.path.abspath(file)
    by_file: dict[str, list[int]] = {}
    for row in rows:
        if (there := table.files[row]).endswith(name):
            by_file.setdefault(there, []).append(row)
    own = (there for there in by_file if path in (os.path.abspath(there), os.path.abspath(os.path.join(folder, there))))
    return matching_rows(symbols, {row: table.labels["symbol"][row] for there in own for row in by_file[there]})


def matching_rows(symbols: Sequence[str], others: dict[int, str]) -> list[int]:
    """The row of each symbol among ``others``, symbols by row, its second occurrence for a second one; -1 for none."""
    row_of = dict(zip(_numbered(others.values()), others, strict=True))
    return [row_of.get(key, -1) for key in _numbered(symbols)]


def own_first(found: Nearest, own: Sequence[int], queries: ArrayLike, candidates: Any) -> Nearest:
    """What a search found, with each query's ``own`` row of the candidates first, if nothing found is nearer than it.

    Of vectors the own row need not be among those found: more than k candidates may be equal. An approximate index
    (`mirenc.search.approximate`) gives no vectors back, so there it must. Shapes: two of (q, k), (q,), (q, D), (n, D)
    -> two of (q, k).
    """
    rows, cosines = found[0].copy(), found[1].copy()
    asked = np.asarray(queries)
    for query, row in enumerate(own):
        if row < 0 or not rows.shape[1]:
            continue
        others = rows[query] != row
        if isinstance(candidates, np.ndarray):
            cosine = nearest(asked[query : query + 1], candidates[row : row + 1], 1)[1][0, 0]
        else:
            cosine = cosines[query, ~others].max(initial=-np.inf)
        if cosine >= cosines[query].max():
            rows[query] = np.append(row, rows[query, others])[: rows.shape[1]]
            cosines[query] = np.append(cosine, cosines[query, others])[: rows.shape[1]]
    return rows, cosines


def _numbered(symbols: Iterable[str]) -> list[tuple[str, int]]:
    """Each symbol and how often it came before: blocks and loops of a function share its symbol."""
    seen = Counter[str]()
    numbered = []
    for symbol in symbols:
        numbered.append((symbol, seen[symbol]))
        seen[symbol] += 1
    return numbered
