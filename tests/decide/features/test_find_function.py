"""A name or a line stands for one function of a file, or the error says what there is."""

from __future__ import annotations

import pytest

from mirenc.base.errors import TaskError
from mirenc.decide.features.find_function import find_function, find_function_at
from mirenc.llvm import Region


def region(symbol: str, function: str, line: int = 0, file: str = "a.cpp") -> Region:
    return Region("function", function, function, "", 0, file if line else "", line, symbol)


OVERLOADS = [region("_Z1fi", "f(int)", 3), region("_Z1fd", "f(double)", 9), region("main", "main", 20)]


def test_names_are_symbols_or_demangled_with_or_without_parameters() -> None:
    assert [find_function(OVERLOADS, name, "a.ll") for name in ("_Z1fd", "f(int)", "main")] == [1, 0, 2]
    with pytest.raises(TaskError, match=r"a\.ll: 2 functions are called 'f'\. Give a symbol: _Z1fi, _Z1fd"):
        find_function(OVERLOADS, "f", "a.ll")
    with pytest.raises(TaskError, match="no function 'mian' with a body; did you mean 'main'"):
        find_function(OVERLOADS, "mian", "a.ll")


def test_a_line_is_in_the_last_function_that_begins_above_it() -> None:
    assert [find_function_at(OVERLOADS, line, "a.cpp") for line in (3, 8, 9, 400)] == [0, 0, 1, 2]
    with pytest.raises(TaskError, match="no function at line 2; the first begins at line 3"):
        find_function_at(OVERLOADS, 2, "a.cpp")
    inlined = [*OVERLOADS, region("g", "g", 10, "header.h")]
    assert find_function_at(inlined, 11, "a.cpp") == 1  # not the header's
    with pytest.raises(TaskError, match="no debug information"):
        find_function_at([region("g", "g")], 11, "a.cpp")
