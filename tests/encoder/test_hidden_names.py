"""``hide_names``: of each model, vectors do not depend on how functions, globals and types are called."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rewrite_ir import odd_name, rename_globals
from same_vectors import assert_same_vectors

from mirenc.encoder import load
from mirenc.encoder.weights import list_models
from mirenc.llvm import ReadOptions

IR = Path(__file__).resolve().parents[1] / "fixtures" / "ir" / "clang-19"
FILES = [IR / "O0" / "exceptions.ll", IR / "O2" / "templates.ll", IR / "O2" / "structs.ll"]
PLAIN = ReadOptions(form="plain")  # passes know functions of the C library by their names


@pytest.mark.parametrize("model", list_models())
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_other_names_change_nothing(model: str, file: Path) -> None:
    hidden, seen = (load(model, cache=False, options=PLAIN, hide_names=hide) for hide in (True, False))
    data = file.read_bytes()
    others = [rename_globals(data, name_of) for name_of in (lambda number: f"name{number}", odd_name)]
    for level in ("module", "function", "block"):
        for purpose in ("search", "features"):
            expected = hidden.embed(file, level=level, purpose=purpose)
            for other in others:
                assert_same_vectors(hidden.embed(other, level=level, purpose=purpose), expected)
    assert np.abs(seen.embed(others[0]) - seen.embed(file)).max() > 1e-3


@pytest.mark.parametrize("model", list_models())
def test_other_operations_and_constants_change_something(model: str) -> None:
    ir = "declare i32 @{0}(i32)\ndefine i32 @f(i32 %x) {{\n  %y = call i32 @{0}(i32 {1})\n  ret i32 %y\n}}\n"
    hidden = load(model, cache=False, options=PLAIN, hide_names=True)
    base, other = (hidden.embed(ir.format("llvm.bitreverse.i32", number)) for number in (7, 8))
    assert np.abs(base - other).max() > 1e-3
    assert np.abs(hidden.embed(ir.format("llvm.bswap.i32", 7)) - base).max() > 1e-3
