"""What documents say of pass lists and of a project's table is what the records say."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PASSES = ROOT / "downstream" / "passes"
GUIDE = " ".join((ROOT / "docs" / "guides" / "size.md").read_text(encoding="utf-8").split())


def record(name: str) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads((PASSES / name).read_text(encoding="utf-8"))
    return figures


def test_the_readme_has_the_tables_of_the_records() -> None:
    spec = importlib.util.spec_from_file_location("readme_tables", PASSES / "readme_tables.py")
    assert spec is not None
    assert spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    text = (PASSES / "README.md").read_text(encoding="utf-8")
    for name, body in {
        "projects": tables.whole_projects(record("projects.json")),
        "nm": tables.nm_table(record("nm.json")),
    }.items():
        assert f"<!-- passes {name} -->\n{body}\n<!-- end -->" in text, name


def test_the_record_of_projects_adds_up() -> None:
    projects = record("projects.json")["projects"]
    for one in projects.values():
        each = one["each"]
        assert one["modules"] == len(each)
        assert [one[key] for key in ("before", "oz", "best")] == [
            sum(row[key] for row in each) for key in ("before", "oz", "best")
        ]
        assert one["saved"] == pytest.approx(100 * (1 - one["best"] / one["oz"]))
        assert one["exact"] == sum(row["oz"] - row["best"] == row["really_saved"] for row in each)
        # Never larger than -Oz, by the objects themselves.
        assert min(row["really_saved"] for row in each) >= 0
    assert sum(one["modules"] for one in projects.values()) >= 60


def test_the_guide_says_how_many_claims_were_exact() -> None:
    projects = record("projects.json")["projects"].values()
    modules, exact = (sum(one[key] for one in projects) for key in ("modules", "exact"))
    assert f"For {exact} of the {modules} modules" in GUIDE


def test_the_guide_says_what_nm_says() -> None:
    projects = record("nm.json")["projects"].values()
    same, rows = (sum(one[key] for one in projects) for key in ("same", "rows"))
    assert f"{same} of {rows} sizes equal those of `nm -S`" in GUIDE
    for one in projects:
        assert one["same"] + len(one["other"]) + one["alone"] >= one["rows"]
