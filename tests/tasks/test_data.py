"""`TaskData`: what is refused, by the sample's name, and the columns that follow from the samples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mirenc.errors import TaskError
from mirenc.tasks import Sample, TaskData

NAN = float("nan")
GOOD = Sample("a/1", "ir of a", "a", (1.0,), (2.0, 1.0, NAN))


def data(*samples: Sample, default: int = 0) -> TaskData:
    return TaskData(samples, ("x", "y", "z"), default)


def test_no_samples_are_refused() -> None:
    with pytest.raises(TaskError, match="no samples"):
        data()


@pytest.mark.parametrize(
    ("costs", "word"),
    [
        ((1.0, 2.0), "has 2 costs; the task has 3 choices: x, y, z"),
        ((1.0, -2.0, 3.0), "the cost of 'y' is -2.0"),
        ((1.0, 2.0, 0.0), "the cost of 'z' is 0.0"),
        ((float("inf"), 2.0, 3.0), "the cost of 'x' is inf"),
        ((1.0, "2.0", 3.0), "the cost of 'y' is '2.0'"),
        ((1.0, None, 3.0), "the cost of 'y' is None"),
        ((NAN, 2.0, 3.0), "no cost of the default choice 'x'"),
        ((NAN, NAN, NAN), "no cost of the default choice 'x'"),
    ],
)
def test_bad_costs_are_refused_by_the_samples_name(costs: tuple[float, ...], word: str) -> None:
    with pytest.raises(TaskError, match=r"sample 1 \(b/7\)") as caught:
        data(GOOD, replace(GOOD, name="b/7", costs=costs))
    assert word in str(caught.value)


def test_whole_numbers_and_numpys_are_costs() -> None:
    assert data(replace(GOOD, costs=(np.float32(2), 3, np.int64(4)))).costs.tolist() == [[2.0, 3.0, 4.0]]


def test_the_label_is_the_least_measured_cost() -> None:
    table = data(GOOD, replace(GOOD, costs=(1.0, NAN, NAN)), replace(GOOD, costs=(3.0, 4.0, 2.0)))
    assert table.labels.tolist() == [1, 0, 2]


def test_the_baseline_is_the_cost_of_the_default() -> None:
    assert data(GOOD, replace(GOOD, costs=(5.0, 7.0, 9.0)), default=1).baseline.tolist() == [1.0, 7.0]


def test_a_choice_that_was_not_measured_runs_as_the_one_below() -> None:
    table = data(GOOD, replace(GOOD, costs=(1.0, NAN, 3.0)))
    assert table.resolve(np.array([2, 2])).tolist() == [1, 2]
    assert table.resolve(np.array([1, 1])).tolist() == [1, 0]


def test_samples_share_what_is_the_same_ir() -> None:
    samples = [replace(GOOD, ir=ir) for ir in ("one", b"two", Path("three.ll"), "one", b"two", "four")]
    pieces, of = data(*samples).distinct_ir
    assert pieces == ["one", b"two", Path("three.ll"), "four"]
    assert of.tolist() == [0, 1, 2, 0, 1, 3]


def test_columns_are_in_the_order_of_the_samples() -> None:
    table = data(GOOD, replace(GOOD, group="b", suite="s", part="p"))
    assert len(table) == 2
    assert (table.group.tolist(), table.suite.tolist(), table.part.tolist()) == (["a", "b"], ["", "s"], ["", "p"])
