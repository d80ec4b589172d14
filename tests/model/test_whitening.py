"""The whitening map against hand-worked cases."""

import numpy as np
import pytest

from mirenc.model.whitening import fit_whitening, mixed_whitening, moments_of


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


def test_directions_that_vary_within_pairs_are_scaled_down() -> None:
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


# -- several domains -----------------------------------------------------------------------------------
def drawn(scales: list[float], seed: int, *, mean: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(20000, len(scales))) * scales + mean


def spread_of(whitening: tuple[np.ndarray, np.ndarray], vectors: np.ndarray) -> np.ndarray:
    mean, matrix = whitening
    return ((vectors - mean) @ matrix).std(0)


def test_domains_count_by_weight_whatever_their_scale() -> None:
    # Direction 0 varies in the one domain, 1 in the other, which is a hundred times as large.
    one, other = (moments_of(drawn(scales, seed)) for seed, scales in enumerate(([3, 1, 1], [100, 300, 100])))
    equal = np.diag(mixed_whitening([(one, 1.0), (other, 1.0)])[1])
    assert equal[0] == pytest.approx(equal[1], rel=0.03)
    # By hand: traces 11 and 11, so S = diag((9 + 1) / 2, (1 + 9) / 2, 1), and scales go with 1 / sqrt.
    assert equal[2] / equal[0] == pytest.approx(np.sqrt(5), rel=0.03)
    uneven = np.diag(mixed_whitening([(one, 3.0), (other, 1.0)])[1])
    assert uneven[1] / uneven[0] == pytest.approx(np.sqrt(7 / 3), rel=0.03)
    np.testing.assert_allclose(
        mixed_whitening([(one, 6.0), (other, 2.0)])[1], mixed_whitening([(one, 3.0), (other, 1.0)])[1]
    )


def test_between_scales_down_the_directions_between_domains() -> None:
    left, right = drawn([1, 1], 0), drawn([1, 1], 1)
    left[:, 0] -= 5
    right[:, 0] += 5
    domains = [(moments_of(each), 1.0) for each in (left, right)]
    mean, plain = mixed_whitening(domains)
    np.testing.assert_allclose(mean, 0, atol=0.05)
    assert plain[0, 0] == pytest.approx(plain[1, 1], rel=0.03)
    _, parted = mixed_whitening(domains, between=1.0)
    # B = diag(25, 0), of trace 2 as the rest has: S = diag(1 + 2, 1).
    assert parted[1, 1] / parted[0, 0] == pytest.approx(np.sqrt(3), rel=0.03)


def test_a_domain_with_pairs_and_one_without() -> None:
    rng = np.random.default_rng(5)
    programs = drawn([1, 1, 1], 2)
    level = rng.normal(size=programs.shape) * [3, 0.1, 0.1]
    paired = moments_of(np.concatenate([programs, programs + level]), np.arange(40000).reshape(2, 20000).T)
    alone = moments_of(drawn([1, 3, 1], 3))
    spread = spread_of(mixed_whitening([(paired, 1.0), (alone, 1.0)]), programs)
    # The one scales down what a level changes (0), the other what its programs differ in most (1).
    assert spread[0] < 0.5 * spread[2]
    assert spread[1] < 0.6 * spread[2]


def test_a_domain_of_equal_vectors_says_nothing() -> None:
    vectors = drawn([1, 2, 3], 0)
    whitening = mixed_whitening([(moments_of(np.full((5, 3), 2.0)), 1.0), (moments_of(vectors), 1.0)])
    np.testing.assert_allclose(whitening[1], fit_whitening(vectors)[1], rtol=1e-5)
