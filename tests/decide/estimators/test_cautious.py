"""`CautiousEnsembleHead`: the default is left where it pays, and few rows are slowed down."""

from __future__ import annotations

import numpy as np
import pytest

from mirenc.base.errors import ConfigError
from mirenc.decide import (
    BoostedRegressor,
    CautiousEnsembleHead,
    EnsembleHead,
    HedgingEnsembleHead,
    PairHead,
    RidgeHead,
    Settings,
)
from mirenc.decide.estimators.chooser import cost_ratios, preferences
from mirenc.decide.estimators.ensemble import best_margin

MEMBERS = [("ridge", RidgeHead(0.01))]


def table_of(rows: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Setting 1 gains where the first column is large, and by little or nothing elsewhere; noise beside."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, 4))
    gain = 0.3 * np.maximum(features[:, 0], 0) + 0.08 * rng.normal(size=rows)
    return features, np.exp(np.column_stack([np.zeros(rows), -gain, np.full(rows, 0.2)]))


def slow(head: EnsembleHead, features: np.ndarray, costs: np.ndarray) -> float:
    chosen = costs[np.arange(len(costs)), head.predict(features)]
    return float(np.mean(chosen > 1.02 * costs[:, 0]))


def gained(head: EnsembleHead, features: np.ndarray, costs: np.ndarray) -> float:
    return float(np.log(costs[:, 0] / costs[np.arange(len(costs)), head.predict(features)]).mean())


def test_fewer_rows_are_slowed_down_for_a_little_of_the_gain() -> None:
    features, costs = table_of()
    bold, careful = EnsembleHead(MEMBERS, select="speedup"), CautiousEnsembleHead(MEMBERS)
    for head in (bold, careful):
        head.fit(features, costs)
    unseen = table_of(seed=1)
    assert slow(bold, *unseen) > 0.1
    assert slow(careful, *unseen) < 0.07
    assert gained(careful, *unseen) > 0.7 * gained(bold, *unseen) > 0


def test_the_choice_and_the_preferences_agree_about_the_margin() -> None:
    features, costs = table_of()
    careful = CautiousEnsembleHead(MEMBERS).fit(features, costs)
    plain = EnsembleHead(MEMBERS, select="speedup").fit(features, costs)
    assert careful.margin_ > 0
    preferred = careful.predict_proba(features)
    np.testing.assert_allclose(preferred.sum(axis=1), 1.0)
    expected = cost_ratios(plain.predict_proba(features))
    gain = np.log(expected[:, 0] / expected.min(axis=1))
    np.testing.assert_array_equal(careful.predict(features) == 0, gain <= careful.margin_)


def test_the_margin_by_hand() -> None:
    # Expected gains 0.4, 0.3, 0.2, 0.1 of setting 1; the second and the last are slower in truth.
    preference = preferences(np.column_stack([np.zeros(4), [-0.4, -0.3, -0.2, -0.1]]))
    costs = np.column_stack([np.ones(4), np.exp([-0.5, 0.1, -0.5, 0.1])])
    assert best_margin(preference, costs, 0, 1.0) == pytest.approx((0.15, 0.9 / 4))
    assert best_margin(preference, costs, 0, 0.25) == pytest.approx((0.15, 0.9 / 4))
    assert best_margin(preference, costs, 0, 0.2) == pytest.approx((0.35, 0.5 / 4))
    # What nobody may ask is left out: setting 1 of the first row was not measured.
    costs[0, 1] = np.nan
    assert best_margin(preference, costs, 0, 0.2) == (100.0, 0.0)
    assert best_margin(preference, costs, 0, 0.25) == pytest.approx((0.15, 0.4 / 4))


def test_a_single_member_is_cross_validated_for_the_margin() -> None:
    head = CautiousEnsembleHead(MEMBERS).fit(*table_of())
    assert set(head.scores_) == {"ridge"}
    with pytest.raises(ConfigError, match="two are needed"):
        CautiousEnsembleHead(MEMBERS).fit(*table_of(20), part=np.zeros(20))


def test_proposals_hedge_against_errors_that_settings_share() -> None:
    """Settings 1 and 2 are good or bad together, by a coin that no feature tells; 3 is good where they are bad."""
    rng = np.random.default_rng(0)
    features, coin = rng.normal(size=(400, 3)), rng.random(400) < 0.6
    good, bad = np.full(400, 0.5), np.full(400, 1.5)
    twins = np.where(coin, good, bad)
    costs = np.column_stack([np.ones(400), twins, 1.01 * twins, np.where(coin, bad, 0.9 * good)])
    costs[0, 1] = np.nan
    head = HedgingEnsembleHead([("ridge", RidgeHead(1.0))]).fit(features, costs)
    preference = head.predict_proba(features)
    plain = EnsembleHead.propose(head, preference, 2)
    hedged = head.propose(preference, 2)
    assert hedged.shape == (400, 2)

    def best(settings: np.ndarray) -> float:
        return float(np.nanmin(np.take_along_axis(costs, settings, axis=1), axis=1)[1:].mean())

    assert best(hedged) < 0.51 < best(plain)
    # Only what may be asked for, however few these are.
    few = np.zeros_like(preference)
    few[:, 2] = 1.0
    assert set(head.propose(few, 3).ravel().tolist()) == {2}


def test_answers_are_averaged_over_views_of_the_settings() -> None:
    """A setting's one column is a hidden number that says when it gains; asked, it may be one of two."""
    rng = np.random.default_rng(0)
    features, hidden = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    costs = np.column_stack([np.ones(300), np.where(hidden, 0.5, 1.5)])

    def settings(numbers: np.ndarray) -> Settings:
        columns = np.column_stack([np.zeros(len(numbers)), 1.0 + numbers]).reshape(-1, 1)
        return Settings(columns, np.arange(2 * len(numbers)).reshape(-1, 2))

    known, may = settings(hidden), [settings(np.full(300, value)) for value in (0, 1)]
    pairs = [("pairs", PairHead(BoostedRegressor(trees=30), 2))]
    informed = CautiousEnsembleHead(pairs).fit(features, costs, known)
    untold = CautiousEnsembleHead(pairs).fit(features, costs, known, asked=may)
    assert gained_by(informed.predict_proba(features, known), costs) > 0.3
    # Held-out rows that were not told leave little to gain without slowing many of them down.
    assert untold.margin_ > informed.margin_
    chosen = costs[np.arange(300), untold.predict_proba(features, may).argmax(axis=1)]
    assert np.mean(chosen > 1) < 0.06
    each = [EnsembleHead._predict_member(informed, informed.members_["pairs"], features, one) for one in may]
    np.testing.assert_allclose(
        EnsembleHead._predict_member(informed, informed.members_["pairs"], features, may), np.mean(each, axis=0)
    )


def gained_by(preference: np.ndarray, costs: np.ndarray) -> float:
    return float(np.log(costs[:, 0] / costs[np.arange(len(costs)), preference.argmax(axis=1)]).mean())
