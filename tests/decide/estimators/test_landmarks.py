"""`LandmarkRegressor` and `LandmarkLabels`: kernel ridge regression with few landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge

from mirenc.base.errors import ConfigError
from mirenc.decide import LandmarkLabels, LandmarkRegressor
from mirenc.decide.estimators import linear


def table(rows: int = 500, columns: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(rows, columns))
    return features, np.sin(2 * features[:, 0]) + np.abs(features[:, 1]) - 40


def test_with_every_row_a_landmark_it_is_kernel_ridge_regression() -> None:
    features, target = table(80)
    head = LandmarkRegressor(2, landmarks=80, alpha=0.01).fit(features, target)
    kernel = head._kernel(head.landmarks_)
    order = np.argsort(head.landmarks_[:, 0])
    rows = np.argsort(((features - head.middle_) / head.spread_)[:, 0])
    whole = KernelRidge(alpha=0.01 * 80, kernel="precomputed").fit(
        kernel[order][:, order], (target - target.mean())[rows]
    )
    expected = target.mean() + whole.predict(kernel[order][:, order])
    np.testing.assert_allclose(head.predict(features[rows]), expected, atol=1e-4)


def test_labels_are_as_one_number_each() -> None:
    features, target = table()
    labels = np.stack([target > -39.5, features[:, 0] > 0], axis=1)
    both = LandmarkLabels(2, landmarks=50).fit(features, labels).predict(features)
    assert both.shape == (500, 2)
    for column in range(2):
        alone = LandmarkRegressor(2, landmarks=50).fit(features, labels[:, column].astype(float))
        np.testing.assert_allclose(both[:, column], alone.predict(features), atol=1e-9)


def test_far_from_all_landmarks_a_line_goes_on() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 2))
    head = LandmarkRegressor(2).fit(features, 3 * features[:, 0])
    assert head.predict([[30.0, 0.0]])[0] == pytest.approx(90, rel=0.1)


def test_blocks_of_rows_are_as_all_together(monkeypatch: pytest.MonkeyPatch) -> None:
    features, target = table()
    head = LandmarkRegressor(2, landmarks=40).fit(features, target)
    monkeypatch.setattr(linear, "_BLOCK", 64)
    again = clone(head).fit(features, target)
    np.testing.assert_allclose(again.predict(features), head.predict(features), rtol=0, atol=1e-8)


def test_columns_without_a_difference_say_nothing() -> None:
    features, target = table()
    whole = np.hstack([features, np.full((500, 1), 7.0)])
    head = LandmarkRegressor(7, landmarks=40).fit(whole, target)
    asked = np.hstack([features, np.full((500, 1), 1e6)])
    np.testing.assert_array_equal(head.predict(asked), head.predict(whole))


@pytest.mark.parametrize(
    ("change", "words"),
    [({"alpha": 0}, "alpha is 0"), ({"length_scale": -1.0}, "length_scale"), ({"landmarks": 0}, "landmarks is 0")],
    ids=["alpha", "length", "landmarks"],
)
def test_a_parameter_out_of_range_is_refused(change: dict[str, Any], words: str) -> None:
    features, target = table(20)
    with pytest.raises(ConfigError, match=words):
        LandmarkRegressor(1, **change).fit(features, target)
