"""Ridge heads: scikit-learn's answers for the equivalent penalty, in any units, saved and damaged."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from mirenc.base.errors import ConfigError
from mirenc.decide import RidgeHead, RidgeRegressor
from mirenc.decide.estimators.chooser import preferences, relative_log_costs

HEADS = [RidgeHead(0.3), RidgeRegressor(0.3)]


def table(rows: int = 40, columns: int = 6, settings: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, D), and costs (n, K) that hang on the first two columns."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(rows, columns)) * 10.0 ** np.arange(columns) + 5
    z = (features - features.mean(axis=0)) / features.std(axis=0)
    lean = np.stack([z[:, 0], -z[:, 0], z[:, 1]], axis=1)[:, :settings]
    return features, np.exp(lean + rng.normal(size=(rows, 1)) + 0.1 * rng.normal(size=(rows, settings)))


def target_of(head: object, costs: np.ndarray) -> np.ndarray:
    return costs if isinstance(head, RidgeHead) else np.log(costs[:, 0])


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("rows", [40, 4])  # more rows than columns, and fewer
def test_numbers_are_those_of_scikit_learns_ridge(alpha: float, rows: int) -> None:
    features, costs = table(rows)
    target = np.log(costs[:, 0])
    scaler = StandardScaler().fit(features)
    # Its penalty is on the sum of squares, ours on their mean.
    other = Ridge(alpha * rows).fit(scaler.transform(features), target)
    asked = features[::-1] * 1.5
    found = RidgeRegressor(alpha).fit(features, target).predict(asked)
    np.testing.assert_allclose(found, other.predict(scaler.transform(asked)), rtol=1e-9)


def test_preferences_are_those_of_scikit_learns_ridge_over_log_costs() -> None:
    features, costs = table()
    costs[3, 2] = costs[8, 0] = np.nan
    scaler = StandardScaler().fit(features)
    other = Ridge(0.1 * 40).fit(scaler.transform(features), relative_log_costs(costs, 0.5))
    head = RidgeHead(0.1, clip=0.5).fit(features, costs)
    expected = preferences(other.predict(scaler.transform(features)))
    np.testing.assert_allclose(head.predict_proba(features), expected, rtol=1e-9)
    assert head.n_choices_ == 3


@pytest.mark.parametrize("head", HEADS, ids=lambda head: type(head).__name__)
def test_units_of_columns_do_not_matter(head: RidgeHead) -> None:
    features, costs = table()
    target, scale = target_of(head, costs), np.array([1e3, 1e-3, 60.0, 7.0, 1e-6, 1.0])
    ask = "predict_proba" if isinstance(head, RidgeHead) else "predict"
    first = getattr(clone(head).fit(features, target), ask)(features)
    other = getattr(clone(head).fit(features * scale - 3, target), ask)(features * scale - 3)
    np.testing.assert_allclose(other, first, rtol=1e-6)


@pytest.mark.parametrize("head", HEADS, ids=lambda head: type(head).__name__)
def test_a_column_that_never_varied_has_no_say_later(head: RidgeHead) -> None:
    features, costs = table()
    features[:, 1] = 4.0
    fitted = clone(head).fit(features, target_of(head, costs))
    moved = features.copy()
    moved[:, 1] = 1e9
    np.testing.assert_array_equal(fitted.predict(moved), fitted.predict(features))


@pytest.mark.parametrize("alpha", [0, -1.0, np.nan, np.inf, "1"])
@pytest.mark.parametrize("kind", [RidgeHead, RidgeRegressor])
def test_a_penalty_out_of_range_is_named(kind: type, alpha: object) -> None:
    features, costs = table()
    with pytest.raises(ConfigError, match="alpha is"):
        kind(alpha).fit(features, costs if kind is RidgeHead else costs[:, 0])
