"""Heads of trees: scikit-learn's own predictions, from arrays; and what ratios to the default teach."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from every_head import labels_table
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from mirenc.base.errors import HeadError
from mirenc.decide import (
    BoostedChances,
    BoostedRegressor,
    RatioTreesHead,
    TreesHead,
    TreesLabels,
    load_head,
    save_head,
)
from mirenc.decide.estimators import trees
from mirenc.decide.estimators.trees import log_ratios


def table(rows: int = 50, columns: int = 6, choices: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, D), and costs (n, K) that hang on the first two columns and on chance."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, columns))
    lean = np.stack([features[:, 0], -features[:, 0], features[:, 1]], axis=1)[:, :choices]
    return features, np.exp(lean + 0.3 * rng.normal(size=(rows, choices)))


@pytest.mark.parametrize(("context", "share"), [(0, 0.5), (2, 0.5), (6, 1.0)])
def test_probabilities_are_those_of_scikit_learns_forest(context: int, share: float) -> None:
    features, costs = table()
    head = TreesHead(context, trees=10, share=share, random_state=3).fit(features, costs)
    forest = ExtraTreesClassifier(10, max_features=share, random_state=3).fit(features, costs.argmin(axis=1))
    rows = np.random.default_rng(9).normal(size=(200, 6))
    np.testing.assert_allclose(head.predict_proba(rows), forest.predict_proba(rows), rtol=1e-6, atol=1e-12)


def test_rows_on_a_cut_fall_as_in_scikit_learn() -> None:
    # It grows and walks trees in single precision: a double just above a cut may be the same float as one below.
    features, costs = table()
    head = TreesHead(6, trees=20).fit(features, costs)
    forest = ExtraTreesClassifier(20, max_features=0.5, random_state=0).fit(features, costs.argmin(axis=1))
    column = head.forest_.column
    cuts = head.forest_.cut[column[column >= 0] == 0]
    rows = np.concatenate([np.repeat(features[:1], len(cuts), axis=0)] * 3)
    rows[:, 0] = [*cuts, *np.nextafter(cuts, np.inf), *np.nextafter(cuts, -np.inf)]
    np.testing.assert_allclose(head.predict_proba(rows), forest.predict_proba(rows), rtol=1e-6, atol=1e-12)


def test_many_code_columns_are_first_reduced() -> None:
    features, costs = table(columns=30)
    head = TreesHead(1, components=4, trees=10, random_state=0).fit(features, costs)
    few = PCA(4, random_state=0).fit_transform(features[:, 1:])
    reduced = np.concatenate([features[:, :1], few], axis=1)
    forest = ExtraTreesClassifier(10, max_features=0.5, random_state=0).fit(reduced, costs.argmin(axis=1))
    np.testing.assert_allclose(head.predict_proba(features), forest.predict_proba(reduced), rtol=1e-6, atol=1e-12)


def test_without_code_the_code_has_no_say() -> None:
    features, costs = table()
    head = TreesHead(2, use_code=False, trees=10).fit(features, costs)
    moved = features.copy()
    moved[:, 2:] = 99.0
    np.testing.assert_array_equal(head.predict_proba(moved), head.predict_proba(features))
    seeing = TreesHead(2, trees=10).fit(features, costs)
    assert np.abs(seeing.predict_proba(moved) - seeing.predict_proba(features)).max() > 0


def test_equal_sizes_are_cut_out_exactly() -> None:
    # Two values that differ by a thousandth of the spread want different choices: no smooth head sees that.
    size = np.tile([5.0, 5.001, 0.0, 9.0], 10)[:, None]
    costs = np.where(size == 5.0, [[1.0, 2.0]], [[2.0, 1.0]])
    head = TreesHead(1, use_code=False, share=1.0).fit(size, costs)
    assert head.predict([[5.0], [5.001], [0.0], [9.0]]).tolist() == [0, 1, 1, 1]


def test_a_label_that_never_won_has_no_preference() -> None:
    features, costs = table()
    costs[:, 1] = costs.max() * 2
    chances = TreesHead(trees=10).fit(features, costs).predict_proba(features)
    assert chances.shape == (50, 3)
    assert chances[:, 1].tolist() == [0.0] * 50
    np.testing.assert_allclose(chances.sum(axis=1), 1)


def test_equal_seeds_give_equal_trees_and_others_others() -> None:
    features, costs = table()
    first, same, other = (TreesHead(trees=5, random_state=seed).fit(features, costs) for seed in (0, 0, 1))
    rows = -features
    np.testing.assert_array_equal(first.predict_proba(rows), same.predict_proba(rows))
    assert np.abs(first.predict_proba(rows) - other.predict_proba(rows)).max() > 0


# -- RatioTreesHead ------------------------------------------------------------------------------------
SETTINGS = 20
FEW = {"trees": 12, "components": 4}


def ratio_table(seed: int = 0, rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """One context column and 30 of code; the best setting follows from one direction of the code and the context."""
    rng = np.random.default_rng(seed)
    hidden, context = rng.normal(size=rows), rng.integers(2, size=rows)
    code = hidden[:, None] * np.ones(30) + 0.1 * rng.normal(size=(rows, 30))
    best = np.where(hidden > 0, 15, 5) + 2 * context
    costs = np.exp(0.03 * np.abs(np.arange(SETTINGS) - best[:, None]) + 0.01 * rng.normal(size=(rows, SETTINGS)))
    return np.column_stack([context, code]), costs * rng.lognormal(0, 3, size=(rows, 1))


def loss(head: RatioTreesHead, features: np.ndarray, costs: np.ndarray) -> float:
    """Mean log of what was chosen over the least."""
    return -head.score(features, costs)


def test_it_learns_which_setting_suits_from_code_and_context() -> None:
    head = RatioTreesHead(1, **FEW).fit(*ratio_table())
    features, costs = ratio_table(1)
    assert loss(head, features, costs) < 0.05
    blind = RatioTreesHead(1, use_code=False, share=1.0, trees=12).fit(*ratio_table())
    assert loss(blind, features, costs) > 0.1
    np.testing.assert_allclose(head.predict_proba(features).sum(axis=1), 1.0)


def test_ratios_by_hand() -> None:
    costs = np.array([[1.0, 2.0, np.nan, np.nan], [2.0, 1.0, 2.2, np.nan], [1.0, 0.01, 0.9, np.nan]])
    ratios = log_ratios(costs, 0)
    loss = 0.5  # what a loss is cut at; nobody measured the last setting
    np.testing.assert_allclose(ratios[:, 0], 0.0)
    np.testing.assert_allclose(ratios[:, 1], [loss, -np.log(2), -2.0])
    np.testing.assert_allclose(ratios[:, 2], [np.log([1.1, 0.9]).mean(), *np.log([1.1, 0.9])])
    np.testing.assert_allclose(ratios[:, 3], loss)


def test_components_are_of_the_different_pieces_of_code() -> None:
    features, costs = ratio_table()
    # One kernel that was measured a thousand times is still one kernel.
    many = np.concatenate([np.arange(400), np.zeros(1000, dtype=int)])
    once, often = (RatioTreesHead(1, **FEW).fit(features[rows], costs[rows]) for rows in (np.arange(400), many))
    np.testing.assert_allclose(once.axes_, often.axes_)


def test_rows_without_the_default_are_refused() -> None:
    features, costs = ratio_table(rows=20)
    costs[3, 0] = np.nan
    with pytest.raises(HeadError, match="19 costs of the default"):
        RatioTreesHead(1).fit(features, costs)


# -- TreesLabels ---------------------------------------------------------------------------------------
def test_trees_are_those_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    features, labels = labels_table()
    features = features.astype(np.float32).astype(np.float64)
    head = TreesLabels(1, trees=7, leaf=3, random_state=2).fit(features, labels)
    other = ExtraTreesRegressor(7, max_features=0.4, min_samples_leaf=3, random_state=2).fit(features, labels)
    np.testing.assert_allclose(head.predict(features), other.predict(features), atol=1e-9)
    monkeypatch.setattr(trees, "_BLOCK", 64)
    np.testing.assert_allclose(head.predict(features), other.predict(features), atol=1e-9)


# -- gradient boosting ---------------------------------------------------------------------------------
def boosted_table(rows: int = 600, columns: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(rows, columns))
    features[:, 0] = rng.integers(0, 4, rows)  # repeated values, as sizes are
    return features, np.sin(2 * features[:, 1]) + (features[:, 0] == 2) + 0.1 * rng.normal(size=rows) - 40


@pytest.mark.parametrize(("trees", "leaves", "rate", "seed"), [(40, 31, 0.1, 0), (80, 4, 0.3, 7), (1, 2, 1.0, 0)])
def test_predictions_are_those_of_scikit_learn(trees: int, leaves: int, rate: float, seed: int) -> None:
    features, target = boosted_table()
    head = BoostedRegressor(trees=trees, leaves=leaves, learning_rate=rate, random_state=seed).fit(features, target)
    other = HistGradientBoostingRegressor(
        max_iter=trees, max_leaf_nodes=leaves, learning_rate=rate, random_state=seed, early_stopping=False
    ).fit(features, target)
    unseen = np.random.default_rng(1).normal(scale=2, size=(5000, 6))
    unseen[:, 0] = np.round(unseen[:, 0])
    np.testing.assert_allclose(head.predict(unseen), other.predict(unseen), rtol=0, atol=1e-9)
    # On the cuts themselves, and just beside them.
    column = head.forest_.column
    cuts = head.forest_.cut[column[column >= 0] == 1]
    rows = np.repeat(features[:1], 3 * len(cuts), axis=0)
    rows[:, 1] = [*cuts, *np.nextafter(cuts, np.inf), *np.nextafter(cuts, -np.inf)]
    np.testing.assert_allclose(head.predict(rows), other.predict(rows), rtol=0, atol=1e-9)


def test_bags_are_the_mean_of_trees_of_halves_of_the_rows() -> None:
    features, target = boosted_table()
    head = BoostedRegressor(trees=5, bags=2, share=0.5, random_state=4).fit(features, target)
    each = []
    for seed in (4, 5):
        rows = np.random.default_rng(seed).permutation(600)[:300]
        other = HistGradientBoostingRegressor(max_iter=5, max_features=0.5, random_state=seed, early_stopping=False)
        each.append(other.fit(features[rows], target[rows]).predict(features))
    np.testing.assert_allclose(head.predict(features), np.mean(each, axis=0), rtol=0, atol=1e-9)


def test_a_target_that_does_not_vary_is_said() -> None:
    features, _ = boosted_table(50)
    np.testing.assert_allclose(BoostedRegressor(trees=3).fit(features, np.full(50, 2.5)).predict(-features), 2.5)


def test_chances_are_scikit_learns(tmp_path: Path) -> None:
    features, target = boosted_table(columns=5)
    for kinds in (2, 4):
        kind = np.digitize(target, np.quantile(target, np.linspace(0, 1, kinds + 1)[1:-1]))
        weight = np.random.default_rng(0).uniform(0.5, 2, len(kind))
        head = BoostedChances(trees=15, leaves=8, bags=2, share=0.5).fit(features, np.eye(kinds)[kind], weight)
        parameters = {"max_iter": 15, "max_leaf_nodes": 8, "max_features": 0.5, "l2_regularization": 1.0}
        raw = []
        for seed in (0, 1):
            other = HistGradientBoostingClassifier(**parameters, random_state=seed, early_stopping=False)
            chances = other.fit(features, kind, sample_weight=weight).predict_proba(features)
            raw.append(np.log(chances) - np.log(chances).mean(axis=1, keepdims=True))
        expected = np.exp(np.mean(raw, axis=0))
        preferences = head.predict(features)
        np.testing.assert_allclose(preferences, expected / expected.sum(axis=1, keepdims=True), atol=1e-9)
        save_head(head, tmp_path / str(kinds))
        np.testing.assert_array_equal(load_head(tmp_path / str(kinds))[0].predict(features), preferences)


def test_chances_of_shares_and_of_what_never_was() -> None:
    features = np.repeat([[0.0], [1.0]], 100, axis=0)
    shares = np.repeat([[0.8, 0.2, 0, 0], [0.1, 0.9, 0, 0]], 100, axis=0)
    chances = BoostedChances(bags=1, share=1.0).fit(features, shares).predict([[0.0], [1.0]])
    np.testing.assert_allclose(chances, [[0.8, 0.2, 0, 0], [0.1, 0.9, 0, 0]], atol=0.01)
    with pytest.raises(HeadError, match="1 of 2 outcomes"):
        BoostedChances().fit(features, np.eye(2)[np.zeros(200, int)])
