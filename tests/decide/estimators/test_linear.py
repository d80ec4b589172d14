"""Ridge and landmark heads: the numbers of scikit-learn's own ridge and kernel ridge regression."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from mirenc.decide import LandmarkLabels, LandmarkRegressor, RidgeHead, RidgeLabels, RidgeRegressor
from mirenc.decide.estimators import linear
from mirenc.decide.estimators.chooser import preferences, relative_log_costs

EACH = pytest.mark.parametrize(
    "head",
    [RidgeHead(0.3), RidgeRegressor(0.3), LandmarkRegressor(2, landmarks=30)],
    ids=lambda head: type(head).__name__,
)


def table(rows: int = 40, columns: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, D), and costs (n, 3) that depend on the first two columns."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(rows, columns)) * 10.0 ** np.arange(columns) + 5
    z = (features - features.mean(axis=0)) / features.std(axis=0)
    effect = np.stack([z[:, 0], -z[:, 0], z[:, 1]], axis=1)
    return features, np.exp(effect + rng.normal(size=(rows, 1)) + 0.1 * rng.normal(size=(rows, 3)))


def target_of(head: object, costs: np.ndarray) -> np.ndarray:
    return costs if isinstance(head, RidgeHead) else np.log(costs[:, 0])


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("rows", [40, 4])  # more rows than columns, and fewer
def test_ridge_predicts_as_scikit_learns(alpha: float, rows: int) -> None:
    features, costs = table(rows)
    target = np.log(costs[:, 0])
    scaler = StandardScaler().fit(features)
    # Its penalty is on the sum of squares, ours on their mean.
    other = Ridge(alpha * rows).fit(scaler.transform(features), target)
    unseen = features[::-1] * 1.5
    predicted = RidgeRegressor(alpha).fit(features, target).predict(unseen)
    np.testing.assert_allclose(predicted, other.predict(scaler.transform(unseen)), rtol=1e-9)


def test_preferences_are_those_of_scikit_learns_ridge_over_log_costs() -> None:
    features, costs = table()
    costs[3, 2] = costs[8, 0] = np.nan
    scaler = StandardScaler().fit(features)
    other = Ridge(0.1 * 40).fit(scaler.transform(features), relative_log_costs(costs, 0.5))
    head = RidgeHead(0.1, clip=0.5).fit(features, costs)
    expected = preferences(other.predict(scaler.transform(features)))
    np.testing.assert_allclose(head.predict_proba(features), expected, rtol=1e-9)


def test_with_every_row_a_landmark_it_is_kernel_ridge_regression() -> None:
    features, costs = table(80)
    target = np.log(costs[:, 0])
    head = LandmarkRegressor(2, landmarks=80, alpha=0.01).fit(features, target)
    kernel = head._kernel(head.landmarks_)  # landmarks are all rows, in their order
    reference = KernelRidge(alpha=0.01 * 80, kernel="precomputed").fit(kernel, target - target.mean())
    np.testing.assert_allclose(head.predict(features), target.mean() + reference.predict(kernel), atol=1e-4)


@pytest.mark.parametrize(
    ("labels_head", "number_head"),
    [
        (RidgeLabels(0.1), RidgeRegressor(0.1)),
        (LandmarkLabels(2, landmarks=30), LandmarkRegressor(2, landmarks=30)),
    ],
    ids=["ridge", "landmarks"],
)
def test_each_label_is_predicted_as_a_number(labels_head: RidgeLabels, number_head: RidgeRegressor) -> None:
    features, costs = table(200)
    labels = np.stack([costs[:, 0] > 1, costs[:, 1] > costs[:, 2]], axis=1).astype(float)
    scores = clone(labels_head).fit(features, labels).predict(features)
    assert scores.shape == (200, 2)
    for column in range(2):
        alone = clone(number_head).fit(features, labels[:, column])
        np.testing.assert_allclose(scores[:, column], alone.predict(features), atol=1e-9)


@EACH
def test_units_of_columns_do_not_matter(head: Any) -> None:
    features, costs = table()
    target, scale = target_of(head, costs), np.array([1e3, 1e-3, 60.0, 7.0, 1e-6, 1.0])
    if isinstance(head, LandmarkRegressor):
        scale[2:] = 7.0  # code columns share one unit
    predict = "predict_proba" if isinstance(head, RidgeHead) else "predict"
    first = getattr(clone(head).fit(features, target), predict)(features)
    other = getattr(clone(head).fit(features * scale - 3, target), predict)(features * scale - 3)
    np.testing.assert_allclose(other, first, rtol=1e-6, atol=1e-6)


@EACH
def test_a_column_that_never_varied_has_no_effect_later(head: Any) -> None:
    features, costs = table()
    features[:, 1] = 4.0
    fitted = clone(head).fit(features, target_of(head, costs))
    moved = features.copy()
    moved[:, 1] = 1e9
    np.testing.assert_array_equal(fitted.predict(moved), fitted.predict(features))


def test_far_from_all_landmarks_a_line_goes_on() -> None:
    features = np.random.default_rng(0).normal(size=(300, 2))
    head = LandmarkRegressor(2).fit(features, 3 * features[:, 0])
    assert head.predict([[30.0, 0.0]])[0] == pytest.approx(90, rel=0.1)


def test_blocks_of_rows_are_as_all_together(monkeypatch: pytest.MonkeyPatch) -> None:
    features, costs = table(500)
    head = LandmarkRegressor(2, landmarks=40).fit(features, costs[:, 0])
    monkeypatch.setattr(linear, "_BLOCK", 64)
    again = clone(head).fit(features, costs[:, 0])
    np.testing.assert_allclose(again.predict(features), head.predict(features), rtol=0, atol=1e-8)
