"""``mirenc map``: the page of `draw_map`, of a file of vectors and of a folder; what it refuses before any work."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from command_line import Run

from mirenc.encoder import Encoder
from mirenc.search import index as make_index, read_vectors

pytest.importorskip("plotly", reason="plotly, of the `map` extra, is not installed")
from mirenc.search.map import draw_map

O2 = Path(__file__).parents[1] / "fixtures" / "ir" / "clang-19" / "O2"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two modules."""
    target = tmp_path / "project"
    target.mkdir()
    for name in ("numeric", "sorting"):
        shutil.copy(O2 / f"{name}.ll", target)
    return target


def groups_of(page: str) -> list[tuple[str, list[str]]]:
    """Colours, and what each point is called."""
    match = re.search(r"const groups = (.*)\.map\(", page)
    assert match is not None
    groups = json.loads(match[1])
    return [(group["name"], [point[3] for point in group["points"]]) for group in groups]


def test_of_a_folder_functions_are_drawn(run: Run, model_dir: Path, encoder: Encoder, folder: Path) -> None:
    page = folder / "map.html"
    run("map", "--model", model_dir, folder, "-o", page).ok()
    table = make_index(encoder, folder, level="function")
    assert len(table) > 9
    # Embedded a second time a vector may differ in its last bit, and with it the picture: all but places is the same.
    assert groups_of(page.read_text(encoding="utf-8")) == groups_of(draw_map(table, str(folder)))
    run("map", "--model", model_dir, folder, "-o", page, "--level", "module").ok()
    assert f"<title>2 modules of {folder}</title>" in page.read_text(encoding="utf-8")


def test_of_a_file_what_it_holds_is_drawn(run: Run, model_dir: Path, folder: Path) -> None:
    vectors, page = folder / "x.npz", folder / "map.html"
    run("embed", "--model", model_dir, "-l", "function", "-o", vectors, folder).ok()
    run("map", "--model", model_dir, vectors, "-o", page).ok()
    assert page.read_text(encoding="utf-8") == draw_map(read_vectors(vectors), str(vectors))
    run("map", "--model", model_dir, vectors, "-o", page, "--most", 5).ok()
    assert f" functions of {vectors}</title>" in page.read_text(encoding="utf-8")
    assert "<title>5 of " in page.read_text(encoding="utf-8")
    run("map", "--model", model_dir, vectors, "-o", page, "-l", "module").refused("holds vectors of level function")


def test_how_often_a_cosine_is_right_is_told_where_it_was_measured(run: Run, folder: Path) -> None:
    page = folder / "map.html"
    run("map", folder, "-o", page, "--form", "plain").ok()
    assert "how often the nearest function" in page.read_text(encoding="utf-8")
    run("map", folder, "-o", page).ok()  # in the form for search a cosine alone does not tell
    assert "how often the nearest function" not in page.read_text(encoding="utf-8")
    run("map", folder, "-o", page, "--model", "mirenc-tiny").ok()
    assert "how often the nearest function" not in page.read_text(encoding="utf-8")


def test_it_refuses_before_any_work(run: Run, model_dir: Path, folder: Path) -> None:
    run("map", "--model", model_dir, folder).refused("Missing option")
    run("map", "--model", model_dir, folder, "-o", folder / "map.png").refused("unknown suffix; available: .html")
    run("map", "--model", model_dir, folder, "-o", folder / "no" / "map.html").failed("does not exist. Type: mkdir -p")
    run("map", "--model", model_dir, folder, "-o", folder / "m.html", "--most", 1).refused("--most")


def test_a_bad_file_of_the_folder_is_listed(run: Run, model_dir: Path, folder: Path) -> None:
    (folder / "broken.ll").write_text("no IR", encoding="utf-8")
    result = run("map", "--model", model_dir, folder, "-o", folder / "map.html")
    assert result.code == 1
    assert "1 of 3 files failed" in result.error_lines[-1]
    assert (folder / "map.html").is_file()
