"""`suggest`: pass lists in the order in which to try them, and what trying as many was worth on held-out code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mirenc.errors import HeadError, TaskError
from mirenc.suggesting.code import Code
from mirenc.tasks.trying import Trial, promise_of, trial_like

if TYPE_CHECKING:
    from mirenc.encoder import Encoder
    from mirenc.tasks import TaskHead

__all__ = ["TASK", "Suggested", "Suggestion", "suggest"]

TASK = "pass_list"


@dataclass(frozen=True, slots=True)
class Suggested:
    """One pass list.

    Attributes
    ----------
    pipeline : str
        As ``opt -passes=`` takes it.
    expected : float
        Size over that of -Oz, as the head expects it of this code.
    usual : float or None
        The same as it was for lists of this rank on held-out code that promised as much; None where nobody knows.
    """

    pipeline: str
    expected: float
    usual: float | None


@dataclass(frozen=True)
class Suggestion:
    """Pass lists for some code. Each is expected to win most beside -Oz and those before it.

    Attributes
    ----------
    lists : tuple of Suggested
    default : str
        -Oz: what the others are held against, and what is taken where none beats it.
    trial : Trial or None
        Held-out code that promised as much; None where the head knows none.
    distance : float
        How far the code is from what the head was trained on; 1 is far.
    llvm : str
        Version of the LLVM whose sizes the head learned; "" where the head does not say.
    """

    lists: tuple[Suggested, ...]
    default: str
    trial: Trial | None
    distance: float
    llvm: str = ""

    @property
    def gain(self) -> float | None:
        """Expected gain over -Oz by trying all the lists: that of held-out code like this."""
        return None if self.trial is None else self.trial.gain(len(self.lists))

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to gain here: trying the lists is expected to save less than half a per cent."""
        return self.trial is not None and self.trial.is_idle(len(self.lists))

    @property
    def idle_share(self) -> float | None:
        """Share of held-out code like this where trying as many lists saved less than half a per cent."""
        return None if self.trial is None else self.trial.idle_share(len(self.lists))


def suggest(head: TaskHead, encoder: Encoder, code: Code, count: int) -> Suggestion:
    """The ``count`` lists to try, or as many as the head knows.

    Parameters
    ----------
    head : TaskHead
        Of task ``pass_list``.
    encoder : Encoder
        With the head's model.
    code : Code
    count : int

    Raises
    ------
    HeadError
        A head of another task or of another model, or a damaged one.
    TaskError
        ``count`` is below 1.
    """
    if head.task.name != TASK:
        raise HeadError(f"a head for {head.task.name} suggests no pass lists. Make one: mirenc fit {TASK} -o FOLDER")
    if count < 1:
        raise TaskError(f"{count} pass lists are wanted; allowed: 1 or more")
    (found,) = head.predict(encoder, code.module, {}, level=code.level)
    pipelines = list(found.expected)
    default = pipelines.index(found.default)
    expected = np.array(list(found.expected.values()))
    trial = trial_like(found.evidence.trials.get(code.level, ()), float(promise_of(expected, default)))
    if trial is not None and max(trial.order) >= len(pipelines):
        raise HeadError("the head's record of trials is of other lists. Train it anew")
    # Without a record: as the task has them, which is the order in which they covered the pieces for training.
    order = trial.order if trial is not None else [place for place in range(len(pipelines)) if place != default]
    usual = trial.ratios if trial is not None else (None,) * len(order)
    lists = tuple(
        Suggested(pipelines[place], float(expected[place]), ratio)
        for place, ratio in zip(order[:count], usual[:count], strict=True)
    )
    return Suggestion(lists, found.default, trial, found.distance, head.llvm)
