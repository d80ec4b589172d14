"""Scanning: what a file has, copies known whatever their names, and nothing read twice that did not change."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirenc.tools.measure.passes import choosing
from mirenc.tools.measure.passes.choosing import scan_all
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
    assert [(found.symbol, found.blocks, found.instructions) for found in one.candidates] == [("", 3, 5), ("one", 3, 5)]
    assert one.candidates[1].digest == two.candidates[1].digest
    assert not wrong.candidates
    assert "wrong.ll" in wrong.problem


def test_what_did_not_change_is_not_read_again(
    files: list[IRFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    whole = choosing.read_ir

    def counted(path: Path) -> object:
        read.append(path.name)
        return whole(path)

    monkeypatch.setattr(choosing, "read_ir", counted)
    first = scan_all(files, tmp_path)
    assert scan_all(files, tmp_path) == first
    assert read == ["one.ll", "two.ll", "wrong.ll"]
    (tmp_path / "two.ll").write_text(TEXT.replace("NAME", "longer_name"))
    again = find_ir([tmp_path], tmp_path / "work", lambda: "", report=print)
    assert scan_all(again, tmp_path)[1].candidates[1].symbol == "longer_name"
    assert read[3:] == ["two.ll"]


def test_a_scan_that_was_stopped_goes_on(files: list[IRFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    whole = choosing.read_ir

    def until_two(path: Path) -> object:
        read.append(path.name)
        if path.name == "two.ll":
            raise KeyboardInterrupt
        return whole(path)

    monkeypatch.setattr(choosing, "read_ir", until_two)
    with pytest.raises(KeyboardInterrupt):
        scan_all(files, tmp_path)
    monkeypatch.setattr(choosing, "read_ir", lambda path: (read.append(path.name), whole(path))[1])
    assert len(scan_all(files, tmp_path)) == 3
    assert read == ["one.ll", "two.ll", "two.ll", "wrong.ll"]


def test_damaged_scans_are_made_anew(files: list[IRFile], tmp_path: Path) -> None:
    first = scan_all(files, tmp_path)
    (tmp_path / "scans.sqlite").write_bytes(b"no database")
    assert scan_all(files, tmp_path) == first


def test_many_processes_find_the_same(files: list[IRFile], tmp_path: Path) -> None:
    assert scan_all(files, tmp_path / "two", jobs=2) == scan_all(files, tmp_path / "one")
