"""`RatioTreesHead`: it finds which setting suits, is told nothing by what was not measured, and is saved whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mirenc.base.errors import ConfigError, HeadError
from mirenc.decide import RatioTreesHead
from mirenc.decide.estimators.trees import log_ratios

SETTINGS = 20
FEW = {"trees": 12, "components": 4}


def made(seed: int = 0, rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """One context column and 30 of code; the best setting follows from one direction of the code and the context."""
    rng = np.random.default_rng(seed)
    hidden, context = rng.normal(size=rows), rng.integers(2, size=rows)
    code = hidden[:, None] * np.ones(30) + 0.1 * rng.normal(size=(rows, 30))
    wanted = np.where(hidden > 0, 15, 5) + 2 * context
    costs = np.exp(0.03 * np.abs(np.arange(SETTINGS) - wanted[:, None]) + 0.01 * rng.normal(size=(rows, SETTINGS)))
    return np.column_stack([context, code]), costs * rng.lognormal(0, 3, size=(rows, 1))


def loss(head: RatioTreesHead, features: np.ndarray, costs: np.ndarray) -> float:
    """Mean log of what was chosen over the least."""
    return -head.score(features, costs)


def test_it_learns_which_setting_suits_from_code_and_context() -> None:
    head = RatioTreesHead(1, **FEW).fit(*made())
    features, costs = made(1)
    assert loss(head, features, costs) < 0.05
    blind = RatioTreesHead(1, use_code=False, share=1.0, trees=12).fit(*made())
    assert loss(blind, features, costs) > 0.1
    np.testing.assert_allclose(head.predict_proba(features).sum(axis=1), 1.0)


def test_a_third_of_the_settings_left_unmeasured_does_not_mislead_it() -> None:
    features, costs = made()
    holes = np.random.default_rng(3).random(costs.shape) < 1 / 3
    holes[:, 0] = False
    head = RatioTreesHead(1, **FEW).fit(features, np.where(holes, np.nan, costs))
    assert loss(head, *made(1)) < 0.08


def test_ratios_by_hand() -> None:
    costs = np.array([[1.0, 2.0, np.nan, np.nan], [2.0, 1.0, 2.2, np.nan], [1.0, 0.01, 0.9, np.nan]])
    found = log_ratios(costs, 0)
    loss = 0.5  # what a loss is cut at; nobody measured the last setting
    np.testing.assert_allclose(found[:, 0], 0.0)
    np.testing.assert_allclose(found[:, 1], [loss, -np.log(2), -2.0])
    np.testing.assert_allclose(found[:, 2], [np.log([1.1, 0.9]).mean(), *np.log([1.1, 0.9])])
    np.testing.assert_allclose(found[:, 3], loss)


def test_components_are_of_the_different_pieces_of_code() -> None:
    features, costs = made()
    # One kernel that was measured a thousand times is still one kernel.
    many = np.concatenate([np.arange(400), np.zeros(1000, dtype=int)])
    once, often = (RatioTreesHead(1, **FEW).fit(features[rows], costs[rows]) for rows in (np.arange(400), many))
    np.testing.assert_allclose(once.axes_, often.axes_)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"context_columns": 40}, "context_columns is 40; allowed: 0 to 31"),
        ({"use_code": False}, "context_columns is 0"),
        ({"default": 20}, "default is 20; allowed: 0 to 19"),
    ],
)
def test_parameters_out_of_range_are_refused(change: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        RatioTreesHead(**change).fit(*made(rows=20))


def test_rows_without_the_default_are_refused() -> None:
    features, costs = made(rows=20)
    costs[3, 0] = np.nan
    with pytest.raises(HeadError, match="19 costs of the default"):
        RatioTreesHead(1).fit(features, costs)
