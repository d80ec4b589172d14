"""Which functions a linker keeps of several modules'."""

from __future__ import annotations

import pytest

from mirenc.ir import IRModule, parse_ir
from mirenc.ir.linkage import Linker, linkages_of, object_name


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


def test_names_are_those_of_an_object_file() -> None:
    assert object_name('"an odd (name)"') == "an odd (name)"
    assert object_name(r'"\01_\C3\A9t\C3\A9\22"') == '_été"'


@pytest.mark.parametrize("word", ["linkonce", "linkonce_odr", "weak", "weak_odr"])
def test_the_first_of_many_is_kept(word: str) -> None:
    linker = Linker()
    assert linker.add({"f": word, "own": "internal"}, ["f", "own"]) == ["f", "own"]
    # What has no code in one file may have it in the next.
    assert linker.add({"f": word, "own": "internal", "g": word}, ["own", "f"]) == ["own"]
    assert linker.add({"g": word}, ["g", "made by a pass"]) == ["g", "made by a pass"]
    assert linker.add({"g": word}, ["g"]) == []
    assert linker.copies == 2
