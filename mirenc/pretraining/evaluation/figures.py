"""Figures: plain dictionaries that go to JSON, and what stands where one cannot be measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

__all__ = ["Advance", "Figures", "NoFigureError", "Progress", "finite", "no_progress"]

Figures = dict[str, Any]
Advance = Callable[[int], object]
# Description and total -> a context that gives what is to be called with each count of things done.
Progress = Callable[[str, int], AbstractContextManager[Advance]]


class NoFigureError(Exception):
    """A figure cannot be measured on this data; the message is the reason the user is told."""


@contextmanager
def no_progress(description: str, total: int) -> Iterator[Advance]:
    """A `Progress` that shows nothing."""
    del description, total
    yield lambda count: None


def finite(value: Any) -> Any:
    """The figures with null for numbers that are not finite: JSON has no NaN."""
    if isinstance(value, dict):
        return {name: finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
