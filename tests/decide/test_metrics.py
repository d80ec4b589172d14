"""Figures of decisions, worked out by hand."""

import numpy as np
import pytest

from mirenc.decide.metrics import (
    RankedPairs,
    balanced_gain,
    decision_figures,
    geometric_mean,
    group_interval,
    label_figures,
    number_figures,
    oracle_choice,
    share_saved,
)

COSTS = np.array([[4.0, 2.0, 1.0], [1.0, 2.0, np.nan], [3.0, np.nan, np.nan]])


def test_the_oracle_takes_the_least_measured_cost() -> None:
    assert oracle_choice(COSTS).tolist() == [2, 0, 0]


def test_figures_by_hand() -> None:
    # The second sample was asked for setting 2, which was not measured: setting 1 ran.
    figures = decision_figures(COSTS, np.array([2, 1, 0]), COSTS[:, 0])
    assert figures["accuracy"] == pytest.approx(2 / 3)
    assert figures["speedup_geometric"] == pytest.approx((4 * 0.5 * 1) ** (1 / 3))
    assert figures["speedup_arithmetic"] == pytest.approx((4 + 0.5 + 1) / 3)
    assert figures["oracle_geometric"] == pytest.approx(4 ** (1 / 3))
    assert figures["oracle_arithmetic"] == pytest.approx(2.0)
    assert figures["oracle_share"] == pytest.approx(0.5 ** (1 / 3))
    assert figures["error_rate"] == pytest.approx(1 / 3)
    assert figures["slowdowns"] == pytest.approx(1 / 3)


def test_a_setting_as_good_as_the_best_is_right() -> None:
    figures = decision_figures(np.array([[1.0, 1.0, 2.0], [3.0, 1.0, 1.0]]), np.array([1, 2]), np.array([1.0, 3.0]))
    assert (figures["accuracy"], figures["macro_f1"], figures["oracle_share"]) == (1.0, 1.0, 1.0)


def test_figures_of_numbers_by_hand() -> None:
    figures = number_figures(np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 3.0, 3.0, 3.0]))
    assert figures["mae"] == pytest.approx((0 + 1 + 0 + 3) / 4)
    assert figures["rmse"] == pytest.approx((10 / 4) ** 0.5)
    assert figures["median_error"] == pytest.approx(0.5)
    # Around the mean, 3: 4 + 1 + 0 + 9.
    assert figures["r2"] == pytest.approx(1 - 10 / 14)


def test_numbers_that_do_not_vary_have_no_r2() -> None:
    figures = number_figures(np.full(3, 2.0), np.array([2.0, 2.5, 2.0]))
    assert np.isnan(figures["r2"])
    assert figures["mae"] == pytest.approx(0.5 / 3)


def test_a_cost_within_one_per_cent_is_no_slowdown() -> None:
    costs = np.array([[1.0, 1.005], [1.0, 1.02]])
    assert decision_figures(costs, np.array([1, 1]), costs[:, 0])["slowdowns"] == 0.5


def test_macro_f1_counts_classes_alike() -> None:
    truth, choice = np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0])
    costs = np.where(np.arange(2) == truth[:, None], 1.0, 2.0)
    assert decision_figures(costs, choice, costs[:, 0])["macro_f1"] == pytest.approx((6 / 7 + 0) / 2)
    assert decision_figures(costs, truth, costs[:, 0])["macro_f1"] == 1.0


def test_geometric_mean_of_a_gain_and_its_inverse_is_one() -> None:
    assert geometric_mean(np.array([4.0, 0.25])) == pytest.approx(1.0)


def test_the_interval_is_wider_when_samples_come_in_groups() -> None:
    generator = np.random.default_rng(1)
    hits = np.repeat(generator.integers(0, 2, 40), 10).astype(float)
    alone = group_interval(hits, np.arange(400))
    together = group_interval(hits, np.repeat(np.arange(40), 10))
    assert together[1] - together[0] > 2 * (alone[1] - alone[0])
    assert together[0] < hits.mean() < together[1]


def test_the_interval_of_a_constant_is_a_point_and_statistic_applies() -> None:
    low, high = group_interval(np.full(6, np.log(2.0)), np.arange(6), statistic=np.exp)
    assert low == pytest.approx(2.0)
    assert high == pytest.approx(2.0)


def test_a_share_that_every_group_saves_has_no_spread() -> None:
    group = np.array(["a", "a", "b", "c"])  # of which c weighs a hundred times as much
    share = share_saved(np.array([1.0, 1.0, 2.0, 400.0]), np.array([2.0, 2.0, 4.0, 800.0]), group)
    assert share == pytest.approx((0.5, 0.5, 0.5))
    assert share_saved(np.full(2, 3.0), np.zeros(2), np.arange(2)) == (-3.0, -3.0, -3.0)  # nothing to have a share of


def test_a_gain_of_each_class_in_every_group_has_no_spread() -> None:
    labels, group = np.array(["no", "no", "no", "yes", "no", "yes"]), np.array([0, 0, 0, 0, 1, 1])
    gain = balanced_gain(np.ones(6), (labels == "no").astype(float), labels, group)
    assert gain == pytest.approx((0.5, 0.5, 0.5))
    # With one class in each group, a sample that draws a group twice has one class: all is gained of it, or nothing.
    assert balanced_gain(np.ones(2), np.array([1.0, 0.0]), labels[2:4], np.arange(2)) == (0.5, 0.0, 1.0)


def test_the_right_class_is_the_setting_that_runs() -> None:
    # Setting 0 was not measured and runs as setting 1, the default: both have one cost, and one class.
    costs = np.array([[1.0, 1.0, 2.0], [3.0, 3.0, 1.0]])
    figures = decision_figures(costs, np.array([2, 1]), costs[:, 1], np.array([1, 2]))
    assert figures["macro_f1"] == 0.0
    figures = decision_figures(costs, np.array([1, 1]), costs[:, 1], np.array([1, 2]))
    assert figures["macro_f1"] == pytest.approx((2 / 3 + 0) / 2)
    # Taken for the first of least cost, the truth of a wrong answer would be a class that never runs.
    wrong = decision_figures(costs, np.array([2, 1]), costs[:, 1])
    assert wrong["macro_f1"] == 0.0


def test_the_oracle_chooses_by_one_measurement_and_pays_another() -> None:
    costs = np.array([[4.0, 2.0], [1.0, 0.9]])
    paid = np.array([[4.0, 2.0], [1.0, 1.25]])  # the second sample's gain was luck
    figures = decision_figures(costs, np.array([1, 0]), paid[:, 0], paid=paid)
    assert figures["accuracy"] == 0.5
    assert figures["oracle_geometric"] == pytest.approx((2 * 0.8) ** 0.5)
    assert figures["speedup_geometric"] == pytest.approx(2**0.5)
    assert figures["oracle_share"] == pytest.approx((1 / 0.8) ** 0.5)
    assert (figures["headroom"], figures["headroom_geometric"]) == (0.5, 2.0)
    assert figures["oracle_gain_share"] == pytest.approx((2**0.5 - 1) / (1.6**0.5 - 1))


def test_where_there_is_nothing_to_gain_no_share_of_it_is_given() -> None:
    costs = np.array([[1.0, 1.03], [1.0, 2.0]])
    figures = decision_figures(costs, np.array([1, 0]), costs[:, 0])
    assert figures["slowdowns_2"] == 0.5
    assert figures["headroom"] == 0.0
    assert not {"oracle_gain_share", "headroom_geometric"} & set(figures)


# -- labels --------------------------------------------------------------------------------------------
# One label: samples told 4, 3, 2, 2, 1, of which the first, third and fifth have it.
TRUTH = np.array([[True], [False], [True], [False], [True]])
SAID = np.array([[4.0], [3.0], [2.0], [2.0], [1.0]])
GROUP = np.array(["a", "a", "b", "b", "b"])


def test_an_area_by_hand() -> None:
    # Six pairs: 4 before 3 and 2; 2 before neither 3, and as 2; 1 before none.
    figures = label_figures(TRUTH, SAID)
    assert figures["auc"] == pytest.approx(2.5 / 6)
    # At 4: 1 of 1; at 2: 2 of 4; at 1: 3 of 5.
    assert figures["average_precision"] == pytest.approx((1 + 2 / 4 + 3 / 5) / 3)
    assert figures["brier"] == 2 / 5  # all are told as certain, and three have it
    assert (figures["rate"], figures["labels_told"]) == (0.6, 1.0)


def test_a_probability_is_cut_and_a_rank_is_not() -> None:
    scores = np.array([[1.5], [1.25], [0.5], [-0.25], [0.25]])
    figures = label_figures(TRUTH, scores)
    assert figures["brier"] == pytest.approx((0 + 1 + 0.25 + 0 + 0.5625) / 5)
    assert figures["auc"] == pytest.approx(4 / 6)  # cut, the first two would be alike: 3.5 / 6
    assert figures["auc"] == label_figures(TRUTH, 10 * scores)["auc"]


def test_areas_and_precisions_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import average_precision_score, roc_auc_score

    rng = np.random.default_rng(0)
    truth = rng.random((200, 3)) < 0.3
    scores = np.round(rng.random((200, 3)) + 0.3 * truth, 1)  # with ties
    figures = label_figures(truth, scores)
    assert figures["auc"] == pytest.approx(roc_auc_score(truth, scores, average="macro"))
    assert figures["average_precision"] == pytest.approx(average_precision_score(truth, scores, average="macro"))


def test_a_label_that_all_have_tells_nothing() -> None:
    always = np.ones_like(TRUTH)
    figures = label_figures(np.hstack([TRUTH, always]), np.hstack([SAID, SAID]))
    assert figures["auc"] == label_figures(TRUTH, SAID)["auc"]
    assert figures["labels_told"] == 1
    assert np.isnan(label_figures(always, SAID)["auc"])


def test_pairs_are_counted_between_groups() -> None:
    pairs = RankedPairs.of(TRUTH, SAID, GROUP)
    assert pairs.first.tolist() == [[[1, 1], [0, 0.5]]]
    assert (pairs.true.tolist(), pairs.false.tolist()) == ([[1, 2]], [[1, 1]])
    assert pairs.area == pairs.label_areas[0] == pytest.approx(2.5 / 6)


def test_an_area_of_groups_drawn_twice_is_that_of_the_samples_twice() -> None:
    rng = np.random.default_rng(1)
    truth, scores, group = rng.random((60, 2)) < 0.5, rng.random((60, 2)), np.arange(60) % 3
    weighted = RankedPairs.of(truth, scores, group).areas(np.array([[2.0, 0.0, 1.0]]))[0]
    rows = np.concatenate([np.flatnonzero(group == one) for one in (0, 0, 2)])
    assert weighted == pytest.approx(label_figures(truth[rows], scores[rows])["auc"])


def test_an_interval_of_areas_holds_the_area_and_a_difference_to_itself_is_none() -> None:
    rng = np.random.default_rng(2)
    truth, group = rng.random((400, 4)) < 0.4, np.arange(400) % 20
    scores = rng.random((400, 4)) + 0.4 * truth
    pairs = RankedPairs.of(truth, scores, group)
    low, high = pairs.interval()
    assert low < pairs.area < high < low + 0.1
    assert pairs.interval(pairs) == (0.0, 0.0)
    other = RankedPairs.of(truth, rng.random((400, 4)), group)
    assert pairs.interval(other)[0] > 0.05
    assert RankedPairs.mean([pairs, other]).area == pytest.approx((pairs.area + other.area) / 2)
