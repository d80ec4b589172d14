"""What trying several settings was worth on held-out samples: to say beforehand whether it is worth the while.

Where a setting can be tried for next to nothing, as a list of passes can, nobody takes a head's word for it: the few
settings that it prefers are tried beside the default, and the best is kept. So what counts is not whether the first
answer is right, but what is won by trying k of them, and that is told by the record of held-out answers that promised
as much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["WORTH_TRYING", "Trial", "promise_of", "trial_like", "trials_of"]

Float = NDArray[np.float64]
WORTH_TRYING = 1.005
"""A gain over the default below this is nothing to gain: half a per cent."""

_MOST_PARTS = 10
_LEAST = 20  # held-out answers that a record is worth telling of


@dataclass(frozen=True)
class Trial:
    """Held-out answers that promised about as much, and what trying their first k settings won. R settings are ranked.

    The default is none of the R settings, and always tried too: a gain is never below 1.

    Attributes
    ----------
    promise : float
        Least gain over the default that the head expected of the first setting.
    answers : int
    ratios : tuple of float
        (R,) geometric mean cost of the setting of each rank over that of the default.
    gains : tuple of float
        (R,) geometric mean gain over the default by the best of the first k settings.
    idle : tuple of float
        (R,) share of the answers where the best of the first k gained less than half a per cent.
    """

    promise: float
    answers: int
    ratios: tuple[float, ...]
    gains: tuple[float, ...]
    idle: tuple[float, ...]

    def gain(self, count: int) -> float:
        """Mean gain over the default by trying so many settings; all that are ranked, where these are fewer."""
        return self.gains[min(count, len(self.gains)) - 1]

    def is_idle(self, count: int) -> bool:
        """Whether trying so many settings is expected to gain less than half a per cent."""
        return self.gain(count) < WORTH_TRYING

    def idle_share(self, count: int) -> float:
        """Share of the answers where trying so many settings gained less than half a per cent."""
        return self.idle[min(count, len(self.idle)) - 1]

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """What `dataclasses.asdict` gave.

        Raises
        ------
        KeyError, TypeError, ValueError
            Something else.
        """
        columns = {name: tuple(float(value) for value in found[name]) for name in ("ratios", "gains", "idle")}
        numbers = [found["promise"], found["answers"], *(value for column in columns.values() for value in column)]
        if len({len(column) for column in columns.values()}) != 1 or not columns["gains"]:
            raise ValueError("columns of a trial have different lengths")
        if not np.isfinite(np.array(numbers, dtype=np.float64)).all():
            raise ValueError("a trial has numbers that are not finite")
        return cls(float(found["promise"]), int(found["answers"]), **columns)


def promise_of(expected: Float, default: int) -> Float:
    """Gain over the default that the best of the other settings is expected to bring. (..., K) ratios -> (...)."""
    result: Float = 1 / np.delete(expected, default, axis=-1).min(axis=-1)
    return result


def trials_of(
    expected: Float, costs: Float, default: int, part: NDArray[np.str_], count: int
) -> dict[str, tuple[Trial, ...]]:
    """Records of trials, of each part of a table by itself.

    Parameters
    ----------
    expected : (n, K) float64
        Cost of each setting over that of the default, as heads expected it that had not seen the sample.
    costs : (n, K) float64
        What each setting costs.
    default : int
    part : (n,) str
        `mirenc.tasks.Sample.part`.
    count : int
        How many settings are ranked, at most.

    Returns
    -------
    dict of str to tuple of Trial
        Up to ten for each part, the most promising first; none for a part of few samples.
    """
    others = np.delete(np.arange(costs.shape[1]), default)
    order = others[np.argsort(expected[:, others], axis=1, kind="stable")[:, :count]]  # (n, R)
    ratios = np.take_along_axis(costs, order, axis=1) / costs[:, default, None]
    gains = 1 / np.minimum.accumulate(np.minimum(ratios, 1.0), axis=1)
    promise = promise_of(expected, default)
    found = {}
    for name in np.unique(part).tolist():
        rows = np.flatnonzero(part == name)
        rows = rows[np.argsort(-promise[rows], kind="stable")]
        if len(rows) >= _LEAST:
            pieces = np.array_split(rows, min(_MOST_PARTS, len(rows) // _LEAST))
            found[name] = tuple(_trial(promise[rows], ratios[rows], gains[rows]) for rows in pieces)
    return found


def _trial(promise: Float, ratios: Float, gains: Float) -> Trial:
    """The record of some answers. (m,), (m, R), (m, R)."""
    return Trial(
        promise=float(promise.min()),
        answers=len(promise),
        ratios=_numbers(np.exp(np.log(ratios).mean(axis=0))),
        gains=_numbers(np.exp(np.log(gains).mean(axis=0))),
        idle=_numbers((gains < WORTH_TRYING).mean(axis=0)),
    )


def _numbers(values: Float) -> tuple[float, ...]:
    return tuple(float(f"{value:.6g}") for value in values)  # a head has thousands of them


def trial_like(trials: Sequence[Trial], promise: float) -> Trial | None:
    """The record of held-out answers that promised as much; the least promising for one that promises less."""
    for trial in trials:
        if promise >= trial.promise:
            return trial
    return trials[-1] if trials else None
