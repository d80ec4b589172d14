"""`Forest`: a walk by hand, trees joined, and arrays that no walk may leave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

from mirenc.base.errors import HeadError
from mirenc.decide.estimators.trees import Forest, Tree, extra_tree

LEAF = -1


def stump(column: int, cut: float, low: float, high: float) -> Tree:
    """Low where the column is at most the cut."""
    return Tree(
        column=np.array([column, LEAF, LEAF]),
        cut=np.array([cut, 0.0, 0.0]),
        value=np.array([[0.0], [low], [high]]),
    )


DEEP = Tree(  # x0 <= 0: 1; else x1 <= 5: 2; else 3
    column=np.array([0, LEAF, 1, LEAF, LEAF]),
    cut=np.array([0.0, 0.0, 5.0, 0.0, 0.0]),
    value=np.array([[0.0], [1.0], [0.0], [2.0], [3.0]]),
)
LEFT = Tree(  # x0 <= 0: (x1 <= 5: 4; else (x1 <= 6: 5; else 6)); else 7
    column=np.array([0, 1, LEAF, 1, LEAF, LEAF, LEAF]),
    cut=np.array([0.0, 5.0, 0.0, 6.0, 0.0, 0.0, 0.0]),
    value=np.array([[0.0], [0.0], [4.0], [0.0], [5.0], [6.0], [7.0]]),
)
LONE = Tree(np.array([LEAF]), np.array([0.0]), np.array([[7.0]]))


def forest() -> Forest:
    return Forest.join([DEEP, LONE, stump(1, 2.5, -1.0, -2.0)])


def test_rows_fall_into_leaves() -> None:
    rows = np.array([[0.0, 9.0], [0.1, 5.0], [0.1, 5.1], [-3.0, 2.5]])
    leaves = forest().leaves(rows)
    assert leaves.shape == (4, 3, 1)
    assert leaves[:, :, 0].tolist() == [[1, 7, -2], [2, 7, -2], [3, 7, -2], [1, 7, -1]]


def test_a_left_side_of_several_nodes_is_passed_by() -> None:
    rows = np.array([[0.0, 5.0], [0.0, 5.5], [0.0, 6.5], [1.0, 5.0]])
    leaves = Forest.join([LEFT, DEEP, LEFT]).leaves(rows)
    assert leaves[:, :, 0].tolist() == [[4, 1, 4], [5, 1, 5], [6, 1, 6], [7, 2, 7]]


def test_walks_end_where_those_of_scikit_learn_end() -> None:
    rng = np.random.default_rng(0)
    rows, target = rng.normal(size=(300, 4)), rng.normal(size=(300, 2))
    grown = ExtraTreesRegressor(7, random_state=0).fit(rows, target)
    unseen = rng.normal(size=(200, 4)).astype(np.float32)
    leaves = Forest.join([extra_tree(one.tree_) for one in grown.estimators_]).leaves(unseen)
    for number, one in enumerate(grown.estimators_):
        np.testing.assert_array_equal(leaves[:, number], one.predict(unseen))


def test_a_cut_in_single_precision_parts_the_same_single_numbers() -> None:
    class Grown:
        feature = np.array([0, LEAF, LEAF])
        threshold = np.array([0.1, -2.0, -2.0])  # lies between two single numbers, and rounds up
        value = np.array([[[0.0]], [[1.0]], [[2.0]]])

    tree = extra_tree(Grown())
    assert tree.cut.dtype == np.float32
    above = np.float32(0.1)
    rows = np.array([[np.nextafter(above, np.float32(0))], [above]])
    assert Forest.join([tree]).leaves(rows)[:, 0, 0].tolist() == [1.0, 2.0]


def test_no_rows_have_no_leaves() -> None:
    assert forest().leaves(np.zeros((0, 2))).shape == (0, 3, 1)


def test_saved_arrays_are_the_forest() -> None:
    again = Forest._from_state(forest()._state())
    rows = np.random.default_rng(0).normal(scale=4, size=(50, 2))
    np.testing.assert_array_equal(again.leaves(rows), forest().leaves(rows))
    # A cut for each of 3 inner nodes, and for each of 6 leaves the number of its value.
    arrays = again._state()
    assert {name: (array.dtype.str, array.shape) for name, array in arrays.items()} == {
        "column": ("<i4", (9,)),
        "cut": ("<f8", (3,)),
        "value_": ("|u1", (6, 1)),
        "levels": ("<f8", (6, 1)),
    }
    assert arrays["levels"].ravel().tolist() == [-2, -1, 1, 2, 3, 7]


def test_values_of_many_kinds_are_kept_as_they_are() -> None:
    stumps = [stump(0, 0.0, low, -low) for low in np.linspace(1, 2, 129)]
    arrays = Forest.join(stumps)._state()
    assert arrays["value_"].dtype == np.float64
    rows = np.array([[-1.0], [1.0]])
    np.testing.assert_array_equal(
        Forest._from_state(arrays).leaves(rows)[:, :, 0], [np.linspace(1, 2, 129), -np.linspace(1, 2, 129)]
    )


def test_columns_of_values_have_levels_of_their_own() -> None:
    # 129 different numbers twice are too many for a byte together, and few enough apart.
    value = np.stack([np.arange(129.0), np.arange(129.0) + 1000], axis=1)
    arrays = Forest.join([Tree(np.array([LEAF]), np.zeros(1), one[None]) for one in value])._state()
    assert arrays["value_"].dtype == np.uint8
    np.testing.assert_array_equal(Forest._from_state(arrays).leaves(np.zeros((1, 1)))[0], value)


def test_an_infinite_cut_sends_every_number_left() -> None:
    tree = Forest.join([stump(0, np.inf, 1.0, 2.0)])
    again = Forest._from_state(tree._state())
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
        ("column", cut),
        ("cut", cut),
        ("value_", cut),
        ("column", lambda array: array[:, None]),
        ("cut", lambda array: array[:, None]),
        ("column", put(-1, 0)),  # a node without children
        ("column", put(0, LEAF)),  # nodes that belong to no tree
    ],
)
def test_damaged_arrays_are_refused(name: str, change: Any) -> None:
    arrays = forest()._state()
    with pytest.raises(HeadError, match=r"do not belong together\. Save the head again"):
        Forest._from_state(arrays | {name: change(arrays[name])})


def test_a_forest_of_nothing_is_refused() -> None:
    arrays = {name: array[:0] for name, array in forest()._state().items()}
    with pytest.raises(HeadError, match="do not belong together"):
        Forest._from_state(arrays)
