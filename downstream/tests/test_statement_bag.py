"""The bag of statements: a column a text, whatever names locals have."""

from __future__ import annotations

import numpy as np
from counted import COLUMNS, statement_bag

from mirenc.llvm import parse_ir

TEXT = "define i32 @f(i32 %x) {\n  %a = add i32 %x, 3\n  %b = add i32 %a, 3\n  ret i32 %b\n}\n"


def test_equal_statements_share_a_column_and_are_counted() -> None:
    bag = statement_bag(parse_ir(TEXT))
    assert (bag.shape, bag.dtype) == ((COLUMNS,), np.float32)
    np.testing.assert_allclose(np.sort(bag[bag > 0]), np.log1p([1, 2]), rtol=1e-6)


def test_names_say_nothing_and_constants_do() -> None:
    bag = statement_bag(parse_ir(TEXT))
    np.testing.assert_array_equal(bag, statement_bag(parse_ir(TEXT.replace("%a", "%other"))))
    assert (bag != statement_bag(parse_ir(TEXT.replace("3", "4")))).any()


def test_a_part_has_its_instructions_alone_and_a_module_its_globals_too() -> None:
    module = parse_ir(f"@table = global i32 7\n{TEXT}")
    part = statement_bag(module, np.arange(3, dtype=np.int32))
    np.testing.assert_array_equal(part, statement_bag(parse_ir(TEXT)))
    assert statement_bag(module).sum() > part.sum()
