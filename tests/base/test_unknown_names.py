"""Errors about unknown names propose what was probably meant."""

import pytest

from mirenc.base.errors import did_you_mean, unknown

TASKS = {"block_size": "block and work-group size", "size_after": "code size by level", "vectorization": "loops"}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("vectorisation", "did you mean 'vectorization'?"),  # one letter
        ("block-size", "did you mean 'block_size'?"),
        ("code_size", "did you mean 'size_after'?"),  # both words, of the name or of what it does; block_size has one
        ("size", "did you mean 'block_size' or 'size_after'?"),  # as good as each other
        ("speed", ""),
    ],
)
def test_the_names_that_are_near(name: str, meant: str) -> None:
    assert did_you_mean(name, TASKS) == meant


def test_a_word_that_many_names_share_says_nothing() -> None:
    assert did_you_mean("ir", ["ir-one", "ir-two", "ir-six"]) == ""
    assert did_you_mean("two", ["ir-one", "ir-two", "ir-six"]) == "did you mean 'ir-two'?"


def test_the_message_has_all_names_and_keeps_capitals() -> None:
    assert unknown("key", "saxPi", ["saxPy", "b"], "Type one") == (
        "unknown key 'saxPi'; available: saxPy, b. Did you mean 'saxPy'? Type one"
    )
    assert unknown("key", "z", ["a"], "Type one") == "unknown key 'z'; available: a. Type one"
    assert unknown("key", "z", []) == "unknown key 'z'; available: none"
