"""What an input is, case by case."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirenc.errors import ConfigError
from mirenc.ir import parse_ir
from mirenc.ir.inputs import expand_inputs, is_folder, path_input, resolve_input

LINE = "define void @f() { ret void }"


@pytest.mark.parametrize(
    ("given", "kind", "name", "language"),
    [
        ("a.ll", "file", "a.ll", ""),
        (Path("a.bc.gz"), "file", "a.bc.gz", ""),
        ("-", "file", "-", ""),
        ("a.c", "source", "a.c", "c"),
        (Path("x/a.cpp"), "source", "x/a.cpp", "c++"),
        ("a.cl", "source", "a.cl", "cl"),
        ("a.cu", "source", "a.cu", "cuda"),
        (LINE, "ir", "<string>", ""),
        ("; ModuleID = 'x'", "ir", "<string>", ""),
        ("a\nb", "ir", "<string>", ""),
        (Path(LINE), "file", LINE, ""),  # a path object is a path, whatever it looks like
        (b"BC\xc0\xde", "ir", "<string>", ""),
        (bytearray(b"BC\xc0\xde"), "ir", "<string>", ""),
    ],
)
def test_what_an_input_is(given: object, kind: str, name: str, language: str) -> None:
    found = resolve_input(given)
    assert (found.kind, found.name, found.language) == (kind, name, language)
    assert isinstance(found.value, bytes if kind == "ir" else str)


def test_a_module_is_itself() -> None:
    module = parse_ir(LINE, name="mine")
    found = resolve_input(module)
    assert (found.kind, found.name) == ("module", "mine")
    assert found.value is module


@pytest.mark.parametrize("given", [3, None, ["a.ll"]])
def test_nothing_else_is_an_input(given: object) -> None:
    with pytest.raises(ConfigError, match=f"is of type {type(given).__name__}; allowed: a path, IR text"):
        resolve_input(given)


def test_folders_become_their_files(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "empty").mkdir()
    for name in ("c.ll", "b/a.bc", "notes.txt", "main.c"):
        (tmp_path / name).write_text("", encoding="utf-8")
    given = ["first.ll", tmp_path, tmp_path / "empty", path_input(tmp_path), LINE]
    names = [found.name for found in expand_inputs(given)]
    files = [str(tmp_path / "b" / "a.bc"), str(tmp_path / "c.ll")]
    # A folder without IR stays and fails by itself; what was resolved before is not looked at again.
    assert names == ["first.ll", *files, str(tmp_path / "empty"), str(tmp_path), "<string>"]


def test_only_a_path_is_a_folder(tmp_path: Path) -> None:
    assert is_folder(tmp_path)
    assert is_folder(str(tmp_path))
    for other in (str(tmp_path / "none"), LINE, b"x", "a\0b", 3):
        assert not is_folder(other)
