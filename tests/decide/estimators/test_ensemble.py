"""`EnsembleHead`: it picks on rows that its members were not trained on, and what it picks is a mean."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pytest
from every_head import labels_table
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone

from mirenc.base.errors import ConfigError, HeadError
from mirenc.decide import (
    BoostedRegressor,
    CostHead,
    EnsembleHead,
    LabelHead,
    LabelsEnsembleHead,
    MLPHead,
    NumberEnsembleHead,
    PairHead,
    RidgeHead,
    RidgeLabels,
    RidgeRegressor,
    Settings,
    TreesHead,
    TreesLabels,
)
from mirenc.decide.estimators.chooser import Chooser


class Memory(Chooser):
    """Knows the rows it saw by heart, and is wrong about all others; the first column is the row's number."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        self.known_ = dict(zip(np.asarray(X)[:, 0].tolist(), np.argmin(y, axis=1), strict=True))
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        # Truth is the sign of the second column.
        rows = np.asarray(X)
        truth = (rows[:, 1] > 0).astype(int)
        choice = [self.known_.get(number, 1 - right) for number, right in zip(rows[:, 0], truth, strict=True)]
        return np.eye(2)[choice]


class Column(Chooser):
    """Prefers choice 1 where a column is positive, by a fixed sureness; learns nothing."""

    def __init__(self, column: int = 0, sure: float = 0.9) -> None:
        self.column = column
        self.sure = sure

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        self.fitted_ = True
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        second = np.where(np.asarray(X)[:, self.column] > 0, self.sure, 1 - self.sure)
        return np.stack([1 - second, second], axis=1)


def table(rows: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, 4): number, what decides, two of chance; costs (n, 2)."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, 4))
    features[:, 0] = np.arange(rows)
    return features, np.where(features[:, 1:2] > 0, [[2.0, 1.0]], [[1.0, 2.0]])


def own_members() -> list[tuple[str, Any]]:
    """Members that can be saved."""
    return [
        ("cost", CostHead(length_scale=1.0)),
        ("trees", TreesHead(trees=5)),
        ("mlp", LabelHead(MLPHead((4,), epochs=5, random_state=0))),
    ]


@pytest.mark.parametrize("select", ["accuracy", "speedup"])
def test_the_good_member_is_picked_and_what_only_remembers_is_not(select: str) -> None:
    features, costs = table()
    head = EnsembleHead([("good", Column(1)), ("memory", Memory()), ("bad", Column(2))], select=select)
    head.fit(features, costs)
    assert head.weights_ == {"good": 1.0}
    assert head.predict(features).tolist() == costs.argmin(axis=1).tolist()
    assert head.scores_["memory"] < head.scores_["bad"] < head.scores_["good"]


def test_scores_are_those_of_rows_held_out() -> None:
    features, costs = table()
    head = EnsembleHead([("good", Column(1)), ("memory", Memory())]).fit(features, costs)
    # Always wrong, and each time by a factor of two; a hundredth of the loss breaks ties.
    assert head.scores_ == {"good": 1.0, "memory": pytest.approx(-0.01 * np.log(2))}
    faster = EnsembleHead([("good", Column(1)), ("memory", Memory())], select="speedup").fit(features, costs)
    assert faster.scores_ == {"good": 0.0, "memory": pytest.approx(-np.log(2))}


def test_two_that_err_in_different_places_are_averaged() -> None:
    # Each is right and sure on its own half, wrong and unsure on the other's: only together they are right everywhere.
    truth = np.tile([1.0, -1.0], 20)
    half = np.repeat([1.0, -1.0], 20)
    features = np.stack([truth * (1 + half) + 1e-3 * -truth, truth * (1 - half) + 1e-3 * -truth], axis=1)
    costs = np.where(truth[:, None] > 0, [[2.0, 1.0]], [[1.0, 2.0]])

    class Half(Column):
        def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
            second = 1 / (1 + np.exp(-np.asarray(X)[:, self.column]))
            return np.stack([1 - second, second], axis=1)

    head = EnsembleHead([("first", Half(0)), ("second", Half(1))]).fit(features, costs)
    assert head.weights_ == {"first": 0.5, "second": 0.5}
    assert head.predict(features).tolist() == costs.argmin(axis=1).tolist()
    expected = (Half(0).predict_proba(features) + Half(1).predict_proba(features)) / 2
    np.testing.assert_allclose(head.predict_proba(features), expected)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("select", ["accuracy", "speedup"])
def test_on_held_out_rows_it_is_never_worse_than_its_best_member(seed: int, select: str) -> None:
    rng = np.random.default_rng(seed)
    costs = np.exp(rng.normal(size=(30, 3)))
    seen = {name: rng.dirichlet(np.ones(3), size=30) for name in "abcdef"}
    head = EnsembleHead([], select=select)
    counts = head._pick(seen, costs)
    mean = sum(times * seen[name] for name, times in counts.items()) / counts.total()
    assert head._score(mean, costs) >= max(head._score(one, costs) for one in seen.values()) - 1e-12
    assert counts.total() <= head.picks


def test_a_setting_that_nobody_may_ask_for_is_not_counted_as_asked() -> None:
    # The member would take the third; among those with a cost it takes the second, which is best.
    costs = np.array([[2.0, 1.0, np.nan]])
    head = EnsembleHead([])
    assert head._score(np.array([[0.1, 0.2, 0.7]]), costs) == head._score(np.array([[0.0, 1.0, 0.0]]), costs) == 1.0
    assert head._score(np.array([[0.2, 0.1, 0.7]]), costs) == pytest.approx(-0.01 * np.log(2))


HELD_OUT = [
    CostHead(length_scale=1.0),
    CostHead(2),
    TreesHead(trees=5),
    LabelHead(MLPHead((4,), epochs=5, random_state=0)),
    RidgeHead(0.1),
    PairHead(RidgeRegressor(0.1), products=True),
    PairHead(BoostedRegressor(trees=5)),
]


@pytest.mark.parametrize("member", HELD_OUT, ids=lambda member: type(member).__name__)
def test_held_out_rows_are_predicted_without_their_part(member: Any) -> None:
    # Parts of other places, spreads and costs: a scale or a mean that saw the part would show.
    features, costs = table()
    part = np.arange(40) // 14  # 14, 14 and 12 rows
    features[:, 1:] = (features[:, 1:] + 5 * part[:, None]) * (1 + part[:, None])
    costs[part == 1, 0] *= 3
    out = EnsembleHead([])._cross_predict(member, features, costs, None, part)
    for name in range(3):
        test = part == name
        expected = clone(member).fit(features[~test], costs[~test]).predict_proba(features[test])
        np.testing.assert_array_equal(out[test], expected)


def test_a_member_is_asked_with_the_settings_of_the_rows_held_out() -> None:
    features, costs = table()
    settings = Settings(np.array([[0.0], [1.0], [5.0]]), np.where(np.arange(40)[:, None] < 20, [[0, 1]], [[1, 2]]))
    member = PairHead(RidgeRegressor(0.1), products=True)
    part = np.arange(40) % 2
    out = EnsembleHead([])._cross_predict(member, features, costs, settings, part)
    for name in range(2):
        test, training = np.flatnonzero(part == name), np.flatnonzero(part != name)
        fitted = clone(member).fit(features[training], costs[training], settings.take(training))
        np.testing.assert_array_equal(out[test], fitted.predict_proba(features[test], settings.take(test)))
    # And the ensemble hands them on, to those who take any.
    head = EnsembleHead([("pairs", member), ("ridge", RidgeHead())]).fit(features, costs, settings)
    head.weights_ = {"pairs": 0.5, "ridge": 0.5}
    head.members_ = {"pairs": clone(member).fit(features, costs, settings), "ridge": RidgeHead().fit(features, costs)}
    parts = head.members_["pairs"].predict_proba(features, settings), head.members_["ridge"].predict_proba(features)
    np.testing.assert_allclose(head.predict_proba(features, settings), (parts[0] + parts[1]) / 2)


def test_one_part_is_not_enough_to_choose_by() -> None:
    features, costs = table()
    with pytest.raises(ConfigError, match="`part` gives 1 inner folds; two are needed"):
        EnsembleHead(own_members()).fit(features, costs, part=np.zeros(40))


def test_a_single_member_needs_no_search() -> None:
    features, costs = table()
    head = EnsembleHead([("cost", CostHead(length_scale=1.0))]).fit(features, costs)
    assert (head.weights_, head.scores_) == ({"cost": 1.0}, {})
    alone = CostHead(length_scale=1.0).fit(features, costs)
    np.testing.assert_array_equal(head.predict_proba(features), alone.predict_proba(features))


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"members": []}, "members is empty"),
        ({"members": [("a", CostHead()), ("b", CostHead()), ("a", CostHead())]}, "2 members are named 'a'"),
        ({"select": "luck"}, "unknown select 'luck'; available: accuracy, speedup"),
    ],
)
def test_what_cannot_be_searched_is_refused(parameters: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        EnsembleHead(**{"members": own_members()} | parameters).fit(*table())


# -- numbers -------------------------------------------------------------------------------------------
class Known(RegressorMixin, BaseEstimator):
    """Says a column plus a constant; learns nothing."""

    def __init__(self, column: int = 1, off: float = 0.0) -> None:
        self.column = column
        self.off = off

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        self.fitted_ = True
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        return np.asarray(X)[:, self.column] + self.off


class Lookup(RegressorMixin, BaseEstimator):
    """Knows the rows it saw by heart and is a hundred off for all others."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        self.known_ = dict(zip(np.asarray(X)[:, 0].tolist(), np.asarray(y).tolist(), strict=True))
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        return np.array([self.known_.get(number, 100.0) for number in np.asarray(X)[:, 0]])


def test_of_numbers_what_only_remembers_is_not_picked() -> None:
    features, _ = table()
    members = [("lookup", Lookup()), ("low", Known(off=-1.0)), ("high", Known(off=1.0)), ("far", Known(off=30.0))]
    head = NumberEnsembleHead(members).fit(features, features[:, 1])
    # One below and one above: their mean is exact.
    assert head.weights_ == {"low": 0.5, "high": 0.5}
    np.testing.assert_allclose(head.predict(features), features[:, 1], atol=1e-12)
    assert head.scores_["low"] == pytest.approx(-1.0)
    assert head.scores_["far"] == pytest.approx(-900.0)
    assert head.scores_["lookup"] < -9000


@pytest.mark.parametrize("target", [np.ones(39), np.ones((40, 1)), np.where(np.arange(40) == 3, np.nan, 1.0)])
def test_numbers_that_are_none_are_refused(target: np.ndarray) -> None:
    with pytest.raises(HeadError, match="each row needs one finite number"):
        NumberEnsembleHead([("ridge", RidgeRegressor())]).fit(table()[0], target)


# -- labels --------------------------------------------------------------------------------------------
def labels_ensemble() -> LabelsEnsembleHead:
    return LabelsEnsembleHead([("ridge", RidgeLabels(0.1)), ("trees", TreesLabels(1, trees=20, leaf=3))])


def test_an_ensemble_of_equal_members_says_what_each_does() -> None:
    features, labels = labels_table()
    one = LabelsEnsembleHead([("a", RidgeLabels(0.1))]).fit(features, labels)
    expected = RidgeLabels(0.1).fit(features, labels).predict(features)
    assert expected.min() < 0
    assert expected.max() > 1
    np.testing.assert_allclose(one.predict(features), expected)
    np.testing.assert_allclose(one.probabilities(features), np.clip(expected, 0, 1))


@pytest.mark.parametrize(
    "labels",
    [np.zeros(400), np.zeros((400, 0)), np.zeros((3, 2)), np.full((400, 2), 0.5)],
    ids="flat none few half".split(),
)
def test_other_labels_are_refused(labels: np.ndarray) -> None:
    features, _ = labels_table()
    with pytest.raises(HeadError, match=r"labels have shape .* for 400 samples; each needs a row of zeros and ones"):
        labels_ensemble().fit(features, labels)
