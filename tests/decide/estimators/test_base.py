"""`Reducing`: scikit-learn's principal components of the code columns, and context columns as they are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from mirenc.decide import LandmarkRegressor
from mirenc.decide.estimators.base import Reducing

FEATURES = np.random.default_rng(0).normal(size=(30, 12)) * np.arange(1, 13) + 7


def reducer(context: int, components: int, rows: np.ndarray = FEATURES) -> Reducing:
    head = LandmarkRegressor(context, components=components)
    head._find_components(rows)
    return head


def test_components_are_those_of_scikit_learn() -> None:
    head = reducer(2, 4)
    rows = FEATURES[::-1] * 2
    reduced = head._reduced(rows)
    assert reduced.shape == (30, 6)
    np.testing.assert_array_equal(reduced[:, :2], rows[:, :2])
    np.testing.assert_allclose(reduced[:, 2:], PCA(4).fit(FEATURES[:, 2:]).transform(rows[:, 2:]), atol=1e-9)


@pytest.mark.parametrize(("context", "components"), [(2, 10), (2, 11), (2, 500), (12, 4)])
def test_few_columns_stay_as_they_are(context: int, components: int) -> None:
    head = reducer(context, components)
    np.testing.assert_array_equal(head._reduced(-FEATURES), -FEATURES)


def test_fewer_rows_than_components_are_enough() -> None:
    head = reducer(2, 8, FEATURES[:3])
    assert head._reduced(FEATURES).shape == (30, 5)


def test_one_row_is_at_the_origin_of_its_axis() -> None:
    head = reducer(2, 8, FEATURES[:1])
    np.testing.assert_array_equal(head._reduced(FEATURES[:1])[:, 2:], [[0]])
    assert np.isfinite(head._reduced(FEATURES)).all()
