"""`Reach`: distances by hand, near and far, and what all pairs give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mirenc.base.errors import HeadError
from mirenc.decide.reach import Reach

RNG = np.random.default_rng(0)


def direct(kernels: np.ndarray, group: np.ndarray) -> float:
    """The reach by every pair of rows."""
    nearest = [
        min(np.linalg.norm(kernels[a] - kernels[b]) for b in range(len(kernels)) if group[a] != group[b])
        for a in range(len(kernels))
    ]
    return float(np.percentile(nearest, 95))


def test_the_reach_is_what_all_pairs_give() -> None:
    code = RNG.normal(size=(60, 5)).astype(np.float32)
    group = np.array([f"g{number % 17}" for number in range(60)])
    matrix = np.concatenate([RNG.normal(size=(60, 2)), code], axis=1)
    reach = Reach.of(matrix, 2, group)
    assert reach.code_reach == pytest.approx(direct(code.astype(np.float64), group), rel=1e-6)
    np.testing.assert_array_equal(reach.kernels, np.unique(code, axis=0))
    np.testing.assert_array_equal(reach.low, matrix[:, :2].min(axis=0))
    np.testing.assert_array_equal(reach.high, matrix[:, :2].max(axis=0))


def line() -> Reach:
    """Kernels of five groups at 0, 1, 3, 6 and 10; a context feature from 2 to 4."""
    code = np.array([0.0, 1.0, 3.0, 6.0, 10.0])
    context = np.array([2.0, 4.0, 3.0, 3.0, 3.0])
    return Reach.of(np.stack([context, code], axis=1), 1, np.array(list("abcde")))


def ask(head: Reach, context: float, code: float) -> float:
    return head.distance(np.array([context]), np.array([code], dtype=np.float32))


def test_distances_by_hand() -> None:
    # Nearest of another group: 1, 1, 2, 3, 4; 95 of 100 are at most 3.8.
    assert line().code_reach == pytest.approx(3.8)
    assert ask(line(), 3.0, 0.0) == 0.0
    assert ask(line(), 3.0, 12.0) == pytest.approx(2 / 3.8)
    assert ask(line(), 3.0, -7.6) == pytest.approx(2.0)
    # A context feature has room for half of its range, 1 on either side.
    assert ask(line(), 4.5, 0.0) == pytest.approx(0.5)
    assert ask(line(), 0.0, 0.0) == pytest.approx(2.0)
    # The farther of the two is what is said.
    assert ask(line(), 4.5, 12.0) == pytest.approx(2 / 3.8)
    assert ask(line(), 5.0, 12.0) == pytest.approx(1.0)


@pytest.mark.parametrize("far", [1e30, -1e30, 1e6])
def test_very_distant_questions_are_far(far: float) -> None:
    assert 1 < ask(line(), 3.0, far) < np.inf
    assert 1 < ask(line(), far, 0.0) < np.inf


def test_rows_of_one_group_are_no_neighbours() -> None:
    # Four copies of one kernel, slightly moved, say nothing about how far kernels are apart.
    code = np.array([[0.0], [0.1], [0.2], [0.3], [8.0]])
    reach = Reach.of(code, 0, np.array(list("aaaab")))
    assert reach.code_reach == pytest.approx(direct(code, np.array(list("aaaab"))))
    assert reach.code_reach > 7


def test_samples_of_the_same_code_are_one_kernel() -> None:
    code = np.repeat([[0.0], [1.0], [3.0]], 50, axis=0)
    reach = Reach.of(code, 0, np.repeat(list("abc"), 50))
    assert reach.kernels.tolist() == [[0.0], [1.0], [3.0]]
    assert reach.low.shape == (0,)
    assert reach.distance(np.zeros(0), np.array([3.0], dtype=np.float32)) == 0.0


def test_one_group_alone_has_some_reach() -> None:
    reach = Reach.of(np.array([[1.0, 0.0], [1.0, 2.0]]), 1, np.array(["a", "a"]))
    assert reach.code_reach == 1.0
    # A context feature that never varied: anything else is far.
    assert ask(reach, 1.0, 0.0) == 0.0
    assert ask(reach, 1.1, 0.0) > 1


def test_saved_arrays_give_the_same_distances() -> None:
    again = Reach.from_arrays(line().arrays(), line().code_reach, columns=2, where="head")
    for context, code in ((3.0, 1.0), (9.0, 1.0), (3.0, -20.0)):
        assert ask(again, context, code) == ask(line(), context, code)


@pytest.mark.parametrize(
    ("change", "reach_", "columns", "word"),
    [
        ({"kernels": np.zeros((0, 1))}, 1.0, 2, "is damaged"),
        ({"kernels": np.zeros(5)}, 1.0, 2, "is damaged"),
        ({"low": np.zeros(2)}, 1.0, 2, "is damaged"),
        ({"low": np.zeros((1, 1)), "high": np.zeros((1, 1))}, 1.0, 2, "is damaged"),
        ({}, 1.0, 3, "is damaged"),
        ({}, 0.0, 2, "is damaged"),
        ({}, -1.0, 2, "is damaged"),
        ({}, np.nan, 2, "is damaged"),
        ({}, np.inf, 2, "is damaged"),
        ({"step": np.ones(2), "start": np.zeros(1)}, 1.0, 2, "is damaged"),
    ],
)
def test_damaged_arrays_are_refused(change: Any, reach_: float, columns: int, word: str) -> None:
    with pytest.raises(HeadError, match=f"head: .*{word}.*Train the head anew"):
        Reach.from_arrays(line().arrays() | change, reach_, columns=columns, where="head")


@pytest.mark.parametrize("name", ["kernels", "low", "high"])
def test_a_missing_array_is_refused(name: str) -> None:
    arrays = line().arrays()
    del arrays[name]
    with pytest.raises(HeadError, match="is damaged"):
        Reach.from_arrays(arrays, 1.0, columns=2, where="head")


def test_of_many_kernels_a_sample_is_remembered() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(3000, 4))
    reach = Reach.of(matrix, 1, np.array([f"k{row}" for row in range(3000)]))
    assert reach.kernels.shape == (512, 3)
    # What is far still follows from training: most of the rows are not, the forgotten ones included.
    distances = [reach.distance(np.zeros(1), row.astype(np.float32)) for row in matrix[:500, 1:]]
    assert 0.9 < np.mean(np.array(distances) <= 1) < 1


def test_many_columns_are_remembered_of_fewer_kernels() -> None:
    matrix = np.random.default_rng(0).normal(size=(400, 2048))
    assert Reach.of(matrix, 0, np.arange(400).astype(str)).kernels.shape == (256, 2048)


@pytest.mark.parametrize("scale", [1.0, 1e5])
def test_many_numbers_are_remembered_in_steps_of_their_column(scale: float) -> None:
    rng = np.random.default_rng(0)
    # Columns of very different size: the small ones are as exact for their size.
    code = (rng.normal(size=(100, 200)) * np.where(np.arange(200) < 100, scale, 1e-3)).astype(np.float32)
    code[:, 7] = 5.0  # never another
    reach = Reach.of(code.astype(np.float64), 0, np.arange(100).astype(str))
    assert reach.kernels.dtype == np.uint8
    again = Reach.from_arrays(reach.arrays(), reach.code_reach, columns=200, where="head")
    restored = again.start + again.step * again.kernels
    error = np.abs(restored - np.unique(code, axis=0))
    assert (error <= 0.5001 * (code.max(axis=0) - code.min(axis=0)) / 255 + 1e-30).all()
    # Half a step of each column is a hundredth of the distance between two kernels.
    near = [reach.distance(np.zeros(0), row) for row in code]
    assert max(near) < 0.02


def test_kernels_of_an_older_release_are_read() -> None:
    kernels = np.array([[0.0, 1.0], [4.0, 2.0]], dtype=np.float16)
    old = Reach.from_arrays({"kernels": kernels, "low": np.zeros(0), "high": np.zeros(0)}, 2.0, columns=2, where="head")
    assert old.distance(np.zeros(0), np.array([4.0, 5.0], dtype=np.float32)) == pytest.approx(1.5)
