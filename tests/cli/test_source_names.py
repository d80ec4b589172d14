"""Every verb calls a source as the user did, whatever its compiler and its debug information call it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import Run

pytestmark = pytest.mark.needs("C compiler")

LOOP = """  for (int i = 0; i < n; i++) {
    if (p[i] < 0)
      s += 7;
    s += p[i];
  }
  return s;
}
"""
# A loop in each of the source, a header beside it, and one of another folder.
FILES = {
    "src/sum.c": f'#include "own.h"\n#include "../inc/other.h"\nint sum(int *p, int n) {{\n  int s = 2;\n{LOOP}',
    "src/own.h": f"int own(int *p, int n) {{\n  int s = 0;\n{LOOP}",
    "inc/other.h": f"int other(int *p, int n) {{\n  int s = 1;\n{LOOP}",
}
LINES = {"sum.c": 5, "own.h": 3, "other.h": 3}
# The working folder below TOP, how the source is given, and the folders of the three as answers have them.
GIVEN = {
    "absolute": ("work", "TOP/src/sum.c", "TOP/src", "TOP/inc"),
    "absolute, from its folder": ("src", "TOP/src/sum.c", "TOP/src", "TOP/inc"),
    "name": ("src", "sum.c", "", "../inc"),
    "dot": ("src", "./sum.c", ".", "../inc"),
    "folder below": ("", "src/sum.c", "src", "inc"),
    "folder beside": ("work", "../src/sum.c", "../src", "../inc"),
    "link to a folder": ("work", "../link/sum.c", "../link", "../inc"),
}


class Given:
    """How the source is given, from the working folder, and the names that answers have."""

    def __init__(self, source: str, own_folder: str, other: str) -> None:
        self.source = source
        self.names = [
            os.path.join(own_folder, "sum.c"),
            os.path.join(own_folder, "own.h"),
            os.path.join(other, "other.h"),
        ]
        self.places = {f"{name}:{LINES[name.rpartition('/')[2]]}" for name in self.names}


@pytest.fixture(params=GIVEN)
def named_source(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Given:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "work").mkdir()
    (tmp_path / "link").symlink_to("src")
    folder, *words = GIVEN[request.param]
    monkeypatch.chdir(tmp_path / folder)
    return Given(*(word.replace("TOP", str(tmp_path)) for word in words))


def places(text: str) -> set[str]:
    return set(re.findall(r"^(\S+:\d+): \S+:%", text, re.MULTILINE))


def check_answers(run: Run, named_source: Given, folder: Path, verb: Sequence[str], *words: object) -> list[Any]:
    """An answer's text, SARIF, remarks, and JSON, which is returned."""
    sarif, remarks = folder / "x.sarif", folder / "x.yaml"
    shown = run(*verb, named_source.source, "-o", sarif, "-o", remarks, *words)
    assert shown.code == 0, shown.err
    assert named_source.places <= (shown_places := places(shown.out))
    assert {place.rpartition(":")[0] for place in shown_places} == {*named_source.names}
    results = json.loads(sarif.read_text(encoding="utf-8"))["runs"][0]["results"]
    shown_places = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results}
    assert shown_places == {
        f"file://{name}" if name.startswith("/") else os.path.normpath(name) for name in named_source.names
    }
    assert set(re.findall(r"File: '(.*)', Line", remarks.read_text(encoding="utf-8"))) == {*named_source.names}
    answers = [json.loads(line) for line in run(*verb, named_source.source, "--json").out.splitlines()]
    assert {one["region"]["file"] if "region" in one else one["file"] for one in answers} == {*named_source.names}
    return answers


def test_profiles(run: Run, named_source: Given, tmp_path: Path) -> None:
    check_answers(run, named_source, tmp_path, ["profile"])


@pytest.mark.parametrize("named_source", ["absolute, from its folder", "folder beside"], indirect=True)
def test_a_heads_answers_and_pragmas_in_the_source_itself(run: Run, named_source: Given, tmp_path: Path) -> None:
    answers = check_answers(run, named_source, tmp_path, ["predict", "vectorization"], "--apply", tmp_path / "copies")
    lines = (tmp_path / "copies" / "sum.c").read_text(encoding="utf-8").splitlines()
    directives = [
        one["directive"] for one in answers if one["region"]["file"] == named_source.source and one["directive"]
    ]
    assert [line.strip() for line in lines if "#pragma" in line] == directives
    assert [line for line in lines if "#pragma" not in line] == FILES["src/sum.c"].splitlines()


def test_rows_and_views(run: Run, named_source: Given, model_dir: Path) -> None:
    words = ("--cflags=-gline-tables-only -fno-inline", "--model", model_dir)
    rows = [json.loads(line) for line in run("embed", named_source.source, "-l", "loop", *words).ok().out.splitlines()]
    assert {row["file"] for row in rows} == {named_source.source}
    assert {f"{row['source_file']}:{row['source_line']}" for row in rows} == named_source.places
    assert (
        json.loads(run("inspect", named_source.source, "--json", "--model", model_dir).ok().out)["source"]
        == named_source.source
    )
