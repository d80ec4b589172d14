"""What trying several settings was worth on held-out samples: to say beforehand whether it is worth the while.

Where a setting can be tried for next to nothing, as a list of passes can, nobody takes a head's word for it: a few
settings are tried beside the default, and the best is kept. So what counts is not whether the first
answer is right, but what is won by trying k of them: they should complement each other. Both the order in which to try
and what that wins come from held-out answers that promised as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirenc.decide.estimators.chooser import portfolio

__all__ = ["WORTH_TRYING", "Trial", "covering_order", "promise_of", "trial_like", "trials_of"]

Float = NDArray[np.float64]
WORTH_TRYING = 1.005
"""A gain over the default below this is nothing to gain: half a per cent."""

_MOST_PARTS = 10
_MIN_SAMPLES = 20  # held-out answers that a record is worth telling of
_ENOUGH = 200  # answers that an order is made of


@dataclass(frozen=True)
class Trial:
    """Held-out answers that promised about as much, and what trying their first k settings won. R settings are ranked.

    The default is none of the R settings, and always tried too: a gain is never below 1.

    Attributes
    ----------
    promise : float
        Least gain over the default that the head expected of the first setting.
    answers : int
    order : tuple of int
        (R,) settings in the order in which to try them (`covering_order`).
    ratios : tuple of float
        (R,) geometric mean cost of the setting of each rank over that of the default.
    gains : tuple of float
        (R,) geometric mean gain over the default by the best of the first k settings.
    idle : tuple of float
        (R,) share of the answers where the best of the first k gained less than half a per cent.
    """

    promise: float
    answers: int
    order: tuple[int, ...]
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


def promise_of(expected: Float, default: int) -> Float:
    """Gain over the default that the best of the other settings is expected to bring. (..., K) ratios -> (...)."""
    result: Float = 1 / np.delete(expected, default, axis=-1).min(axis=-1)
    return result


def trials_of(
    expected: Float, costs: Float, default: int, part: NDArray[np.str_], group: NDArray[np.str_], count: int
) -> dict[str, tuple[Trial, ...]]:
    """Records of trials, of each part of a table by itself.

    What an order won is told of groups that it was not made of: each half of them by the order of the other half.

    Parameters
    ----------
    expected : (n, K) float64
        Cost of each setting over that of the default, as heads expected it that had not seen the sample.
    costs : (n, K) float64
        What each setting costs.
    default : int
    part, group : (n,) str
        As those of `mirenc.decide.TaskData`.
    count : int
        How many settings are ranked, at most.

    Returns
    -------
    dict of str to tuple of Trial
        Up to ten for each part, the most promising first; none for a part of few samples, or of one group.
    """
    promise = promise_of(expected, default)
    logs = np.log(costs / costs[:, default, None])
    trials_by_part = {}
    for name in np.unique(part).tolist():
        rows = np.flatnonzero(part == name)
        rows = rows[np.argsort(-promise[rows], kind="stable")]
        if len(rows) < _MIN_SAMPLES or len(np.unique(group[rows])) < 2:
            continue
        half_of_row = np.zeros(len(part), dtype=np.int64)
        half_of_row[rows] = np.unique(group[rows], return_inverse=True)[1] % 2
        trials = []
        for piece in np.array_split(np.arange(len(rows)), min(_MOST_PARTS, len(rows) // _MIN_SAMPLES)):
            window = rows[_window(piece, len(rows))]
            order = covering_order(logs[window], default, count)
            orders = np.tile(order, (len(piece), 1))  # (m, R)
            nearby = rows[piece]
            for side in (0, 1):
                other_rows = window[half_of_row[window] != side]
                if not len(other_rows):  # one large group has all that promise as much
                    other_rows = rows[half_of_row[rows] != side]
                orders[half_of_row[nearby] == side] = covering_order(logs[other_rows], default, count)
            trials.append(_trial(promise[nearby], np.take_along_axis(logs[nearby], orders, axis=1), order))
        trials_by_part[name] = tuple(trials)
    return trials_by_part


def covering_order(logs: Float, default: int, count: int) -> NDArray[np.int64]:
    """Settings in the order in which to try them: each wins most beside the default and those before it.

    An order by expected cost would try what is alike one after the other.

    Parameters
    ----------
    logs : (n, K) float64
        Log cost over that of the default, of samples like the one in question.
    default : int
    count : int

    Returns
    -------
    (min(count, K - 1),) int64
        Without the default.
    """
    settings = np.delete(np.arange(logs.shape[1]), default)
    order: NDArray[np.int64] = settings[portfolio(np.minimum(logs[:, settings], 0.0), count)]
    return order


def _window(piece: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """A part's places among ordered answers, and as many beside it as an order needs."""
    count = min(max(_ENOUGH, len(piece)), total)
    first = min(max(int(piece[0]) - (count - len(piece)) // 2, 0), total - count)
    return np.arange(first, first + count)


def _trial(promise: Float, logs: Float, order: NDArray[np.int64]) -> Trial:
    """The record of some answers. (m,), (m, R) log cost of what was tried, (R,)."""
    won = np.maximum(np.maximum.accumulate(-logs, axis=1), 0.0)
    return Trial(
        promise=float(promise.min()),
        answers=len(promise),
        order=tuple(map(int, order)),
        ratios=_numbers(np.exp(logs.mean(axis=0))),
        gains=_numbers(np.exp(won.mean(axis=0))),
        idle=_numbers((won < np.log(WORTH_TRYING)).mean(axis=0)),
    )


def _numbers(values: Float) -> tuple[float, ...]:
    return tuple(float(f"{value:.6g}") for value in values)  # a head has thousands of them


def trial_like(trials: Sequence[Trial], promise: float) -> Trial | None:
    """The record of held-out answers that promised as much; the least promising for one that promises less."""
    for trial in trials:
        if promise >= trial.promise:
            return trial
    return trials[-1] if trials else None
