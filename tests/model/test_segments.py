"""Weighted sums of segments: numpy's way and scipy's are one."""

import numpy as np
import pytest

from mirenc.model import segments
from mirenc.model.segments import segment_sum


def test_worked_by_hand() -> None:
    x = np.array([[1, 2], [10, 20], [100, 200]], dtype=np.float32)
    weight = np.array([1, 2, 3], dtype=np.float32)
    found = segment_sum(weight, np.array([0, 2, 1]), np.array([0, 0, 2, 3, 3]), x)
    assert found.dtype == np.float32
    assert found.tolist() == [[0, 0], [201, 402], [30, 60], [0, 0]]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_few_rows_and_many_are_summed_to_the_same_numbers(
    kind: type[np.floating], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=(50, 6)).astype(kind), rng.normal(size=400).astype(kind)
    column, start = rng.integers(0, 50, 400), np.sort(np.append(rng.integers(0, 401, 39), [0, 400]))
    monkeypatch.setattr(segments, "_FEW", 1 << 60)
    few = segment_sum(weight, column, start, x)
    monkeypatch.setattr(segments, "_FEW", 0)
    many = segment_sum(weight, column, start, x)
    np.testing.assert_array_equal(few, many)
    assert np.abs(few).max() > 1


def test_no_rows() -> None:
    none = np.zeros(0)
    assert segment_sum(none, none.astype(int), np.zeros(4, int), np.zeros((0, 5))).tolist() == [[0.0] * 5] * 3
