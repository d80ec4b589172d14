"""`Prediction`: what a head says about one piece of code, with the `Evidence` of what such answers were worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from numbers import Real
from typing import Any, Self

import numpy as np

from mirenc.errors import HeadError
from mirenc.ir.regions import Region
from mirenc.tasks.space import Value

__all__ = ["Evidence", "Prediction", "Record"]


@dataclass(frozen=True)
class Record:
    """Held-out answers of one kind: the default or another setting, and about as sure.

    Attributes
    ----------
    sure : float
        Least preference of the answers.
    answers : int
    right : float
        Share where no other setting cost less.
    slower : float
        Share at least 1 % slower than the default.
    speedup : float
        Geometric mean over the default.
    """

    sure: float
    answers: int
    right: float
    slower: float
    speedup: float


@dataclass(frozen=True)
class Evidence:
    """What held-out answers were worth.

    Attributes
    ----------
    rival : str
        The static rule that did best on the held-out samples, as people call it.
    worth : tuple of float, or None
        Geometric mean speedup over the rival, and its 95 % interval over groups. For a number and for labels: share of
        the rival's squared error that is gone, and twice that. None: all samples are of one group, so nothing could be
        held out.
    error : float
        For a number and for labels: the absolute error that 8 of 10 held-out answers stay below; 0 where settings are
        chosen.
    default, other : tuple of Record
        Records of answers that are the default, and of those that are not; the surer first.
    whole : bool
        Whether every setting was measured on every sample. If not, the held-out answers were among those that were;
        where more than one in ten was not, no record of them tells about a choice among all.
    no_code : tuple of float, or None
        As ``worth``, over a head that sees the same context features and no code, trained on the same folds in the same
        way; over the rival where there is no context. None: not known, as of heads of older releases.
    """

    rival: str
    worth: tuple[float, float, float] | None
    error: float = 0.0
    default: tuple[Record, ...] = ()
    other: tuple[Record, ...] = ()
    whole: bool = True
    no_code: tuple[float, float, float] | None = None

    @property
    def pays(self) -> bool:
        """Whether the answers beat the rival by more than the interval."""
        return self._beats(self.worth)

    @property
    def found(self) -> bool:
        """Whether they do, and beat a head without code as well: evidence that the code matters."""
        return self.pays and self._beats(self.no_code)

    def _beats(self, worth: tuple[float, float, float] | None) -> bool:
        return worth is not None and worth[1] > (1.0 if not self.error else 0.0)

    def record(self, sure: float, *, default: bool) -> Record | None:
        """The record of held-out answers like this one; None where there were too few."""
        records = self.default if default else self.other
        for record in records:
            if sure >= record.sure:
                return record
        return records[-1] if records else None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, found: Any, where: str) -> Self:
        """What `to_json` gave.

        Raises
        ------
        HeadError
            Something else.
        """
        try:
            records = {name: tuple(Record(**one) for one in found[name]) for name in ("default", "other")}
            worth = None if found["worth"] is None else (*found["worth"],)
            no_code = None if found.get("no_code") is None else (*found["no_code"],)
            numbers = [*(worth or (0.0,) * 3), *(no_code or (0.0,) * 3), found["error"]]
            numbers += [value for kept in records.values() for one in kept for value in asdict(one).values()]
            fits = all(one is None or len(one) == 3 for one in (worth, no_code))
            fits = fits and isinstance(found["rival"], str) and isinstance(found["whole"], bool)
            fits = fits and all(isinstance(value, Real) for value in numbers)
        except (AttributeError, KeyError, TypeError, ValueError):
            fits = False
        if not fits or not np.isfinite(numbers).all():
            raise HeadError(f"{where}: 'evidence' is damaged. Save the head again, or train it anew")
        return cls(found["rival"], worth, found["error"], **records, whole=found["whole"], no_code=no_code)


@dataclass(frozen=True)
class Prediction:
    """What a head says about one kernel.

    Attributes
    ----------
    choice : str
        The setting to take; the default where there is no evidence for another (`Evidence.pays`), or where held-out
        answers like this one were slower than it. "" where nothing is chosen.
    value : float
        The predicted number; NaN where there is none.
    error : float
        For a number: 8 of 10 held-out answers were nearer than this.
    preferred : str
        The setting that the head prefers, evidence or not.
    default : str
        The setting that runs when nobody decides.
    preference : dict of str to float
        Preference for each setting; they sum to 1.
    cost_ratio : dict of str to float
        Expected cost of each setting over that of the preferred one, as the preferences stand for it
        (`mirenc.heads.choosing.cost_ratios`).
    distance : float
        How far the question is from the training samples, in code or in context features; 1 is far
        (`mirenc.deciding.reach`).
    evidence : Evidence
        What held-out answers of this head were worth.
    record : Record or None
        Held-out answers like this one.
    region : Region or None
        What of the module is decided about; None for the whole.
    machine : str
        What the costs were measured on.
    seconds : dict of str to float, or None
        Expected seconds of each setting; None where the task does not ask for them (`Task.seconds`).
    time_factor : float or None
        8 of 10 expected times of the default, on held-out groups, were within this factor of the measured ones; None:
        not known.
    gain : float
        Expected speedup of the preferred setting over the default, for this piece of code.
    expected : dict of str to float
        Expected cost of each setting over that of the default, for this piece of code; no caution in it.
    setting : tuple
        The choice as values of the knobs; () where nothing is chosen.
    labels : mapping of str to float
        About how likely each label is, 0 to 1; {} where the target is another.
    context : mapping of str to object
        Context features that the answer was given for, by name: what the code told, and what was given.
    """

    choice: str
    value: float
    error: float
    preferred: str
    default: str
    preference: dict[str, float]
    cost_ratio: dict[str, float]
    distance: float
    evidence: Evidence
    record: Record | None = None
    region: Region | None = None
    machine: str = ""
    seconds: dict[str, float] | None = None
    time_factor: float | None = None
    gain: float = 1.0
    expected: dict[str, float] = field(default_factory=dict)
    setting: tuple[Value, ...] = ()
    labels: Mapping[str, float] = field(default_factory=dict)
    context: Mapping[str, object] = field(default_factory=dict)

    @property
    def far(self) -> bool:
        """Whether the kernel is unlike those that the head was trained on."""
        return self.distance > 1.0
