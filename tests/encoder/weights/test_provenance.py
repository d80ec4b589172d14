"""What a model and its ancestors were trained on is told, and no figure is called held out that is not."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from mirenc.base.errors import ModelError
from mirenc.encoder.weights import (
    Source,
    ancestry,
    find_model,
    ir_projects,
    list_models,
    read_provenance,
    seen_by,
    verify_files,
    write_provenance,
)
from mirenc.encoder.weights.provenance import PROVENANCE_FILE

PRETRAIN = Path(__file__).resolve().parents[3] / "pretrain"
CARD = re.compile(r"projects (?:never trained on|that neither it nor an ancestor saw): ([^\n]*)\.\n")


def projects_seen(name: str) -> set[str]:
    record = read_provenance(find_model(name))
    assert record is not None
    return set(seen_by(record))


@pytest.mark.parametrize("name", list_models())
def test_what_a_card_calls_held_out_no_ancestor_saw(name: str) -> None:
    card = (find_model(name) / "MODEL_CARD.md").read_text(encoding="utf-8")
    match = CARD.search(card)
    assert match is not None
    held_out = match[1].split(", ")
    assert len(held_out) > 5
    assert not set(held_out) & projects_seen(name)
    assert f"learned from {len(projects_seen(name))} projects (`{PROVENANCE_FILE}`)" in card
    assert PROVENANCE_FILE in verify_files(name)


@pytest.mark.parametrize("name", list_models())
def test_what_a_record_calls_held_out_no_ancestor_saw(name: str) -> None:
    figures = json.loads((PRETRAIN / f"{name}.figures.json").read_text(encoding="utf-8"))
    held_out = figures.get("held_out") or figures["data"]
    assert len(held_out["projects"]) > 5
    assert not set(held_out["projects"]) & projects_seen(name)


@pytest.mark.parametrize(
    ("name", "manifest"),
    [
        pytest.param("mirenc-base", "shards/manifest.csv", marks=pytest.mark.needs("mirenc-base")),
        ("mirenc-tiny", "debian-small.manifest.csv"),
    ],
)
def test_the_record_has_every_project_of_the_manifest_that_is_not_held_out(name: str, manifest: str) -> None:
    figures = json.loads((PRETRAIN / f"{name}.figures.json").read_text(encoding="utf-8"))
    held_out = set((figures.get("held_out") or figures["data"])["projects"])
    with (PRETRAIN / manifest).open(encoding="utf-8") as stream:
        assert projects_seen(name) == {row["project"] for row in csv.DictReader(stream)} - held_out


@pytest.mark.needs("mirenc-base")
def test_the_teachers_record_goes_with_the_student() -> None:
    assert projects_seen("mirenc-base") < projects_seen("mirenc-fast")
    assert {"cminpack", "glpk", "igraph", "libogg", "r-base", "yajl"} < projects_seen("mirenc-fast")


def test_a_record_is_a_round_trip_and_has_nothing_twice(tmp_path: Path) -> None:
    sources = (Source("a", "corpus", ("x", "y")), Source("b", "maps", ("z",), "not listed then"))
    write_provenance(tmp_path, [*sources, sources[0]])
    assert read_provenance(tmp_path) == ancestry("b", tmp_path) == sources
    assert seen_by((*sources, Source("b", "corpus", ("x",)))) == {"x": "a", "y": "a", "z": "b"}


def test_an_ancestor_without_a_record_is_warned_of_and_called_unknown(tmp_path: Path) -> None:
    assert read_provenance(tmp_path) is None
    with pytest.warns(UserWarning, match="what old was trained on is not known"):
        assert ancestry("old", tmp_path) == (Source("old", "unknown", ()),)


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"model": "a", "kind": "rumour", "projects": []}]', '{"a": 1}'])
def test_a_damaged_record_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / PROVENANCE_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match="damaged"):
        read_provenance(tmp_path)


def test_projects_of_ir_are_the_folders_above_the_levels_or_the_first_ones() -> None:
    files = ["ir/zlib/O0/inflate.ll", "ir/clang-19/zlib/O2/x/inflate.ll", "ir/lua/src/lapi.ll", "ir/alone.ll"]
    assert ir_projects(files, "ir") == ["zlib", "zlib", "lua", "ir"]
    # A level's own folder, as words.toml names one.
    assert ir_projects(["small/gcc-12/O0/x.ll"], "small/gcc-12/O0") == ["gcc-12"]
