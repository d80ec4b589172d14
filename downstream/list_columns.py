"""`ListColumns`: pass lists as numbers, so that one head can say something about a list that nobody tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirenc.base.errors import HeadError
from mirenc.llvm.passes.pass_lists import LEVELS, expanded, level, parse, steps

__all__ = ["ListColumns"]

_DEFAULTS = {level(name): name for name in LEVELS}


@dataclass(frozen=True)
class ListColumns:
    """How often each pass stands in a list: what lists have in common whatever their order.

    Attributes
    ----------
    names : tuple of str
        Passes without their options, sorted; those of other lists have no column.
    """

    names: tuple[str, ...]

    @classmethod
    def of(cls, pipelines: Iterable[str]) -> ListColumns:
        """The columns of all passes of some lists.

        Raises
        ------
        PassError
            A text that is no list of passes.
        """
        return cls(tuple(sorted({name for pipeline in pipelines for name in _passes(pipeline)})))

    def __call__(self, pipelines: Sequence[str]) -> NDArray[np.float64]:
        """Lists as rows: log(1 + how often) of each pass, and of the length.

        A level by its name (``default<Oz>``) stands for what LLVM 19 makes of it.

        Returns
        -------
        (T, len(names) + 1) float64

        Raises
        ------
        PassError
            A text that is no list of passes.
        HeadError
            No list.
        """
        if not pipelines:
            raise HeadError("there are no pass lists to make columns of. Give one or more")
        counts = [Counter(_passes(pipeline)) for pipeline in pipelines]
        rows = [[*(count[name] for name in self.names), sum(count.values())] for count in counts]
        return np.log1p(np.array(rows, dtype=np.float64))


def _passes(pipeline: str) -> list[str]:
    """Names of a list's passes, in their order."""
    text = expanded(_DEFAULTS[pipeline]) if pipeline in _DEFAULTS else pipeline
    return [step.name for step in steps(parse(text))]
