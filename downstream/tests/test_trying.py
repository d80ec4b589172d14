"""What trying several settings won: records worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from trying import Trial, covering_order, promise_of, trial_like, trials_of

# Setting 1 is the default. Of 40 samples the first 20 promise 10 % by setting 0, and the others 1 % by setting 2.
EXPECTED = np.array([[1 / 1.10, 1.0, 0.95]] * 20 + [[1.2, 1.0, 1 / 1.01]] * 20)
# Of the first, setting 0 saves a tenth on half and loses a tenth on the others; setting 2 saves a fifth on six. On the
# others nothing saves anything.
COSTS = np.array([[90.0, 100.0, 80.0 if row in (0, 4, 8) else 100.0] for row in range(10)] * 2)
COSTS[10:20, 0] = 110.0
COSTS = np.concatenate([COSTS, np.tile([120.0, 100.0, 100.0], (20, 1))])
PARTS = np.array(["module"] * 40)
GROUPS = np.array([f"g{row % 2}" for row in range(40)])  # each of them has both kinds of samples


def trials(parts: np.ndarray = PARTS, count: int = 5) -> dict[str, tuple[Trial, ...]]:
    return trials_of(EXPECTED, COSTS, 1, parts, GROUPS, count)


def test_records_by_hand() -> None:
    (bold, meek) = trials()["module"]
    assert (bold.answers, meek.answers) == (20, 20)
    assert (bold.promise, meek.promise) == (pytest.approx(1.10), pytest.approx(1.01))
    # All 40 make the order of both: setting 2 saves more in the mean, 6 x 22 % against 10 x 10 %.
    assert bold.order == meek.order == (2, 0)
    # Even samples are tried in the order of odd ones, which know nothing of setting 2's worth: 0, 2. The others, 2, 0.
    first = (0.9**5 * 1.1**5) ** (1 / 20)
    assert bold.ratios[0] == pytest.approx(first, rel=1e-5)
    assert bold.ratios[1] == pytest.approx((0.8**6 * 0.9**5 * 1.1**5) ** (1 / 20), rel=1e-5)
    # The default is tried too, so a loss is none: five even samples gain 1 / 0.9 by one setting.
    assert bold.gains[0] == pytest.approx(0.9 ** (-5 / 20), rel=1e-5)
    # With both, six gain 1 / 0.8, and of the ten that setting 0 helps seven are left.
    assert bold.gains[1] == pytest.approx(0.9 ** (-7 / 20) * 0.8 ** (-6 / 20), rel=1e-5)
    assert bold.idle == (0.75, 7 / 20)
    assert (meek.gains, meek.idle) == ((1.0, 1.0), (1.0, 1.0))


def test_an_order_complements_itself() -> None:
    # 0 and 1 are alike and good in the mean; 3 is good where they are not. 2 is the default.
    logs = np.log(np.array([[0.8, 0.81, 1.0, 1.3], [0.8, 0.81, 1.0, 1.3], [1.1, 1.1, 1.0, 0.9]]))
    assert covering_order(logs, 2, 9).tolist() == [0, 3, 1]
    assert covering_order(logs, 2, 2).tolist() == [0, 3]


def test_an_order_is_of_those_who_promise_about_as_much() -> None:
    # 400 samples: setting 0 helps the half that promises more, setting 2 the other.
    promise = np.linspace(1.2, 1.0, 400)
    expected = np.stack([1 / promise, np.ones(400), np.full(400, 2.0)], axis=1)
    costs = np.array([[90.0, 100.0, 101.0]] * 200 + [[101.0, 100.0, 90.0]] * 200)
    records = trials_of(expected, costs, 1, np.full(400, ""), np.arange(400).astype(str), 2)[""]
    assert [trial.order for trial in records] == [(0, 2)] * 5 + [(2, 0)] * 5
    assert [trial.promise for trial in records] == sorted((trial.promise for trial in records), reverse=True)


def test_less_than_half_a_per_cent_is_nothing() -> None:
    (bold, meek) = trials()["module"]
    assert (bold.is_idle(2), meek.is_idle(2)) == (False, True)
    assert bold.idle_share(1) == 0.75
    assert bold.gain(99) == bold.gains[1]  # no more than two are ranked
    assert Trial(1.0, 20, (0,), (1.0,), (1.0049,), (0.9,)).is_idle(1)
    assert not Trial(1.0, 20, (0,), (1.0,), (1.0051,), (0.9,)).is_idle(1)


def test_only_so_many_settings_are_ranked() -> None:
    assert [len(trial.gains) for trial in trials(count=1)["module"]] == [1, 1]


def test_parts_have_records_of_their_own_where_they_are_large_enough() -> None:
    parts = np.array(["function"] * 21 + ["module"] * 19)
    records = trials(parts)
    assert list(records) == ["function"]
    assert sum(trial.answers for trial in records["function"]) == 21


def test_no_group_is_tried_in_an_order_of_its_own() -> None:
    # The 200 of "a" promise most, so nobody else is around the boldest of them. Setting 0 helps them, and 2 the others.
    expected = np.tile([[1.0, 1.0, 1.0]], (400, 1))
    expected[:, 0] = 1 / np.linspace(1.2, 1.0, 400)
    costs = np.array([[90.0, 100.0, 101.0]] * 200 + [[101.0, 100.0, 90.0]] * 200)
    group = np.repeat(["a", "b"], 200)
    bold = trials_of(expected, costs, 1, np.full(400, ""), group, 1)[""][0]
    assert (bold.order, bold.gains) == ((0,), (1.0,))
    # The same where other parts' groups stand between those of a part; and one group alone has no record.
    part = np.repeat(["f", "m", "f"], [200, 20, 200])
    rows = np.r_[0:200, 0:20, 200:400]
    group = np.repeat(["a", "b", "c"], [200, 20, 200])
    records = trials_of(expected[rows], costs[rows], 1, part, group, 1)
    assert list(records) == ["f"]
    assert records["f"][0].gains == (1.0,)


def test_a_question_gets_the_record_of_those_that_promised_as_much() -> None:
    known = trials()["module"]
    assert trial_like(known, 1.5) is known[0]
    assert trial_like(known, 1.05) is known[1]
    assert trial_like(known, 0.5) is known[1]
    assert trial_like((), 1.5) is None


def test_a_promise_is_that_of_the_best_other_setting() -> None:
    assert promise_of(np.array([[0.5, 1.0, 0.8]]), 1) == pytest.approx(2.0)
    assert promise_of(np.array([[0.5, 1.0, 0.8]]), 0) == pytest.approx(1.25)
