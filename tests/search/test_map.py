"""The page of a map: who is near whom, what a point tells, which colours there are; and no network."""

import json
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mirenc.base.errors import ConfigError
from mirenc.search import Maker, VectorTable, compare

pytest.importorskip("plotly", reason="plotly, of the `map` extra, is not installed")
from mirenc.search.map import draw_map


def clouds(rows: int = 20, *, files: tuple[str, ...] = ("p/a.ll", "p/b.ll", "p/c.ll"), width: int = 24) -> VectorTable:
    """As many rows of each file, around a point of its own."""
    rng = np.random.default_rng(7)
    centres = np.repeat(rng.normal(size=(len(files), width)) * 4, rows, axis=0)
    vectors = (centres + rng.normal(size=centres.shape)).astype(np.float32)
    names = [f"f{row}" for row in range(len(vectors))]
    sources = [{"file": file} for file in files]
    source_row = [row // rows for row in range(len(vectors))]
    return VectorTable(Maker("m", "d" * 64, "function"), vectors, {"name": names}, sources, source_row)


def groups_of(page: str) -> list[dict[str, Any]]:
    """What the page draws, one a colour: ``name``, and ``points`` of x, y, what they tell and all their words."""
    start = page.index("const groups = ") + len("const groups = ")
    groups: list[dict[str, Any]] = json.JSONDecoder().raw_decode(page, start)[0]
    return groups


def sizes(page: str) -> dict[str, int]:
    """How many points have which colour, in the order of the list."""
    return {group["name"]: len(group["points"]) for group in groups_of(page)}


def places(group: dict[str, Any]) -> NDArray[np.float64]:
    """(n, 2) of a group."""
    return np.array([point[:2] for point in group["points"]])


def test_what_is_alike_is_near() -> None:
    page = draw_map(clouds(), "x.parquet")
    groups = groups_of(page)
    assert sizes(page) == {"a.ll": 20, "b.ll": 20, "c.ll": 20}
    centres = np.array([places(group).mean(axis=0) for group in groups])
    for number, group in enumerate(groups):
        away = np.linalg.norm(places(group)[:, None] - centres, axis=2)  # (20, 3)
        assert (away.argmin(axis=1) == number).all()
    assert "<title>60 functions of x.parquet</title>" in page
    assert draw_map(clouds(), "x.parquet") == page


def test_the_page_says_how_many_neighbours_it_kept() -> None:
    page = draw_map(clouds(), "x")
    table = clouds()
    cosines = compare(table.vectors) - 2 * np.eye(60)
    where = np.concatenate([places(group) for group in groups_of(page)])  # groups of equal size stay in their order
    away = np.linalg.norm(where[:, None] - where, axis=2) + 1e9 * np.eye(60)
    pairs = zip(np.argsort(-cosines)[:, :10].tolist(), np.argsort(away)[:, :10].tolist(), strict=True)
    shared = np.mean([len(set(one) & set(other)) for one, other in pairs])
    assert f"Of the 10 nearest by their vectors, {shared:.1f} are among the 10 nearest here" in page


def test_a_point_tells_its_nearest_of_all_rows_in_a_sample_too() -> None:
    table = clouds()
    cosines = compare(table.vectors) - 2 * np.eye(60)
    page = draw_map(table, "x", most=12, sure=lambda cosine: 0.25 if cosine < 0.9 else 0.75)
    assert "<title>12 of 60 functions of x</title>" in page
    assert "how often the nearest function" in page
    texts = [point[2] for group in groups_of(page) for point in group["points"]]
    assert len(set(texts)) == 12
    for text in texts:
        name, file, _, *others = text.split("<br>")
        row = int(re.fullmatch(r"<b>f(\d+)</b>", name)[1])  # type: ignore[index]  # or the test fails
        assert file == f"{'abc'[row // 20]}.ll"
        expected = []
        for rank, other in enumerate(np.argsort(-cosines[row])[:3].tolist()):
            right = "" if rank else f" ({'25%' if cosines[row, other] < 0.9 else '75%'})"
            expected.append(f"{cosines[row, other]:.3f}{right}  f{other}  {'abc'[other // 20]}.ll")
        assert others == expected


def test_what_a_stranger_wrote_is_text() -> None:
    table = clouds(files=("p/<i>.ll", "p/b.ll"))
    table.labels["name"][0] = "operator<<int>::" + "very_" * 40 + "long</script>"
    (first, _) = groups_of(page := draw_map(table, "<x>"))
    assert first["name"] == "&lt;i&gt;.ll"
    assert first["points"][0][2].startswith("<b>operator&lt;&lt;int&gt;::very_")
    assert "..." in first["points"][0][2]
    assert first["points"][0][3] == f"{table.names[0]}\n<i>.ll"
    assert page.count("</script>") == draw_map(clouds(files=("p/a.ll", "p/b.ll")), "x").count("</script>")
    assert "<title>40 functions of &lt;x&gt;</title>" in page


@pytest.mark.parametrize("rows", [2, 3, 9, 10, 11])
def test_a_few_rows_have_a_map(rows: int) -> None:
    (group,) = groups_of(draw_map(clouds(rows, files=("a.ll",)), "x"))
    assert len(np.unique(places(group), axis=0)) == rows
    assert group["points"][0][2].count("<br>") == 2 + min(3, rows - 1)


def test_equal_vectors_and_zeros_have_a_map() -> None:
    table = clouds(15, files=("a.ll", "b.ll"))
    table.vectors[:] = 1
    assert np.isfinite(places(groups_of(draw_map(table, "x"))[0])).all()
    table.vectors[:] = 0
    assert "0.000  f" in groups_of(draw_map(table, "x"))[0]["points"][0][2]


def test_one_row_is_no_map() -> None:
    with pytest.raises(ConfigError, match=r"at least two points, and there is only 1 function\. Give more files"):
        draw_map(clouds(1, files=("a.ll",)), "x")


def test_colours_are_top_folders_and_the_small_ones_one() -> None:
    few = clouds(2, files=("/r/p/one/a.ll", "/r/p/one/b.ll", "/r/p/two/a.ll", "/r/p/c.ll"))
    page = draw_map(few, "x")
    assert list(sizes(page).items()) == [("one", 4), ("two", 2), ("c.ll", 2)]
    assert groups_of(page)[0]["points"][0][2].split("<br>")[1] == "one/a.ll"
    many = clouds(1, files=tuple(f"{number:02}.ll" for number in range(53)))
    assert sizes(draw_map(many, "x")) == {**{f"{number:02}.ll": 1 for number in range(49)}, "4 others": 4}


def test_the_page_asks_nobody_for_anything() -> None:
    page = draw_map(clouds(), "x")
    assert not re.search(r'<(script|link|img|iframe)[^>]*(src|href)="', page)
    assert "displayModeBar: false" in page  # plotly's buttons offer to send the data away


def test_without_plotly_the_extra_is_named() -> None:
    code = "import sys; sys.modules['plotly'] = None; import mirenc.search.map"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError: a map needs plotly and scikit-learn" in done.stderr
    assert "Type: pip install 'mirenc[map]'" in done.stderr
