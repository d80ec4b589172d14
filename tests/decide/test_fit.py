"""`Evidence`: records worked out by hand, none where answers are chance, and what is kept of it in a file."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from mirenc.decide.features.feature_matrix import Features
from mirenc.decide.fit import gather_evidence
from mirenc.decide.prediction import Evidence, Record
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space
from mirenc.decide.target import target_of
from mirenc.decide.task_data import TaskData

NAN = float("nan")
SPACE = Space(("width",), (("narrow",), ("wide",)))


def table(costs: list[tuple[float, ...]], space: Space = SPACE) -> TaskData:
    """Each sample a group of its own."""
    return TaskData([Sample(f"s{row}", "ir", f"g{row}", costs=one) for row, one in enumerate(costs)], space)


class Oracle:
    """A target whose heads say what they were told to say, whatever they are trained on; without code, ``blind``."""

    predictions: np.ndarray
    blind: np.ndarray | None
    folds: list[tuple[np.ndarray, np.ndarray]]

    @classmethod
    def of(cls, data: TaskData, predictions: np.ndarray, blind: np.ndarray | None = None) -> Any:
        target = target_of(data, "accuracy")
        oracle: Any = object.__new__(type("Oracle", (cls, type(target)), {}))
        oracle.__dict__.update(target.__dict__, predictions=predictions, blind=blind, folds=[])
        return oracle

    def fit_rounded(self, features: Features, rows: np.ndarray, unit: np.ndarray, seed: int) -> np.ndarray:
        return rows

    def predict(self, head: np.ndarray, features: Features, rows: np.ndarray) -> np.ndarray:
        if features.matrix.shape[1] == features.context_columns:
            assert self.blind is not None
            return self.blind[rows]
        self.folds.append((head, rows))
        return self.predictions[rows]


def gather(data: TaskData, predictions: np.ndarray, blind: np.ndarray | None = None) -> Evidence:
    """Of one column of code, and one of context where there are heads that see nothing else."""
    context = 0 if blind is None else 1
    features = Features("both", np.zeros((len(data), 1 + context)), context)
    return gather_evidence(data, Oracle.of(data, predictions, blind), features, 0)


# -- choices -------------------------------------------------------------------------------------------
def test_records_by_hand() -> None:
    # 20 answers "wide": 15 right and twice as fast, 5 wrong and four times as slow; 20 answers "narrow": 18 right.
    costs = [(2.0, 1.0)] * 15 + [(1.0, 4.0)] * 5 + [(1.0, 2.0)] * 18 + [(2.0, 1.0)] * 2
    predictions = np.array([[0.3, 0.7]] * 20 + [[0.6, 0.4]] * 20)
    evidence = gather(table(costs), predictions)
    (wide,), (narrow,) = evidence.other, evidence.default
    assert (wide.answers, wide.sure) == (20, 0.7)
    assert wide.right == pytest.approx(15 / 20)
    assert wide.slower == pytest.approx(5 / 20)
    assert wide.speedup == pytest.approx((2**15 / 4**5) ** (1 / 20))
    assert (narrow.answers, narrow.sure, narrow.slower, narrow.speedup) == (20, 0.6, 0.0, 1.0)
    assert narrow.right == pytest.approx(18 / 20)


def test_many_answers_are_told_by_how_sure_they_were() -> None:
    # The surer half of 40 is right, the other is not.
    costs = [(2.0, 1.0)] * 20 + [(1.0, 1.0 + 1e-3)] * 20
    predictions = np.array([[0.1, 0.9]] * 20 + [[0.4, 0.6]] * 20)
    evidence = gather(table(costs), predictions)
    sure, unsure = evidence.other
    assert (sure.sure, sure.answers, sure.right, sure.speedup) == (0.9, 20, 1.0, pytest.approx(2.0))
    assert (unsure.sure, unsure.answers, unsure.right) == (0.6, 20, 0.0)
    assert unsure.slower == 0.0  # a tenth of a per cent is no slowdown
    assert evidence.default == ()
    assert evidence.record(0.95, default=False) == evidence.record(0.9, default=False) == sure
    assert evidence.record(0.7, default=False) == unsure
    assert evidence.record(0.1, default=False) == unsure  # less sure than any: as the least sure
    assert evidence.record(0.9, default=True) is None


def test_few_answers_have_no_record() -> None:
    evidence = gather(table([(2.0, 1.0)] * 19), np.array([[0.1, 0.9]] * 19))
    assert (evidence.default, evidence.other) == ((), ())
    assert evidence.record(0.9, default=False) is None


def test_worth_is_over_the_best_static_rule() -> None:
    # Everywhere wide is best, so an answer "wide" is worth nothing over the best single setting.
    data = table([(2.0, 1.0)] * 30)
    evidence = gather(data, np.array([[0.1, 0.9]] * 30))
    assert evidence.rival == "best single setting"
    assert evidence.worth == (1.0, 1.0, 1.0)
    assert not evidence.code_matters
    assert evidence.other[0].speedup == pytest.approx(2.0)  # over the default, which is another thing
    # That rule is what to answer: it beats the default wherever it was held out.
    assert evidence.constant_worth == pytest.approx((2.0, 2.0, 2.0))
    assert evidence.constant_pays
    assert SPACE.names[evidence.constant(SPACE)] == "wide"


def test_a_setting_that_is_best_by_chance_is_no_constant() -> None:
    # Wide is better for half of the groups and worse for the other half; the sum is slightly in its favour.
    evidence = gather(table([(2.0, 1.0), (1.0, 1.99)] * 20), np.array([[0.1, 0.9]] * 40))
    assert not evidence.pays
    assert not evidence.constant_pays
    assert evidence.constants == (("wide",),)
    # And where answers are taken, no constant is.
    evidence = gather(
        table([(2.0, 1.0), (4.0, 2.0), (2.0, 5.0)] * 20), np.array([[0.1, 0.9], [0.1, 0.9], [0.9, 0.1]] * 20)
    )
    assert evidence.pays
    assert not evidence.constant_pays


def test_each_space_has_its_constant() -> None:
    lines = Space(("shape",), ((1,), (8,), (64,)))
    planes = Space(("shape",), ((1,), (8,)))
    samples = [Sample(f"l{row}", "ir", f"g{row}", costs=(4.0, 2.0, 1.0), space=lines) for row in range(20)]
    samples += [Sample(f"p{row}", "ir", f"h{row}", costs=(4.0, 2.0), space=planes) for row in range(20)]
    evidence = gather(TaskData(samples), np.tile([0.4, 0.6, 0.0], (40, 1)))
    assert evidence.constants == ((64,), (8,))
    assert evidence.constant_worth[0] == pytest.approx(8**0.5)
    assert (evidence.constant(lines), evidence.constant(planes)) == (2, 1)
    assert evidence.constant(Space(("shape",), ((5,), (3,)), default=1)) == 1  # none that anybody knows


def test_answers_that_know_more_than_any_rule_are_evidence() -> None:
    costs = [(2.0, 1.0), (1.0, 2.0)] * 20
    predictions = np.array([[0.1, 0.9], [0.9, 0.1]] * 20)
    evidence = gather(table(costs), predictions)
    assert evidence.worth[0] == pytest.approx(2**0.5)
    assert 1 < evidence.worth[1] < evidence.worth[0] < evidence.worth[2]
    assert evidence.code_matters
    assert evidence.error == 0.0


def test_code_is_held_against_a_head_without_it() -> None:
    # Wide is best for every other sample. The head knows that, and so does the context alone, but for 8 of 40.
    costs = [(2.0, 1.0), (1.0, 2.0)] * 20
    predictions = np.array([[0.1, 0.9], [0.9, 0.1]] * 20)
    blind = predictions.copy()
    blind[:8] = predictions[:8, ::-1]
    evidence = gather(table(costs), predictions, blind)
    assert evidence.worth[0] == pytest.approx(2**0.5)
    assert evidence.no_code[0] == pytest.approx(2 ** (8 / 40))
    assert 1 < evidence.no_code[1] < evidence.no_code[0] < evidence.no_code[2]
    assert evidence.pays
    assert evidence.code_matters
    # Where the context tells everything, answers are worth as much, and the code has no part in it.
    evidence = gather(table(costs), predictions, predictions)
    assert evidence.worth[0] == pytest.approx(2**0.5)
    assert evidence.no_code == (1.0, 1.0, 1.0)
    assert evidence.pays
    assert not evidence.code_matters


def test_without_context_no_code_is_the_best_static_rule() -> None:
    costs = [(2.0, 1.0), (1.0, 2.0)] * 20
    evidence = gather(table(costs), np.array([[0.1, 0.9], [0.9, 0.1]] * 20))
    assert evidence.no_code == evidence.worth
    assert evidence.code_matters


def test_the_head_without_code_learns_from_the_same_folds() -> None:
    class Goal(Oracle):
        def fit_rounded(self, features: Features, rows: np.ndarray, unit: np.ndarray, seed: int) -> np.ndarray:
            trained.setdefault(features.matrix.shape[1], []).append((rows.tolist(), unit.tolist(), seed))
            return rows

    trained: dict[int, list[object]] = {}
    data = table([(2.0, 1.0)] * 30)
    predictions = np.array([[0.1, 0.9]] * 30)
    gather_evidence(data, Goal.of(data, predictions, predictions), Features("both", np.zeros((30, 3)), 2), 5)
    assert len(trained[3]) == 10
    assert trained[2] == trained[3]


@pytest.mark.parametrize("seed", range(3))
def test_where_answers_are_chance_there_is_no_evidence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    costs = [tuple(np.exp(0.3 * rng.normal(size=2))) for _ in range(60)]
    assert not gather(table(costs), rng.dirichlet(np.ones(2), size=60)).code_matters


def test_a_setting_that_ran_as_the_default_counts_as_it() -> None:
    # "wide" was never measured: the default runs in its place, and neither wins nor loses.
    data = table([(1.0, NAN)] * 20 + [(1.0, 0.5)])
    evidence = gather(data, np.array([[0.1, 0.9]] * 21))
    assert (evidence.default[0].answers, evidence.default[0].right, evidence.default[0].speedup) == (20, 1.0, 1.0)
    assert evidence.other == ()


def test_a_real_head_is_trained_without_the_groups_it_answers_for() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(48, 3))
    lean = np.sign(matrix[:, 0])
    costs = np.exp(0.4 * np.stack([lean, -lean], axis=1))
    data = TaskData([Sample(f"s{row}", "ir", f"g{row // 2}", costs=tuple(one)) for row, one in enumerate(costs)], SPACE)
    features = Features("both", matrix[:, ::-1], 1)  # what decides is code
    evidence = gather_evidence(data, target_of(data, "accuracy"), features, 0)
    assert evidence.code_matters
    assert min(evidence.worth[0], evidence.no_code[0]) > 1.2
    # The same column as context: as good an answer, and nothing that the code had a part in.
    informed = gather_evidence(data, target_of(data, "accuracy"), Features("both", matrix, 1), 0)
    assert informed.pays
    assert informed.worth[0] > 1.2
    assert not informed.code_matters
    # With labels that have nothing to do with the features there is none, however well a head remembers.
    chance = TaskData(
        [
            replace(sample, costs=tuple(costs[row]))
            for sample, row in zip(data.samples, rng.permutation(48), strict=True)
        ],
        SPACE,
    )
    assert not gather_evidence(chance, target_of(chance, "accuracy"), features, 0).pays


def test_groups_are_held_out_whole() -> None:
    data = TaskData([Sample(f"s{row}", "ir", f"g{row % 14}", costs=(1.0, 2.0)) for row in range(56)], SPACE)
    goal = Oracle.of(data, np.tile([0.5, 0.5], (56, 1)))
    gather_evidence(data, goal, Features("both", np.zeros((56, 1)), 0), 0)
    assert len(goal.folds) == 10
    assert sorted(row for _, test in goal.folds for row in test) == list(range(56))
    for training, test in goal.folds:
        assert not set(data.group[training]) & set(data.group[test])
        assert len(training) + len(test) == 56


def test_one_group_alone_is_no_evidence() -> None:
    data = TaskData([Sample(f"s{row}", "ir", "g", costs=(2.0, 1.0)) for row in range(30)], SPACE)
    evidence = gather(data, np.array([[0.0, 1.0]] * 30))
    assert not evidence.code_matters
    assert evidence.record(1.0, default=False) is None
    json.dumps(asdict(evidence), allow_nan=False)


# -- numbers -------------------------------------------------------------------------------------------
def numbers(values: np.ndarray) -> TaskData:
    return TaskData([Sample(f"s{row}", "ir", f"g{row}", value=float(one)) for row, one in enumerate(values)])


def test_numbers_are_held_against_the_mean() -> None:
    values = np.tile([0.0, 10.0], 20)
    evidence = gather(numbers(values), values + np.linspace(0, 1, 40))
    assert evidence.rival == "mean of the training samples"
    assert evidence.code_matters
    assert evidence.error == pytest.approx(0.8, abs=0.01)  # 8 of 10 were nearer
    # Of the mean's squared error of about 25 and a bit, a third of 1 is left.
    assert evidence.worth[0] == pytest.approx(1 - 1 / 3 / 25, abs=2e-3)
    assert evidence.worth[1] <= evidence.worth[0] <= evidence.worth[2]
    assert evidence.record(1.0, default=False) is None


def test_numbers_are_held_against_a_head_without_code() -> None:
    values = np.tile([0.0, 10.0], 20)
    evidence = gather(numbers(values), values + 1.0, values + np.tile([2.0, -2.0], 20))
    assert evidence.no_code == pytest.approx((0.75, 0.75, 0.75))  # an error of 1 where the context leaves 2
    assert evidence.code_matters
    evidence = gather(numbers(values), values + 1.0, values - 1.0)
    assert evidence.no_code == (0.0, 0.0, 0.0)
    assert evidence.pays
    assert not evidence.code_matters


def test_numbers_without_any_error_are_evidence() -> None:
    values = np.tile([0.0, 10.0], 20)
    evidence = gather(numbers(values), values)
    assert evidence.code_matters
    assert 0 < evidence.error < 1e-9


def test_labels_are_held_against_their_rates_as_people_are_told_them() -> None:
    truth = np.tile([[0, 1], [1, 1], [0, 0]], (10, 1))
    samples = [Sample(f"s{row}", "ir", f"g{row}", labels=tuple(one)) for row, one in enumerate(truth.tolist())]
    data = TaskData(samples, label_names=("a", "b"))
    evidence = gather(data, np.where(truth, 0.75, -3.0))
    assert evidence.rival == "rates in the training samples"
    assert evidence.code_matters
    assert evidence.error == 0.25
    assert evidence == gather(data, np.where(truth, 0.75, 0.0))
    # Half of the labels are off by a quarter; a head without code is off by a half, cut like the other.
    evidence = gather(data, np.where(truth, 0.75, -3.0), np.where(truth, 0.5, -3.0))
    assert evidence.no_code[0] == pytest.approx(0.75)


# -- samples that are held out -------------------------------------------------------------------------
def test_a_head_is_judged_by_what_was_held_out_alone() -> None:
    # Training says 0 and 4; of what is held out the head is half as far off as their mean, 2.
    training = [Sample(f"t{row}", "ir", f"g{row}", value=4.0 * (row % 2)) for row in range(6)]
    test = [Sample(f"h{row}", "ir", f"h{row}", value=value, held_out=True) for row, value in enumerate([4.0, 0.0] * 4)]
    data = TaskData([*training, *test])
    predictions = np.concatenate([np.full(6, np.nan), np.tile([3.0, 1.0], 4)])
    goal = Oracle.of(data, predictions)
    evidence = gather_evidence(data, goal, Features("both", np.zeros((14, 1)), 0), 0, np.arange(6))
    assert evidence.worth == pytest.approx((0.75, 0.75, 0.75))
    assert evidence.error == 1.0
    ((head, rows),) = goal.folds
    assert (head.tolist(), rows.tolist()) == ([0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11, 12, 13])
    # One project says nothing about others.
    assert (
        gather_evidence(data.subset(range(7)), goal, Features("both", np.zeros((7, 1)), 0), 0, "a head").worth is None
    )


# -- files ---------------------------------------------------------------------------------------------
def read(content: Any) -> Evidence:
    """As `TaskHead.load` reads it."""
    return TypeAdapter(Evidence).validate_json(json.dumps(content), strict=True)


WHOLE = Evidence(
    "default", (1.3, 1.1, 1.5), 0.0, (Record(0.6, 30, 0.9, 0.0, 1.0),), (Record(0.9, 25, 0.8, 0.1, 1.6),) * 2
)


BESIDE = replace(WHOLE, no_code=(1.1, 1.05, 1.2))
ALWAYS = replace(BESIDE, worth=(1.0, 0.9, 1.1), constants=((8, "wide"), (4, "wide")), constant_worth=(2.0, 1.5, 2.5))


@pytest.mark.parametrize(
    "one", [WHOLE, BESIDE, ALWAYS, Evidence("mean", (0.4, 0.1, 0.6), 2.5, no_code=(0.2, 0.1, 0.3))]
)
def test_what_was_saved_is_read(one: Evidence) -> None:
    again = read(asdict(one))
    assert again == one
    assert json.dumps(asdict(again)) == json.dumps(asdict(one))
    assert again.code_matters == one.code_matters


def test_an_older_head_was_not_held_against_one_without_code() -> None:
    # What trying lists won was kept in heads of older releases, too.
    old = asdict(BESIDE) | {"trials": {"module": [{"promise": 1.0}]}}
    for name in ("no_code", "constants", "constant_worth"):
        del old[name]
    evidence = read(old)
    assert evidence == WHOLE
    assert evidence.pays
    assert not evidence.code_matters
    assert BESIDE.code_matters


@pytest.mark.parametrize(
    "change",
    [
        {"rival": None},
        {"worth": [1.0, 2.0]},
        {"worth": [1.0, 2.0, NAN]},
        {"no_code": [1.0, 2.0, NAN]},
        {"constant_worth": [1.0, 2.0]},
        {"constants": 1},
        {"constants": [[None]]},
        {"error": float("inf")},
        {"error": "0.5"},
        {"whole": 1},
        {"default": [{"sure": 0.5}]},
        {"other": [{"sure": 0.5, "answers": 20, "right": NAN, "slower": 0.0, "speedup": 1.0}]},
        {"other": [{"sure": "0.5", "answers": 20, "right": 0.5, "slower": 0.0, "speedup": 1.0}]},
    ],
)
def test_damaged_evidence_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        read(asdict(WHOLE) | change)


# -- what was not measured -----------------------------------------------------------------------------
def test_a_choice_among_what_was_measured_is_no_record_of_a_choice_among_all() -> None:
    space = Space(("width",), (("narrow",), ("wide",), ("wider",)), missing="never")
    predictions = np.array([[0.1, 0.9, 0.0]] * 40)
    evidence = gather(table([(2.0, 1.0, NAN)] * 39 + [(2.0, 1.0, 3.0)], space), predictions)
    assert not evidence.whole
    assert (evidence.default, evidence.other) == ((), ())
    assert gather(table([(2.0, 1.0, 3.0)] * 40, space), predictions).other


def test_held_out_answers_are_paid_in_reported_costs() -> None:
    # By the costs that it learned from, each answer is twice as fast; measured again, a quarter is slower.
    again = [(2.0, 1.6)] * 30 + [(2.0, 2.5)] * 10
    samples = [Sample(f"s{row}", "ir", f"g{row}", costs=(2.0, 1.0), reported=paid) for row, paid in enumerate(again)]
    evidence = gather(TaskData(samples, SPACE), np.array([[0.3, 0.7]] * 40))
    assert [one.right for one in evidence.other] == [1.0, 1.0]
    assert sum(one.slower * one.answers for one in evidence.other) == pytest.approx(10)
    assert np.prod([one.speedup**one.answers for one in evidence.other]) == pytest.approx(1.25**30 * 0.8**10)
