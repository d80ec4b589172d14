"""What needs no features: rows worked out by hand, on training rows alone, for every kind of target."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space
from mirenc.decide.target import STATIC_TITLES, target_of
from mirenc.decide.task_data import TaskData

NAN = float("nan")
SPACE = Space(("letter",), (("x",), ("y",), ("z",)))
ONE = Sample("one", "ir", "g")


def static_rows(data: TaskData, *arguments: Any) -> dict[str, np.ndarray]:
    return target_of(data, "accuracy").static_rows(*arguments)


def rows_of(*costs: tuple[float, ...], space: Space = SPACE) -> TaskData:
    return TaskData([replace(ONE, costs=row) for row in costs], space)


def fold(training: int, total: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The first rows teach, the others are asked about."""
    return [(np.arange(training), np.arange(training, total))]


def test_rows_are_made_on_training_rows() -> None:
    # y is best in three samples of the first four and in none of the rest.
    data = rows_of(*[(2.0, 1.0, 3.0)] * 3, *[(2.0, 4.0, 3.0)] * 7)
    folds = [(np.arange(4), np.arange(4, 10)), (np.arange(4, 10), np.arange(4))]
    rows = {name: row.tolist() for name, row in static_rows(data, folds).items()}
    assert rows == {"default": [0] * 10, "best_single": [0] * 4 + [1] * 6, "majority": [0] * 4 + [1] * 6}


def test_the_best_single_looks_at_costs_and_the_majority_at_labels() -> None:
    # Two samples win a little by y, one loses a lot.
    data = rows_of((1.0, 0.9, 2.0), (1.0, 0.9, 2.0), (1.0, 9.0, 2.0), (1.0, 1.0, 1.0))
    rows = static_rows(data, fold(3, 4))
    assert (rows["best_single"][3], rows["majority"][3]) == (0, 1)


def test_the_unit_of_a_samples_costs_does_not_matter() -> None:
    costs = [(1.0, 0.5, 3.0), (2.0, 3.0, 1.0), (4.0, 3.0, 5.0), (1.0, 1.0, 1.0)]
    first = static_rows(rows_of(*costs), fold(3, 4))
    other = static_rows(rows_of(*(tuple(1e6**row * cost for cost in one) for row, one in enumerate(costs))), fold(3, 4))
    assert {name: row.tolist() for name, row in first.items()} == {name: row.tolist() for name, row in other.items()}


def test_a_setting_tried_where_all_is_slow_is_not_a_slow_setting() -> None:
    # z was tried on the slow sample only, and was the best there.
    space = replace(SPACE, missing="never")
    data = rows_of((1.0, 1.1, NAN), (1.0, 1.1, NAN), (100.0, 110.0, 50.0), (1.0, 1.0, 1.0), space=space)
    assert static_rows(data, fold(3, 4))["best_single"][3] == 2


def test_a_setting_that_may_not_be_asked_for_is_not_answered() -> None:
    space = replace(SPACE, missing="never")
    data = rows_of((2.0, 1.0, 0.5), (2.0, 1.0, 0.5), (2.0, 1.0, NAN), space=space)
    rows = static_rows(data, fold(2, 3))
    assert rows["best_single"][2] == 1
    assert data.resolve(rows["majority"])[2] >= 0


def test_where_training_tried_none_of_the_settings_the_default_is_the_answer() -> None:
    own_space = Space(("letter",), (("p",), ("q",), ("r",)), default=1, missing="never")
    data = TaskData([replace(ONE, costs=(2.0, 1.0, 3.0)), replace(ONE, costs=(NAN, 2.0, 1.0), space=own_space)], SPACE)
    rows = static_rows(data, fold(1, 2))
    assert {name: int(row[1]) for name, row in rows.items()} == {"default": 1, "best_single": 1, "majority": 1}


def test_a_setting_is_the_same_wherever_it_stands() -> None:
    turned = Space(("letter",), (("z",), ("y",), ("x",)), default=2)
    samples = [replace(ONE, costs=(2.0, 1.0, 3.0)), replace(ONE, costs=(3.0, 9.0, 2.0), space=turned)]
    data = TaskData([samples[0], samples[0], samples[1]], SPACE)
    rows = static_rows(data, fold(2, 3))
    assert rows["best_single"][2] == rows["majority"][2] == 1
    # And x, should the other space have won by it.
    again = TaskData([replace(ONE, costs=(1.0, 2.0, 3.0)), samples[1]], SPACE)
    assert static_rows(again, fold(1, 2))["best_single"][1] == 2


def test_of_numbers_the_mean_of_the_training_samples() -> None:
    data = TaskData([replace(ONE, value=value) for value in (1.0, 3.0, 10.0, 20.0)])
    folds = [(np.array([0, 1]), np.array([2, 3])), (np.array([2, 3]), np.array([0, 1]))]
    rows = static_rows(data, folds)
    assert {name: row.tolist() for name, row in rows.items()} == {"mean": [15.0, 15.0, 2.0, 2.0]}


def labelled(*labels: tuple[int, ...]) -> TaskData:
    return TaskData([replace(ONE, value=NAN, labels=one) for one in labels], label_names=("a", "b"))


def test_of_labels_their_rates_in_the_training_samples() -> None:
    rows = static_rows(labelled((0, 1), (1, 1), (0, 0)), [(np.array([0, 1]), np.array([2]))])
    assert {name: row.tolist() for name, row in rows.items()} == {"rates": [[0, 0], [0, 0], [0.5, 1.0]]}


def test_every_static_row_has_a_title() -> None:
    numbers = TaskData([replace(ONE, value=1.0)] * 2)
    choices = static_rows(rows_of((1.0, 2.0, 3.0), (1.0, 2.0, 3.0)), fold(1, 2), (2, 3, 4))
    names = {*choices, *static_rows(numbers, fold(1, 2)), *static_rows(labelled((0, 1), (1, 0)), fold(1, 2))}
    assert names == set(STATIC_TITLES)


def test_a_portfolio_is_chosen_in_training_and_tried_on_the_sample_itself() -> None:
    # y and z together are best for the first two; x, which is best for those asked about, comes third.
    data = rows_of((3.1, 1.0, 9.0), (3.1, 9.0, 1.0), (1.0, 5.0, 4.0), (1.0, 2.0, 7.0))
    rows = static_rows(data, fold(2, 4), (2, 3))
    assert rows["try_2"][2:].tolist() == [2, 1]
    assert rows["try_3"][2:].tolist() == [0, 0]
    # Of two settings that nobody may ask for, the default is what runs.
    never = replace(SPACE, missing="never")
    data = rows_of((2.0, 1.0, 3.0), (2.0, 3.0, 1.0), (2.0, NAN, NAN), space=never)
    assert static_rows(data, fold(2, 3), (2,))["try_2"][2] == 0
