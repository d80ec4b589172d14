"""Regions: every level holds the instructions it should, under the names people know, of the functions asked for."""

import re
from pathlib import Path

import numpy as np
import pytest
from ir_views import instructions_of

from mirenc.base.errors import ConfigError
from mirenc.llvm import LEVELS, IRModule, Regions, read_ir, regions_of
from mirenc.llvm.analysis.loops import find_loops
from mirenc.llvm.analysis.regions import is_called

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@pytest.fixture(scope="module")
def shapes() -> IRModule:
    return read_ir(FIXTURES / "loops" / "shapes.ll")


@pytest.fixture(scope="module")
def classes() -> IRModule:
    return read_ir(FIXTURES / "ir" / "clang-19" / "O2" / "classes.ll")


def members(regions: Regions) -> dict[str, list[int]]:
    """Instructions of each region, by its name."""
    rows = [regions.instruction[regions.region == row].tolist() for row in range(len(regions))]
    return dict(zip([region.name for region in regions.regions], rows, strict=True))


@pytest.mark.parametrize("level", LEVELS)
def test_memberships_of_every_level(fixture_modules: dict[str, IRModule], level: str) -> None:
    for module in fixture_modules.values():
        regions = regions_of(module, level)
        assert (regions.instruction.dtype, regions.region.dtype) == (np.int32, np.int32)
        assert {regions.level, *(region.level for region in regions.regions)} == {level}
        pairs = list(zip(regions.region.tolist(), regions.instruction.tolist(), strict=True))
        assert pairs == sorted(set(pairs))
        # No region is empty.
        assert sorted(set(regions.region.tolist())) == list(range(len(regions)))
        if level != "loop":
            assert sorted(regions.instruction.tolist()) == list(range(module.instruction_count))


def test_each_instruction_is_in_its_function_and_block(fixture_modules: dict[str, IRModule]) -> None:
    for module in fixture_modules.values():
        arrays = module.arrays
        functions = regions_of(module, "function")
        defined = [function.index for function in module.defined_functions]
        assert np.array_equal(np.array(defined)[functions.region], arrays.function[functions.instruction])
        assert [region.symbol for region in functions.regions] == [f.name for f in module.defined_functions]
        assert np.array_equal(regions_of(module, "block").region, arrays.block)
        assert [region.name for region in regions_of(module, "instruction").regions] == [
            instruction.text for function in module.defined_functions for instruction in instructions_of(function)
        ]


def test_the_regions_of_loops_are_those_of_the_forest(fixture_modules: dict[str, IRModule]) -> None:
    for module in fixture_modules.values():
        forest, loops = find_loops(module), regions_of(module, "loop")
        assert [region.depth for region in loops.regions] == forest.depth.tolist()
        block, loop = forest.members()
        for row in range(len(loops)):
            inside = np.flatnonzero(np.isin(module.arrays.block, block[loop == row]))
            assert loops.instruction[loops.region == row].tolist() == inside.tolist()


def test_loops_worked_by_hand(shapes: IRModule) -> None:
    loops = regions_of(shapes, "loop", function="^(inner_first|numbered|quoted name)$")
    first = shapes.function("inner_first").header.first
    inner, outer, second = [1, 2], [3, 4], [5, 6]
    blocks_of = members(loops)
    assert [row - first for row in blocks_of["inner_first:%outer"]] == sorted(inner + outer + second)
    assert [row - first for row in blocks_of["inner_first:%inner"]] == inner
    assert [row - first for row in blocks_of["inner_first:%second"]] == second
    assert list(blocks_of)[3:] == ["numbered:%3", 'quoted name:%"again, please"']
    assert [region.depth for region in loops.regions] == [1, 2, 2, 1, 1]


def test_names_of_blocks(shapes: IRModule) -> None:
    blocks = regions_of(shapes, "block", function="^(numbered|quoted name)$").regions
    # An entry without a label has the number after the unnamed arguments, as in LLVM's own messages.
    assert [region.header for region in blocks[:4]] == ["%2", "%3", "%5", "%6"]
    assert [region.header for region in blocks[4:]] == ['%"the entry"', '%"again, please"', "%done"]
    assert blocks[0].name == "numbered:%2"


def test_a_module_is_one_region(shapes: IRModule) -> None:
    (region,) = regions_of(shapes, "module").regions
    assert (region.name, region.function, region.header, region.depth) == (shapes.name, "", "", 0)


# -- the functions asked for ---------------------------------------------------------------------------
@pytest.mark.parametrize("level", LEVELS)
def test_only_the_functions_asked_for(shapes: IRModule, level: str) -> None:
    every = regions_of(shapes, level)
    chosen = regions_of(shapes, level, function="^nested$|^deep$")
    names = {"nested", "deep"}
    indices = [shapes.function(name).index for name in sorted(names)]
    inside = np.isin(shapes.arrays.function[every.instruction], indices)
    assert chosen.instruction.tolist() == every.instruction[inside].tolist()
    if level != "module":
        assert chosen.regions == [region for region in every.regions if region.function in names]
    # Rows are counted anew.
    assert np.array_equal(np.unique(chosen.region), np.arange(len(chosen)))


def test_a_pattern_is_searched_in_both_names(classes: IRModule) -> None:
    region = next(region for region in regions_of(classes, "function").regions if "::" in region.name)
    for pattern in (re.escape(region.symbol), "^" + re.escape(region.name) + "$", re.compile(re.escape(region.name))):
        regions = regions_of(classes, "function", function=pattern).regions
        assert region in regions
        assert len(regions) < len(classes.defined_functions)
    upper = region.name.upper()
    assert region in regions_of(classes, "function", function=re.compile(re.escape(upper), re.IGNORECASE)).regions
    with pytest.raises(ConfigError):
        regions_of(classes, "function", function=re.escape(upper))


def test_a_function_without_a_loop_has_no_loop_region(shapes: IRModule) -> None:
    loops = regions_of(shapes, "loop", function="^straight$")
    assert (loops.regions, loops.instruction.tolist(), loops.region.tolist()) == ([], [], [])


def test_what_cannot_be_found(shapes: IRModule) -> None:
    with pytest.raises(ConfigError, match=r"no function with a body in .*shapes.ll matches 'zzz'; it has: straight, "):
        regions_of(shapes, "loop", function="zzz")
    with pytest.raises(ConfigError, match=r"and 8 more$"):
        regions_of(shapes, "function", function="may_throw")  # only declared
    with pytest.raises(ConfigError, match=r"'f\(' is not a regular expression: missing \)"):
        regions_of(shapes, "function", function="f(")
    with pytest.raises(ConfigError, match="unknown level 'loops'; available: module, function, loop, block, instruc"):
        regions_of(shapes, "loops")


def test_a_function_is_called_by_its_symbol_or_its_name_with_or_without_parameters() -> None:
    names = ("_Z1fi", "f(int)", "f", "g")
    assert [is_called(name, "_Z1fi", "f(int)") for name in names] == [True, True, True, False]
