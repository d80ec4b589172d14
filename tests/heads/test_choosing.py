"""Costs in, preferences out: what may be a cost, what an unmeasured one stands for, and what the preferences mean."""

from __future__ import annotations

import math
from typing import Self

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from mirenc.errors import HeadError
from mirenc.heads.choosing import ChoosingMixin, checked_costs, preferences, relative_log_costs

NAN = math.nan


class Fixed(ChoosingMixin):
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
    found = relative_log_costs(np.array([[1, e, e**2], [7, 7, 7]]), np.inf)
    np.testing.assert_allclose(found, [[-1, 0, 1], [0, 0, 0]], atol=1e-12)


def test_relative_log_costs_are_cut_on_both_sides() -> None:
    e = math.e
    np.testing.assert_allclose(relative_log_costs(np.array([[1, e, e**2]]), 0.75), [[-0.75, 0, 0.75]], atol=1e-12)


def test_an_unmeasured_choice_costs_what_runs_in_its_place() -> None:
    e = math.e
    # The middle one is measured up to e, so the last runs as the middle one; the first of the second row has nothing
    # below, so the least measured choice runs.
    found = relative_log_costs(np.array([[1, e, NAN], [NAN, e, 1]]), np.inf)
    np.testing.assert_allclose(found, [[-2 / 3, 1 / 3, 1 / 3], [1 / 3, 1 / 3, -2 / 3]], atol=1e-12)


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


def test_the_score_takes_an_unmeasured_choice_for_what_runs() -> None:
    assert Fixed([[0, 0, 1]]).score([[0]], [[1.0, 3.0, NAN]]) == pytest.approx(-math.log(3))
