"""A query that is in the table comes first, of however many equals; which row that is is said by path and symbol."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from mirenc.cli import main
from mirenc.embed import Encoder
from mirenc.search import Maker, VectorTable, index, nearest
from mirenc.search.itself import matching_rows, own_first, own_rows

FILE = Path(__file__).parents[1] / "fixtures" / "ir" / "clang-19" / "O2" / "sorting.ll"
TWINS = "".join(f"define i32 @{name}(i32 %x) {{\n  %y = mul i32 %x, 3\n  ret i32 %y\n}}\n" for name in "abc")


def table_of(files: list[str], symbols: list[str]) -> VectorTable:
    labels = {"symbol": symbols}
    sources = [{"file": file} for file in files]
    return VectorTable(
        Maker("m", "d", "function"), np.ones((len(files), 2), np.float32), labels, sources, [*range(len(files))]
    )


@pytest.mark.parametrize(
    ("query", "own"),
    [
        ("a/x.ll", [0]),
        ("./b/../b/x.ll", [1]),
        ("x.ll", [2]),
        ("made/b/x.ll", [1]),  # the table lies in `made`, and may be of files there
        ("c/x.ll", [-1]),
        ("a/y.ll", [-1]),
        ("-", [-1]),
    ],
)
def test_the_file_of_that_path(query: str, own: list[int]) -> None:
    table = table_of(["a/x.ll", "b/x.ll", "x.ll", "a/xx.ll"], ["f", "f", "f", "f"])
    assert own_rows(table, query, ["f"], range(4), "made") == own
    assert own_rows(table, str(Path(query).absolute()), ["f"], range(4), "made") == own


def test_symbols_match_one_to_one_in_their_order() -> None:
    # Two blocks of f and one of g; of three blocks of f the third has no match.
    assert matching_rows(["f", "f", "f", "g"], {4: "g", 5: "f", 7: "f"}) == [5, 7, -1, 4]


def test_the_own_row_goes_first_unless_another_is_nearer() -> None:
    candidates = np.array([[1, 0], [2, 0], [0, 1], [3, 0]], dtype=np.float32)
    queries = np.array([[1, 0], [1, 0], [1, 0.1], [1, 0]], dtype=np.float32)
    found = nearest(queries, candidates, 2)
    assert found[0].tolist() == [[0, 1], [0, 1], [0, 1], [0, 1]]
    rows, cosines = own_first(found, [3, 1, 2, -1], queries, candidates)
    assert rows.tolist() == [[3, 0], [1, 0], [0, 1], [0, 1]]
    np.testing.assert_array_equal(cosines, found[1])


@pytest.mark.parametrize("level", ["module", "function", "loop", "block", "instruction"])
def test_each_copy_of_a_file_finds_itself(encoder: Encoder, tmp_path: Path, level: str) -> None:
    for name in "abc":
        shutil.copy(FILE, tmp_path / f"{name}.ll")
    table = index(encoder, tmp_path, level=level)
    for name in "abc":
        query = tmp_path / f"{name}.ll"
        embedding = encoder.embed_parts(query, level=level)
        own = own_rows(table, str(query), [region.symbol for region in embedding.regions], range(len(table)))
        assert own == [row for row, file in enumerate(table.files) if file == str(query)]
        rows, _ = own_first(nearest(embedding.vector, table.vectors, 1), own, embedding.vector, table.vectors)
        assert rows[:, 0].tolist() == own


def run(*words: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("sys.argv", ["mirenc", *map(str, words)])
    with pytest.raises(SystemExit) as ending:
        main()
    assert not ending.value.code
    return capsys.readouterr().out


@pytest.mark.parametrize("options", [[], ["--no-rerank"]])
def test_functions_of_equal_files_and_equal_functions_of_a_file(
    model_folder: Path,
    tmp_path: Path,
    options: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in "xyz":
        (tmp_path / f"{name}.ll").write_text(TWINS)
    for name in "xyz":
        query = tmp_path / f"{name}.ll"
        words = ["search", query, tmp_path, "--level", "function", "--model", model_folder, "-k", 2, "--json", *options]
        found = json.loads(run(*words, capsys=capsys, monkeypatch=monkeypatch))["found"]
        best = [(one["name"], one["matches"][0]["file"], one["matches"][0]["name"]) for one in found]
        assert best == [(function, str(query), function) for function in "abc"]
        # After it the first of the index that is not it.
        second = [(one["matches"][1]["file"], one["matches"][1]["name"]) for one in found]
        expected = ["b" if (name, function) == ("x", "a") else "a" for function in "abc"]
        assert second == [(str(tmp_path / "x.ll"), function) for function in expected]


def test_equal_functions_of_two_files_are_paired_by_their_symbols(
    model_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "xy":
        (tmp_path / f"{name}.ll").write_text(TWINS)
    words = ["compare", tmp_path / "x.ll", tmp_path / "y.ll", "-l", "function", "--model", model_folder, "--json"]
    matches = json.loads(run(*words, capsys=capsys, monkeypatch=monkeypatch))["matches"]
    assert [(one["name"], one["nearest"], one["mutual"]) for one in matches] == [(name, name, True) for name in "abc"]
