"""``mirenc measure inlining``: from C to a table of exact labels, which each change's own compilation confirms."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from command_line import Run

from mirenc.inlining import calls_of
from mirenc.passes.installed import SharedEngine
from mirenc.passes.levels import level
from mirenc.passes.object_file import elf_sections, sums

SOURCE = """
static int twice(int x) { return x * 2 + (x >> 3); }
static int large(int *x, int n) { int s = 0; for (int i = 0; i < n; i++) s += twice(x[i]) ^ x[i] / 7; return s; }
int one(int *x) { return large(x, 10) + twice(1); }
int two(int *x) { return large(x, 20) - twice(2); }
int three(int *x, int n) { return large(x, n) * twice(n); }
"""
pytestmark = [pytest.mark.needs("libLLVM 19"), pytest.mark.needs("clang-19")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "mine"
    place.mkdir()
    (place / "calls.c").write_text(SOURCE)
    (place / "none.c").write_text("int none(int x) { return x; }\n")
    return place


def test_a_table_of_changes(run: Run, folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "table"
    command = ("measure", "inlining", folder, "-o", table, "--jobs", "1")
    result = run(*command, "--modules", "1")
    assert result.code == 0, result.err
    more = run(*command)
    assert "mirenc: 1 of 2 modules are there already" in more.err
    assert f"mirenc: wrote {table}" in more.err
    record = json.loads((table / "machine.json").read_text())
    assert (record["modules"], record["modules_with_calls"], record["left"], record["problems"]) == (2, 1, 0, 0)
    rows = pq.read_table(table / "changes.parquet").to_pylist()
    assert record["changes"] == len(rows) > 10
    assert {len(row["calls"]) for row in rows} >= {1, 2, 3}
    path = next((table / "work").rglob("calls.c*"))
    with SharedEngine(19) as engine:
        calls = calls_of(engine.text(path.read_bytes()))
        place = {tuple(call): row for row, call in enumerate(calls.calls)}
        for row in rows:
            decisions = {
                place[call["caller"], call["callee"], call["number"]]: not call["inlined"] for call in row["calls"]
            }
            made = engine.compile(calls.decided(decisions).encode(), level("Oz"))
            assert sums(elf_sections(made))["loaded_bytes"] == row["bytes"]
            assert row["project"] == "mine"
            assert row["file"] == "calls.c"
    run(*command, "--seed", "1").failed("seed 0, not 1", "Name another folder")


def test_damaged_ir_is_named_and_the_rest_goes_on(run: Run, folder: Path, tmp_path: Path) -> None:
    ir = tmp_path / "ir"
    ir.mkdir()
    (ir / "bad.ll").write_text("define i32 @f( {\n")
    (ir / "good.ll").write_text("define i32 @f() {\n  ret i32 1\n}\n")
    (ir / "apple.ll").write_text('target triple = "arm64-apple-macosx"\ndefine i32 @f() {\n  ret i32 1\n}\n')
    result = run("measure", "inlining", ir, "-o", tmp_path / "table")
    assert result.code == 1
    assert "bad.ll" in result.err
    assert "not ELF" in result.err
    assert "2 of 3 files failed" in result.err
    assert json.loads((tmp_path / "table" / "machine.json").read_text())["modules"] == 1


@pytest.mark.parametrize(
    ("option", "whose"), [("--lists", "`mirenc measure passes`"), ("--rounds", "kernels that are timed")]
)
def test_options_of_others_are_refused(run: Run, folder: Path, tmp_path: Path, option: str, whose: str) -> None:
    result = run("measure", "inlining", folder, "-o", tmp_path / "table", option, "8")
    assert result.code == 2
    assert f"inlining has no such option, it is of {whose}" in result.err
