"""What trying several settings won: records worked out by hand, and what is kept of them in a file."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from mirenc.tasks.trying import Trial, promise_of, trial_like, trials_of

# Setting 1 is the default. Of 40 samples the first 20 promise 10 % by setting 0, and the others 1 % by setting 2.
EXPECTED = np.array([[1 / 1.10, 1.0, 0.95]] * 20 + [[1.2, 1.0, 1 / 1.01]] * 20)
# Setting 0 saves a tenth of half of the first and loses a tenth on the others; setting 2 saves a fifth of every fourth.
COSTS = np.array([[90.0, 100.0, 80.0 if row % 4 == 0 else 100.0] for row in range(10)] * 2)
COSTS[10:20, 0] = 110.0
COSTS = np.concatenate([COSTS, np.tile([120.0, 100.0, 100.0], (20, 1))])
PARTS = np.array(["module"] * 40)


def test_records_by_hand() -> None:
    (bold, meek) = trials_of(EXPECTED, COSTS, 1, PARTS, 5)["module"]
    assert (bold.answers, meek.answers) == (20, 20)
    assert (bold.promise, meek.promise) == (pytest.approx(1.10), pytest.approx(1.01))
    # Setting 0 comes first: ten samples at 0.9, ten at 1.1; then setting 2, at 0.8 for six of them (rows 0, 4, 8).
    assert bold.ratios == (pytest.approx((0.9 * 1.1) ** 0.5, rel=1e-5), pytest.approx(0.8 ** (6 / 20), rel=1e-5))
    # The default is tried too, so a loss is none: with one setting ten samples gain 1 / 0.9.
    assert bold.gains[0] == pytest.approx(0.9 ** (-10 / 20), rel=1e-5)
    # With both: three of the first ten gain 1 / 0.8 in place of 1 / 0.9, and three of the others 1 / 0.8.
    assert bold.gains[1] == pytest.approx(0.9 ** (-7 / 20) * 0.8 ** (-6 / 20), rel=1e-5)
    assert bold.idle == (0.5, 7 / 20)
    assert meek.ratios == (1.0, pytest.approx(1.2))
    assert (meek.gains, meek.idle) == ((1.0, 1.0), (1.0, 1.0))


def test_less_than_half_a_per_cent_is_nothing() -> None:
    (bold, meek) = trials_of(EXPECTED, COSTS, 1, PARTS, 5)["module"]
    assert (bold.is_idle(2), meek.is_idle(2)) == (False, True)
    assert bold.idle_share(1) == 0.5
    assert bold.gain(99) == bold.gains[1]  # no more than two are ranked
    assert Trial(1.0, 20, (1.0,), (1.0049,), (0.9,)).is_idle(1)
    assert not Trial(1.0, 20, (1.0,), (1.0051,), (0.9,)).is_idle(1)


def test_only_so_many_settings_are_ranked() -> None:
    assert [len(trial.gains) for trial in trials_of(EXPECTED, COSTS, 1, PARTS, 1)["module"]] == [1, 1]


def test_parts_have_records_of_their_own_where_they_are_large_enough() -> None:
    parts = np.array(["function"] * 21 + ["module"] * 19)
    found = trials_of(EXPECTED, COSTS, 1, parts, 5)
    assert list(found) == ["function"]
    assert sum(trial.answers for trial in found["function"]) == 21


def test_a_question_gets_the_record_of_those_that_promised_as_much() -> None:
    trials = trials_of(EXPECTED, COSTS, 1, PARTS, 5)["module"]
    assert trial_like(trials, 1.5) is trials[0]
    assert trial_like(trials, 1.05) is trials[1]
    assert trial_like(trials, 0.5) is trials[1]
    assert trial_like((), 1.5) is None


def test_a_promise_is_that_of_the_best_other_setting() -> None:
    assert promise_of(np.array([[0.5, 1.0, 0.8]]), 1) == pytest.approx(2.0)
    assert promise_of(np.array([[0.5, 1.0, 0.8]]), 0) == pytest.approx(1.25)


def test_what_was_saved_is_read() -> None:
    one = trials_of(EXPECTED, COSTS, 1, PARTS, 5)["module"][0]
    assert Trial.from_json(json.loads(json.dumps(asdict(one)))) == one


@pytest.mark.parametrize(
    "change",
    [{"gains": [1.0]}, {"promise": float("nan")}, {"idle": None}, {"ratios": ["much", 1]}]
    + [{"ratios": [], "gains": [], "idle": []}],
)
def test_damage_is_refused(change: dict[str, object]) -> None:
    one = asdict(trials_of(EXPECTED, COSTS, 1, PARTS, 5)["module"][0])
    with pytest.raises((TypeError, ValueError)):
        Trial.from_json(one | change)
