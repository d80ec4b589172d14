"""`regions_of`: the functions, loops, blocks or instructions of a module, and which instructions each has."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mirenc.base.arrays import Int32, spread
from mirenc.base.errors import ConfigError, unknown
from mirenc.base.shown import short_repr
from mirenc.llvm.analysis.detect_level import levels_by_symbol
from mirenc.llvm.ir.lines import label_name
from mirenc.llvm.ir.module import IRFunction, IRModule
from mirenc.llvm.ir.parser import parse_header

LEVELS = ("module", "function", "loop", "block", "instruction")
_SHOWN = 8  # names that an error lists


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a module, of one of the `LEVELS`.

    - ``name``: name of the module; demangled name of a function; ``FUNCTION:%BLOCK`` for a block, and for a loop with
      its header; canonical text of an instruction.
    - ``function``, ``symbol``: the function it is in, demangled without parameters, and as in the IR; "" for a module.
    - ``header``: a block, or the header of a loop, as LLVM prints it: ``%for.body``, ``%5``; else "".
    - ``depth``: nesting depth of a loop, 1 for an outermost one; 0 for other levels.
    - ``file``, ``line``: source place (`mirenc.llvm.ir.source_places`); "" and 0 without debug information.
    - ``built``: optimisation level of the function, or of its module (`mirenc.llvm.analysis.detect_level`).
    """

    level: str
    name: str
    function: str
    header: str
    depth: int
    file: str
    line: int
    symbol: str = ""
    built: str = ""


@dataclass(frozen=True, eq=False)
class Regions:
    """Regions of one level, in the order of the module (loops: of `LoopForest`), and their instructions.

    ``instruction`` and ``region``, (P,) int32, are pairs of an instruction of the module and a row of ``regions``,
    sorted by region, then instruction. An instruction may be in any number of loops; in regions of other levels it is
    in one.
    """

    level: str
    regions: list[Region]
    instruction: Int32
    region: Int32

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.regions)


def regions_of(module: IRModule, level: str, *, function: str | re.Pattern[str] | None = None) -> Regions:
    r"""Regions of one of the `LEVELS` of a module.

    ``function`` is a regular expression: only functions in whose mangled or demangled name it is found count. The
    region of level ``module`` then has their instructions alone. Raises ConfigError: unknown level, no regular
    expression, or no function with a body has such a name.

    Examples
    --------
    >>> from mirenc.llvm import parse_ir
    >>> text = "define void @f() {\n  br label %again\nagain:\n  br label %again\n}"
    >>> regions = regions_of(parse_ir(text), "loop")
    >>> regions.regions[0].name, regions.instruction.tolist()
    ('f:%again', [1])
    """
    if level not in LEVELS:
        raise ConfigError(unknown("level", level, LEVELS))
    functions = _selected_functions(module, function)
    built = levels_by_symbol(module)
    if level == "loop":
        return _loop_regions(module, functions, built)
    rows = np.concatenate([np.arange(chosen.header.first, chosen.header.last, dtype=np.int32) for chosen in functions])
    if level == "module":
        region = Region(level, module.name, "", "", 0, "", 0, built=built[""])
        return Regions(level, [region], rows, np.zeros_like(rows))
    from mirenc.llvm.ir.source_places import Places  # here, because vectors of modules need none

    places, arrays = Places(module), module.arrays
    regions: list[Region] = []
    for defined in functions:
        title, symbol, first, last = defined.display_name, defined.name, defined.header.first, defined.header.last
        identity = symbol, built.get(symbol, built[""])
        if level == "function":
            regions.append(Region(level, title, title, "", 0, *places.of_function(defined.index), *identity))
        elif level == "block":
            for block in range(defined.header.first_block, defined.header.last_block):
                header = block_name(module, block)
                name = f"{title}:{header}"
                regions.append(Region(level, name, title, header, 0, *places.of_block(block), *identity))
        else:
            for row, line in enumerate(arrays.line[first:last].tolist(), first):
                name = module.lines[line].strip()
                regions.append(Region(level, name, title, "", 0, *places.of_instruction(row), *identity))
    owner = {"function": arrays.function, "block": arrays.block}.get(level, np.arange(module.instruction_count))
    return Regions(level, regions, rows, np.unique(owner[rows], return_inverse=True)[1].astype(np.int32))


def has_function(module: IRModule, pattern: str | re.Pattern[str]) -> bool:
    """Whether a function with a body has a name with the pattern. Raises ConfigError: no regular expression."""
    return bool(_search_functions(module.defined_functions, pattern))


def _search_functions(functions: list[IRFunction], pattern: str | re.Pattern[str]) -> list[IRFunction]:
    """Functions in whose mangled or demangled name the pattern is found. Raises ConfigError: no regular expression."""
    try:
        search = re.compile(pattern).search
    except re.error as error:
        advice = "Put a backslash before each sign that is meant literally"
        raise ConfigError(f"{pattern!r} is not a regular expression: {error}. {advice}") from None
    return [function for function in functions if search(function.name) or search(function.display_name)]


def _selected_functions(module: IRModule, expression: str | re.Pattern[str] | None) -> list[IRFunction]:
    """Functions with a body that match the pattern; all of them without one. Raises ConfigError: there is none."""
    functions = module.defined_functions
    if expression is None:
        return functions
    matches = _search_functions(functions, expression)
    if not matches:
        pattern = expression if isinstance(expression, str) else expression.pattern
        names = ", ".join(function.display_name for function in functions[:_SHOWN])
        names += f" and {len(functions) - _SHOWN} more" if len(functions) > _SHOWN else ""
        raise ConfigError(f"no function with a body in {module.name} matches {pattern!r}; it has: {names}")
    return matches


def _loop_regions(module: IRModule, functions: list[IRFunction], built: Mapping[str, str]) -> Regions:
    from mirenc.llvm.analysis.loops import find_loops
    from mirenc.llvm.ir.source_places import Places

    forest, places, start = find_loops(module), Places(module), module.arrays.block_start
    by_index = {ir_function.index: ir_function for ir_function in functions}
    is_chosen = np.isin(forest.function, list(by_index))
    row = np.where(is_chosen, np.cumsum(is_chosen) - 1, -1)  # loop -> region
    regions = []
    for number in np.flatnonzero(is_chosen).tolist():
        function = by_index[int(forest.function[number])]
        title, header = function.display_name, block_name(module, int(forest.header[number]))
        place, depth = places.of_loop(forest, number), int(forest.depth[number])
        identity = function.name, built.get(function.name, built[""])
        regions.append(Region("loop", f"{title}:{header}", title, header, depth, *place, *identity))
    block, loop = forest.members()
    block, region = block[row[loop] >= 0], row[loop][row[loop] >= 0]
    instruction, bounds = spread(start[block], start[block + 1])
    pairs_region = np.repeat(region, np.diff(bounds))
    order = np.lexsort((instruction, pairs_region))
    return Regions("loop", regions, instruction[order].astype(np.int32), pairs_region[order].astype(np.int32))


def is_called(name: str, symbol: str, function: str) -> bool:
    """Whether a name is a function's symbol, or its demangled name with or without parameters."""
    return name in (symbol, function, function.partition("(")[0])


def find_loop(module: IRModule, loop: Region) -> int:
    """Row of a loop in `mirenc.llvm.analysis.loops.find_loops`, -1 if it is not there."""
    from mirenc.llvm.analysis.loops import find_loops

    forest = find_loops(module)
    for row, header in enumerate(forest.header.tolist()):
        function = module.headers[int(forest.function[row])]
        if function.name == loop.symbol and block_name(module, header) == loop.header:
            return row
    return -1


def block_name(module: IRModule, block: int) -> str:
    """Name of a block as LLVM prints it where it is used: ``%for.body``, ``%"a b"``, ``%5``."""
    line = module.lines[int(module.arrays.line[module.arrays.block_start[block]]) - 1]
    if not line.startswith("define "):
        return "%" + label_name(line)
    # An entry block without a label has the number after those of unnamed arguments.
    return f"%{sum(name.isdigit() for name in parse_header(line)[-1])}"
