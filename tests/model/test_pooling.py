"""Weights of texts and nodes against hand-worked cases."""

import numpy as np
import pytest

from mirenc.model import pooling
from mirenc.model.pooling import make_pool, text_pool


def test_a_text_weighs_its_count_or_its_root() -> None:
    row, group, count = np.array([4, 7]), np.array([0, 0]), np.array([9, 1])
    assert make_pool(row, group, 1, "count", count=count).weight.tolist() == pytest.approx([0.9, 0.1])
    assert make_pool(row, group, 1, "sqrt", count=count).weight.tolist() == pytest.approx([0.75, 0.25])


@pytest.mark.parametrize("weighting", ["count", "sqrt"])
def test_nodes_of_one_text_and_kind_share_a_weight(weighting: str) -> None:
    rng = np.random.default_rng(0)
    key, group = rng.integers(0, 5, 200), rng.integers(0, 3, 200)
    weights = make_pool(np.arange(200), group, 3, weighting, key=key).weight
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
    assert pool.readout(vectors).tolist() == [[3, 1], [0, 0], [6, 3]]
    assert pool.readout(vectors).dtype == np.float32


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
        pooled = pool.readout(vectors, sizes=True)
        assert pooled.dtype == np.float32
        assert pooled == pytest.approx(np.array(expected), abs=1e-6)


def test_the_largest_of_negative_numbers_is_negative() -> None:
    pool = make_pool(np.array([0, 1]), np.array([0, 0]), 1, "count")
    pooled = pool.readout(np.array([[-3.0], [-2.0]], dtype=np.float32), sizes=True)
    assert pooled.tolist() == [[-2.5, -2.0, 0.0]]
