"""Exact cosine search: worked by hand, and against one sort of all cosines."""

import math
from pathlib import Path

import numpy as np
import pytest
from same_vectors import assert_same_vectors

import mirenc
from mirenc.base import cosines as search
from mirenc.base.errors import (
    ConfigError,
    IRFileError,
    MirencError,
    NoFunctionBodyError,
    SearchModelWarning,
    UnreadableIRWarning,
)
from mirenc.encoder import Encoder
from mirenc.search import Maker, VectorTable, compare, index, nearest
from mirenc.search.rerank import file_bonus, rerank

FIXTURES = Path(__file__).parents[1] / "fixtures"
CLANG = FIXTURES / "ir" / "clang-19"


# -- worked by hand --------------------------------------------------------------------------------------
def test_cosines_by_hand() -> None:
    cosines = compare([[3, 4], [0, 0], [-6, -8]], [[1, 0], [30, 40]])
    np.testing.assert_allclose(cosines, [[0.6, 1], [0, 0], [-0.6, -1]], atol=1e-7)
    assert cosines.dtype == np.float32
    np.testing.assert_allclose(compare([[1, 0], [1, 1]]), [[1, 0.5**0.5], [0.5**0.5, 1]], atol=1e-7)


def test_nearest_by_hand() -> None:
    rows, cosines = nearest([[1, 0]], [[0, 2], [5, 0], [-1, 0], [1, 1]], k=3)
    assert rows.tolist() == [[1, 3, 0]]
    np.testing.assert_allclose(cosines, [[1, 0.5**0.5, 0]], atol=1e-7)
    # Fewer candidates than asked for.
    assert nearest([[1, 0], [0, 1]], [[1, 0]], k=5)[0].tolist() == [[0], [0]]
    assert nearest(np.zeros((2, 3)), np.zeros((0, 3)))[0].shape == (2, 0)
    assert nearest(np.zeros((0, 3)), np.ones((4, 3)), k=2)[1].shape == (0, 2)


def test_equals_come_in_the_order_of_their_rows() -> None:
    candidates = np.tile([[1.0, 3.0, -2.0]], (9, 1))
    candidates[4] *= -1
    assert nearest([[2.0, 6.0, -4.0]], candidates, k=4)[0].tolist() == [[0, 1, 2, 3]]
    assert nearest(candidates[:1], candidates, k=9)[0].tolist() == [[0, 1, 2, 3, 5, 6, 7, 8, 4]]


# -- re-ranked by what else is in the files ------------------------------------------------------------------
def table_of(vectors: list[list[float]], files: list[int]) -> VectorTable:
    return VectorTable(Maker("m", "d", "function"), np.array(vectors, dtype=np.float32), source_row=files)


def test_of_two_that_are_near_the_one_in_such_company_comes_first() -> None:
    # Row 0 is nearer, but among others than the query is; row 3 stands beside what the query stands beside.
    table = table_of([[1, 0.1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0.1], [1, 0.2, 0, 0], [0, 0, 0, 1]], [0, 0, 0, 1, 1])
    query, beside = [[1, 0, 0, 0]], [[1, 0, 0, 0], [0, 0, 0, 2]]
    assert nearest(query, table.vectors, k=2)[0].tolist() == [[0, 3]]
    ((rows, cosines),) = rerank([(query, beside)], table, k=2)
    assert rows.tolist() == [[3, 0]]
    np.testing.assert_allclose(cosines, [[1.04**-0.5, 1.01**-0.5]], rtol=1e-6)
    # By hand: what else is there, less the mean of the index.
    unit = table.vectors / np.linalg.norm(table.vectors, axis=1, keepdims=True)
    mean = unit.mean(0)
    mine, theirs = np.array([0, 0, 0, 1]) - mean, unit[4] - mean
    alike = mine @ theirs / np.linalg.norm(mine) / np.linalg.norm(theirs)
    assert alike > 0
    assert cosines[0, 0] + 0.1 * min(1, alike / 0.7) ** 2 > cosines[0, 1]


def test_the_bonus_of_a_file_is_quadratic_up_to_its_limit() -> None:
    assert file_bonus(np.array([-0.5, 0, 0.35, 0.7, 1])) == pytest.approx([0, 0, 0.025, 0.1, 0.1])


@pytest.mark.parametrize(("place", "first"), [(49, 49), (50, 0)])
def test_the_fifty_nearest_are_re_ranked_and_no_others(place: int, first: int) -> None:
    """One of 60 stands in the query's company, which is worth more than the cosines differ by."""
    angles = 0.05 + 0.005 * np.arange(60)
    vectors = [*([math.cos(angle), math.sin(angle), 0] for angle in angles), [0, 0, 1]]
    table = table_of(vectors, [*range(60), place])
    ((rows, _),) = rerank([([[1, 0, 0]], [[1, 0, 0], [0, 0, 1]])], table, k=1)
    assert rows.tolist() == [[first]]


def test_ten_are_found_by_default() -> None:
    table = table_of([[1, 0]] * 12, [*range(12)])
    ((rows, _),) = rerank([([[1, 0]], [[1, 0]])], table)
    assert rows.tolist() == [[*range(10)]]


@pytest.mark.parametrize("files", [[0, 1, 2, 3], [0, 0, 0, 0]])
def test_where_no_file_says_more_than_another_the_cosines_rank(files: list[int]) -> None:
    vectors = [[1, 0.1, 0], [1, 1, 0], [0, 1, 0], [1, 0.2, 0.1]]
    alone = [[1.0, 0, 0]]
    (ranked,) = rerank([(alone, alone)], table_of(vectors, files), k=3)
    np.testing.assert_array_equal(ranked, nearest(alone, vectors, k=3))


def test_rows_of_a_file_need_not_stand_together() -> None:
    random = np.random.default_rng(0)
    vectors, files = random.normal(size=(30, 6)).astype(np.float32), random.integers(5, size=30)
    query = random.normal(size=(4, 6))
    ((rows, cosines),) = rerank([(query, query)], table_of(vectors.tolist(), files.tolist()), k=30)
    order = np.argsort(files, kind="stable")
    (again,) = rerank([(query, query)], table_of(vectors[order].tolist(), files[order].tolist()), k=30)
    np.testing.assert_allclose(again[1], cosines, atol=1e-6)
    np.testing.assert_array_equal(order[again[0]], rows)


# -- in blocks -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("k", [1, 7, 40])
def test_blocks_find_what_one_sort_finds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, k: int) -> None:
    monkeypatch.setattr(search, "_CANDIDATES", 16)
    monkeypatch.setattr(search, "_QUERIES", 3)
    random = np.random.default_rng(0)
    candidates = random.normal(size=(101, 12)).astype(np.float32)
    candidates[50:60] = candidates[:10]  # equals, in other blocks
    queries = np.concatenate([candidates[::13], random.normal(size=(2, 12)).astype(np.float32)])
    np.save(tmp_path / "x.npy", candidates)
    rows, cosines = nearest(queries, np.load(tmp_path / "x.npy", mmap_mode="r"), k)
    every = compare(queries, candidates)
    assert rows.tolist() == np.argsort(-every, axis=1, kind="stable")[:, :k].tolist()
    np.testing.assert_allclose(cosines, np.take_along_axis(every, rows, 1), atol=1e-6)


def test_no_more_than_a_block_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_CANDIDATES", 10)
    copied = []
    plain = search._unit
    monkeypatch.setattr(search, "_unit", lambda vectors, first: copied.append(len(vectors)) or plain(vectors, first))
    nearest(np.ones((1, 4)), np.ones((95, 4)), k=3)
    assert (max(copied), sum(copied)) == (10, 96)


def test_several_files_are_ranked_as_each_by_itself() -> None:
    random = np.random.default_rng(5)
    table = table_of(random.normal(size=(90, 8)).tolist(), random.integers(0, 9, 90).tolist())
    beside = [random.normal(size=(count, 8)) for count in (4, 1, 7)]
    files = [(each[:3], each) for each in beside]  # of the last not all are asked for
    for ranked, (queries, others) in zip(rerank(files, table, k=20), files, strict=True):
        ((rows, cosines),) = rerank([(queries, others)], table, k=20)
        np.testing.assert_array_equal(ranked[0], rows)
        np.testing.assert_allclose(ranked[1], cosines, atol=1e-6)


# -- refused ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("queries", "candidates", "k", "complaint"),
    [
        (np.ones((1, 3)), np.ones((2, 4)), 1, r"\(1, 3\) and \(2, 4\)"),
        (np.ones(3), np.ones((2, 3)), 1, r"\(3,\)"),
        (np.ones((1, 3)), np.ones((2, 3)), 0, "k is 0"),
        (np.ones((1, 2)), np.array([[1, 1], [0, np.nan]]), 1, "vector 1 has values that are not finite"),
        (np.array([[np.inf, 1]]), np.ones((1, 2)), 1, "vector 0 has"),
    ],
)
def test_what_does_not_compare_is_refused(queries: np.ndarray, candidates: np.ndarray, k: int, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        nearest(queries, candidates, k)


# -- an index of files -----------------------------------------------------------------------------------
def test_index_of_a_folder_and_a_file(encoder: Encoder) -> None:
    paths = [CLANG / "O2" / "numeric.ll", *sorted((CLANG / "Oz").glob("*.ll"))]
    table = index(encoder, [paths[0], CLANG / "Oz"], level="function")
    singles = [encoder.embed_parts(path, level="function") for path in paths]
    assert table.names == [name for single in singles for name in single.names]
    assert table.files == [str(path) for path, single in zip(paths, singles, strict=True) for _ in single.names]
    assert_same_vectors(table.vectors, np.concatenate([single.vector for single in singles]))
    assert (table.maker.model, table.maker.model_digest) == ("random", encoder.digest_in("O2"))
    assert (table.level, table.maker.part, len(table)) == ("function", "both", len(table.names))


def test_a_bad_file_is_told_or_raised(encoder: Encoder, tmp_path: Path) -> None:
    with pytest.raises(IRFileError, match="folder without IR files"):
        index(encoder, tmp_path)
    (tmp_path / "a.ll").write_text("no IR at all", encoding="utf-8")
    (tmp_path / "b.ll").write_text("define void @f() {\n  ret void\n}\n", encoding="utf-8")
    with pytest.raises(MirencError, match=r"a\.ll"):
        index(encoder, tmp_path)
    failed: list[MirencError] = []
    table = index(encoder, tmp_path, failed=failed.append)
    assert table.files == table.names == [str(tmp_path / "b.ll")]
    assert len(failed) == 1


def test_files_without_a_function_body_are_left_out_with_one_warning(encoder: Encoder, tmp_path: Path) -> None:
    (tmp_path / "code.ll").write_text("define i32 @f() {\n  ret i32 1\n}\n")
    for name in ("data.ll", "table.ll"):
        (tmp_path / name).write_text("@table = constant [2 x i32] [i32 1, i32 2]\n")
    with pytest.warns(UnreadableIRWarning, match="^2 of 3 files have no function body and are left out$") as caught:
        table = index(encoder, tmp_path, level="function")
    assert (len(caught), caught[0].filename) == (1, __file__)
    assert table.files == [str(tmp_path / "code.ll")]
    failures: list[MirencError] = []
    assert len(index(encoder, tmp_path, failed=failures.append)) == 1
    assert [type(error) for error in failures] == [NoFunctionBodyError] * 2
    (tmp_path / "code.ll").unlink()
    with pytest.raises(NoFunctionBodyError, match="none of 2 files has a function body"):
        index(encoder, tmp_path)


def test_an_index_of_functions_by_the_default_model_says_which_is_better(tmp_path: Path) -> None:
    (tmp_path / "code.ll").write_text("define i32 @f() {\n  ret i32 1\n}\n")
    fast, best = (mirenc.load(name, cache=False) for name in (None, "mirenc-search"))
    with pytest.warns(
        SearchModelWarning, match=r"^mirenc-search was trained .* than mirenc-fast. .* mirenc\.load\('mirenc-search'\)$"
    ) as caught:
        assert index(fast, tmp_path, level="function").maker.model == "mirenc-fast"
    assert (len(caught), caught[0].filename) == (1, __file__)
    index(fast, tmp_path)  # of modules it is the best; a warning would fail this test
    index(best, tmp_path, level="function")
    # Features are the default model's, so there is nothing to warn of.
    table = index(fast, tmp_path, level="function", purpose="features")
    assert (table.maker.purpose, table.maker.form) == ("features", "plain")
    np.testing.assert_array_equal(table.vectors, fast.embed(tmp_path, level="function", purpose="features"))
