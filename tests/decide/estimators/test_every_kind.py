"""What holds for every family of heads: saved and read it answers as before, and damaged arrays are refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every_head import CHOOSERS, COSTS, FEATURES, HEADS, answer, fit, fitted, settings_for
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mirenc.base.errors import ConfigError, HeadError
from mirenc.decide import load_head, save_head
from mirenc.decide.estimators import (
    head_state as heads_state,
    logistic,  # noqa: F401 - registers its kind
)
from mirenc.decide.estimators.head_state import kind_of_head, pack, unpack


def plain(head: Any) -> dict[str, Any]:
    """Parameters, and those of heads inside it."""
    parameters = head.get_params()
    return {name: value for name, value in parameters.items() if name != "members" and not hasattr(value, "get_params")}


def test_every_registered_kind_is_here() -> None:
    registered = {
        kind for kind, one in heads_state._CLASSES.items() if one.__module__.startswith("mirenc.decide.estimators.")
    }
    assert {kind_of_head(head) for head in HEADS.values()} | {"forest", "logistic"} == registered


@pytest.mark.parametrize("name", HEADS)
def test_a_saved_head_answers_as_before_and_a_clone_knows_nothing(name: str, tmp_path: Path) -> None:
    head = fitted(name)
    again, _ = load_head(save_head(head, tmp_path))
    np.testing.assert_array_equal(answer(again), answer(head))
    assert plain(again) == plain(head) == plain(clone(again)) == plain(HEADS[name])
    assert [one for one in vars(clone(head)) if one.endswith("_")] == []
    with pytest.raises(ValueError, match="8 features"):
        answer(again, FEATURES[:, :8])
    with pytest.raises(ValueError, match="NaN"):
        answer(again, np.where(np.arange(9) == 3, np.nan, FEATURES))
    with pytest.raises(NotFittedError):
        answer(clone(again))


@pytest.mark.parametrize("name", [name for name, head in HEADS.items() if "context_columns" in head.get_params()])
def test_more_context_columns_than_columns_are_refused(name: str) -> None:
    for changes, allowed in (
        ({"context_columns": -1}, "is -1; allowed: [01] to 9"),
        ({"context_columns": 10}, "is 10; allowed: [01] to 9"),
        ({"context_columns": 0, "use_code": False}, "is 0; allowed: 1 to 9"),
    ):
        if changes.keys() <= HEADS[name].get_params().keys():
            with pytest.raises(ConfigError, match=f"context_columns {allowed}"):
                fit(clone(HEADS[name]).set_params(**changes), name)


WRONG = (0, -1.0, np.nan, np.inf, "1")


@pytest.mark.parametrize(
    ("name", "parameter", "values", "allowed"),
    [
        ("ridge", "alpha", WRONG, "a number above 0"),
        ("ridge number", "alpha", WRONG, "a number above 0"),
        ("landmarks", "alpha", WRONG, "a number above 0"),
        ("landmarks", "length_scale", WRONG, "a number above 0"),
        ("landmarks", "landmarks", (0,), "a whole number from 1 up"),
        *(("cost", parameter, WRONG, "a number above 0") for parameter in ("clip", "length_scale", "noise")),
        ("pairs, ridge", "clip", WRONG, "a number above 0"),
        ("pairs, ridge", "components", (0,), "a whole number from 1 up"),
        ("pairs, ridge", "most_pairs", (2.5,), "a whole number from 1 up"),
        ("ratio trees", "default", (4, -1), "0 to 3, the columns of costs"),
        ("mlp", "hidden", (64, (64, 0), (64, 3.5)), "a tuple of widths"),
        ("mlp", "epochs", (0, True), "a whole number from 1 up"),
        ("mlp", "batch_size", ("auto",), "a whole number from 1 up"),
        ("mlp", "alpha", (-1, np.nan), "a number from 0 up"),
        ("mlp", "learning_rate", (0, None), "a number above 0"),
        ("ensemble", "picks", (0, 2.5), "a whole number from 1 up"),
        ("cautious ensemble", "default", (4,), "a column of the costs"),
        ("cautious ensemble", "most_slow", (2.0,), "a share, 0 to 1"),
    ],
)
def test_a_parameter_out_of_range_is_named(name: str, parameter: str, values: tuple[Any, ...], allowed: str) -> None:
    for value in values:
        with pytest.raises(ConfigError, match=rf"^{parameter} is {re.escape(repr(value))}; allowed: {allowed}"):
            fit(clone(HEADS[name]).set_params(**{parameter: value}), name)


@pytest.mark.parametrize("name", CHOOSERS)
def test_costs_that_cannot_be_learned_from_are_refused(name: str) -> None:
    head = clone(HEADS[name])
    for costs, words in (
        (np.where(COSTS > 0, -COSTS, 0), "costs of row 0"),
        (COSTS[1:], "a row of features and a row of costs"),
    ):
        with pytest.raises(HeadError, match=words):
            head.fit(FEATURES, costs, *settings_for(head))


@pytest.mark.parametrize("change", ["shorter", "row", "number"])
@pytest.mark.parametrize("name", HEADS)
def test_arrays_that_do_not_fit_are_refused(name: str, change: str) -> None:
    description, arrays = pack(fitted(name))
    changes = {"shorter": lambda array: array[:-1], "row": lambda array: array[None], "number": lambda array: array[0]}
    for each, array in arrays.items():
        if array.size == 0:  # nothing to leave out, as of components where columns are kept
            continue
        with pytest.raises(HeadError, match=r"^here"):
            unpack(description, arrays | {each: changes[change](array)}, "here")


@pytest.mark.parametrize("name", HEADS)
def test_arrays_that_are_turned_are_refused_or_harmless(name: str) -> None:
    description, arrays = pack(fitted(name))
    for each, array in arrays.items():
        try:
            again = unpack(description, arrays | {each: array.T}, "here")
        except HeadError as error:
            assert str(error).startswith("here")  # noqa: PT017 - it need not be raised
        else:
            assert np.isfinite(answer(again)).all(), each


@pytest.mark.parametrize("name", HEADS)
def test_an_array_that_is_missing_is_named(name: str) -> None:
    description, arrays = pack(fitted(name))
    for each in arrays:
        rest = {one: array for one, array in arrays.items() if one != each}
        with pytest.raises(HeadError, match=rf"here is damaged: array '{each}' is missing"):
            unpack(description, rest, "here")


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        *(("cautious ensemble", {"margin_": margin}) for margin in ("wide", 1e9)),
        ("ensemble", {"n_choices_": 5}),
        *(("number ensemble", {"weights_": {"dict": shares}}) for shares in ({}, {"other": 1.0})),
        ("labels ensemble", {"n_labels_": 2}),
        ("mlp", {"classes_": {"labels": {"dtype": "<i8", "values": [0, 1, 2]}}}),
        ("label", {"n_choices_": 2}),
        ("pairs, ridge", {"n_features_in_": 8}),
        ("trees", {"n_features_in_": 10}),
        ("trees", {"forest_": {"array": ["forest_/cut"]}}),
    ],
)
def test_what_does_not_belong_together_is_refused(name: str, changes: dict[str, Any]) -> None:
    description, arrays = pack(fitted(name))
    assert changes.keys() <= description["state"].keys()
    with pytest.raises(HeadError, match=r"^here"):
        unpack({**description, "state": description["state"] | changes}, arrays, "here")


@pytest.mark.parametrize("name", ["trees", "trees without code", "boosted", "trees labels"])
def test_a_walk_that_would_leave_the_columns_is_refused(name: str) -> None:
    description, arrays = pack(fitted(name))
    column = arrays["forest_/column"].copy()
    column[np.flatnonzero(column >= 0)[-1]] = 9  # one that the rows which a head is tried on need not come by
    with pytest.raises(HeadError, match=r"here is damaged: .* arrays of trees do not belong together"):
        unpack(description, arrays | {"forest_/column": column}, "here")


def test_a_parameter_that_is_missing_or_none_is_refused() -> None:
    description, arrays = pack(fitted("ridge"))
    for state, word in (({}, "damaged: KeyError"), ({**description["state"], "alpha": -1.0}, "alpha is -1.0")):
        with pytest.raises(HeadError, match=f"here.*{word}"):
            unpack({**description, "state": state}, arrays, "here")
