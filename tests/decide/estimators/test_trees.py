"""`TreesHead`: scikit-learn's forest, kept as arrays that give the same answers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier

from mirenc.decide import TreesHead


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
    found = TreesHead(trees=10).fit(features, costs).predict_proba(features)
    assert found.shape == (50, 3)
    assert found[:, 1].tolist() == [0.0] * 50
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_equal_seeds_give_equal_trees_and_others_others() -> None:
    features, costs = table()
    first, same, other = (TreesHead(trees=5, random_state=seed).fit(features, costs) for seed in (0, 0, 1))
    rows = -features
    np.testing.assert_array_equal(first.predict_proba(rows), same.predict_proba(rows))
    assert np.abs(first.predict_proba(rows) - other.predict_proba(rows)).max() > 0
