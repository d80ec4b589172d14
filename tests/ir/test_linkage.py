"""Which functions a linker keeps of several modules'."""

from __future__ import annotations

import pytest

from mirenc.ir import IRModule, parse_ir
from mirenc.ir.linkage import Linker, linkages_of


def module(**linkages: str) -> IRModule:
    return parse_ir("".join(f"define {word} i32 @{name}() {{\n  ret i32 1\n}}\n" for name, word in linkages.items()))


def test_each_linkage_is_read() -> None:
    words = ("linkonce", "linkonce_odr", "weak", "weak_odr", "internal", "private", "available_externally")
    assert linkages_of(module(**{word: word for word in words})) == {word: word for word in words}
    assert linkages_of(module(a="", b="external")) == {"a": "external", "b": "external"}


def test_what_stands_around_a_linkage_does_not_matter() -> None:
    text = """\
declare i32 @seen()
define linkonce_odr hidden noundef nonnull align 8 ptr @"an odd (name)"(ptr returned %linkonce) #0 {
  %x = call i32 @seen()
  ret ptr %linkonce
}
define dso_local i32 @weak(ptr byref(i32) %weak) personality ptr @seen {
  ret i32 1
}
attributes #0 = { "weak" }
"""
    assert linkages_of(parse_ir(text)) == {"an odd (name)": "linkonce_odr", "weak": "external"}


@pytest.mark.parametrize("word", ["linkonce", "linkonce_odr", "weak", "weak_odr"])
def test_the_first_of_many_is_kept(word: str) -> None:
    linker = Linker()
    assert linker.add(module(f=word, own="internal")) == {"f", "own"}
    assert linker.add(module(f=word, own="internal", g=word)) == {"own", "g"}
    assert linker.add(module(g=word)) == set()
    assert (linker.copies, linker.elsewhere) == (2, 0)


def test_what_another_library_has_is_not_kept() -> None:
    linker = Linker()
    assert linker.add(module(f="available_externally", g="")) == {"g"}
    assert (linker.copies, linker.elsewhere) == (0, 1)
