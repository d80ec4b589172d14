"""What ``mirenc search`` found: on the screen, as JSON, and in files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence, Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from mirenc.base.writing import check_output, delivered
from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.search import VectorTable

SUFFIXES = (".json", ".jsonl", ".csv")
_COLUMNS = (*("query_file", "query_name", "query_symbol", "rank", "cosine", "right"), *("file", "name", "symbol"))


class Match(NamedTuple):
    """A row of the index: its cosine with the query, its file, what people call it, the symbol of its function."""

    cosine: float
    file: str
    name: str
    symbol: str


class Found(NamedTuple):
    """What one query found, nearest first. ``right``: how often the first is the right one; None where unknown."""

    name: str
    symbol: str
    right: float | None
    matches: list[Match]


def matches_of(table: VectorTable, rows: Iterable[int], cosines: Iterable[float]) -> list[Match]:
    """Rows of an index that a query found, and their cosines, in words."""
    columns = table.files, table.names, table.labels["symbol"]
    return [Match(cosine, *(column[row] for column in columns)) for row, cosine in zip(rows, cosines, strict=True)]


def check_outputs(paths: Iterable[Path]) -> None:
    """Refuse files that results cannot be written to, before any work."""
    for path in paths:
        if path.suffix not in SUFFIXES:
            raise typer.BadParameter(f"{path}: unknown suffix; available: {', '.join(SUFFIXES)}", param_hint="--output")
        check_output(path)


def overloaded(names_and_symbols: Iterable[tuple[str, str]], level: str) -> set[str]:
    """Of (name, symbol) pairs the names that stand for several symbols: parameters are not part of a name.

    An instruction has its text for a name, which says nothing of its function: there are none.
    """
    symbol_of: dict[str, str] = {}
    pairs = () if level == "instruction" else names_and_symbols
    return {name for name, symbol in pairs if symbol_of.setdefault(name, symbol) != symbol}


def label(name: str, symbol: str, overloaded_names: AbstractSet[str]) -> str:
    """A name, with its symbol beside it where it is one of ``overloaded_names``."""
    return f"{name}  {symbol}" if name in overloaded_names else name


def print_found(query: str, results: Sequence[Found], overloaded_names: AbstractSet[str] | None, level: str) -> None:
    """Print one file's results. ``overloaded_names``: those of several symbols in the index; None: in the results."""
    if overloaded_names is None:
        overloaded_names = overloaded(((match.name, match.symbol) for item in results for match in item.matches), level)
    shown_overloaded = overloaded_names | overloaded(((item.name, item.symbol) for item in results), level)
    is_module = level == "module"
    for result in results:
        common.print_rows([[query, "" if is_module else label(result.name, result.symbol, shown_overloaded)]], "<<")
        rows = []
        for rank, match in enumerate(result.matches, start=1):
            right = common.percent(result.right) if rank == 1 else ""
            name = "" if is_module else label(match.name, match.symbol, overloaded_names)
            rows.append([f"{rank:4}", f"{match.cosine:.4f}", right, match.file, name])
        common.print_rows(rows, ">>><<")


def json_of(query: str, results: Iterable[Found]) -> dict[str, Any]:
    """Results of one file."""
    entries = ({**result._asdict(), "matches": [match._asdict() for match in result.matches]} for result in results)
    return {"query": query, "found": list(entries)}


def write_results(path: Path, header: dict[str, Any], results: Sequence[tuple[str, list[Found]]]) -> None:
    """Write (file, what its queries found) as the suffix says; ``header`` is what they share."""
    with delivered(path) as part, open(part, "w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
        if path.suffix == ".csv":
            writer = csv.writer(stream)
            writer.writerow(_COLUMNS)
            for query, hits in results:
                for hit in hits:
                    for rank, match in enumerate(hit.matches, start=1):
                        right = hit.right if rank == 1 else None
                        row = (match.cosine, right, match.file, match.name, match.symbol)
                        writer.writerow((query, hit.name, hit.symbol, rank, *row))
        elif path.suffix == ".jsonl":
            stream.writelines(json.dumps({**header, **json_of(*result)}) + "\n" for result in results)
        else:
            json.dump({**header, "queries": [json_of(*result) for result in results]}, stream)
            stream.write("\n")
