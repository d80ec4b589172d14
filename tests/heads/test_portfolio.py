"""The portfolio: settings that complement each other, a choice among them, and what is saved."""

from __future__ import annotations

import numpy as np
import pytest

from mirenc.errors import ConfigError, HeadError
from mirenc.heads import CostHead, PortfolioHead
from mirenc.heads.portfolio import portfolio

NAN = float("nan")


def made_up() -> tuple[np.ndarray, np.ndarray]:
    """40 rows of 60 settings: 7 is best where x > 0, 23 where x < 0, and 41 is never best and never bad."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 1))
    costs = np.exp(rng.normal(scale=0.05, size=(40, 60))) * 8.0
    costs[:, 41] = 1.8
    costs[:, 7] = np.where(x[:, 0] > 0, 1.0, 4.0)
    costs[:, 23] = np.where(x[:, 0] > 0, 4.0, 1.0)
    return x, costs


def test_the_portfolio_is_the_best_single_and_then_what_helps_most_beside_it() -> None:
    # Loss in bits, sums: 3, 6, 3.2 and 3.3. Beside the first, the third saves 2 and the second 1.
    logs = np.array([[1.0, 0.0, 3.2, 1.1], [1.0, 3.0, 0.0, 1.1], [1.0, 3.0, 0.0, 1.1]])
    assert portfolio(logs, 1).tolist() == [0]
    assert portfolio(logs, 2).tolist() == [0, 2]
    assert portfolio(logs, 3).tolist() == [0, 2, 1]
    assert portfolio(logs, 9).tolist() == [0, 2, 1, 3]


def test_what_nobody_may_ask_for_helps_nobody() -> None:
    logs = np.log([[1.0, NAN, 3.0], [9.0, NAN, 1.1], [9.0, 1.0, 1.1]])
    assert portfolio(logs, 1).tolist() == [2]


def test_the_head_learns_which_of_the_few() -> None:
    x, costs = made_up()
    head = PortfolioHead(CostHead(1, clip=2.0), size=2).fit(x, costs)
    assert set(head.settings_.tolist()) <= {7, 23, 41}
    asked = np.array([[2.0], [-2.0]])
    three = PortfolioHead(CostHead(1, clip=2.0), size=3).fit(x, costs)
    assert three.predict(asked).tolist() == [7, 23]
    preference = three.predict_proba(asked)
    np.testing.assert_allclose(preference.sum(axis=1), 1.0)
    outside = np.setdiff1d(np.arange(60), three.settings_)
    assert preference[:, outside].max() < preference[:, three.settings_].min()


def test_a_row_that_measured_none_of_the_few_is_no_lesson() -> None:
    x, costs = made_up()
    costs[0, :] = NAN
    costs[0, 5] = 1.0
    head = PortfolioHead(CostHead(1, clip=2.0)).fit(x, costs)
    assert head.predict(np.array([[2.0]])).tolist() == [7]


def test_what_cannot_be_used_is_refused() -> None:
    x, costs = made_up()
    with pytest.raises(ConfigError, match="size is 1; allowed: a whole number from 2 up"):
        PortfolioHead(CostHead(1), size=1).fit(x, costs)
    head = PortfolioHead(CostHead(1)).fit(x, costs)
    meta, arrays = head._get_state()
    with pytest.raises(HeadError, match="do not belong together"):
        PortfolioHead._from_state(meta, arrays | {"settings_": np.array([1, 2, 99])})
