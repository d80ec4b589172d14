"""`Space`: its names and its order, what runs for what was not measured, and settings as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mirenc.base.errors import TaskError
from mirenc.decide.settings import MISSING, SettingEncoder, Space

FACTORS = ((1,), (2,), (4,))


def test_a_product_varies_the_last_knob_fastest() -> None:
    space = Space.product({"vf": (1, 4), "if": (1, 2)}, default={"vf": 4, "if": 1})
    assert space.knobs == ("vf", "if")
    assert space.settings == ((1, 1), (1, 2), (4, 1), (4, 2))
    assert (space.default, len(space)) == (2, 4)
    assert space.names == ("vf=1 if=1", "vf=1 if=2", "vf=4 if=1", "vf=4 if=2")


def test_a_single_knob_is_named_by_its_values() -> None:
    assert Space(("factor",), FACTORS).names == ("1", "2", "4")


@pytest.mark.parametrize("default", [{"vf": 3, "if": 1}, {"vf": 1}, {"vf": 1, "if": 1, "unroll": 2}])
def test_a_default_that_is_no_setting_is_refused(default: dict[str, int]) -> None:
    with pytest.raises(TaskError, match=r"is not a setting of vf, if\. Give each knob one of its values"):
        Space.product({"vf": (1, 4), "if": (1, 2)}, default=default)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (((), FACTORS), "space of no knobs: give one knob or more"),
        ((("a", "a"), ((1, 2), (3, 4))), "each a name of its own"),
        ((("a",), ((1,),)), "1 different settings; two or more"),
        ((("a",), ((1,), (1,))), "1 different settings"),
        ((("a",), ((1,), (2,), (1,))), "2 different settings"),
        ((("a",), ((1,), (2, 3))), r"setting \(2, 3\); a setting is one number or word for each knob"),
        ((("a",), ((1,), (None,))), r"setting \(None,\)"),
        ((("a",), FACTORS, 3), "default is 3; indices go from 0 to 2"),
        ((("a",), FACTORS, -1), "default is -1"),
        ((("a",), FACTORS, 0, "above"), "missing is 'above'; available: default, below, never"),
        ((("a",), ((4,), (2,), (1,)), 0, "below"), "its numbers in ascending order"),
        ((("a", "b"), ((1, 2), (3, 4)), 0, "below"), "missing='below' is for one knob, its numbers in ascending order"),
    ],
)
def test_a_space_that_is_none_is_refused(arguments: tuple[Any, ...], word: str) -> None:
    with pytest.raises(TaskError, match=word):
        Space(*arguments)


# -- what runs -----------------------------------------------------------------------------------------
MEASURED = np.array([[True, True, True], [True, False, True], [True, True, False], [False, True, False]])


@pytest.mark.parametrize(
    ("missing", "runs"),
    [
        ("default", [[0, 1, 2], [0, 1, 2], [0, 1, 1], [1, 1, 1]]),
        ("below", [[0, 1, 2], [0, 0, 2], [0, 1, 1], [1, 1, 1]]),
        ("never", [[0, 1, 2], [0, -1, 2], [0, 1, -1], [-1, 1, -1]]),
    ],
)
def test_what_runs_when_each_setting_is_asked_for(missing: Any, runs: list[list[int]]) -> None:
    ran = Space(("factor",), FACTORS, 1, missing).runs(MEASURED)
    assert ran.dtype == np.int64
    assert ran.tolist() == runs


@pytest.mark.parametrize("missing", MISSING)
def test_where_all_was_measured_each_runs_as_itself(missing: Any) -> None:
    ran = Space(("factor",), FACTORS, 2, missing).runs(np.ones((2, 3), dtype=bool))
    assert ran.tolist() == [[0, 1, 2]] * 2


# -- settings as numbers -------------------------------------------------------------------------------
def test_numbers_become_signed_logarithms_and_words_columns() -> None:
    space = Space(("threads", "schedule"), ((0, "static"), (1, "static"), (-3, "dynamic"), (7, "guided")))
    columns = SettingEncoder.of([space])(space.settings)
    assert columns.dtype == np.float64
    # threads, then dynamic, guided, static.
    assert columns.tolist() == [[0, 0, 0, 1], [1, 0, 0, 1], [-2, 1, 0, 0], [3, 0, 1, 0]]


def test_columns_do_not_depend_on_which_settings_a_space_holds() -> None:
    small = Space(("threads", "schedule"), ((1, "static"), (2, "dynamic")))
    large = Space(("threads", "schedule"), ((64, "guided"), (2, "dynamic"), (1, "static")))
    encoder = SettingEncoder.of([small, large])
    assert encoder.words == {"schedule": ("dynamic", "guided", "static")}
    np.testing.assert_array_equal(encoder(small.settings), encoder(large.settings)[[2, 1]])
    assert SettingEncoder.of([large, small]) == encoder


def test_a_word_that_was_not_known_has_no_column() -> None:
    encoder = SettingEncoder.of([Space(("schedule",), (("static",), ("dynamic",)))])
    assert encoder([("auto",), ("static",)]).tolist() == [[0, 0], [0, 1]]


def test_spaces_of_other_knobs_are_refused() -> None:
    first, second = Space(("a",), FACTORS), Space(("b",), FACTORS)
    with pytest.raises(TaskError, match="some samples have the knobs a, others b"):
        SettingEncoder.of([first, second])


def test_words_and_numbers_in_one_knob_are_refused() -> None:
    with pytest.raises(TaskError, match="knob 'a' has words and numbers as values"):
        SettingEncoder.of([Space(("a",), FACTORS), Space(("a",), ((1,), ("auto",)))])
