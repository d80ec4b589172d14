"""A whole run without LLVM: twice the same bytes, stopped and gone on, what fails is one cell or one piece."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tools.measure.passes.fake_engine import FakeEngine

from mirenc.base.errors import ConfigError, TaskError
from mirenc.decide.tables.compiled import STATUSES, PassList, read_compiled, read_piece_ir
from mirenc.tools.measure.passes.run import PassRun
from mirenc.tools.run.run_folder import Plan

FILES = (
    "machine.json",
    "pieces.parquet",
    "levels.parquet",
    "fires.parquet",
    "lists.json",
    "lists.parquet",
    "ir.parquet",
)
FUNCTION = """
define i32 @NAME(i32 %a) #0 {
  %c = icmp sgt i32 %a, NUMBER
  br i1 %c, label %yes, label %no
yes:
  %b = mul i32 %a, NUMBER
  ret i32 %b
no:
  ret i32 0
}
"""


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Three projects of one file and three functions each, one of the projects reserved."""
    for number, project in enumerate(("alpha", "beta", "lua5.4")):
        folder = tmp_path / "ir" / project
        folder.mkdir(parents=True)
        functions = [
            FUNCTION.replace("NAME", f"f{index}").replace("NUMBER", str(10 * number + index + 2)) for index in range(3)
        ]
        (folder / "a.ll").write_text("".join(functions) + "attributes #0 = { minsize optsize }\n")
    return tmp_path / "ir"


@pytest.fixture
def start(sources: Path, tmp_path: Path) -> Callable[..., PassRun]:
    """A run that is prepared."""

    def prepared(name: str = "table", report: Callable[[str], object] = lambda line: None, **plan: object) -> PassRun:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        changed_plan = replace(Plan((sources,), functions=100, modules=100, lists=6), **plan)
        run = PassRun(changed_plan, folder, FakeEngine, report)
        run.prepare()
        return run

    return prepared


def ignored(*_: object, **__: object) -> None:
    pass


def finish(run: PassRun) -> None:
    run.go(ignored)
    run.save()


def test_a_run_writes_its_table_and_the_ir_of_its_pieces(start: Callable[..., PassRun], tmp_path: Path) -> None:
    finish(start())
    table = read_compiled(tmp_path / "table")
    assert len(table.pieces) == 12
    assert [piece.name for piece in table.pieces[:4]] == [
        "alpha/a.ll",
        "alpha/a.ll:f0",
        "alpha/a.ll:f1",
        "alpha/a.ll:f2",
    ]
    assert {piece.project for piece in table.pieces if piece.held_out} == {"lua5.4"}
    assert [one.kind for one in table.lists] == [
        "default",
        "mutation",
        "random",
        "random",
        "long random",
        "long random",
    ]
    assert table.record["available"] == {"function": 9, "module": 3}
    assert table.record["left"] == 0
    assert table.record["sources"] == ["ir"]
    assert table.record["versions"] == {"alpha": "", "beta": "", "lua5.4": ""}
    text = read_piece_ir(tmp_path / "table", table.pieces[1:2])[0]
    assert "@f0" in text
    assert "@f1" not in text
    assert "minsize" in text


def test_sizes_are_of_their_levels_and_lists(start: Callable[..., PassRun], tmp_path: Path) -> None:
    finish(start())
    table = read_compiled(tmp_path / "table")
    lines = read_piece_ir(tmp_path / "table", table.pieces)[1].count("\n")
    assert table.pieces[1].code_bytes == 100 + lines  # code generation of -O0
    assert table.levels["Oz"].code_bytes[1] == 100 + lines + 2
    assert table.levels["O3"].code_bytes[1] - table.levels["O2"].code_bytes[1] == 1
    commas = np.array([one.pipeline.count(",") for one in table.lists])
    np.testing.assert_array_equal(table.sizes.code_bytes[1], 100 + lines + 2 - commas)


def test_passes_that_fire_are_recorded_where_they_are_known(start: Callable[..., PassRun], tmp_path: Path) -> None:
    finish(start())
    table = read_compiled(tmp_path / "table")
    crashed = [piece.name for piece, known in zip(table.pieces, table.fires["Oz"].known, strict=True) if not known]
    assert crashed == ["alpha/a.ll", "alpha/a.ll:f1"]
    assert table.fires["Oz"].passes == ("LICM", "SROA")
    assert table.fires["Oz"].changed[1].all()
    assert table.fires["O3"].passes == ("SROA",)


def test_labels_made_twice_are_equal_byte_for_byte(start: Callable[..., PassRun], tmp_path: Path) -> None:
    finish(start("one"))
    finish(start("two", jobs=2))
    for file in FILES:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


def test_where_a_source_lies_is_no_part_of_its_module(
    start: Callable[..., PassRun], sources: Path, tmp_path: Path
) -> None:
    finish(start("before"))
    path = sources / "beta" / "a.ll"
    path.write_text(f"; ModuleID = '/home/me/a.c'\nsource_filename = \"/home/me/a.c\"\n{path.read_text()}")
    finish(start("after"))
    before, after = (read_compiled(tmp_path / name).pieces for name in ("before", "after"))
    assert [piece.ir_hash for piece in before] == [piece.ir_hash for piece in after]


def test_a_run_that_was_stopped_goes_on(start: Callable[..., PassRun], tmp_path: Path) -> None:
    finish(start("whole"))
    stopped = start("parts")

    class StopError(Exception):
        pass

    count = 0

    def stop(**_: object) -> None:
        nonlocal count
        count += 1
        if count == 5:
            raise StopError

    with pytest.raises(StopError):
        stopped.go(stop)
    assert len(stopped.left) == 7
    stopped.save()
    assert len(read_compiled(tmp_path / "parts").pieces) == 5
    journal = tmp_path / "parts" / "work" / "labels.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"name": "alpha/a.ll')  # as a kill inside a line leaves it
    again = start("parts")
    assert len(again.left) == 7
    finish(again)
    for file in FILES:
        assert (tmp_path / "whole" / file).read_bytes() == (tmp_path / "parts" / file).read_bytes(), file


def test_a_folder_of_fewer_pieces_goes_on(start: Callable[..., PassRun], tmp_path: Path) -> None:
    finish(start(functions=2))
    journal = tmp_path / "table" / "work" / "labels.jsonl"
    lines = journal.read_text().splitlines()[1:]
    again = start()
    assert len(again.left) == 12 - len(lines)
    finish(again)
    assert len(read_compiled(tmp_path / "table").pieces) == 12
    with pytest.raises(ConfigError, match="seed 0, not 1"):
        start(seed=1)


def test_a_list_that_crashes_is_one_failed_cell(start: Callable[..., PassRun], tmp_path: Path) -> None:
    lists = [
        PassList("default<Oz>", "default"),
        PassList("function(crash)", "random"),
        PassList("function(a,b)", "random"),
    ]
    run = start()
    run.lists = lists
    finish(run)
    table = read_compiled(tmp_path / "table")
    assert len(table.pieces) == 12
    assert {STATUSES[status] for status in table.sizes.status[:, 1].tolist()} == {"crash"}
    assert np.isnan(table.sizes.code_bytes[:, 1]).all()
    assert np.isfinite(table.sizes.code_bytes[:, [0, 2]]).all()
    assert table.record["cells"] == {"crash": 12, "ok": 24}


def test_a_piece_that_llvm_refuses_is_dropped(start: Callable[..., PassRun], sources: Path, tmp_path: Path) -> None:
    path = sources / "beta" / "a.ll"
    path.write_text(path.read_text().replace("%b = mul", "; unreadable\n  %b = mul", 1))
    finish(start())
    table = read_compiled(tmp_path / "table")
    # The module, and the function itself.
    assert len(table.pieces) == 10
    assert table.record["dropped"] == {"LLVM refuses it": 2}


def test_a_folder_without_any_piece_may_get_another_setup(start: Callable[..., PassRun]) -> None:
    assert start().lists == start().lists
    assert len(start(seed=1, lists=5).lists) == 5


def test_a_file_that_changed_is_labelled_again(start: Callable[..., PassRun], sources: Path) -> None:
    finish(start())
    path = sources / "beta" / "a.ll"
    path.write_text(path.read_text().replace("@f2", "@other"))
    again = start()
    assert sorted(piece.name for piece in again.left) == [
        "beta/a.ll",
        *(f"beta/a.ll:{symbol}" for symbol in ("f0", "f1", "other")),
    ]


def test_sources_without_anything_to_decide(start: Callable[..., PassRun], sources: Path) -> None:
    for path in sources.rglob("*.ll"):
        path.write_text("define void @f() {\n  ret void\n}\n")
    with pytest.raises(TaskError, match="no function that is large enough"):
        start()


def test_a_copy_goes_on_and_a_changed_file_is_said(
    start: Callable[..., PassRun], sources: Path, tmp_path: Path
) -> None:
    finish(start())
    shutil.copytree(tmp_path / "table", tmp_path / "copy", copy_function=shutil.copy)  # as `cp -r`: with new times
    os.utime(sources / "alpha" / "a.ll", (1, 1))
    assert not start("copy").left
    path = sources / "beta" / "a.ll"
    path.write_text(path.read_text().replace("mul i32", "add i32"))
    reported: list[str] = []
    start("copy", report=reported.append)
    assert "4 pieces are measured again: their IR is not what it was" in reported


def test_a_table_is_not_replaced_by_one_of_other_sources(
    start: Callable[..., PassRun], sources: Path, tmp_path: Path
) -> None:
    finish(start(sources=(sources / "alpha",)))
    before = (tmp_path / "table" / "pieces.parquet").read_bytes()
    with pytest.raises(ConfigError, match=r"has a table of alpha, which beta would replace. Name another folder"):
        start(sources=(sources / "beta",))
    namesake = tmp_path / "other" / "alpha"
    shutil.copytree(sources / "beta", namesake)
    (namesake / "a.ll").rename(namesake / "b.ll")
    with pytest.raises(ConfigError, match=r"has a table of alpha/a.ll, which alpha would replace"):
        start(sources=(namesake,))
    assert (tmp_path / "table" / "pieces.parquet").read_bytes() == before
    larger = start(sources=(sources / "alpha", sources / "beta"))
    assert len(larger.left) == 4  # more is no replacement
    finish(larger)
    with pytest.raises(ConfigError, match=r"has a table of alpha/a.ll, which alpha, beta would replace"):
        start(sources=(namesake, sources / "beta"))


def test_files_that_are_gone_are_reported(start: Callable[..., PassRun], sources: Path, tmp_path: Path) -> None:
    finish(start())
    reported: list[str] = []
    shutil.copy(sources / "alpha" / "a.ll", sources / "alpha" / "more.ll")
    (sources / "alpha" / "a.ll").unlink()
    with pytest.raises(ConfigError, match=r"has a table of alpha/a.ll"):
        start(report=reported.append)
    shutil.copy(sources / "alpha" / "more.ll", sources / "alpha" / "a.ll")
    (tmp_path / "table" / "work" / "labels.jsonl").unlink()
    start(report=reported.append)
    assert any("labels.jsonl is not there: everything is measured again" in line for line in reported)
