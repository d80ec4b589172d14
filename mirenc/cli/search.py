"""``mirenc search``: the files or functions of an index that are nearest to those of a file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from mirenc.cli import common
from mirenc.errors import ConfigError

if TYPE_CHECKING:
    from mirenc.embed import Encoder
    from mirenc.ir import ReadOptions
    from mirenc.search import VectorTable

_INDEX = "What to search in: vectors by `mirenc embed -o`, a folder of IR or sources, or compile_commands.json."


@common.reads
def search(
    query: Annotated[str, Argument(metavar="QUERY", help="IR or source file, or - for stdin.")],
    index: Annotated[str, Argument(metavar="INDEX", help=_INDEX)],
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

    With --level function each function of QUERY is searched for. A query that is in the index finds itself first. A
    percentage says how often the nearest function at such a cosine was the right one, on projects never trained on.
    """
    from mirenc.embed import load
    from mirenc.ir.inputs import path_input
    from mirenc.search import VECTOR_SUFFIXES, index as make_index, nearest
    from mirenc.search.approximate import nearest_approximate
    from mirenc.search.rerank import rerank as nearest_by_file
    from mirenc.weights import search_model

    if os.path.isdir(query) or Path(query).suffix in VECTOR_SUFFIXES:
        raise ConfigError(
            f"{query} is {'a folder' if os.path.isdir(query) else 'a file of vectors'}, which is searched in, not for. "
            f"Type: mirenc search FILE {query}"
        )
    failures = common.Failures(1)
    if Path(index).suffix in VECTOR_SUFFIXES and not os.path.isdir(index):
        if whitening_map is not None or hide_names:
            option = "--map" if whitening_map is not None else "--hide-names"
            raise typer.BadParameter(f"{index} says by itself how it was made; leave {option} out", param_hint=option)
        encoder, table = _stored(index, level, model, options, approximate)
    elif approximate:
        raise typer.BadParameter("only a .parquet file of vectors has one", param_hint="--approximate")
    else:
        # A folder is embedded now; what the cache has of it is not computed again.
        how: Any = {"whitening_map": whitening_map, "hide_names": hide_names}
        encoder = load(model or search_model(level or "module"), options=options, **how)
        files = common.expand([index])
        failures = common.Failures(len(files))
        table = make_index(encoder, files, level=level or "module", failed=failures.add, progress=True)
    if not len(table):
        if failures.count == failures.total:
            failures.finish()
        raise ConfigError(f"{index} has no {table.level} to search in. Embed the files at another level (--level)")
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
    vectors, usual = embedding.part(maker.part), maker.whiten and (maker.part, purpose) == ("both", "search")
    if rerank or (rerank is None and usual and table.level == "function" and not approximate):
        every = embedding if function is None else encoder.embed_parts(given, **parts)
        rows, cosines = nearest_by_file(vectors, every.part(maker.part), table, k)
    else:
        rows, cosines = (nearest_approximate if approximate else nearest)(vectors, table.vectors, k)
    sure = common.sureness(encoder, maker.level, usual=usual)
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


def _stored(
    index: str, level: str | None, model: str | None, options: ReadOptions, approximate: bool
) -> tuple[Encoder, VectorTable]:
    from mirenc.embed import load
    from mirenc.search import read_vectors
    from mirenc.weights import is_model_name

    table = read_vectors(index, approximate=approximate)
    if level not in (None, table.level):
        raise typer.BadParameter(f"{index} holds vectors of level {table.level}, not {level}", param_hint="--level")
    # The file knows its model: one that has a name need not be named again.
    maker = table.maker
    made_by = maker.model if model is None and is_model_name(maker.model) else model
    encoder = load(made_by, options=options, hide_names=maker.hide_names, whitening_map=maker.map or None)
    table.check_model(encoder.name, encoder.digest, index)
    return encoder, table
