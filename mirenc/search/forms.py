"""The form in which a query is compared with each row of a table, and what several forms find together."""

import os
from collections.abc import Iterable, Sequence

import numpy as np

from mirenc.arrays import Int64
from mirenc.cosines import Nearest
from mirenc.embed.request import SEARCH_FORM, usual_form
from mirenc.errors import ModelError
from mirenc.ir.forms import Form
from mirenc.search.table import Maker, VectorTable

SIZE_FORM: Form = "Oz"
FOR_SIZE = "Os"
"""Level of what was built for size (`mirenc.ir.build_level`)."""


def rows_by_form(table: VectorTable) -> dict[Form, Int64 | None]:
    """Rows of a table by the form of a query that is compared with them; None: all of them.

    A table in the usual form has functions that were built for size as they are: what was inlined less is not inlined
    by bringing it to -O2. The query is brought to them instead.
    """
    form: Form = table.maker.form  # type: ignore[assignment]  # one that made vectors
    built = table.labels["built"]
    if form != SEARCH_FORM or not isinstance(built, list):  # an approximate index is searched as a whole
        return {form: None}
    for_size = np.array([level == FOR_SIZE for level in built], dtype=bool)
    if for_size.all() or not for_size.any():
        return {SIZE_FORM if for_size.any() else form: None}
    return {form: np.flatnonzero(~for_size), SIZE_FORM: np.flatnonzero(for_size)}


def mixed_for_size(built: Iterable[str]) -> bool:
    """Whether some of these levels are for size, and others not: all then compare best in `SIZE_FORM`."""
    levels = set(built)
    return FOR_SIZE in levels and len(levels) > 1


def merged(parts: Sequence[tuple[Nearest, Int64 | None]], k: int) -> Nearest:
    """What was found in parts of a table, as one: the order of each part is kept, and the nearer head comes first.

    Each part has its rows and cosines, (q, k'), and its rows in the table. -> two of (q, min(k, sum of k')).
    """
    if len(parts) == 1:
        (rows, cosines), own = parts[0]
        return (rows if own is None else own[rows]), cosines
    tables = [(rows if own is None else own[rows], cosines) for (rows, cosines), own in parts]
    count = min(k, sum(rows.shape[1] for rows, _ in tables))
    queries = len(tables[0][0])
    both = np.zeros((queries, count), dtype=np.int64), np.zeros((queries, count), dtype=np.float32)
    for query in range(queries):
        at = [0] * len(tables)
        for rank in range(count):
            left = [part for part, (rows, _) in enumerate(tables) if at[part] < rows.shape[1]]
            best = left[int(np.argmax([tables[part][1][query, at[part]] for part in left]))]
            both[0][query, rank], both[1][query, rank] = (found[query, at[best]] for found in tables[best])
            at[best] += 1
    return both


def check_form(maker: Maker, form: Form | None, where: str | os.PathLike[str]) -> None:
    """Refuse a table in another form than is asked for; where none is asked for, one of IR as it is. ModelError."""
    expected = form or usual_form(maker.purpose, [maker.level])
    if maker.form == expected or (form is None and maker.form != "plain"):
        return
    again = f"mirenc embed FOLDER --level {maker.level} -o {os.fspath(where)}"
    if form is not None:
        raise ModelError(
            f"{where} holds vectors of the form {maker.form}, not {form}. Embed again: {again} --form {form}"
        )
    raise ModelError(
        f"{where} holds vectors of IR as it is (form plain): builds at other levels are found less often than among "
        f"vectors of the form {expected}, the default now. Embed again: {again}, or search it as it is: --form plain"
    )
