"""`LabelHead`: any classifier as a head that chooses; it sees the winner of each row and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from mirenc.base.errors import HeadError
from mirenc.decide import LabelHead, MLPHead, save_head


def table(choices: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(40, 4))
    return features, np.exp(np.stack([features[:, 0], -features[:, 0], features[:, 1]], axis=1)[:, :choices])


def mlp(**parameters: object) -> MLPHead:
    return MLPHead(**{"hidden": (8, 4), "epochs": 20, "random_state": 0} | parameters)


def test_probabilities_are_the_classifiers_on_the_winners() -> None:
    features, costs = table()
    head = LabelHead(LogisticRegression()).fit(features, costs)
    expected = LogisticRegression().fit(features, costs.argmin(axis=1)).predict_proba(features)
    np.testing.assert_array_equal(head.predict_proba(features), expected)


def test_by_how_much_a_choice_won_does_not_matter() -> None:
    features, costs = table()
    found = LabelHead(mlp()).fit(features, costs).predict_proba(features)
    np.testing.assert_array_equal(LabelHead(mlp()).fit(features, costs**3).predict_proba(features), found)


def test_a_choice_that_never_won_keeps_its_column() -> None:
    features, costs = table()
    costs[:, 1] = 1e3
    found = LabelHead(mlp()).fit(features, costs).predict_proba(features)
    assert found[:, 1].tolist() == [0.0] * 40
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert set(LabelHead(mlp()).fit(features, costs).predict(features)) <= {0, 2}


def test_an_unmeasured_choice_never_wins() -> None:
    features, costs = table()
    costs[:, 1] = np.nan
    assert 1 not in LabelHead(mlp()).fit(features, costs).classifier_.classes_


def test_a_classifier_of_others_is_not_saved(tmp_path: Path) -> None:
    head = LabelHead(LogisticRegression()).fit(*table())
    with pytest.raises(HeadError, match="LogisticRegression cannot be saved"):
        save_head(head, tmp_path / "head")
    assert not (tmp_path / "head").exists()
