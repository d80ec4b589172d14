"""`Context`: what is parsed, refused and encoded, and what the code tells in place of the question."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mirenc.base.errors import TaskError
from mirenc.decide.context import Context, Feature
from mirenc.decide.registry import get_task, list_tasks
from mirenc.llvm import parse_ir

MODULE = parse_ir("define void @f() {\n  ret void\n}\n")
MIXED = Context(
    "length",
    Feature("gpu", "one of two", allowed=("A100", "H100")),
    Feature("trips", allowed=("few", "many"), least=0, known_from="ir"),
    Feature("width", least=0, whole=True, known_from="compiler"),
    from_ir=lambda module, region: {"trips": module.instruction_count},
    ir_sources=lambda module, region: {"trips": "its instructions"},
    from_compiler=lambda module, region, values: {"width": 2 * int(values["trips"])},
)


def test_values_are_parsed_in_the_order_of_the_names_and_words_in_any_case() -> None:
    values = {"width": "8", "gpu": "h100", "trips": "MANY", "length": "2e3"}
    assert MIXED.parse(values) == (2000.0, "H100", "many", 8)
    assert Context().parse({}) == ()


def test_numbers_are_encoded_as_they_are_and_words_as_columns() -> None:
    context = Context("length", Feature("gpu", allowed=("A100", "H100")))
    assert context.encode((3, "H100")).tolist() == [3.0, 0.0, 1.0]
    assert Context("a", "b", encode=np.log2).encode((8, 2)).tolist() == [3.0, 1.0]


@pytest.mark.parametrize("text", ["", "many", "nan", "inf", "1,5", "1e999", "\u00b2"])
def test_a_feature_alone_is_any_finite_number(text: str) -> None:
    assert Feature("length").parse("-1") == -1.0
    with pytest.raises(TaskError, match=f"'length' is {text!r}; it must be a finite number, as in length=128"):
        Feature("length").parse(text)


@pytest.mark.parametrize(
    ("feature", "text", "allowed"),
    [
        (Feature("n", "1 or more", least=1), "0", "1 or more"),
        (Feature("n", least=1), "-inf", "1 or more"),
        (Feature("n", "a whole number", least=1, whole=True), "3.5", "a whole number"),
        (Feature("n", "a whole number", least=1, whole=True), "9" * 5000, "a whole number"),
        (Feature("n", allowed=(128, 256)), "192", "128, 256"),
        (Feature("n", allowed=("few", "many")), "some", "few, many"),
        (Feature("n", "few or a number", allowed=("few",), least=0), "-1", "few or a number"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused(feature: Feature, text: str, allowed: str) -> None:
    with pytest.raises(TaskError, match=f"context feature 'n' is '{text}'; allowed: {allowed}"):
        feature.parse(text)


def test_missing_and_unknown_features_are_named_with_what_to_type() -> None:
    names = "length, gpu, trips, width"
    with pytest.raises(
        TaskError, match=rf"the task has no context 'colour'\. It takes: {names}\. Details: mirenc tasks"
    ):
        MIXED.parse({"colour": "1"})
    with pytest.raises(TaskError, match=r"also needs 'gpu', 'trips', 'width'\..*trips: read from the code where it is"):
        MIXED.parse({"length": "1"})


def test_a_question_may_leave_out_what_the_code_tells() -> None:
    partial = {"length": "1", "gpu": "A100"}
    assert MIXED.parse_question(partial) is None
    assert MIXED.complete(partial, MODULE, None) == ((1.0, "A100", 1.0, 2), {"trips": "its instructions"})
    complete = {**partial, "trips": "few", "width": "4"}
    assert MIXED.parse_question(complete) == (1.0, "A100", "few", 4)
    assert MIXED.complete(complete, MODULE, None) == ((1.0, "A100", "few", 4), {})
    with pytest.raises(TaskError, match="also needs 'gpu'"):
        MIXED.parse_question({"length": "1"})
    with pytest.raises(TaskError, match="'length' is 'x'"):
        MIXED.parse_question({**partial, "length": "x"})


def test_features_are_listed_by_who_knows_them() -> None:
    assert MIXED.names == ("length", "gpu", "trips", "width")
    assert (MIXED.optional_names, MIXED.compiler_names, MIXED.run_names) == (("trips", "width"), ("width",), ())


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((1.0,), "1 context features were given, but the task has 2: a, b"),
        ((1.0, float("nan")), "context feature 'b' is nan; it must be a finite number"),
        ((1.0, "x"), "context feature 'b' is 'x'"),
        ((1.0, -1.0), "become .*, not all finite"),
    ],
)
def test_values_that_do_not_become_finite_numbers_are_refused(values: Any, words: str) -> None:
    with pytest.raises(TaskError, match=words):
        Context("a", "b", encode=np.log).encode(values)


@pytest.mark.parametrize("name", list_tasks())
def test_every_feature_of_a_shipped_task_refuses_nonsense_and_says_what_is_allowed(name: str) -> None:
    for feature in get_task(name).context.features:
        for text in ("", " ", "abc", "nan", "inf", "-1", "1e999", "-0.5", "\u00b2"):
            with pytest.raises(TaskError, match=f"'{feature.name}' is .*; allowed: "):
                feature.parse(text)
