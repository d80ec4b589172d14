"""Heads that tell labels: ridge, trees, and the ensemble of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

from mirenc.base.errors import HeadError
from mirenc.decide import LabelsEnsembleHead, RidgeLabels, RidgeRegressor, TreesLabels
from mirenc.decide.estimators import trees


def table(rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """A label by the sign of a column, one by a product of two, one that nobody can tell."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(rows, 5))
    return features, np.stack(
        [features[:, 0] > 0, features[:, 1] * features[:, 2] > 0, rng.random(rows) < 0.1], axis=1
    ).astype(np.float64)


def test_a_ridge_tells_each_label_as_a_number() -> None:
    features, labels = table()
    both = RidgeLabels(0.1).fit(features, labels).predict(features)
    for column in range(3):
        alone = RidgeRegressor(0.1).fit(features, labels[:, column])
        np.testing.assert_allclose(both[:, column], alone.predict(features), atol=1e-12)


def test_trees_are_those_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    features, labels = table()
    features = features.astype(np.float32).astype(np.float64)
    head = TreesLabels(1, trees=7, leaf=3, random_state=2).fit(features, labels)
    other = ExtraTreesRegressor(7, max_features=0.4, min_samples_leaf=3, random_state=2).fit(features, labels)
    np.testing.assert_allclose(head.predict(features), other.predict(features), atol=1e-9)
    monkeypatch.setattr(trees, "_BLOCK", 64)
    np.testing.assert_allclose(head.predict(features), other.predict(features), atol=1e-9)


def ensemble() -> LabelsEnsembleHead:
    return LabelsEnsembleHead([("ridge", RidgeLabels(0.1)), ("trees", TreesLabels(1, trees=20, leaf=3))])


def test_an_ensemble_takes_who_tells_best_on_held_out_rows() -> None:
    features, labels = table()
    linear = ensemble().fit(features, (features.sum(axis=1) > 0)[:, None])
    product = ensemble().fit(features, labels[:, 1:2])
    assert linear.scores_["ridge"] > linear.scores_["trees"]
    assert product.scores_["trees"] > product.scores_["ridge"]
    assert product.weights_["trees"] > linear.weights_.get("trees", 0)
    assert product.predict(features).shape == (400, 1)


def test_an_ensemble_of_equal_members_says_what_each_does() -> None:
    features, labels = table()
    one = LabelsEnsembleHead([("a", RidgeLabels(0.1))]).fit(features, labels)
    expected = RidgeLabels(0.1).fit(features, labels).predict(features)
    assert expected.min() < 0
    assert expected.max() > 1
    np.testing.assert_allclose(one.predict(features), expected)
    np.testing.assert_allclose(one.probabilities(features), np.clip(expected, 0, 1))


@pytest.mark.parametrize(
    "labels",
    [np.zeros(400), np.zeros((400, 0)), np.zeros((3, 2)), np.full((400, 2), 0.5)],
    ids="flat none few half".split(),
)
def test_other_labels_are_refused(labels: np.ndarray) -> None:
    features, _ = table()
    with pytest.raises(HeadError, match=r"labels of shape .* for 400 rows; rows of 0 and 1 are needed"):
        ensemble().fit(features, labels)
