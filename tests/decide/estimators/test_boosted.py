"""`BoostedRegressor` and `BoostedChances`: scikit-learn's own predictions, from arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from mirenc.base.errors import HeadError
from mirenc.decide import BoostedChances, BoostedRegressor, load_head, save_head


def table(rows: int = 600, columns: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(rows, columns))
    features[:, 0] = rng.integers(0, 4, rows)  # repeated values, as sizes are
    return features, np.sin(2 * features[:, 1]) + (features[:, 0] == 2) + 0.1 * rng.normal(size=rows) - 40


@pytest.mark.parametrize(("trees", "leaves", "rate", "seed"), [(40, 31, 0.1, 0), (80, 4, 0.3, 7), (1, 2, 1.0, 0)])
def test_predictions_are_those_of_scikit_learn(trees: int, leaves: int, rate: float, seed: int) -> None:
    features, target = table()
    head = BoostedRegressor(trees=trees, leaves=leaves, learning_rate=rate, random_state=seed).fit(features, target)
    other = HistGradientBoostingRegressor(
        max_iter=trees, max_leaf_nodes=leaves, learning_rate=rate, random_state=seed, early_stopping=False
    ).fit(features, target)
    asked = np.random.default_rng(1).normal(scale=2, size=(5000, 6))
    asked[:, 0] = np.round(asked[:, 0])
    np.testing.assert_allclose(head.predict(asked), other.predict(asked), rtol=0, atol=1e-9)
    # On the cuts themselves, and just beside them.
    column = head.forest_.column
    cuts = head.forest_.cut[column[column >= 0] == 1]
    rows = np.repeat(features[:1], 3 * len(cuts), axis=0)
    rows[:, 1] = [*cuts, *np.nextafter(cuts, np.inf), *np.nextafter(cuts, -np.inf)]
    np.testing.assert_allclose(head.predict(rows), other.predict(rows), rtol=0, atol=1e-9)


def test_a_target_that_does_not_vary_is_said() -> None:
    features, _ = table(50)
    np.testing.assert_allclose(BoostedRegressor(trees=3).fit(features, np.full(50, 2.5)).predict(-features), 2.5)


def test_chances_are_scikit_learns(tmp_path: Path) -> None:
    features, target = table(columns=5)
    for kinds in (2, 4):
        kind = np.digitize(target, np.quantile(target, np.linspace(0, 1, kinds + 1)[1:-1]))
        weight = np.random.default_rng(0).uniform(0.5, 2, len(kind))
        head = BoostedChances(trees=15, leaves=8, bags=2, share=0.5).fit(features, np.eye(kinds)[kind], weight)
        how = {"max_iter": 15, "max_leaf_nodes": 8, "max_features": 0.5, "l2_regularization": 1.0}
        raw = []
        for seed in (0, 1):
            other = HistGradientBoostingClassifier(**how, random_state=seed, early_stopping=False)
            chances = other.fit(features, kind, sample_weight=weight).predict_proba(features)
            raw.append(np.log(chances) - np.log(chances).mean(axis=1, keepdims=True))
        expected = np.exp(np.mean(raw, axis=0))
        found = head.predict(features)
        np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), atol=1e-9)
        save_head(head, tmp_path / str(kinds))
        np.testing.assert_array_equal(load_head(tmp_path / str(kinds))[0].predict(features), found)


def test_chances_of_shares_and_of_what_never_was() -> None:
    features = np.repeat([[0.0], [1.0]], 100, axis=0)
    shares = np.repeat([[0.8, 0.2, 0, 0], [0.1, 0.9, 0, 0]], 100, axis=0)
    found = BoostedChances(bags=1, share=1.0).fit(features, shares).predict([[0.0], [1.0]])
    np.testing.assert_allclose(found, [[0.8, 0.2, 0, 0], [0.1, 0.9, 0, 0]], atol=0.01)
    with pytest.raises(HeadError, match="1 of 2 outcomes"):
        BoostedChances().fit(features, np.eye(2)[np.zeros(200, int)])
