"""Weights of texts and nodes, and the whitening map, against hand-worked cases."""

from __future__ import annotations

import numpy as np
import pytest

from mirenc.model import pooling
from mirenc.model.pooling import fit_whitening, item_weights, make_pool, text_pool


def test_a_text_weighs_its_count_or_its_root() -> None:
    row, group, count = np.array([4, 7]), np.array([0, 0]), np.array([9, 1])
    assert item_weights(row, group, "count", count).tolist() == pytest.approx([0.9, 0.1])
    assert item_weights(row, group, "sqrt", count).tolist() == pytest.approx([0.75, 0.25])


@pytest.mark.parametrize("weighting", ["count", "sqrt"])
def test_items_weigh_what_their_texts_do(weighting: str) -> None:
    rng = np.random.default_rng(0)
    key, group = rng.integers(0, 5, 200), rng.integers(0, 3, 200)
    weights = item_weights(key, group, weighting)
    pool = text_pool(key, group, 3, weighting)
    for text, number, weight in zip(pool.item, pool.group, pool.weight, strict=True):
        assert weights[(group == number) & (key == text)].sum() == pytest.approx(weight)
    for number in range(3):
        texts, counts = np.unique(key[group == number], return_counts=True)
        expected = np.sqrt(counts) if weighting == "sqrt" else counts
        assert pool.item[pool.group == number].tolist() == texts.tolist()
        assert pool.weight[pool.group == number] == pytest.approx(expected / expected.sum())


def test_means_of_groups_that_share_an_item_and_of_an_empty_one() -> None:
    pool = make_pool(np.array([0, 1, 2, 2]), np.array([0, 0, 0, 2]), 3, "count")
    vectors = np.array([[1, 0], [2, 0], [6, 3]], dtype=np.float32)
    assert pool.mean(vectors).tolist() == [[3, 1], [0, 0], [6, 3]]
    assert pool.mean(vectors).dtype == np.float32


def test_mean_maximum_and_sum_worked_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = make_pool(np.array([0, 1, 2, 2, 3]), np.array([0, 0, 0, 2, 0]), 3, "count", count=np.array([2, 1, 1, 1, 4]))
    vectors = np.array([[1, -1], [2, -4], [6, 3], [-1, -2]], dtype=np.float32)
    expected = [
        # Weights 2, 1, 1 and 4 of 8; maximum and sum take each of the four nodes once.
        [0.75, -1.375, 6, 3, np.log(1 + 9), np.log(1 + 3)],
        [0, 0, 0, 0, 0, 0],
        [6, 3, 6, 3, np.log(1 + 6), np.log(1 + 3)],
    ]
    for size in (8192, 2, 1):  # as large as a group, and smaller
        monkeypatch.setattr(pooling, "_SLICE", size)
        found = pool.mean_max_sum(vectors)
        assert found.dtype == np.float32
        assert found == pytest.approx(np.array(expected), abs=1e-6)


def test_the_largest_of_negative_numbers_is_negative() -> None:
    pool = make_pool(np.array([0, 1]), np.array([0, 0]), 1, "count")
    found = pool.mean_max_sum(np.array([[-3.0], [-2.0]], dtype=np.float32))
    assert found.tolist() == [[-2.5, -2.0, 0.0]]


def test_whitening_takes_mean_and_covariance_away() -> None:
    rng = np.random.default_rng(1)
    mix = np.eye(6) + 0.2 * rng.normal(size=(6, 6))
    vectors = rng.normal(size=(4000, 6)) @ mix + 3
    mean, matrix = fit_whitening(vectors)
    white = (vectors - mean) @ matrix
    assert np.abs(white.mean(0)).max() < 1e-4
    # The floor takes a thousandth at most from the smallest direction here.
    assert np.cov(white, rowvar=False) == pytest.approx(np.eye(6), abs=0.005)
    # Symmetric: no other map that whitens moves the components less.
    assert matrix == pytest.approx(matrix.T, abs=1e-5)


def test_a_direction_without_variance_stays_finite() -> None:
    vectors = np.random.default_rng(2).normal(size=(50, 4))
    vectors[:, 3] = 2.0
    mean, matrix = fit_whitening(vectors)
    assert np.isfinite(matrix).all()
    assert np.abs(((vectors - mean) @ matrix)[:, 3]).max() < 1e-3


@pytest.mark.parametrize("count", [1, 3])
def test_vectors_that_do_not_differ_fix_no_whitening(count: int) -> None:
    mean, matrix = fit_whitening(np.full((count, 4), 0.3, np.float32))
    np.testing.assert_array_equal(mean, np.zeros(4))
    np.testing.assert_array_equal(matrix, np.eye(4))


def test_pairs_scale_down_what_changes_within_them() -> None:
    """Directions: 0 tells programs apart, 1 tells levels apart, 2 does both alike; what a cosine sees must be 0's."""
    rng = np.random.default_rng(3)
    programs = rng.normal(size=(2000, 3)) * [1.0, 0.05, 1.0]
    level = np.stack([rng.normal(size=(2000, 3)), rng.normal(size=(2000, 3))]) * [0.05, 1.0, 1.0]
    vectors = np.concatenate([programs + level[0], programs + level[1]])
    pairs = np.arange(4000).reshape(2, 2000).T
    mean, matrix = fit_whitening(vectors, pairs)
    spread = ((vectors - mean) @ matrix).std(0)
    # Standard deviation over that within a program, up to one factor: sqrt(1.0025 / 0.0025) = 20, 1.00 and 1.41,
    # shrunk by a hundredth of the whole covariance: 8.9, 0.996, 1.40.
    assert spread / spread[2] == pytest.approx([8.95 / 1.40, 0.996 / 1.40, 1.0], rel=0.05)
    assert (spread**2).sum() == pytest.approx(3.0, rel=1e-3)  # as much as whitened vectors have
    # Without pairs no direction is told from another.
    mean, matrix = fit_whitening(vectors)
    assert ((vectors - mean) @ matrix).std(0) == pytest.approx([1.0, 1.0, 1.0], abs=1e-3)


def test_a_few_pairs_change_a_few_directions() -> None:
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(500, 8))
    vectors[1] = vectors[0] + np.eye(8)[2]
    mean, matrix = fit_whitening(vectors, np.array([[0, 1]]))
    spread = ((vectors - mean) @ matrix).std(0)
    others = np.delete(spread, 2)
    assert spread[2] < 0.3 * others.min()
    assert others.max() < 1.3 * others.min()
