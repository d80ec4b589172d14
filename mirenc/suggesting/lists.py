"""`suggest`: the pass lists that a head expects most of, and what trying as many was worth on held-out code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirenc.errors import HeadError, TaskError
from mirenc.suggesting.code import Code
from mirenc.tasks.trying import Trial, trial_like

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
    """Pass lists for some code, the most promising first.

    Attributes
    ----------
    lists : tuple of Suggested
    default : str
        -Oz: what the others are held against, and what is taken where none beats it.
    trial : Trial or None
        Held-out code that promised as much; None where the head knows none.
    distance : float
        How far the code is from what the head was trained on; 1 is far.
    """

    lists: tuple[Suggested, ...]
    default: str
    trial: Trial | None
    distance: float

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
    """The ``count`` most promising lists, or as many as the head knows.

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
        A head of another task, or of another model.
    TaskError
        ``count`` is below 1.
    """
    if head.task.name != TASK:
        raise HeadError(f"a head for {head.task.name} suggests no pass lists. Make one: mirenc fit {TASK} -o FOLDER")
    if count < 1:
        raise TaskError(f"{count} pass lists are wanted; allowed: 1 or more")
    (found,) = head.predict(encoder, code.module, {}, level=code.level)
    others = {pipeline: ratio for pipeline, ratio in found.expected.items() if pipeline != found.default}
    ranked = sorted(others, key=lambda pipeline: others[pipeline])  # stable, as the record's
    trial = trial_like(found.evidence.trials.get(code.level, ()), 1 / others[ranked[0]])
    usual = trial.ratios if trial is not None else ()
    lists = tuple(
        Suggested(pipeline, others[pipeline], usual[rank] if rank < len(usual) else None)
        for rank, pipeline in enumerate(ranked[:count])
    )
    return Suggestion(lists, found.default, trial, found.distance)
