"""The tables that this project measured and committed: each is whole, and says what it was measured on."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from mirenc.decide.registry import get_task, list_tasks
from mirenc.decide.tables.compiled import read_compiled
from mirenc.decide.tables.measured import read_measured
from mirenc.decide.tasks.pass_tasks import CompiledTask
from mirenc.tools.measure.block_size import BlockSizeMethod

ROOT = Path(__file__).resolve().parents[3]
TABLES = sorted(path for path in ROOT.glob("downstream/*/*/machine.json") if path.parent.parent.name != "passes")
PASSES = ROOT / "downstream" / "passes" / "table"  # was compiled, not timed
MOST_BYTES = 10 * 2**20
MOST_NOISE = 0.03


def test_there_are_tables() -> None:
    assert {path.parent.parent.name for path in TABLES} >= {"openmp"}


def test_the_table_of_passes_is_whole_and_has_nobodys_code(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(path.stat().st_size for path in PASSES.iterdir()) < MOST_BYTES
    assert not (PASSES / "ir.parquet").exists()
    table = read_compiled(PASSES)
    record = table.record
    assert not re.search(r"(?<![\w.])/\w", json.dumps(record))  # no path of the machine that compiled
    assert len(table.pieces) == record["pieces"] == record["functions"] + record["modules"]
    for names in ({piece.name for piece in table.pieces}, {piece.ir_hash for piece in table.pieces}):
        assert len(names) == len(table.pieces)
    held_out = {piece.project for piece in table.pieces if piece.held_out}
    assert held_out == set(record["held_out_projects"])
    assert not held_out & {piece.project for piece in table.pieces if not piece.held_out}
    np.testing.assert_array_equal(table.sizes.code_bytes[:, 0], table.levels["Oz"].code_bytes)
    assert record["winners"]["verified"] == record["winners"]["better_than_oz"]
    assert set(record["executed"]) == {"lists", "loops", "same"}
    monkeypatch.setattr("mirenc.decide.tasks.pass_tasks.read_compiled", lambda _: table)  # two seconds for each task
    for name in list_tasks():
        if isinstance(task := get_task(name), CompiledTask):
            data = task.load(PASSES)
            assert len(data) > 0.9 * len(table.pieces) or name == "pass_fires"  # of some, nobody may know what fires
            assert not data.has_code


def test_kernels_measured_on_a_gpu_are_those_of_today() -> None:
    table = read_measured(ROOT / "downstream" / "block_size" / "h200", "block_size")
    texts = {kernel.name: kernel.source for kernel in BlockSizeMethod().own_kernels(10**6)}
    assert [name for name, kernel in table.kernels.items() if kernel.source != texts.get(name)] == []


@pytest.mark.parametrize("path", TABLES, ids=lambda path: "/".join(path.parts[-3:-1]))
def test_a_measured_table_is_whole(path: Path) -> None:
    name = path.parent.parent.name
    assert sum(file.stat().st_size for file in path.parent.iterdir()) < MOST_BYTES
    table = read_measured(path.parent, name)
    assert not table.machine["sources"].startswith("the user")
    assert not re.search(r"(?<![\w.])/\w", json.dumps(table.machine))  # no path of the machine that measured
    usable = [sample for sample in table.samples if not sample.dropped]
    assert len(usable) == table.machine["samples"]
    assert all(sample.noise <= MOST_NOISE for sample in usable)
    # What was dropped is there too, with the reason, so that it can be counted.
    assert len(table.samples) - len(usable) == table.machine["dropped_for_noise"] + table.machine["dropped_otherwise"]

    data = get_task(name).load(path.parent)
    assert len(data) == len(usable)
    assert data.machine == table.machine["title"]
    assert np.isfinite(data.paid_baseline).all()
    # Two halves of the rounds: alike, and not the same.
    ratio = np.log(data.paid_baseline / data.baseline)
    assert (ratio != 0).any()
    assert math.exp(np.abs(np.median(ratio))) < 1 + MOST_NOISE
