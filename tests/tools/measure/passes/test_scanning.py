"""Scanning: what a file has, copies known whatever their names, and nothing read twice that did not change."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirenc.base.errors import IRParseError
from mirenc.tools.measure.passes import choosing
from mirenc.tools.measure.passes.choosing import Chosen, Texts, scan_all
from mirenc.tools.measure.passes.inputs import IRFile, find_ir

TEXT = """
define i32 @NAME(i32 %a) {
  %c = icmp sgt i32 %a, 7
  br i1 %c, label %yes, label %no
yes:
  %b = add i32 %a, 1
  ret i32 %b
no:
  ret i32 0
}
declare void @other()
"""


@pytest.fixture
def files(tmp_path: Path) -> list[IRFile]:
    for name in ("one", "two"):
        (tmp_path / f"{name}.ll").write_text(TEXT.replace("NAME", name))
    (tmp_path / "wrong.ll").write_text("; ModuleID = 'x'\ndefine nothing\n")
    return find_ir([tmp_path], tmp_path / "work", lambda: "", report=print)


def test_functions_and_module_are_found(files: list[IRFile], tmp_path: Path) -> None:
    one, two, wrong = scan_all(files, tmp_path)
    assert [(candidate.symbol, candidate.blocks, candidate.instructions) for candidate in one.candidates] == [
        ("", 3, 5),
        ("one", 3, 5),
    ]
    assert one.candidates[1].digest == two.candidates[1].digest
    assert not wrong.candidates
    assert "wrong.ll" in wrong.problem


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files that are read; the first "two.ll" in a list that begins with "stop" is an interrupt."""
    names: list[str] = []
    read_ir = choosing.read_ir

    def counted(path: Path) -> object:
        names.append(path.name)
        if names[0] == "stop" and path.name == "two.ll":
            raise KeyboardInterrupt
        return read_ir(path)

    monkeypatch.setattr(choosing, "read_ir", counted)
    return names


def test_what_did_not_change_is_not_read_again(files: list[IRFile], tmp_path: Path, read: list[str]) -> None:
    first = scan_all(files, tmp_path)
    assert scan_all(files, tmp_path) == first
    assert read == ["one.ll", "two.ll", "wrong.ll"]
    (tmp_path / "two.ll").write_text(TEXT.replace("NAME", "longer_name"))
    again = find_ir([tmp_path], tmp_path / "work", lambda: "", report=print)
    assert scan_all(again, tmp_path)[1].candidates[1].symbol == "longer_name"
    assert read[3:] == ["two.ll"]


def test_a_scan_that_was_stopped_goes_on(files: list[IRFile], tmp_path: Path, read: list[str]) -> None:
    read.append("stop")
    with pytest.raises(KeyboardInterrupt):
        scan_all(files, tmp_path)
    read.remove("stop")
    assert len(scan_all(files, tmp_path)) == 3
    assert read == ["one.ll", "two.ll", "two.ll", "wrong.ll"]


def test_damaged_scans_are_made_anew(files: list[IRFile], tmp_path: Path) -> None:
    first = scan_all(files, tmp_path)
    (tmp_path / "scans.sqlite").write_bytes(b"no database")
    assert scan_all(files, tmp_path) == first


def test_many_processes_find_the_same(files: list[IRFile], tmp_path: Path) -> None:
    assert scan_all(files, tmp_path / "two", jobs=2) == scan_all(files, tmp_path / "one")


def test_a_file_that_is_read_but_has_no_text_is_refused_as_ir(tmp_path: Path) -> None:
    path = tmp_path / "a.ll"
    path.write_bytes(b'@s = constant [1 x i8] c"\xe9"\ndefine void @f() {\n  ret void\n}\n')
    file = IRFile(path, "p", "a.c", held_out=False, stamp="1")
    (scan,) = scan_all([file], tmp_path)
    assert not scan.problem
    piece = Chosen(file, "")
    with pytest.raises(IRParseError, match="not UTF-8"):
        Texts(tmp_path / "pieces", [piece]).of(piece)
