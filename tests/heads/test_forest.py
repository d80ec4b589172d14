"""`Forest`: a walk by hand, trees joined, and arrays that no walk may leave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mirenc.errors import HeadError
from mirenc.heads.forest import Forest, Tree

LEAF = -1


def stump(column: int, cut: float, low: float, high: float) -> Tree:
    """Low where the column is at most the cut."""
    return Tree(
        left=np.array([1, 0, 0]),
        right=np.array([2, 0, 0]),
        column=np.array([column, LEAF, LEAF]),
        cut=np.array([cut, 0.0, 0.0]),
        value=np.array([[0.0], [low], [high]]),
    )


DEEP = Tree(  # x0 <= 0: 1; else x1 <= 5: 2; else 3
    left=np.array([1, 0, 3, 0, 0]),
    right=np.array([2, 0, 4, 0, 0]),
    column=np.array([0, LEAF, 1, LEAF, LEAF]),
    cut=np.array([0.0, 0.0, 5.0, 0.0, 0.0]),
    value=np.array([[0.0], [1.0], [0.0], [2.0], [3.0]]),
)
LONE = Tree(*(np.array([number]) for number in (0, 0, LEAF, 0.0)), value=np.array([[7.0]]))


def forest() -> Forest:
    return Forest.join([DEEP, LONE, stump(1, 2.5, -1.0, -2.0)])


def test_rows_fall_into_leaves() -> None:
    rows = np.array([[0.0, 9.0], [0.1, 5.0], [0.1, 5.1], [-3.0, 2.5]])
    found = forest().leaves(rows)
    assert found.shape == (4, 3, 1)
    assert found[:, :, 0].tolist() == [[1, 7, -2], [2, 7, -2], [3, 7, -2], [1, 7, -1]]


def test_no_rows_have_no_leaves() -> None:
    assert forest().leaves(np.zeros((0, 2))).shape == (0, 3, 1)


def test_saved_arrays_are_the_forest() -> None:
    again = Forest.from_arrays(forest().arrays(), columns=2)
    rows = np.random.default_rng(0).normal(scale=4, size=(50, 2))
    np.testing.assert_array_equal(again.leaves(rows), forest().leaves(rows))
    assert {name: array.dtype.str for name, array in again.arrays().items()} == {
        "root_": "<i4",
        "left_": "<i4",
        "right_": "<i4",
        "column_": "<i4",
        "cut_": "<f8",
        "value_": "<f8",
    }


def test_an_infinite_cut_sends_every_number_left() -> None:
    tree = Forest.join([stump(0, np.inf, 1.0, 2.0)])
    again = Forest.from_arrays(tree.arrays(), columns=1)
    assert again.leaves(np.array([[1e308], [-1.0]]))[:, 0, 0].tolist() == [1.0, 1.0]


def put(place: int, value: float) -> Any:
    def change(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array[place] = value
        return array

    return change


def cut(array: np.ndarray) -> np.ndarray:
    return array[:-1]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("left_", cut),
        ("right_", cut),
        ("column_", cut),
        ("cut_", cut),
        ("value_", cut),
        ("root_", lambda array: array[:0]),
        ("value_", lambda array: array[:, 0]),
        ("value_", put(3, np.nan)),
        ("value_", put(3, np.inf)),
        ("cut_", put(0, np.nan)),
        ("root_", put(1, 9)),
        ("root_", put(1, -1)),
        ("column_", put(0, 2)),  # two columns only
        ("left_", put(0, 9)),
        ("right_", put(2, 2)),  # a circle
        ("left_", put(2, 0)),  # back to the start
        ("left_", put(2, -1)),
    ],
)
def test_damaged_arrays_are_refused(name: str, change: Any) -> None:
    arrays = forest().arrays()
    with pytest.raises(HeadError, match=r"do not belong together\. Save the head again"):
        Forest.from_arrays(arrays | {name: change(arrays[name])}, columns=2)


def test_a_forest_of_nothing_is_refused() -> None:
    arrays = {name: array[:0] for name, array in forest().arrays().items()}
    with pytest.raises(HeadError, match="do not belong together"):
        Forest.from_arrays(arrays, columns=2)
