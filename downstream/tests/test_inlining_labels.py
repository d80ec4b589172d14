"""``downstream/inlining/labels.py``: C to a table of exact labels, which each change's own compilation confirms."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pyarrow.parquet as pq
import pytest

from mirenc.base.errors import ConfigError
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.object_file import elf_sections, sums
from mirenc.llvm.passes.pass_lists import level
from mirenc.tools.inline import calls_of

SCRIPT = Path(__file__).resolve().parents[2] / "downstream" / "inlining" / "labels.py"
SOURCE = """
static int twice(int x) { return x * 2 + (x >> 3); }
static int large(int *x, int n) { int s = 0; for (int i = 0; i < n; i++) s += twice(x[i]) ^ x[i] / 7; return s; }
int one(int *x) { return large(x, 10) + twice(1); }
int two(int *x) { return large(x, 20) - twice(2); }
int three(int *x, int n) { return large(x, n) * twice(n); }
"""
pytestmark = [pytest.mark.needs("libLLVM 19"), pytest.mark.needs("clang-19")]


@pytest.fixture(scope="module")
def labels() -> ModuleType:
    spec = importlib.util.spec_from_file_location("inlining_labels", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "mine"
    place.mkdir()
    (place / "calls.c").write_text(SOURCE)
    (place / "none.c").write_text("int none(int x) { return x; }\n")
    return place


def test_a_table_of_changes(
    labels: ModuleType, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table"
    command = [str(folder), "-o", str(table), "--jobs", "1"]
    labels.main([*command, "--modules", "1"])
    labels.main(command)
    assert "1 of 2 modules are there already" in capsys.readouterr().err
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
            compiled = engine.deciding.compile(calls.decided(decisions).encode(), level("Oz"))
            assert sums(elf_sections(compiled))["loaded_bytes"] == row["bytes"]
            assert row["project"] == "mine"
            assert row["file"] == "calls.c"
    with pytest.raises(ConfigError, match=r"seed 0, not 1.*Name another folder"):
        labels.main([*command, "--seed", "1"])


def test_damaged_ir_is_named_and_the_rest_goes_on(
    labels: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ir = tmp_path / "ir"
    ir.mkdir()
    (ir / "bad.ll").write_text("define i32 @f( {\n")
    (ir / "good.ll").write_text("define i32 @f() {\n  ret i32 1\n}\n")
    (ir / "apple.ll").write_text('target triple = "arm64-apple-macosx"\ndefine i32 @f() {\n  ret i32 1\n}\n')
    labels.main([str(ir), "-o", str(tmp_path / "table")])
    printed = capsys.readouterr().err
    assert "bad.ll" in printed
    assert "not ELF" in printed
    record = json.loads((tmp_path / "table" / "machine.json").read_text())
    assert (record["modules"], record["problems"]) == (1, 2)
