"""`Turns`: several variants of a program timed in turns, what each gains, and what the machine's noise is."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np

from mirenc.base.arrays import Float64
from mirenc.base.deadline import OverLimitError, TimeUpError
from mirenc.tools.run.programs import Ended

LEAST_ROUNDS = 4
"""A comparison has at least this many rounds."""

Result = TypeVar("Result")
_TRIMMED_SHARE = 0.25
_RESAMPLES = 2000


class Gain(NamedTuple):
    """How many times as fast, in the geometric mean over rounds, with its 95 % interval."""

    factor: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.factor:.3f} [{self.low:.3f}, {self.high:.3f}]"


_NO_RUN = Ended(0, math.nan, math.nan)


class WrongRunError(Exception):
    """A variant's run has another output or exit code than the original build's."""


@dataclass(frozen=True)
class Turns:
    """Timings of several variants that ran in turns, the first one twice a round; compared by a clock, cpu or wall."""

    timings: Sequence[Sequence[Ended]]  # R rounds of 1 + V
    clock: str
    dropped: Mapping[int, Exception] = field(default_factory=dict)  # variants that are no candidates, and why

    @classmethod
    def run(cls, variants: int, once: Callable[[int], Ended], rounds: int, seed: Sequence[int], clock: str) -> "Turns":
        """Run variant 0 twice and each other one once a round, in an order of its own each round.

        A variant for which ``once`` raises OverLimitError or WrongRunError is not run again; for variant 0 that is an
        error. Rounds end with the call's time. Raises TimeUpError: it is up before `LEAST_ROUNDS`.
        """
        order = np.random.default_rng(seed)
        timings: list[list[Ended]] = []
        dropped: dict[int, Exception] = {}

        def run(variant: int) -> Ended:
            try:
                return _NO_RUN if variant in dropped else once(variant)
            except (OverLimitError, WrongRunError) as error:
                if variant == 0:
                    raise
                dropped[variant] = error
                return _NO_RUN

        try:
            for _ in range(rounds):
                # Places 0 and 1 are the first variant, and each other place is the next variant.
                timings.append(one_round(variants + 1, lambda place: run(max(place - 1, 0)), order))
        except TimeUpError:
            if len(timings) < LEAST_ROUNDS:
                raise
        return cls(timings, clock, dropped)

    @property
    def noise(self) -> float:
        """The factor, at least 1, between the two copies of the first variant; a smaller gain is noise."""
        seconds = self._seconds(self.clock)
        gain = _gain(np.log(seconds[:, 0] / seconds[:, 1]))
        return max(gain.factor, 1 / gain.factor)

    def gain(self, variant: int, clock: str = "") -> Gain:
        """The gain of a variant over the first one; NaN if it was dropped."""
        logs = np.log(self._seconds(clock or self.clock))
        return _gain((logs[:, 0] + logs[:, 1]) / 2 - logs[:, variant + 1])

    def faster(self, variant: int) -> bool:
        """Whether a variant is faster by more than the interval and the noise."""
        return variant not in self.dropped and self.gain(variant).low > self.noise

    def _seconds(self, clock: str) -> Float64:
        return np.array([[getattr(timing, clock) for timing in turn] for turn in self.timings])


def one_round(count: int, run: Callable[[int], Result], generator: np.random.Generator) -> list[Result]:
    """Results of running 0 to ``count`` - 1 once, in a random order, so that none always follows the same one."""
    results = {place: run(place) for place in generator.permutation(count).tolist()}
    return [results[place] for place in range(count)]


def _gain(logs: Float64) -> Gain:
    """The gain by one logarithm a round. A quarter at each end does not count, as other work may have slowed it."""
    from scipy.stats import trim_mean

    resamples = logs[np.random.default_rng(0).integers(0, len(logs), size=(_RESAMPLES, len(logs)))]
    low, high = np.exp(np.percentile(trim_mean(resamples, _TRIMMED_SHARE, axis=1), [2.5, 97.5])).tolist()
    return Gain(float(np.exp(trim_mean(logs, _TRIMMED_SHARE))), low, high)
