"""``mirenc search``: the files or functions of an index that are nearest to those of other files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer import Argument, Option

from mirenc.cli import common
from mirenc.cli.search_results import Found, Match, check_outputs, json_of, overloaded, print_found, write_results
from mirenc.errors import ConfigError

if TYPE_CHECKING:
    from mirenc.arrays import Float32
    from mirenc.cosines import Nearest
    from mirenc.embed import Encoder
    from mirenc.ir import Region
    from mirenc.ir.inputs import Input
    from mirenc.search import Maker, VectorTable

_EQUALS = 50  # rows that an approximate search looks for a query's own row in
_QUERY = "IR or source files, folders of either, compile_commands.json, or - for stdin."
_OUTPUT = "Write the results, too: .json, .jsonl (a line for each file of QUERY) or .csv (one for each rank)."
_AT_ONCE = 2048  # vectors of query files that are searched for together


class _Queries(NamedTuple):
    """What is searched for in one file: ``regions`` and their vectors, (q, D); those of all its regions, (m, D)."""

    file: str
    regions: list[Region]
    vectors: Float32
    beside: Float32


@common.reads
def search(
    queries: Annotated[list[str], Argument(metavar="QUERY", help=_QUERY)],
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
    output: Annotated[
        list[Path] | None, Option("--output", "-o", metavar="FILE", help=f"{_OUTPUT} Can be repeated.")
    ] = None,
    as_json: Annotated[bool, Option("--json", help="JSON instead of text, a line for each file of QUERY.")] = False,
    model: common.SearchModel = None,
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
    """Find what is nearest to each QUERY in INDEX, by exact cosine.

    With --level function each function of QUERY is searched for. A query that is in the index finds itself first, and
    its equals in the order of the index. A percentage says how often the nearest function at such a cosine was the
    right one, on projects never trained on. A symbol stands beside a name that several functions of the index have.
    """
    from mirenc.search import VECTOR_SUFFIXES
    from mirenc.search.itself import own_first, own_rows

    for query in queries:
        if Path(query).suffix in VECTOR_SUFFIXES and not os.path.isdir(query):
            swapped = f"{query} is a file of vectors, which is searched in, not for"
            raise ConfigError(f"{swapped}. Type: mirenc search FILE {query}")
    check_outputs(output or ())
    wanted = None if function is None else _pattern(function)
    files = common.expand(queries, options)
    how: Any = {"whitening_map": whitening_map, "hide_names": hide_names}
    encoder, table, failures = common.open_index(index, level, "module", model, options, approximate=approximate, **how)
    maker = table.maker
    if rerank and (table.level != "function" or approximate):
        raise typer.BadParameter("only functions are re-ranked, and not with --approximate", param_hint="--rerank")
    by_file = maker.usual and table.level == "function" and not approximate if rerank is None else rerank
    sure = common.sureness(encoder, maker)
    head = {key: getattr(maker, key) for key in ("model", "model_digest", "level", "part")}
    head |= {"index": index, "rows": len(table)}
    labels = table.names, table.labels["symbol"]
    several = None if as_json or approximate else overloaded(zip(*labels, strict=True), table.level)
    failed = common.Failures(len(files))
    results: list[tuple[str, list[Found]]] = []
    asked = _queries(encoder, files, maker, wanted, failed, whole_files=by_file)
    for one, (rows, cosines) in _nearest(asked, table, k, by_file=by_file, approximate=approximate):
        symbols = [region.symbol for region in one.regions]
        known = sorted({*rows.ravel().tolist()}) if approximate else range(len(table))
        own = own_rows(table, one.file, symbols, known, os.path.dirname(index))
        rows, cosines = own_first((rows, cosines), own, one.vectors, table.vectors)
        found: list[Found] = []
        for region, near, values in zip(one.regions, rows[:, :k].tolist(), cosines[:, :k].tolist(), strict=True):
            places = ((table.files[row], *(column[row] for column in labels)) for row in near)
            matches = [Match(value, *place) for value, place in zip(values, places, strict=True)]
            found.append(Found(region.name, region.symbol, sure(values[0]), matches))
        if as_json:
            typer.echo(json.dumps({**head, **json_of(one.file, found)}))
        else:
            print_found(one.file, found, several, table.level)
        if output:
            results.append((one.file, found))
    for path in output or ():
        write_results(path, head, results)
    try:
        failed.finish()
    finally:
        failures.finish()


def _queries(
    encoder: Encoder,
    files: list[Input],
    maker: Maker,
    wanted: re.Pattern[str] | None,
    failed: common.Failures,
    *,
    whole_files: bool,
) -> Iterator[_Queries]:
    """What is searched for, by file, made as the index was.

    ``wanted`` says of which functions; with ``whole_files`` the others are ``beside`` them. ``failed`` is told of files
    that cannot be embedded. Raises ConfigError: no file has anything to search for.
    """
    inside = "" if maker.level == "function" else " in a function"
    what = maker.level if wanted is None else f"{maker.level}{inside} like {wanted.pattern!r}"
    purpose = "features" if maker.purpose == "features" else "search"
    # The level is a word of a file: the encoder refuses what is none.
    how: Any = {"level": maker.level, "purpose": purpose, "whiten": maker.whiten}
    how |= {"function": wanted.pattern if wanted and not whole_files else None, "progress": len(files) > 1}
    found = without = 0
    with closing(encoder.embed_stream(files, **how)) as outcomes:
        for outcome in outcomes:
            if how["function"] and len(files) > 1 and isinstance(outcome.error, ConfigError):  # it has no such function
                without += 1
                continue
            if (embedding := outcome.embedded(failed.add)) is None:
                continue
            regions, every = embedding.regions, embedding.part(maker.part)
            rows = list(range(len(regions)))
            if wanted and whole_files:
                rows = [row for row in rows if wanted.search(regions[row].symbol) or wanted.search(regions[row].name)]
            if rows:
                found += 1
                yield _Queries(outcome.name, [regions[row] for row in rows], every[rows], every)
            else:
                without += 1
    if without and len(files) > 1 and found:
        is_, it = ("is", "it") if without == 1 else ("are", "them")
        common.say(f"{without} of {len(files)} files {is_} left out: no {what} in {it}")
    elif without:
        none = f"{files[0].name} has no" if len(files) == 1 else f"of {len(files)} files none has a"
        advice = "Search at another level (--level)" if wanted is None else "Give another --function, or --level"
        raise ConfigError(f"{none} {what} to search for. {advice}")


def _pattern(function: str) -> re.Pattern[str]:
    try:
        return re.compile(function)
    except re.error as error:
        raise typer.BadParameter(f"{function!r} is no regular expression: {error}", param_hint="--function") from None


def _nearest(
    queries: Iterable[_Queries], table: VectorTable, k: int, *, by_file: bool, approximate: bool
) -> Iterator[tuple[_Queries, Nearest]]:
    """Each file with rows of the table and cosines for its queries; ``by_file``: re-ranked by what is beside them.

    The table is read once for all queries of some files.
    """
    import numpy as np

    from mirenc.embed.request import in_batches
    from mirenc.search import nearest
    from mirenc.search.approximate import nearest_approximate
    from mirenc.search.rerank import rerank_files

    for batch in in_batches(queries, lambda one: len(one.beside), _AT_ONCE):
        if by_file:
            found = rerank_files([(one.vectors, one.beside) for one in batch], table, k)
        elif approximate:  # some more, for the query itself to be among its equals
            found = [nearest_approximate(one.vectors, table.vectors, max(k, _EQUALS)) for one in batch]
        else:
            ends = np.cumsum([len(one.vectors) for one in batch])[:-1]
            both = nearest(np.concatenate([one.vectors for one in batch]), table.vectors, k)
            found = [*zip(*(np.split(each, ends) for each in both), strict=True)]
        yield from zip(batch, found, strict=True)
