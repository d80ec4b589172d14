"""A query that is in the table comes first, of however many equals; which row that is is said by path and symbol."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from mirenc.encoder import Encoder
from mirenc.search import Maker, VectorTable, index, nearest
from mirenc.search.self_match import matching_rows, own_first, own_rows

FILE = Path(__file__).parents[1] / "fixtures" / "ir" / "clang-19" / "O2" / "sorting.ll"


def table_of(files: list[str], symbols: list[str]) -> VectorTable:
    labels = {"symbol": symbols}
    sources = [{"file": file} for file in files]
    return VectorTable(
        Maker("m", "d", "function"), np.ones((len(files), 2), np.float32), labels, sources, [*range(len(files))]
    )


@pytest.mark.parametrize(
    ("query", "expected"),
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
def test_the_file_of_that_path(query: str, expected: list[int]) -> None:
    table = table_of(["a/x.ll", "b/x.ll", "x.ll", "a/xx.ll"], ["f", "f", "f", "f"])
    assert own_rows(table, query, ["f"], range(4), "made") == expected
    assert own_rows(table, str(Path(query).absolute()), ["f"], range(4), "made") == expected


def test_symbols_match_one_to_one_in_their_order() -> None:
    # Two blocks of f and one of g; of three blocks of f the third has no match.
    assert matching_rows(["f", "f", "f", "g"], {4: "g", 5: "f", 7: "f"}) == [5, 7, -1, 4]


def test_the_own_row_goes_first_unless_another_is_nearer() -> None:
    candidates = np.array([[1, 0], [2, 0], [0, 1], [3, 0]], dtype=np.float32)
    queries = np.array([[1, 0], [1, 0], [1, 0.1], [1, 0]], dtype=np.float32)
    neighbours = nearest(queries, candidates, 2)
    assert neighbours[0].tolist() == [[0, 1], [0, 1], [0, 1], [0, 1]]
    rows, cosines = own_first(neighbours, [3, 1, 2, -1], queries, candidates)
    assert rows.tolist() == [[3, 0], [1, 0], [0, 1], [0, 1]]
    np.testing.assert_array_equal(cosines, neighbours[1])


@pytest.mark.parametrize("level", ["module", "function", "loop", "block", "instruction"])
def test_each_copy_of_a_file_finds_itself(encoder: Encoder, tmp_path: Path, level: str) -> None:
    for name in "abc":
        shutil.copy(FILE, tmp_path / f"{name}.ll")
    table = index(encoder, tmp_path, level=level)
    for name in "abc":
        query = tmp_path / f"{name}.ll"
        embedding = encoder.embed_parts(query, level=level)
        file_rows = own_rows(table, str(query), [region.symbol for region in embedding.regions], range(len(table)))
        assert file_rows == [row for row, file in enumerate(table.files) if file == str(query)]
        rows, _ = own_first(nearest(embedding.vector, table.vectors, 1), file_rows, embedding.vector, table.vectors)
        assert rows[:, 0].tolist() == file_rows
