"""Folders of tables: what is missing, damaged or another's is refused, with what to type."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_compiled import write_small_table
from small_measured import FIRST, measured_table

from mirenc.base.errors import TaskError
from mirenc.decide.tables.compiled import read_compiled
from mirenc.decide.tables.measured import read_measured

KINDS: dict[str, tuple[Callable[[Path], Any], Callable[[Path], Any], tuple[str, ...]]] = {
    "measured table": (
        lambda folder: measured_table(FIRST).write(folder),
        lambda folder: read_measured(folder, "made"),
        ("machine.json", "kernels.parquet", "samples.parquet", "costs.parquet"),
    ),
    "table of passes": (
        write_small_table,
        read_compiled,
        ("machine.json", "pieces.parquet", "levels.parquet", "fires.parquet", "lists.json", "lists.parquet"),
    ),
}
FILES = [(kind, file) for kind, (_, _, files) in KINDS.items() for file in files]


@pytest.mark.parametrize(("kind", "file"), FILES)
def test_a_damaged_or_missing_file_is_named_with_what_to_type(kind: str, file: str, tmp_path: Path) -> None:
    write, read, _ = KINDS[kind]
    write(tmp_path)
    (tmp_path / file).write_bytes(b"{")
    with pytest.raises(TaskError, match=rf"the {kind} is damaged .*mirenc (measure|label)"):
        read(tmp_path)
    (tmp_path / file).unlink()
    with pytest.raises(TaskError, match=rf"no {kind} \({file} is missing\).*mirenc (measure|label)"):
        read(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", [{"task": "other"}, {"format": 99}])
def test_a_table_of_another_task_or_format_is_refused(kind: str, change: dict[str, Any], tmp_path: Path) -> None:
    write, read, _ = KINDS[kind]
    write(tmp_path)
    path = tmp_path / "machine.json"
    machine = json.loads(path.read_text())
    path.write_text(json.dumps(machine | change))
    stated = {"task": machine["task"], "format": machine["format"]} | change
    needed = f"needed is one of the task {machine['task']} in format {machine['format']}"
    with pytest.raises(TaskError, match=f"a table of the task {stated['task']} in format {stated['format']}; {needed}"):
        read(tmp_path)
