"""``downstream/profile/repair.py``: counts that are spoilt and repaired, by hand."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from mirenc.llvm import parse_ir, read_ir

FOLDER = Path(__file__).resolve().parents[2] / "downstream" / "profile"
# Called twice, 20 rounds in all, of which 15 skip block 3. Line 11 is the entry's and the head's, as a for's is.
CODE = """
source_filename = "f.c"
define i32 @_Z1fi(i32 %n) #0 !dbg !4 !prof !0 {
  %a = add i32 %n, 1, !dbg !11
  br label %1, !dbg !11
1:
  %i = phi i32 [ 0, %0 ], [ %j, %4 ]
  %c = icmp slt i32 %i, %a, !dbg !11
  br i1 %c, label %2, label %5, !dbg !11, !prof !1
2:
  %d = icmp eq i32 %i, 7, !dbg !12
  br i1 %d, label %3, label %4, !dbg !12, !prof !2
3:
  call void @g(), !dbg !13
  br label %4, !dbg !13
4:
  %j = add i32 %i, 1, !dbg !14
  br label %1, !dbg !14
5:
  ret i32 0, !dbg !15
}
declare void @g()
attributes #0 = { nounwind }
!llvm.module.flags = !{!16}
!llvm.dbg.cu = !{!5}
!0 = !{!"function_entry_count", i64 2}
!1 = !{!"branch_weights", i32 21, i32 3}
!2 = !{!"branch_weights", i32 6, i32 16}
!3 = !DIFile(filename: "f.c", directory: ".")
!4 = distinct !DISubprogram(name: "f", scope: !3, file: !3, line: 10, type: !6, unit: !5, spFlags: DISPFlagDefinition)
!5 = distinct !DICompileUnit(language: DW_LANG_C11, file: !3, emissionKind: LineTablesOnly)
!6 = !DISubroutineType(types: !7)
!7 = !{}
!11 = !DILocation(line: 11, scope: !4)
!12 = !DILocation(line: 12, scope: !4)
!13 = !DILocation(line: 13, scope: !4)
!14 = !DILocation(line: 14, scope: !4)
!15 = !DILocation(line: 15, scope: !4)
!16 = !{i32 2, !"Debug Info Version", i32 3}
"""
TRUE = [2.0, 22, 20, 5, 20, 2]
EDGES = [2.0, 20, 2, 5, 15, 5, 20]
pytestmark = pytest.mark.needs("opt-19")


@pytest.fixture(scope="module")
def repair() -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("profile_repair", FOLDER / "repair.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


@pytest.fixture
def file(repair: ModuleType, tmp_path: Path) -> object:
    place = tmp_path / "SSA" / "p" / "f.c.ll"
    place.parent.mkdir(parents=True)
    place.write_text(CODE)
    return repair.read(tmp_path, "p", "f.c", {"_Z1fi"}, {1: 0.9, 2: 0.3})


def test_exact_counts_and_what_is_believed(repair: ModuleType, file: object) -> None:
    assert file.owner.tolist() == [0] * 6  # type: ignore[attr-defined]
    assert file.blocks.tolist() == TRUE  # type: ignore[attr-defined]
    assert file.edges.tolist() == EDGES  # type: ignore[attr-defined]
    np.testing.assert_allclose(file.beliefs["flow_model"], [1, 0.9, 0.1, 0.3, 0.7, 1, 1])  # type: ignore[attr-defined]
    # A function is left out whose counts are no flow: two rounds less come to the latch.
    owner, _, _ = repair.exact(parse_ir(CODE.replace("i32 6, i32 16", "i32 6, i32 14")))
    assert owner.tolist() == [-1] * 6


def test_samples_are_of_instructions(repair: ModuleType, file: object) -> None:
    every = repair.sampled(file, 1)
    assert every.counts.tolist() == TRUE
    assert every.samples.tolist() == [4, 44, 40, 10, 40, 2]  # a phi is none
    sampled = repair.sampled(file, 4)
    np.testing.assert_allclose(sampled.rate, [0.5, 0.5, 0.5, 0.5, 0.5, 0.25])
    assert 20 < sampled.samples.sum() < 50
    assert sampled.samples.tolist() == repair.sampled(file, 4).samples.tolist()


def test_lines_carry_the_most_that_a_block_of_them_has(repair: ModuleType, file: object) -> None:
    spoilt = repair.carried(file, file.module, np.array(TRUE))  # type: ignore[attr-defined]
    assert spoilt.counts.tolist() == [22, 22, 20, 5, 20, 2]
    # The entry and the head share line 11, and are believed less by 2 ** 4; 100 samples an average block.
    np.testing.assert_allclose(spoilt.rate / spoilt.rate[2], [1 / 16, 1 / 16, 1, 1, 1, 1])
    assert spoilt.rate[2] == pytest.approx(100 / np.mean(spoilt.counts))
    unknown = repair.carried(file, file.module, np.array([-1.0, -1, 20, 5, 20, 2]))  # type: ignore[attr-defined]
    assert unknown.counts.tolist() == [-1, -1, 20, 5, 20, 2]
    assert unknown.rate.tolist()[:2] == [0, 0]


def test_moved_lines_find_what_stood_there_before(repair: ModuleType, file: object) -> None:
    moved = repair.carried(file, file.module, np.array(TRUE), moved=True)  # type: ignore[attr-defined]
    by_line = {11: 22, 12: 20, 13: 5, 14: 20, 15: 2}
    lines = [11, 11, 12, 13, 14, 15]
    expected = [
        [float(by_line.get(line - added * (line >= place), -1)) for line in lines]
        for place in by_line
        for added in (1, 2, 3)
    ]
    assert moved.counts.tolist() in expected
    assert moved.counts.tolist() != [22, 22, 20, 5, 20, 2]


def test_profi_gives_back_exact_counts_and_repairs_others(repair: ModuleType, file: object, tmp_path: Path) -> None:
    profi = repair.Profi(file)
    known = repair.Spoilt(np.array(TRUE), np.ones(6), np.array(TRUE))
    flow = profi.flow(known, tmp_path)
    np.testing.assert_allclose(flow.blocks, TRUE, rtol=1e-6)
    np.testing.assert_allclose(flow.edges, EDGES, rtol=1e-6)
    gap = repair.Spoilt(np.array(TRUE), np.ones(6), np.array([2.0, 22, -1, 5, 20, 2]))
    np.testing.assert_allclose(profi.flow(gap, tmp_path).blocks, TRUE, rtol=1e-6)
    assert profi.flow(repair.Spoilt(np.zeros(6), np.ones(6), np.zeros(6)), tmp_path) is None


def test_every_row_and_its_figures(repair: ModuleType, file: object, tmp_path: Path) -> None:
    spoilt = repair.carried(file, file.module, np.array(TRUE))  # type: ignore[attr-defined]
    rows = repair.flows_of(file, spoilt, repair.Profi(file), tmp_path)
    assert set(rows) == {"scaled", "flow", "flow_llvm", "flow_model", "profi"}
    figures = {}
    for name, counts in rows.items():
        sums = repair.Sums()
        sums.add(file, spoilt, *counts)
        figures[name] = sums.figures()
    # 20 too many in the entry, of 71; by the blocks' counts the head goes on, and its fork by the latch.
    assert figures["scaled"] == pytest.approx(
        {"error": 20 / 71, "overlap": 2 / 71 + 69 / 91, "functions": 2 / 71 + 69 / 91, "missed": (2 + 5) / 42}
    )
    assert figures["flow_model"]["error"] < 0.1


def test_tables_in_and_a_record_out(repair: ModuleType, file: object, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"project": ["p"], "file": ["f.c"], "function": ["_Z1fi"]}), tmp_path / "functions.parquet")
    pq.write_table(pa.table({"project": ["p"] * 2, "file": ["f.c"] * 2}), tmp_path / "branches.parquet")
    predictions = {"project": ["p"] * 2, "file": ["f.c"] * 2, "block": [1, 2], "first": [0.9, 0.3]}
    pq.write_table(pa.table(predictions), tmp_path / "said.parquet")
    assert repair.choose_files(tmp_path) == [("p", "f.c")]
    record = repair.measure(tmp_path, tmp_path / "said.parquet", [("p", "f.c")])
    assert {key: record[key] for key in ("projects", "files", "functions", "blocks")} == {
        "projects": 1,
        "files": 1,
        "functions": 1,
        "blocks": 6,
    }
    assert record["rows"]["10000"]["flow"].keys() == {"error", "overlap", "missed"}  # no function has a sample
    moved = {row: figures["overlap"][0] for row, figures in record["rows"]["moved"].items()}
    assert record["gains"]["moved"]["profi"]["overlap"][0] == pytest.approx(
        moved["flow_model"] - moved["profi"], abs=2e-4
    )
    assert set(record["rows"]) == {"100", "1000", "10000", "moved"}  # no other forms lie there
    assert read_ir(file.path).block_count == 6  # type: ignore[attr-defined]
    low = record["rows"]["moved"]["flow_model"]["overlap"]
    assert low[0] == low[1] == low[2]  # one project
