"""The opcode histogram against counts by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mirenc.decide.features.opcode_histogram import OPCODES, opcode_histogram
from mirenc.llvm import IRModule, parse_ir, read_ir

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
TEXT = """
define i32 @f(i32 %x, ptr %p) {
entry:
  %a = mul i32 %x, 3
  %b = mul i32 %a, %x
  %c = mul nsw i32 7, %x
  store i32 %c, ptr %p
  br label %end
end:
  %d = load volatile i32, ptr %p
  %e = tail call i32 @g(i32 %d)
  %h = mul i32 %e, %b
  ret i32 %h
}
declare i32 @g(i32)
"""
COUNTS = {"mul": 4, "store": 1, "br": 1, "load": 1, "call": 1, "ret": 1}


def columns(text: str) -> dict[str, float]:
    """Columns that are not zero, by name."""
    vector = opcode_histogram(parse_ir(text))
    return {name: float(value) for name, value in zip((*OPCODES, "size"), vector, strict=True) if value}


def test_columns_are_roots_of_shares_and_the_size() -> None:
    expected = {opcode: (count / 9) ** 0.5 for opcode, count in COUNTS.items()}
    assert columns(TEXT) == pytest.approx(expected | {"size": np.log(10)})


def test_only_the_instructions_of_a_part_count() -> None:
    module = parse_ir(TEXT)
    vector = opcode_histogram(module, np.array([0, 1, 3], dtype=np.int32))  # mul, mul, store
    shares = {name: float(value) for name, value in zip((*OPCODES, "size"), vector, strict=True) if value}
    assert shares == pytest.approx({"mul": (2 / 3) ** 0.5, "store": (1 / 3) ** 0.5, "size": np.log(4)})
    assert not opcode_histogram(module, np.zeros(0, dtype=np.int32)).any()


def test_twice_the_code_has_the_same_shares() -> None:
    twice = TEXT + TEXT.replace("@f", "@f2").replace("declare i32 @g(i32)", "")
    once, doubled = columns(TEXT), columns(twice)
    assert doubled.pop("size") == pytest.approx(np.log(19))
    once.pop("size")
    assert doubled == pytest.approx(once)


def test_every_opcode_has_a_column_of_its_own() -> None:
    assert len(OPCODES) == len(set(OPCODES)) == 65
    assert list(OPCODES) == sorted(OPCODES)
    assert len(opcode_histogram(parse_ir(TEXT))) == 66


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ll")), ids=lambda path: path.stem)
def test_no_instruction_of_an_example_is_left_out(path: Path) -> None:
    vector = opcode_histogram(read_ir(path))
    assert vector.dtype == np.float32
    assert float(np.sum(vector[:-1] ** 2)) == pytest.approx(1.0)


def test_only_what_is_newer_than_the_list_is_left_out(fixture_modules: dict[str, IRModule]) -> None:
    missing = set()
    for module in fixture_modules.values():
        others = {form.opcode for form in module.forms} - set(OPCODES)
        missing |= others
        share = float(np.sum(opcode_histogram(module)[:-1] ** 2))
        assert share < 1 if others else share == pytest.approx(1.0)
    assert missing == {"ptrtoaddr"}
