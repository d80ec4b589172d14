"""`CodeReducer`: scikit-learn's principal components of the code columns, and context columns as they are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from mirenc.errors import HeadError
from mirenc.heads.reduce import CodeReducer

FEATURES = np.random.default_rng(0).normal(size=(30, 12)) * np.arange(1, 13) + 7


def test_components_are_those_of_scikit_learn() -> None:
    reducer = CodeReducer(2, 4).fit(FEATURES)
    asked = FEATURES[::-1] * 2
    found = reducer(asked)
    assert found.shape == (30, reducer.columns) == (30, 6)
    np.testing.assert_array_equal(found[:, :2], asked[:, :2])
    np.testing.assert_allclose(found[:, 2:], PCA(4).fit(FEATURES[:, 2:]).transform(asked[:, 2:]), atol=1e-9)


@pytest.mark.parametrize("components", [10, 11, 500])
def test_few_columns_stay_as_they_are(components: int) -> None:
    reducer = CodeReducer(2, components).fit(FEATURES)
    assert reducer.columns == 12
    np.testing.assert_array_equal(reducer(-FEATURES), -FEATURES)


def test_fewer_rows_than_components_are_enough() -> None:
    reducer = CodeReducer(2, 8).fit(FEATURES[:3])
    assert reducer.columns == 2 + 3
    assert reducer(FEATURES).shape == (30, 5)


def test_one_row_is_at_the_origin_of_its_axis() -> None:
    reducer = CodeReducer(2, 8).fit(FEATURES[:1])
    np.testing.assert_array_equal(reducer(FEATURES[:1])[:, 2:], [[0]])
    assert np.isfinite(reducer(FEATURES)).all()


def test_without_code_nothing_is_reduced() -> None:
    reducer = CodeReducer(12, 4).fit(FEATURES)
    np.testing.assert_array_equal(reducer(FEATURES), FEATURES)


@pytest.mark.parametrize("components", [4, 500])
def test_saved_arrays_reduce_alike(components: int) -> None:
    reducer = CodeReducer(2, components).fit(FEATURES)
    again = CodeReducer.from_arrays(2, components, reducer.arrays(), columns=12)
    np.testing.assert_array_equal(again(FEATURES), reducer(FEATURES))
    assert again.columns == reducer.columns


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("center_", lambda array: array[:-1]),
        ("center_", lambda array: array[:, None]),
        ("axes_", lambda array: array[:-1]),
        ("axes_", lambda array: array[0]),
    ],
)
def test_damaged_arrays_are_refused(name: str, change: object) -> None:
    arrays = CodeReducer(2, 4).fit(FEATURES).arrays()
    with pytest.raises(HeadError, match=r"do not fit its columns\. Save the head again"):
        CodeReducer.from_arrays(2, 4, arrays | {name: change(arrays[name])}, columns=12)  # type: ignore[operator]
    with pytest.raises(HeadError, match="do not fit its columns"):
        CodeReducer.from_arrays(2, 4, arrays, columns=13)
