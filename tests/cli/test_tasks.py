"""``mirenc tasks``: what can be asked, with which context, and whether a head ships."""

import json

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
