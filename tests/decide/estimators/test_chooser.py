"""Costs in, preferences out: what may be a cost, what one that was not measured says, and what the preferences mean."""

from __future__ import annotations

import math
from typing import Self

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from mirenc.base.errors import HeadError
from mirenc.decide import Settings
from mirenc.decide.estimators.chooser import (
    Chooser,
    additive_effects,
    checked_costs,
    cost_ratios,
    portfolio,
    preferences,
    relative_log_costs,
)

NAN = math.nan


class Fixed(Chooser):
    """Prefers what it was told to."""

    def __init__(self, table: ArrayLike) -> None:
        self.table = np.asarray(table, dtype=np.float64)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        return self.table[np.asarray(X, dtype=np.int64).ravel()]


@pytest.mark.parametrize("shape", [(4,), (4, 1), (2, 2, 2)])
def test_costs_are_a_table_of_two_choices_or_more(shape: tuple[int, ...]) -> None:
    with pytest.raises(HeadError, match=r"\(samples, choices\)"):
        checked_costs(np.ones(shape))


@pytest.mark.parametrize("row", [[1.0, 0.0], [1.0, -2.0], [math.inf, 1.0], [1.0, -math.inf], [NAN, NAN]])
def test_a_row_that_holds_no_costs_is_named(row: list[float]) -> None:
    with pytest.raises(HeadError, match="row 2"):
        checked_costs([[1.0, 2.0], [NAN, 2.0], row, [3.0, -4.0]])


def test_costs_that_were_not_measured_are_let_through() -> None:
    np.testing.assert_array_equal(checked_costs([[1, NAN], [NAN, 2]]), [[1.0, NAN], [NAN, 2.0]])


def test_relative_log_costs_are_around_the_rows_mean() -> None:
    e = math.e
    log_costs = relative_log_costs(np.array([[1, e, e**2], [7, 7, 7]]), np.inf)
    np.testing.assert_allclose(log_costs, [[-1, 0, 1], [0, 0, 0]], atol=1e-12)


def test_relative_log_costs_are_cut_on_both_sides() -> None:
    e = math.e
    np.testing.assert_allclose(relative_log_costs(np.array([[1, e, e**2]]), 0.75), [[-0.75, 0, 0.75]], atol=1e-12)


def test_an_unmeasured_setting_gets_its_own_mean() -> None:
    # Second and third setting cost e and e^2 over the first wherever both were measured, so the rows are three alike.
    e = math.e
    full = np.array([[1, e, e**2]] * 3) * [[1.0], [7.0], [1e-6]]
    holes = full.copy()
    holes[0, 2] = holes[1, 0] = NAN
    log_costs = relative_log_costs(holes, np.inf)
    np.testing.assert_allclose(log_costs, relative_log_costs(full, np.inf), atol=1e-4)


def test_unmeasured_costs_do_not_change_the_other_costs_of_a_sample() -> None:
    # The first setting is measured twice, at -1 and +1 around the second: it says 0 where it was not.
    log_costs = relative_log_costs(np.exp([[-1.0, 1.0], [1.0, -1.0], [NAN, 5.0]]), np.inf)
    np.testing.assert_allclose(log_costs[:2], [[-1, 1], [1, -1]], atol=0.1)
    assert abs(log_costs[2, 0]) < 0.1


def test_a_sample_of_bad_settings_only_is_not_a_bad_sample() -> None:
    # log costs = sample + setting: 0 and 10, and -1, 0, 1; of the second sample only the two dear settings are known.
    logs = np.array([-1.0, 0.0, 1.0, 10.0, 11.0])
    sample, setting = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 1, 2])
    of_sample, of_setting = additive_effects(logs, sample, setting, 2, 3)
    np.testing.assert_allclose(of_sample[sample] + of_setting[setting], logs, atol=1e-2)
    assert of_sample[1] - of_sample[0] == pytest.approx(10, abs=0.02)


def test_effects_are_those_of_least_squares() -> None:
    rng = np.random.default_rng(0)
    sample, setting = (places.ravel() for places in np.indices((12, 5)))
    measured = rng.permutation(60)[:48]
    sample, setting = sample[measured], setting[measured]
    values = rng.normal(size=48)
    design = np.concatenate([np.eye(12)[sample], np.eye(5)[setting]], axis=1)
    expected = design @ np.linalg.lstsq(design, values, rcond=None)[0]
    of_sample, of_setting = additive_effects(values, sample, setting, 12, 5)
    np.testing.assert_allclose(of_sample[sample] + of_setting[setting], expected, atol=1e-3)


def test_what_has_no_measurement_has_no_effect() -> None:
    of_sample, of_setting = additive_effects(np.array([2.0]), np.array([1]), np.array([0]), 3, 2)
    assert (of_sample.tolist(), of_setting.tolist()) == ([0.0, 2.0, 0.0], [0.0, 0.0])


def test_the_unit_of_a_rows_costs_does_not_matter() -> None:
    costs = np.array([[1.0, 3.0, 2.0], [5.0, NAN, 4.0]])
    np.testing.assert_allclose(relative_log_costs(costs * [[1e-9], [60.0]], 2.0), relative_log_costs(costs, 2.0))


def test_a_factor_of_e_in_cost_is_a_preference_of_88_to_12() -> None:
    np.testing.assert_allclose(
        preferences(np.array([[0.0, 1.0], [3.0, 3.0]])), [[0.8808, 0.1192], [0.5, 0.5]], atol=1e-4
    )


def test_the_choice_is_the_most_preferred() -> None:
    choice = Fixed([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]).predict([[1], [0], [0]])
    assert choice.dtype == np.int64
    assert choice.tolist() == [0, 1, 1]


def test_the_score_is_the_mean_log_share_of_the_oracle() -> None:
    costs = [[1.0, 2.0], [8.0, 4.0]]
    assert Fixed([[1, 0], [0, 1]]).score([[0], [1]], costs) == 0
    # The first row pays twice as much as it had to, the second nothing.
    assert Fixed([[0, 1], [0, 1]]).score([[0], [1]], costs) == pytest.approx(-math.log(2) / 2)


def test_a_choice_that_was_not_measured_scores_as_the_dearest() -> None:
    assert Fixed([[0, 0, 1]]).score([[0]], [[3.0, 1.0, NAN]]) == pytest.approx(-math.log(3))


def test_cost_ratios_undo_preferences() -> None:
    logs = np.array([[0.0, 0.3, 1.2], [2.0, 1.0, 1.0]])
    np.testing.assert_allclose(cost_ratios(preferences(logs)), np.exp(logs - logs.min(axis=1, keepdims=True)))
    # A vote without any is a preference of one in a hundred.
    np.testing.assert_allclose(cost_ratios(np.array([1.0, 0.0])), [1.0, 10.0])


def test_the_portfolio_is_the_best_single_and_then_what_helps_most_beside_it() -> None:
    # Loss in bits, sums: 3, 6, 3.2 and 3.3. Beside the first, the third saves 2 and the second 1.
    logs = np.array([[1.0, 0.0, 3.2, 1.1], [1.0, 3.0, 0.0, 1.1], [1.0, 3.0, 0.0, 1.1]])
    assert portfolio(logs, 1).tolist() == [0]
    assert portfolio(logs, 2).tolist() == [0, 2]
    assert portfolio(logs, 3).tolist() == [0, 2, 1]
    assert portfolio(logs, 9).tolist() == [0, 2, 1, 3]


def test_a_portfolio_counts_settings_only_for_samples_that_may_ask() -> None:
    logs = np.log([[1.0, math.nan, 3.0], [9.0, math.nan, 1.1], [9.0, 1.0, 1.1]])
    assert portfolio(logs, 1).tolist() == [2]


# -- settings ------------------------------------------------------------------------------------------
SETTING_FEATURES = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])


def test_rows_are_taken_in_order() -> None:
    settings = Settings(SETTING_FEATURES, np.array([[0, 1], [1, -1], [2, 0]]))
    part = settings.take(np.array([2, 0]))
    assert part.row.tolist() == [[2, 0], [0, 1]]
    assert part.features is SETTING_FEATURES  # the table is shared, and its rows mean what they meant
    assert (len(settings), len(part), len(settings.take(slice(0, 0)))) == (3, 2, 0)


@pytest.mark.parametrize(
    ("features", "row", "word"),
    [
        (SETTING_FEATURES[0], [[0]], r"settings have features \(2,\)"),
        (SETTING_FEATURES, [0, 1], r"rows \(2,\)"),
        (SETTING_FEATURES * np.nan, [[0]], "allowed: finite"),
        (SETTING_FEATURES + np.inf, [[0]], "allowed: finite"),
        (SETTING_FEATURES, [[0, 3]], "rows of settings are 0 to 3; allowed: -1 to 2"),
        (SETTING_FEATURES, [[0, -2]], "rows of settings are -2 to 0; allowed: -1 to 2"),
    ],
)
def test_settings_that_do_not_fit_are_refused(features: np.ndarray, row: list[int], word: str) -> None:
    with pytest.raises(HeadError, match=word):
        Settings(features, np.array(row))
