"""What the documents say of speed is what the recorded run found."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "benchmarks"


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """The benchmark and its tables, which are no package."""
    modules = {}
    for name in ("speed_tables", "bench_large_module"):
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        modules[name] = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, modules[name])
        spec.loader.exec_module(modules[name])
    return modules


def test_the_documents_show_the_record(scripts: dict[str, ModuleType]) -> None:
    tables = scripts["speed_tables"]
    assert tables.RECORD.exists(), "nothing was recorded: README.md of tests/benchmarks has the commands"
    record = json.loads(tables.RECORD.read_text(encoding="utf-8"))
    for path, write in tables.DOCUMENTS.items():
        body = tables.MARKS.search(path.read_text(encoding="utf-8"))
        assert body is not None
        assert body[0] == f"{body[1]}{write(record)}{body[2]}", f"type: python {tables.__file__}"


def made_up(scripts: dict[str, ModuleType]) -> dict[str, Any]:
    """A record of two rounds: mirenc takes 2 and 4 seconds for everything, all others 3 and 3."""
    bench, tables = scripts["bench_large_module"], scripts["speed_tables"]

    def runs(*wall: float) -> list[Any]:
        detail = {"seconds": {"load": 9.0, "read": 3.0, "read: LLVM": 1.0, "graph": 1.0}, "counts": {"instructions": 5}}
        return [bench.Run(wall=each, cpu=2 * each, peak=7_000_000, together=6_000_000, detail=detail) for each in wall]

    ours = [bench.STAGES, *tables.PEERS]
    large = {name: runs(2, 4) for name in ours} | {peer: runs(3, 3) for peer, _ in tables.PEERS.values()}
    small = {tables.TINY: runs(0.5, 0.3), tables.SYMBOLIC: runs(0.1, 0.1)}
    many = {"files": 30, "seconds": 0.1, "cpu_seconds": 0.2, "files_a_second": 300.0}
    place = {"machine": {"cpu": "Z80", "cores": 2}, "python": "3.11", "versions": {"mirenc": "1"}, "model": "m"}
    return place | {"module": "x.ll"} | bench.record_of(large, small, many)


def test_a_record_has_medians_and_ratios_of_one_round(scripts: dict[str, ModuleType]) -> None:
    tables = scripts["speed_tables"]
    record = made_up(scripts)
    cold = record["large"][tables.COLD]
    # 3 / 2 and 3 / 4, by round: not the ratio of the medians, which is 1.
    assert (cold["seconds"], cold["least"], cold["most"], cold["times_as_fast"]) == (3, 2, 4, 1.125)
    assert (cold["cpu_seconds"], cold["peak_mb"], cold["together_mb"]) == (6, 7, 6)
    assert record["small"][tables.TINY]["times_as_fast"] == pytest.approx((0.1 / 0.5 + 0.1 / 0.3) / 2, abs=1e-3)
    assert record["stages"] == {"read": 3, "read: LLVM": 1, "graph": 1}
    assert record["rounds"] == {"large": 2, "small": 2}


def test_tables_say_what_was_reached(scripts: dict[str, ModuleType]) -> None:
    tables = scripts["speed_tables"]
    text = tables.complete_page(made_up(scripts))
    assert f"| {tables.COLD}: times as fast as IR2Vec flow-aware | >= 1 | 1.12 | reached |" in text
    assert f"| {tables.GRAPH}: times as fast as llvm2graph-10 (LLVM 10 text) | >= 10 | 1.12 | missed |" in text
    assert "| <= 0.4 s | 0.40 s | reached |" in text
    assert "| 30 small files | >= 200 files/s | 300 files/s | reached |" in text
    assert "| of which LLVM | 1.00 | 25 % |" in text  # of read and graph, 4 seconds
    assert "| module vector, nothing cached | 3.00 s, 6 MB | IR2Vec flow-aware: 3.00 s, 6 MB | 1.12 |" in tables.short(
        made_up(scripts)
    )
