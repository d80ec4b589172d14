"""Folds: every sample is tested once, what belongs together stays together, and a seed decides the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mirenc.base.errors import TaskError
from mirenc.decide.protocols import Protocol, cut
from mirenc.decide.sample import Sample
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData

RNG = np.random.default_rng(0)
LABELS = np.array([0] * 30 + [1] * 30)
UNITS = {
    "rows": np.arange(60),
    "even groups": np.arange(60) % 12,
    "uneven groups": np.minimum(np.arange(60) // 2, 14),  # the last has 32 rows
    "names": np.array([f"kernel {number % 7}" for number in range(60)]),
    "few": np.arange(60) % 3,
}


def folds_of(unit: np.ndarray, labels: np.ndarray, folds: int | None, seed: int) -> np.ndarray:
    """(n,) number of each sample's fold; fails unless each is tested exactly once and trained on in all others."""
    number = np.full(len(unit), -1)
    for index, (training, test) in enumerate(cut(unit, labels, folds, seed)):
        assert sorted([*training, *test]) == list(range(len(unit)))
        assert (number[test] == -1).all()
        assert len(test) > 0
        number[test] = index
    assert (number >= 0).all()
    return number


@pytest.mark.parametrize("folds", [2, 5, 10, None])
@pytest.mark.parametrize("name", UNITS)
def test_units_stay_together_and_each_sample_is_tested_once(name: str, folds: int | None) -> None:
    unit = UNITS[name]
    number = folds_of(unit, LABELS, folds, 0)
    distinct = len(np.unique(unit))
    assert len(np.unique(number)) == min(folds or distinct, distinct)
    assert all(len(np.unique(number[unit == one])) == 1 for one in unit)


@pytest.mark.parametrize("name", ["rows", "even groups", "names"])
def test_a_seed_says_which_folds(name: str) -> None:
    first, same, other = (folds_of(UNITS[name], LABELS, 5, seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()


def test_leaving_out_one_unit_knows_no_seed() -> None:
    numbers = [folds_of(UNITS["names"], LABELS, None, seed) for seed in (0, 1)]
    np.testing.assert_array_equal(*numbers)
    assert numbers[0].tolist() == [number % 7 for number in range(60)]  # in the order of the names


def test_single_samples_are_spread_by_label() -> None:
    labels = np.array([0] * 40 + [1] * 20)
    number = folds_of(np.arange(60), labels, 5, 0)
    assert [np.bincount(labels[number == fold]).tolist() for fold in range(5)] == [[8, 4]] * 5


def test_a_label_too_rare_to_be_spread_is_no_error() -> None:
    labels = np.array([0] * 58 + [1] * 2)
    assert np.bincount(folds_of(np.arange(60), labels, 5, 0)).tolist() == [12] * 5


def test_a_label_that_nobody_has_is_not_rare() -> None:
    labels = np.where(LABELS == 1, 3, 0)  # choices 1 and 2 never win
    number = folds_of(np.arange(60), labels, 10, 0)
    assert [np.bincount(labels[number == fold]).tolist() for fold in range(10)] == [[3, 0, 0, 3]] * 10


def test_one_group_cannot_be_cut() -> None:
    with pytest.raises(TaskError, match="all belong to the group 'npb'"):
        list(cut(np.array(["npb"] * 4), np.array([0, 1, 0, 1]), 2, 0))


def test_a_protocol_cuts_by_its_unit(toy: Task, toy_data: TaskData) -> None:
    folds_of = {protocol.name: list(protocol.split(toy_data, 0)) for protocol in toy.protocols}
    assert {name: len(folds) for name, folds in folds_of.items()} == {"rows": 4, "kernel": 4, "suite": 2}
    for training, test in folds_of["kernel"]:
        assert not set(toy_data.group[training]) & set(toy_data.group[test])
    assert [set(toy_data.suite[test]) for _, test in folds_of["suite"]] == [{"first"}, {"second"}]
    assert any(
        set(toy_data.group[training]) & set(toy_data.group[test]) for training, test in folds_of["rows"]
    )  # it leaks


# -- samples that are held out -------------------------------------------------------------------------
PROJECTS = ("a", "b", "c", "a", "b", "c", "d")


def held_out(*projects: str) -> TaskData:
    return TaskData(
        [Sample(f"s{row}", "ir", one, value=float(row), held_out=one in projects) for row, one in enumerate(PROJECTS)]
    )


def by_project(over: str) -> Protocol:
    return Protocol("one", "one", lambda data: data.group, folds=2, over=over)  # type: ignore[arg-type]


def test_what_is_held_out_is_tested_once_after_training_on_the_rest() -> None:
    for seed in (0, 1):
        ((training, test),) = by_project("held_out").split(held_out("b", "d"), seed)
        assert (training.tolist(), test.tolist()) == ([0, 2, 3, 5], [1, 4, 6])


def test_the_rest_is_folded_and_what_is_held_out_takes_no_part() -> None:
    folds = [(training.tolist(), test.tolist()) for training, test in by_project("rest").split(held_out("b"), 0)]
    assert sorted(row for _, test in folds for row in test) == [0, 2, 3, 5, 6]
    for training, test in folds:
        assert sorted(training + test) == [0, 2, 3, 5, 6]
        assert not {PROJECTS[row] for row in training} & {PROJECTS[row] for row in test}


def test_a_split_that_the_data_do_not_have_is_refused() -> None:
    with pytest.raises(TaskError, match=r"has 7 samples to train on and 0 to test on.*Add samples with held_out=True"):
        list(by_project("held_out").split(held_out(), 0))
    data = held_out("b")
    mixed = TaskData([replace(data.samples[0], held_out=True), *data.samples[1:]])
    with pytest.raises(TaskError, match="group 'a' has samples that are held out and samples that are not"):
        list(by_project("held_out").split(mixed, 0))
