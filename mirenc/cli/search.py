"""``mirenc search``: the files or functions of an index that are nearest to those of some files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from mirenc.base.errors import ConfigError, MirencError
from mirenc.cli import common
from mirenc.cli.search_results import Found, check_outputs, json_of, matches_of, overloaded, print_found, write_results

if TYPE_CHECKING:
    from mirenc.encoder import Encoder
    from mirenc.llvm.inputs.input import Input
    from mirenc.search import Maker, VectorTable

_QUERY = "IR or source files, folders of either, compile_commands.json, or - for stdin."
_FUNCTION = "Only functions of QUERY whose name, plain or mangled, matches."
_RERANK = "Re-rank the best 50 functions: prefer one whose file resembles the query's file."
_RERANKED = "[default: on for functions, off with --approximate]"
_APPROXIMATE = "Search INDEX, a .parquet file, approximately: by an HNSW graph that is stored in the same folder."
_RIVALS = 4  # nearest rows among which one should be no copy of the first
_OUTPUT = "Also write the results to a file: .json, .jsonl (a line for each query file), .csv (a line for each result)."
_LEVEL = "What is searched. [default: the level of the vectors; module for a folder]"


@common.reads
def search(
    queries: Annotated[list[str], Argument(metavar="QUERY", help=_QUERY)],
    index: common.Index,
    k: Annotated[int, Option("-k", help="How many results to show.", min=1)] = 10,
    level: Annotated[common.LevelName | None, Option("--level", "-l", help=_LEVEL)] = None,
    function: Annotated[str | None, Option("--function", "-f", metavar="REGEX", help=_FUNCTION)] = None,
    output: Annotated[
        list[Path] | None, Option("--output", "-o", metavar="FILE", help=f"{_OUTPUT} Can be repeated.")
    ] = None,
    as_json: Annotated[bool, Option("--json", help="Print JSON, one line for each file of QUERY.")] = False,
    model: common.SearchModel = None,
    whitening_map: common.Map = None,
    hide_names: common.HideNames = False,
    form: common.FormName = "auto",
    rerank: Annotated[bool | None, Option(help=f"{_RERANK} {_RERANKED}")] = None,
    approximate: Annotated[
        bool, Option("--approximate", help=f"{_APPROXIMATE} Meant for a million rows or more.")
    ] = False,
    *,
    options: common.Reading,
) -> None:
    """Find the files or functions in INDEX that are most like those in QUERY, by cosine.

    In an index of functions, each function of QUERY is searched for. The percentage beside the best result of each says
    how often such results were the right function, in projects that the model was not trained on. If the index did not
    contain the function, that counted as wrong. If several functions share a name, their symbols are shown, too.

    mirenc search foo.ll functions.npz
    mirenc search foo.ll src --level module -k 3
    """
    from mirenc.search import VECTOR_SUFFIXES

    for query in queries:
        if Path(query).suffix in VECTOR_SUFFIXES and not os.path.isdir(query):
            problem = f"{query} is a file of vectors, so it can be the INDEX, but not the QUERY"
            raise ConfigError(f"{problem}. Type: mirenc search FILE {query}")
    check_outputs(output or ())
    pattern = None if function is None else _pattern(function)
    files = common.expand(queries, options)
    index_options: Any = {"whitening_map": whitening_map, "hide_names": hide_names, "form": common.chosen_form(form)}
    index_options |= {"approximate": approximate}
    encoder, table, failures = common.open_index(index, level, "module", model, options, **index_options)
    maker = table.maker
    if rerank and (table.level != "function" or approximate):
        raise typer.BadParameter("only functions are re-ranked, and not with --approximate", param_hint="--rerank")
    by_file = maker.usual and table.level == "function" and not approximate if rerank is None else rerank
    header = {key: getattr(maker, key) for key in ("model", "model_digest", "level", "part", "form")}
    header |= {"index": index, "rows": len(table)}
    labels = zip(table.names, table.labels["symbol"], strict=True)
    overloaded_names = None if as_json or approximate else overloaded(labels, table.level)
    query_failures = common.Failures(len(files))
    results: list[tuple[str, list[Found]]] = []
    searched_count = 0
    folder = os.path.dirname(index)
    for file, hits in find_nearest(
        encoder, table, files, pattern, query_failures.add, k=k, by_file=by_file, approximate=approximate, folder=folder
    ):
        searched_count += 1
        if as_json:
            typer.echo(json.dumps({**header, **json_of(file, hits)}))
        else:
            print_found(file, hits, overloaded_names, table.level)
        if output:
            results.append((file, hits))
    _check_left_out(files, searched_count + query_failures.count + query_failures.empty, maker, pattern)
    for path in output or ():
        write_results(path, header, results)
    try:
        query_failures.finish()
    finally:
        failures.finish()


def find_nearest(
    encoder: Encoder,
    table: VectorTable,
    files: Sequence[Input],
    pattern: re.Pattern[str] | None,
    failed: Callable[[MirencError], object],
    *,
    k: int,
    by_file: bool = True,
    approximate: bool = False,
    folder: str = "",
) -> Iterator[tuple[str, list[Found]]]:
    """Each file with what its queries found in the table: `queries_of`, `nearest_of_files`, own rows first, in words.

    ``folder`` holds the table's file; ``failed`` is called with the error of each file that cannot be embedded.
    """
    from mirenc.search.confidence import rivals, shares_right
    from mirenc.search.queries import nearest_of_files, queries_of
    from mirenc.search.self_match import own_first, own_rows

    queries = queries_of(encoder, files, table, pattern, failed, whole_files=by_file, progress=True)
    for file, (rows, cosines) in nearest_of_files(
        queries, table, max(k, _RIVALS), by_file=by_file, approximate=approximate
    ):
        symbols = [region.symbol for region in file.regions]
        candidate_rows = sorted({*rows.ravel().tolist()}) if approximate else range(len(table))
        self_rows = own_rows(table, file.file, symbols, candidate_rows, folder)
        rows, cosines = own_first((rows, cosines), self_rows, file.vectors, table.vectors)
        rates = shares_right(encoder, table.maker, rivals(table, rows, cosines), len(table), file.instructions, symbols)
        results = zip(file.regions, rates, rows[:, :k].tolist(), cosines[:, :k].tolist(), strict=True)
        hits = [Found(region.name, region.symbol, share, matches_of(table, *pair)) for region, share, *pair in results]
        yield file.file, hits


def _check_left_out(files: Sequence[Input], done_count: int, maker: Maker, pattern: re.Pattern[str] | None) -> None:
    """Say how many files had nothing to search for: all but those that were searched for, failed or have no body.

    Raises ConfigError: none of the files has any.
    """
    if not (left_out := len(files) - done_count):
        return
    place_words = "" if maker.level == "function" else " in a function"
    kind = maker.level if pattern is None else f"{maker.level}{place_words} like {pattern.pattern!r}"
    if done_count:
        verb, pronoun = ("is", "it") if left_out == 1 else ("are", "them")
        common.say(f"{left_out} of {len(files)} files {verb} left out: no {kind} in {pronoun}")
        return
    subject = f"{files[0].name} has no" if len(files) == 1 else f"of {len(files)} files none has a"
    advice = "Search at another level (--level)" if pattern is None else "Give another --function, or --level"
    raise ConfigError(f"{subject} {kind} to search for. {advice}")


def _pattern(function: str) -> re.Pattern[str]:
    try:
        return re.compile(function)
    except re.error as error:
        problem = f"{function!r} is not a regular expression: {error}"
        raise typer.BadParameter(problem, param_hint="--function") from None
