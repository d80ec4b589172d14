"""Weighted sums of segments: numpy's way and scipy's are one."""

import numpy as np
import pytest

from mirenc.model import segments
from mirenc.model.segments import run_starts, segment_max, segment_sum


def test_worked_by_hand() -> None:
    x = np.array([[1, 2], [10, 20], [100, 200]], dtype=np.float32)
    weight = np.array([1, 2, 3], dtype=np.float32)
    sums = segment_sum(weight, np.array([0, 2, 1]), np.array([0, 0, 2, 3, 3]), x)
    assert sums.dtype == np.float32
    assert sums.tolist() == [[0, 0], [201, 402], [30, 60], [0, 0]]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_few_rows_and_many_are_summed_to_the_same_numbers(
    kind: type[np.floating], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=(50, 6)).astype(kind), rng.normal(size=400).astype(kind)
    column, start = rng.integers(0, 50, 400), np.sort(np.append(rng.integers(0, 401, 39), [0, 400]))
    monkeypatch.setattr(segments, "_SCIPY_THRESHOLD", 1 << 60)
    few = segment_sum(weight, column, start, x)
    monkeypatch.setattr(segments, "_SCIPY_THRESHOLD", 0)
    many = segment_sum(weight, column, start, x)
    np.testing.assert_array_equal(few, many)
    assert np.abs(few).max() > 1


def test_no_rows() -> None:
    none = np.zeros(0)
    assert segment_sum(none, none.astype(int), np.zeros(4, int), np.zeros((0, 5))).tolist() == [[0.0] * 5] * 3


@pytest.mark.parametrize("sizes", [[1, 2, 1, 3], [40, 9, 30], [1], [200]])
def test_the_largest_of_short_and_of_long_segments(sizes: list[int]) -> None:
    x = np.random.default_rng(0).normal(size=(sum(sizes), 3)).astype(np.float32)
    start = np.cumsum([0, *sizes[:-1]])
    expected = [x[first : first + size].max(0).tolist() for first, size in zip(start, sizes, strict=True)]
    assert segment_max(x, start).tolist() == expected


def test_runs_of_equal_values() -> None:
    assert run_starts(np.array([3, 3, 1, 1, 1, 2])).tolist() == [0, 2, 5]
    assert run_starts(np.zeros(0, dtype=int)).tolist() == []
