"""`Prediction`: what a head says about one piece of code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mirenc.ir.regions import Region
from mirenc.tasks.evidence import Evidence, Record
from mirenc.tasks.space import Value

__all__ = ["Prediction"]


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
        (`mirenc.tasks.reach`).
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
