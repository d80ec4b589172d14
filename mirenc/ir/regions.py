"""`regions_of`: which instructions belong to a function, loop or block of a module, and what people call it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import ConfigError
from mirenc.ir.lines import label_name
from mirenc.ir.loops import LoopForest, find_loops
from mirenc.ir.module import IRFunction, IRModule
from mirenc.ir.parser import parse_header
from mirenc.ir.places import Place, Places

__all__ = ["LEVELS", "Region", "Regions", "regions_of"]

Int32 = NDArray[np.int32]

LEVELS = ("module", "function", "loop", "block", "instruction")
_SHOWN = 8  # names that an error lists


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a module.

    Attributes
    ----------
    level : str
        One of `LEVELS`.
    name : str
        What people call it: the module's name; the function's demangled name; ``FUNCTION:%BLOCK`` for a loop (its
        header) and a block; the canonical text of an instruction.
    function : str
        Demangled name of the function it is in, without parameters; "" for a module.
    header : str
        The block of a block, the header of a loop, as LLVM prints it: ``%for.body``, ``%5``; "" for other levels.
    depth : int
        How many loops of the function a loop is inside of, itself included; 0 for other levels.
    file, line : str, int
        Source place, where the IR has debug information (see `mirenc.ir.places`); "" and 0 where it has none.
    symbol : str
        The function's name in the IR (mangled), which no other function of the module has; "" for a module.
    """

    level: str
    name: str
    function: str
    header: str
    depth: int
    file: str
    line: int
    symbol: str = ""


@dataclass(frozen=True, eq=False)
class Regions:
    """Regions of one level, and the instructions in each. P memberships.

    Functions, blocks and instructions stand as in the module. Loops stand by function, a loop before the loops
    inside it, loops side by side as their headers stand.

    Attributes
    ----------
    level : str
    regions : list of Region
    instruction, region : (P,) int32
        Instruction of the module and row of ``regions``, sorted by region, then instruction. Loops nest, so an
        instruction may be in several loops, or in none; at the other levels it is in one.
    """

    level: str
    regions: list[Region]
    instruction: Int32
    region: Int32

    def __len__(self) -> int:
        return len(self.regions)


def regions_of(module: IRModule, level: str, *, function: str | re.Pattern[str] | None = None) -> Regions:
    r"""Regions of one level of a module.

    Parameters
    ----------
    module : IRModule
    level : str
        One of `LEVELS`.
    function : str or pattern, optional
        Regular expression: only functions in whose mangled or demangled name it is found. At level ``module`` the one
        region then holds the instructions of these.

    Raises
    ------
    ConfigError
        Unknown level, no regular expression, or no function with a body has such a name.

    Examples
    --------
    >>> from mirenc.ir import parse_ir
    >>> text = "define void @f() {\n  br label %again\nagain:\n  br label %again\n}"
    >>> regions = regions_of(parse_ir(text), "loop")
    >>> regions.regions[0].name, regions.instruction.tolist()
    ('f:%again', [1])
    """
    if level not in LEVELS:
        raise ConfigError(f"unknown level {level!r}; available: {', '.join(LEVELS)}")
    chosen = _chosen(module, function)
    return _LEVEL_READERS[level](_Reading(module, chosen))


def _chosen(module: IRModule, wanted: str | re.Pattern[str] | None) -> list[IRFunction]:
    """Defined functions whose name the pattern is found in; all of them without one."""
    defined = module.defined_functions
    if wanted is None:
        return defined
    try:
        pattern = re.compile(wanted)
    except re.error as error:
        raise ConfigError(
            f"{wanted!r} is no regular expression: {error}. Put a backslash before signs that stand for themselves"
        ) from None
    found = [function for function in defined if pattern.search(function.name) or pattern.search(function.display_name)]
    if not found:
        names = [function.display_name for function in defined]
        rest = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        raise ConfigError(
            f"no function with a body in {module.name} matches {pattern.pattern!r}; it has: "
            f"{', '.join(names[:_SHOWN])}{rest}"
        )
    return found


class _Reading:
    """A module with the functions asked for, and what all levels need of them."""

    def __init__(self, module: IRModule, functions: list[IRFunction]) -> None:
        self.module = module
        self.functions = functions
        self.names = {function.index: function.display_name for function in functions}
        self.symbols = {function.index: function.name for function in functions}

    @cached_property
    def places(self) -> Places:
        return Places(self.module)

    @cached_property
    def block_function(self) -> Int32:
        """(B,) function of each block."""
        arrays = self.module.arrays
        return arrays.function[arrays.block_start[:-1]]

    def region(self, level: str, function: int, name: str, place: Place, header: str = "", depth: int = 0) -> Region:
        return Region(level, name, self.names[function], header, depth, *place, self.symbols[function])

    def instructions(self) -> Int32:
        """Instructions of the functions asked for."""
        spans = [np.arange(function.header.first, function.header.last) for function in self.functions]
        return np.concatenate(spans).astype(np.int32)

    def blocks(self) -> Iterator[int]:
        """Blocks of the functions asked for."""
        for function in self.functions:
            yield from range(function.header.first_block, function.header.last_block)


def _module_region(reading: _Reading) -> Regions:
    rows = reading.instructions()
    region = Region("module", reading.module.name, "", "", 0, "", 0)
    return Regions("module", [region], rows, np.zeros_like(rows))


def _function_regions(reading: _Reading) -> Regions:
    regions = [
        reading.region("function", function.index, function.display_name, reading.places.of_function(function.index))
        for function in reading.functions
    ]
    sizes = [function.header.last - function.header.first for function in reading.functions]
    return Regions("function", regions, reading.instructions(), _counted(sizes))


def _loop_regions(reading: _Reading) -> Regions:
    module, forest = reading.module, find_loops(reading.module)
    wanted = np.isin(forest.function, list(reading.names))
    row = np.where(wanted, np.cumsum(wanted) - 1, -1)  # loop -> region
    regions = [_loop_region(reading, forest, loop) for loop in np.flatnonzero(wanted).tolist()]
    block, loop = forest.members()
    block, region = block[row[loop] >= 0], row[loop][row[loop] >= 0]
    start = module.arrays.block_start
    sizes = start[block + 1] - start[block]
    instruction = np.repeat(start[block] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
    pairs_region = np.repeat(region, sizes)
    order = np.lexsort((instruction, pairs_region))
    return Regions("loop", regions, instruction[order].astype(np.int32), pairs_region[order].astype(np.int32))


def _loop_region(reading: _Reading, forest: LoopForest, loop: int) -> Region:
    function = int(forest.function[loop])
    header = block_name(reading.module, int(forest.header[loop]))
    name = f"{reading.names[function]}:{header}"
    place = reading.places.of_loop(forest, loop)
    return reading.region("loop", function, name, place, header, int(forest.depth[loop]))


def _block_regions(reading: _Reading) -> Regions:
    start = reading.module.arrays.block_start
    regions, sizes = [], []
    for block in reading.blocks():
        function = int(reading.block_function[block])
        header = block_name(reading.module, block)
        place = reading.places.of_block(block)
        regions.append(reading.region("block", function, f"{reading.names[function]}:{header}", place, header))
        sizes.append(int(start[block + 1] - start[block]))
    return Regions("block", regions, reading.instructions(), _counted(sizes))


def _instruction_regions(reading: _Reading) -> Regions:
    arrays, lines = reading.module.arrays, reading.module.lines
    rows = reading.instructions()
    place = reading.places.of_instruction
    regions = [
        reading.region("instruction", function, lines[line].strip(), place(row))
        for row, function, line in zip(
            rows.tolist(), arrays.function[rows].tolist(), arrays.line[rows].tolist(), strict=True
        )
    ]
    return Regions("instruction", regions, rows, np.arange(len(rows), dtype=np.int32))


def _counted(sizes: list[int]) -> Int32:
    """Row i, ``sizes[i]`` times."""
    return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)


_LEVEL_READERS = {
    "module": _module_region,
    "function": _function_regions,
    "loop": _loop_regions,
    "block": _block_regions,
    "instruction": _instruction_regions,
}


def block_name(module: IRModule, block: int) -> str:
    """Name of a block as LLVM prints it where it is used: ``%for.body``, ``%"a b"``, ``%5``."""
    line_number = int(module.arrays.line[module.arrays.block_start[block]]) - 1
    line = module.lines[line_number]
    if not line.startswith("define "):
        return "%" + label_name(line)
    printed_names = parse_header(line)[-1]
    return f"%{sum(name.isdigit() for name in printed_names)}"
