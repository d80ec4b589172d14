"""What an input is, case by case."""

import json
from pathlib import Path

import pytest

from mirenc.base.errors import ConfigError
from mirenc.llvm import parse_ir
from mirenc.llvm.inputs.input import path_input, resolve_input
from mirenc.llvm.inputs.projects import expand_inputs, is_project

LINE = "define void @f() { ret void }"


@pytest.mark.parametrize(
    ("source", "of", "name", "language"),
    [
        ("a.ll", str, "a.ll", ""),
        (Path("a.bc.gz"), str, "a.bc.gz", ""),
        ("-", str, "-", ""),
        ("a.c", str, "a.c", "c"),
        (Path("x/a.cpp"), str, "x/a.cpp", "c++"),
        ("a.cl", str, "a.cl", "cl"),
        ("a.cu", str, "a.cu", "cuda"),
        (LINE, bytes, "<string>", ""),
        ("; ModuleID = 'x'", bytes, "<string>", ""),
        ("a\nb", bytes, "<string>", ""),
        (Path(LINE), str, LINE, ""),  # a path object is a path, whatever it looks like
        (b"BC\xc0\xde", bytes, "<string>", ""),
        (bytearray(b"BC\xc0\xde"), bytes, "<string>", ""),
    ],
)
def test_what_an_input_is(source: object, of: type, name: str, language: str) -> None:
    resolved = resolve_input(source)
    assert (type(resolved.value), resolved.name, resolved.language) == (of, name, language)


def test_a_module_is_itself() -> None:
    module = parse_ir(LINE, name="mine")
    resolved = resolve_input(module)
    assert resolved.name == "mine"
    assert resolved.value is module


@pytest.mark.parametrize("source", [3, None, ["a.ll"]])
def test_nothing_else_is_an_input(source: object) -> None:
    with pytest.raises(ConfigError, match=f"is of type {type(source).__name__}; allowed: a path, IR text"):
        resolve_input(source)


def test_folders_become_their_files(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "empty").mkdir()
    for name in ("c.ll", "b/a.bc", "notes.txt"):
        (tmp_path / name).write_text("", encoding="utf-8")
    inputs = ["first.ll", tmp_path, tmp_path / "empty", path_input(tmp_path), LINE]
    names = [each.name for each in expand_inputs(inputs)]
    files = [str(tmp_path / "b" / "a.bc"), str(tmp_path / "c.ll")]
    # A folder without IR stays and fails by itself; what was resolved before is not looked at again.
    assert names == ["first.ll", *files, str(tmp_path / "empty"), str(tmp_path), "<string>"]


def test_only_a_path_stands_for_many_files(tmp_path: Path) -> None:
    (tmp_path / "compile_commands.json").write_text("[]")
    for many in (tmp_path, str(tmp_path), tmp_path / "compile_commands.json"):
        assert is_project(many)
    for other in (str(tmp_path / "none"), str(tmp_path / "none.json"), LINE, b"x", "a\0b", 3, "-"):
        assert not is_project(other)


# -- folders of sources, and what a build says of them ---------------------------------------------------
def build(tmp_path: Path, *entries: dict[str, object]) -> Path:
    path = tmp_path / "compile_commands.json"
    path.write_text("\ufeff" + json.dumps(entries), encoding="utf-8")
    return path


def test_a_folder_without_ir_is_its_sources(tmp_path: Path) -> None:
    for name in ("src/b.c", "src/a.cpp", "src/old.i", ".git/c.c", "inc/a.h", "x.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    sources = list(expand_inputs([tmp_path]))
    assert [(one.name, one.language) for one in sources] == [
        (str(tmp_path / "src" / "a.cpp"), "c++"),
        (str(tmp_path / "src" / "b.c"), "c"),
    ]
    assert sources[1].folder == str(tmp_path)
    assert sources[1].flags == ("-idirafter.", "-idirafterinc", f"-fmacro-prefix-map={tmp_path}/=")


def test_ir_goes_before_sources_and_that_is_said(tmp_path: Path) -> None:
    for name in ("a.ll", "a.c", "b.c"):
        (tmp_path / name).write_text("", encoding="utf-8")
    build(tmp_path, {"directory": ".", "file": "a.c", "arguments": ["cc", "a.c"]})
    reported: list[str] = []
    assert [one.name for one in expand_inputs([tmp_path], reported.append)] == [str(tmp_path / "a.ll")]
    assert len(reported) == 1
    assert "reading 1 IR file, skipping 2 source files." in reported[0]


def test_commands_are_sources_with_their_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = build(
        tmp_path,
        {"directory": "sub", "file": "b.c", "arguments": ["cc", "-O3", "-DX=1", "-I", "../inc", "-c", "b.c"]},
        {"directory": ".", "file": "a.cc", "command": "c++ -Wall -std=c++20 a.cc"},
        {"directory": ".", "file": "a.cc", "command": "c++ -std=c++11 a.cc"},
        {"directory": ".", "file": "s.S", "command": "cc s.S"},
    )
    monkeypatch.chdir(tmp_path)
    reported: list[str] = []
    first, second = expand_inputs([path], reported.append)
    assert (first.name, first.flags, first.language) == ("a.cc", ("-std=c++20",), "c++")
    assert (second.name, second.flags, second.folder) == (
        "sub/b.c",
        ("-DX=1", "-I", "../inc"),
        str(tmp_path / "sub"),
    )
    assert [
        "does not compile sources with these endings: .S 1" in reported[0],
        "1 entries are left out" in reported[1],
    ] == [
        True,
        True,
    ]
    assert reported[2].endswith("not as their commands do (number of files): no -O (1), -O3 (1)")
    monkeypatch.chdir(tmp_path / "..")
    assert [one.name for one in expand_inputs([path], reported.append)] == [
        f"{tmp_path.name}/a.cc",
        f"{tmp_path.name}/sub/b.c",
    ]


def test_a_byte_order_mark_and_comments_are_ignored() -> None:
    text = "define void @f() {\n  ret void\n}\n"
    plain = parse_ir(text).content_hash
    assert parse_ir(text + "; \ud800\n").content_hash == plain  # nor is a lone surrogate in a comment an error
    assert parse_ir("\ufeff" + text).content_hash == parse_ir(b"\xef\xbb\xbf" + text.encode()).content_hash == plain
