"""Weights of texts and nodes, and the whitening map, against hand-worked cases."""

from __future__ import annotations

import numpy as np
import pytest

from mirenc.model.pooling import fit_whitening, item_weights, text_weights


def test_text_weights() -> None:
    assert text_weights(np.array([9, 1]), "count").tolist() == pytest.approx([0.9, 0.1])
    assert text_weights(np.array([9, 1]), "sqrt").tolist() == pytest.approx([0.75, 0.25])


@pytest.mark.parametrize("weighting", ["count", "sqrt"])
def test_items_weigh_what_their_texts_do(weighting: str) -> None:
    rng = np.random.default_rng(0)
    key, group = rng.integers(0, 5, 200), rng.integers(-1, 3, 200)
    weights = item_weights(key, group, 4, weighting)
    assert (weights[group < 0] == 0).all()
    for number in range(3):
        texts, counts = np.unique(key[group == number], return_counts=True)
        sums = [weights[(group == number) & (key == text)].sum() for text in texts]
        assert sums == pytest.approx(text_weights(counts, weighting).tolist())
    assert item_weights(key, np.full(200, -1), 2, weighting).tolist() == [0.0] * 200


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
