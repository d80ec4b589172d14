"""The tables that this project measured and committed: each is whole, and says what it was measured on."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from mirenc.decide.registry import get_task
from mirenc.decide.tables.measured import read_measured

ROOT = Path(__file__).resolve().parents[3]
# A table of passes was compiled, not timed: test_compiled.py and test_compiled_tasks.py have theirs.
TABLES = sorted(path for path in ROOT.glob("downstream/*/table/machine.json") if path.parent.parent.name != "passes")
MOST_BYTES = 10 * 2**20
MOST_NOISE = 0.03


def test_there_are_tables() -> None:
    assert {path.parent.parent.name for path in TABLES} >= {"openmp"}


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.parent.parent.name)
def test_a_table_is_whole(path: Path) -> None:
    name = path.parent.parent.name
    assert sum(file.stat().st_size for file in path.parent.iterdir()) < MOST_BYTES
    table = read_measured(path.parent, name)
    assert not table.machine["sources"].startswith("the user")
    assert not re.search(r"(?<![\w.])/\w", json.dumps(table.machine))  # no path of the machine that measured
    kept = [sample for sample in table.samples if not sample.dropped]
    assert len(kept) == table.machine["samples"]
    assert all(sample.noise <= MOST_NOISE for sample in kept)
    # What was dropped is there too, with the reason, so that it can be counted.
    assert len(table.samples) - len(kept) == table.machine["dropped_for_noise"] + table.machine["dropped_otherwise"]

    data = get_task(name).load(path.parent)
    assert len(data) == len(kept)
    assert data.machine == table.machine["title"]
    assert np.isfinite(data.paid_baseline).all()
    # Two halves of the rounds: alike, and not the same.
    ratio = np.log(data.paid_baseline / data.baseline)
    assert (ratio != 0).any()
    assert math.exp(np.abs(np.median(ratio))) < 1 + MOST_NOISE
