"""``mirenc search``: the files or functions of an index that are nearest to those of a file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from mirenc.cli import common
from mirenc.errors import ConfigError

_EQUALS = 50  # rows that an approximate search looks for a query's own row in


@common.reads
def search(
    query: Annotated[str, Argument(metavar="QUERY", help="IR or source file, or - for stdin.")],
    index: common.Index,
    k: Annotated[int, Option("-k", help="How many to show.", min=1)] = 10,
    level: Annotated[
        common.LevelName | None,
        Option("--level", "-l", help="What is searched. [default: the level of the vectors; module in a folder]"),
    ] = None,
    function: Annotated[
        str | None,
        Option("--function", "-f", metavar="REGEX", help="Only functions of QUERY with such a name, plain or mangled."),
    ] = None,
    as_json: common.JSON = False,
    model: common.Model = None,
    whitening_map: common.Map = None,
    hide_names: common.HideNames = False,
    rerank: Annotated[
        bool | None,
        Option(help="First what stands in a file like QUERY, of the best 50. [default: of functions, if exact]"),
    ] = None,
    approximate: Annotated[
        bool, Option("--approximate", help="Of INDEX.parquet, by an index beside it: for a million rows and more.")
    ] = False,
    *,
    options: common.Reading,
) -> None:
    """Find what is nearest to QUERY in INDEX, by exact cosine.

    With --level function each function of QUERY is searched for. A query that is in the index finds itself first, and
    its equals in the order of the index. A percentage says how often the nearest function at such a cosine was the
    right one, on projects never trained on.
    """
    from mirenc.ir.inputs import path_input
    from mirenc.search import VECTOR_SUFFIXES, nearest
    from mirenc.search.approximate import nearest_approximate
    from mirenc.search.itself import own_first, own_rows
    from mirenc.search.rerank import rerank as nearest_by_file

    if os.path.isdir(query) or Path(query).suffix in VECTOR_SUFFIXES:
        raise ConfigError(
            f"{query} is {'a folder' if os.path.isdir(query) else 'a file of vectors'}, which is searched in, not for. "
            f"Type: mirenc search FILE {query}"
        )
    how: Any = {"whitening_map": whitening_map, "hide_names": hide_names}
    encoder, table, failures = common.open_index(index, level, "module", model, options, approximate=approximate, **how)
    maker = table.maker
    if rerank and (table.level != "function" or approximate):
        raise typer.BadParameter("only functions are re-ranked, and not with --approximate", param_hint="--rerank")
    given: Any = path_input(query) if function is None else encoder.read(path_input(query))
    purpose: Any = "features" if maker.purpose == "features" else "search"
    # The level is a word of a file: the encoder refuses what is none.
    parts: Any = {"level": maker.level, "purpose": purpose, "whiten": maker.whiten}
    embedding = encoder.embed_parts(given, function=function, **parts)
    if not embedding.regions:
        where = "" if function is None else f" in a function like {function!r}"
        raise ConfigError(f"{query} has no {table.level}{where} to search for. Search at another level (--level)")
    vectors = embedding.part(maker.part)
    if rerank or (rerank is None and maker.usual and table.level == "function" and not approximate):
        every = embedding if function is None else encoder.embed_parts(given, **parts)
        rows, cosines = nearest_by_file(vectors, every.part(maker.part), table, k)
    elif approximate:  # some more, for the query itself to be among its equals
        rows, cosines = nearest_approximate(vectors, table.vectors, max(k, _EQUALS))
    else:
        rows, cosines = nearest(vectors, table.vectors, k)
    symbols = [region.symbol for region in embedding.regions]
    known = sorted({*rows.ravel().tolist()}) if approximate else range(len(table))
    own = own_rows(table, query, symbols, known, os.path.dirname(index))
    rows, cosines = own_first((rows, cosines), own, vectors, table.vectors)
    rows, cosines = rows[:, :k], cosines[:, :k]
    sure = common.sureness(encoder, maker)
    found: list[dict[str, Any]] = []
    for name, *both in zip(embedding.names, rows.tolist(), cosines, strict=True):
        pairs = zip(*both, strict=True)
        matches = [{"cosine": float(at), "file": table.files[row], "name": table.names[row]} for row, at in pairs]
        found.append({"name": name, "right": sure(matches[0]["cosine"]), "matches": matches})
    if as_json:
        head = {key: getattr(maker, key) for key in ("model", "model_digest", "level", "part")}
        typer.echo(json.dumps({**head, "index": index, "rows": len(table), "query": query, "found": found}))
    else:
        whole = table.level == "module"
        for one in found:
            typer.echo(query if whole else f"{query}  {one['name']}")
            for rank, match in enumerate(one["matches"], start=1):
                name = "" if whole else f"  {match['name']}"
                right = common.percent(one["right"], shown=rank == 1)
                typer.echo(f"{rank:4}  {match['cosine']:.4f}{right}  {match['file']}{name}")
    failures.finish()
