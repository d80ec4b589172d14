"""`Prediction`: the answer of a head for one piece of code, with the `Evidence` of what such answers were worth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from pydantic import ConfigDict

from mirenc.base.shown import short_repr
from mirenc.decide.estimators.chooser import cost_ratios
from mirenc.decide.settings import Space, Value
from mirenc.llvm import Region

Worth = tuple[float, float, float]


@dataclass(frozen=True)
class Record:
    """How good similar held-out answers were: all the default or none, with preferences about as high."""

    __pydantic_config__: ClassVar = ConfigDict(allow_inf_nan=False)

    sure: float  # least preference of the answers
    answers: int
    right: float  # share where no other setting cost less
    slower: float  # share at least 1 % slower than the default
    speedup: float  # geometric mean over the default


@dataclass(frozen=True)
class Evidence:
    """What held-out answers were worth."""

    __pydantic_config__: ClassVar = ConfigDict(allow_inf_nan=False)

    rival: str
    """Title of the static rule that did best on the held-out samples."""
    worth: Worth | None
    """Geometric mean speedup over the rival (for a number and for labels: the share of its squared error that is
    saved), and its 95 % interval over groups. None: all samples are of one group, so nothing could be held out."""
    error: float = 0.0
    """For a number and for labels: the 80th percentile of the absolute error of held-out answers; else 0."""
    default: tuple[Record, ...] = ()
    other: tuple[Record, ...] = ()
    """Records of answers that are the default, and of others; those of higher preference first."""
    whole: bool = True
    """Whether every setting was measured on every sample. If not, held-out answers were among the measured ones; where
    more than one in ten was not measured, there are no records."""
    no_code: Worth | None = None
    """As ``worth``, over a head that sees the same context features and no code, trained on the same folds in the same
    way; over the rival where there is no context. None: not known, as of heads of older releases."""
    constants: tuple[tuple[Value, ...], ...] = ()
    """Values of the best single setting of each space that the samples have, the best first. (): nothing is chosen, or
    not known, as of heads of older releases."""
    constant_worth: Worth | None = None
    """Geometric mean speedup of the best single setting over the default on the held-out samples, with its interval."""

    __repr__ = short_repr

    @property
    def pays(self) -> bool:
        """Whether the answers beat the rival by more than the interval."""
        return self._beats(self.worth)

    @property
    def code_matters(self) -> bool:
        """Whether the answers pay and also beat a head without code, which shows that the code matters."""
        return self.pays and self._beats(self.no_code)

    @property
    def constant_pays(self) -> bool:
        """Whether the best single setting is answered instead: the answers do not pay, and it beats the default."""
        return not self.pays and self._beats(self.constant_worth)

    def constant(self, space: Space) -> int:
        """The best single setting of a space, whatever the evidence; its default where none is known."""
        return next((space.settings.index(value) for value in self.constants if value in space.settings), space.default)

    def _beats(self, worth: Worth | None) -> bool:
        return worth is not None and worth[1] > (1.0 if not self.error else 0.0)

    def record(self, sure: float, *, default: bool) -> Record | None:
        """The record of held-out answers like this one; None where there were too few."""
        records = self.default if default else self.other
        return next((record for record in records if sure >= record.sure), records[-1] if records else None)


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The answer of a head for one piece of code."""

    region: Region | None
    """What of the module is decided about; None for the whole."""
    context: Mapping[str, object]
    """Context features that the answer was given for, by name: what the code told, and what was given."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """What in the code told some of these, by name; not of those that were given."""
    machine: str
    """What the costs were measured on."""
    variant: str = ""
    """Which of the task's tables that was."""
    distance: float
    """How far the question is from the training samples, in code or in context features; 1 is far
    (`mirenc.decide.reach`)."""
    evidence: Evidence
    """What held-out answers of this head were worth."""

    __repr__ = short_repr

    @property
    def far(self) -> bool:
        """Whether the code is unlike what the head was trained on."""
        return self.distance > 1.0

    @property
    def error(self) -> float:
        """`Evidence.error`: of numbers and labels, 8 of 10 held-out answers were nearer than this."""
        return self.evidence.error


@dataclass(frozen=True, kw_only=True, repr=False)
class PredictedNumber(Prediction):
    """A predicted number."""

    value: float


@dataclass(frozen=True, kw_only=True, repr=False)
class PredictedLabels(Prediction):
    """Predicted labels."""

    labels: Mapping[str, float]
    """About how likely each label is, 0 to 1."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Choice(Prediction):
    """A choice among settings."""

    choice: str
    setting: tuple[Value, ...]
    """The setting to take, by name and as values of the knobs: the preferred one where such answers pay
    (`Evidence.pays`), and where they do not the best single setting, if that does. The default where nothing does, or
    held-out answers like this one were slower than it."""
    default: str
    """The setting that runs when nobody decides; where the code forbids that (`limit`), the nearest it permits."""
    preference: dict[str, float]
    """Preference for each setting; they sum to 1."""
    expected: dict[str, float]
    """Expected cost of each setting over that of the default, for this piece of code; no caution in it."""
    fixed: bool = False
    """Whether there is nothing to choose: no setting makes other code of it, or it can run with one alone."""
    limit: str = ""
    """What the code says of the settings it can run with, in words; "" where any will do. No others are in the
    answer, and the default is one of them."""
    proposals: tuple[tuple[Value, ...], ...] = ()
    """Settings to measure beside the default, the first first: of those that look ahead, one is good whichever way the
    head errs, and each makes other code."""
    record: Record | None = None
    """Held-out answers like this one; None where there were too few."""
    seconds: dict[str, float] | None = None
    """Expected seconds of each setting; None where the task does not ask for them (`Task.seconds`)."""
    time_factor: float | None = None
    """8 of 10 expected times of the default, on held-out groups, were within this factor; None: not known."""

    @property
    def preferred(self) -> str:
        """The setting that the head prefers, evidence or not."""
        return max(self.preference, key=self.preference.__getitem__)

    @property
    def gain(self) -> float:
        """Expected speedup of the preferred setting over the default, for this piece of code."""
        return 1 / self.expected[self.preferred]

    @property
    def cost_ratio(self) -> dict[str, float]:
        """Cost of each setting over that of the preferred one, as the preferences stand for it (`cost_ratios`)."""
        return dict(zip(self.preference, cost_ratios(np.array([*self.preference.values()])).tolist(), strict=True))
