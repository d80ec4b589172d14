"""``mirenc tasks``: what can be asked, with which context, and whether a head ships."""

import json
from pathlib import Path

import pytest
from command_line import Run

from mirenc.decide import get_task, list_tasks


def test_every_task_is_listed_with_its_context_and_heads(run: Run) -> None:
    rows = {row["name"]: row for row in json.loads(run("tasks", "--json").ok().out)}
    assert list(rows) == list_tasks()
    for name, row in rows.items():
        assert [feature["name"] for feature in row["context"]] == [one.name for one in get_task(name).context.features]
    assert rows["device_mapping"]["ready"] == ["nvidia", "amd"]
    assert rows["numa_prefetch"]["ready"] == []


def test_the_listing_says_what_to_type_where_no_head_ships(run: Run) -> None:
    lines = run("tasks").ok().out.splitlines()
    assert "  ships a head  no: mirenc fit numa_prefetch -o FOLDER" in lines
    assert "  --context     transfer: bytes moved to the GPU and back, 0 or more" in lines
    assert "  labels        published data (`mirenc datasets`)" in lines


@pytest.mark.parametrize("verb", ["fit", "evaluate", "predict"])
def test_what_is_no_task_names_the_verb_or_the_tasks(run: Run, tmp_path: Path, verb: str) -> None:
    output = ("-o", tmp_path / "out.sarif")
    run(verb, "trip_count", *output).failed("trip_count is not a task. Type: mirenc profile INPUT")
    run(verb, "passes", *output).failed("is for pass_list, size_after, oz_benefit and pass_fires. Name one of these")
