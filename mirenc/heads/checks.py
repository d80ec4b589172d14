"""What a stored head must not be: numbers that are none, counts beyond sense, arrays that do not fit each other."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import HeadError

__all__ = ["DAMAGE", "check_answer", "check_numbers", "check_sizes"]

# What no table of measurements comes near: a head that says more was not made by training.
_MOST_COLUMNS = 1_000_000
_MOST_CHOICES = 100_000
_SUM_ERROR = 1e-3
# A column that said nothing in training is divided by infinity; every other number of a head is finite.
_SPREAD = "spread_"
DAMAGE = (
    *(AttributeError, IndexError, KeyError, TypeError, ValueError),
    *(MemoryError, OverflowError, RecursionError, ZeroDivisionError),
)


def check_numbers(arrays: Mapping[str, NDArray[Any]], where: str) -> None:
    """Refuse arrays that hold what no training gives."""
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise HeadError(f"{where}: array {name!r} has type {array.dtype}; allowed: numbers. Train the head anew")
        if array.dtype.kind != "f":
            continue
        may_be_infinite = name.endswith(_SPREAD)
        if np.isnan(array).any() or (np.isinf(array).any() and not may_be_infinite):
            raise HeadError(f"{where}: array {name!r} has values that are no finite numbers. Train the head anew")
        if may_be_infinite and not (array > 0).all():
            raise HeadError(f"{where}: array {name!r} has spreads of 0 or less. Train the head anew")


def check_sizes(head: Any, where: str) -> None:
    """Refuse counts that the arrays of a head need not bear out, before memory is taken for them."""
    for name, what, least, most in (
        ("n_features_in_", "features", 0, _MOST_COLUMNS),
        ("n_choices_", "choices", 1, _MOST_CHOICES),
        ("n_settings_", "settings", 1, _MOST_CHOICES),
    ):
        count = getattr(head, name, least)
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not least <= count <= most:
            raise HeadError(
                f"{where}: a head of {count!r} {what}; allowed: whole numbers up to {most}. Train the head anew"
            )


def check_answer(head: Any, where: str) -> None:
    """Refuse a head that cannot answer: arrays that do not fit each other show when they are used."""
    chooses = hasattr(head, "predict_proba")
    if not chooses and not hasattr(head, "predict"):
        return
    row = np.zeros((1, _columns(head)))
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = np.asarray(head.predict_proba(row) if chooses else head.predict(row), dtype=np.float64)
    except HeadError:
        return  # it wants more than rows, such as settings: nothing can be asked here
    except DAMAGE as error:
        raise HeadError(
            f"{where}: damaged: it cannot answer for {row.shape[1]} features ({type(error).__name__}: {error}). "
            "Save the head again, or train it anew"
        ) from error
    whole = np.isfinite(answer).all() and (not chooses or (answer.min() >= 0 and abs(answer.sum() - 1) < _SUM_ERROR))
    if not whole:
        raise HeadError(
            f"{where}: damaged: it answers {answer.tolist()}, which is no {'preference' if chooses else 'number'}. "
            "Save the head again, or train it anew"
        )


def _columns(head: Any) -> int:
    """Columns of the rows that a head answers for; a head around another one has the other's."""
    while not hasattr(head, "n_features_in_"):
        inner = getattr(head, "classifier_", None)
        if inner is None:
            return 1
        head = inner
    return int(head.n_features_in_)
