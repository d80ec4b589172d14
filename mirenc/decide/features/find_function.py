"""Finds the function that a name, or a line of the source, stands for, among the functions of a file."""

from collections.abc import Sequence
from pathlib import PurePath

from mirenc.base.errors import TaskError, did_you_mean
from mirenc.llvm import Region
from mirenc.llvm.analysis.regions import is_called

_SHOWN = 8  # names that an error lists


def find_function(regions: Sequence[Region], name: str, file: str) -> int:
    """Place of the function of that name: its symbol, or its demangled name with or without parameters.

    Raises TaskError: there is none, or several have that demangled name.
    """
    exact = [place for place, region in enumerate(regions) if name == region.symbol]
    places = exact or [place for place, region in enumerate(regions) if is_called(name, region.symbol, region.function)]
    if len(places) == 1:
        return places[0]
    if places:
        symbols = ", ".join(regions[place].symbol for place in places[:_SHOWN])
        raise TaskError(f"{file}: {len(places)} functions are called {name!r}. Give a symbol: {symbols}")
    names = [region.function for region in regions]
    suffix = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    hint = did_you_mean(name, names) or f"it has {', '.join(names[:_SHOWN])}{suffix}"
    raise TaskError(f"{file}: no function {name!r} with a body; {hint}")


def find_function_at(regions: Sequence[Region], line: int, file: str) -> int:
    """Place of the function that a line of the source is in: of those that begin there or above, the last.

    Functions of other sources, such as headers, do not count where the file itself is a source that is named in the
    debug information. Raises TaskError: no debug information, or all functions begin below the line.
    """
    starts = [(region.line, place) for place, region in enumerate(regions) if region.line > 0]
    file_starts = [pair for pair in starts if PurePath(regions[pair[1]].file).name == PurePath(file).name]
    if not starts:
        raise TaskError(f"{file}: no debug information, so no function has a line. Compile with -g (--cflags=-g)")
    candidates = [pair for pair in file_starts or starts if pair[0] <= line]
    if not candidates:
        raise TaskError(f"{file}: no function at line {line}; the first begins at line {min(file_starts or starts)[0]}")
    return max(candidates)[1]
