"""The differential test of inlining in miniature, and that it finds the miscompilation that there once was."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.pass_lists import level

FOLDER = Path(__file__).resolve().parents[2] / "downstream" / "inlining"
pytestmark = [pytest.mark.needs("clang-19"), pytest.mark.needs("libLLVM 19")]


@pytest.fixture(scope="module")
def differential() -> ModuleType:
    sys.path.insert(0, str(FOLDER))  # as of a script's folder
    try:
        spec = importlib.util.spec_from_file_location("inlining_differential", FOLDER / "differential.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # a pool of processes looks there
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


def program(differential: ModuleType, name: str) -> Any:
    (named,) = (one for one in differential.two_units.template_programs() if one.name == name)
    return named


def test_templates_are_of_all_kinds(differential: ModuleType) -> None:
    programs = list(differential.two_units.template_programs())
    assert len({one.name for one in programs}) == len(programs) >= 200
    assert {one.link for one in programs} == {"program", "archive", "library", "preload"}


def test_a_sample_behaves_as_by_oz(differential: ModuleType, tmp_path: Path) -> None:
    names = ["weak_function_overridden-0", "static_initialisers-1", "interposed_by_the_program-2", "setjmp-0"]
    record = differential.examine([program(differential, name) for name in names], tmp_path, 12)
    assert record["differences"] == record["refused_by_suggest"] == []
    assert (record["programs"], record["programs_compared"]) == (4, {"suggest": 4, "serve": 4})
    assert all(count > 0 for count in record["objects_smaller"].values())
    assert 0 < record["objects_inlined_otherwise"] <= record["objects_smaller"]["serve"]
    assert record["kinds"]["setjmp"]["programs"] == 1


@pytest.mark.parametrize("name", ["weak_function_overridden-0", "interposed_by_the_program-0"])
def test_inlining_what_the_linker_replaces_is_found(differential: ModuleType, tmp_path: Path, name: str) -> None:
    weak = program(differential, name)
    place = differential.write(weak, tmp_path)
    for unit in "ab":
        words = differential.compilation(weak, "clang-19", place, unit, "oz")
        subprocess.run(words, check=True)
        to_ir = [*words[:-2], "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-S", "-o", "-"]
        text = subprocess.run(to_ir, check=True, capture_output=True, text=True).stdout
        with SharedEngine(19) as engine:
            # As decisions once were, by a word that overrules LLVM's checks.
            decided = [
                line.replace(") #", ") alwaysinline #") if "call i32 @hook(" in line else line
                for line in engine.text(text.encode()).split("\n")
            ]
            compiled = engine.compile("\n".join(decided).encode(), level("Oz"))
            (place / f"old_{unit}.o").write_bytes(compiled)
    (difference,) = differential.differences(weak, place, ["oz", "old"])
    assert difference.startswith(f"{name}, old: ")


def test_a_program_of_csmith_is_split(differential: ModuleType) -> None:
    text = """#include "csmith.h"
static int32_t g_1 = 7;
static volatile uint8_t g_2[2] = {1, 2};
inline static int32_t func_1(void);
static uint8_t func_2(int32_t p_1);
static int32_t * func_3(void);


inline static int32_t func_1(void)
{
    return func_2(g_1) + *func_3();
}


static uint8_t func_2(int32_t p_1)
{
    return p_1 + g_2[1];
}


static int32_t * func_3(void)
{
    return &g_1;
}


int main (void)
{
    return func_1();
}
"""
    first, second = differential.two_units.split(text, weak=True)
    assert "extern int32_t g_1;\nextern volatile uint8_t g_2[2];\n" in second
    assert "\nint32_t g_1 = 7;\nvolatile uint8_t g_2[2] = {1, 2};\n" in first
    # Every other function is in the second unit; what its own unit alone calls stays static.
    assert "__attribute__((weak)) uint8_t func_2(int32_t p_1)\n{" in second
    assert "func_1" not in second
    assert "inline static int32_t func_1(void)\n{" in first
    assert "static int32_t * func_3(void)\n{" in first
    assert "\nuint8_t func_2(int32_t p_1);\n" in first
    assert "return p_1" not in first
