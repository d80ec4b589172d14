"""`Space`: the settings a task chooses among, and how a head sees them as numbers."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from mirenc.base.arrays import Bool, Float64, Int64
from mirenc.base.errors import TaskError

Value = str | int | float
Setting = tuple[Value, ...]
MISSING = ("default", "below", "never")


@dataclass(frozen=True)
class Space:
    """K settings of one knob (a device) or several (vectorization factor x interleave factor)."""

    knobs: tuple[str, ...]
    """What is decided, in the field's words."""
    settings: tuple[Setting, ...]
    """Value of each knob, in the order of ``knobs``; the order of every sample's costs."""
    default: int = 0
    """The setting that runs when nobody decides."""
    missing: Literal["default", "below", "never"] = "default"
    """What a setting without a cost means for a sample. ``default``: it cannot run, and the default runs in its place.
    ``below``: the largest measured setting below it runs, for one ordered knob (a coarsening factor is clipped, as in
    the published evaluations). ``never``: it was not tried, so nobody is asked about it."""

    def __post_init__(self) -> None:
        if problem := self._problem():
            raise TaskError(f"space of {', '.join(self.knobs) or 'no knobs'}: {problem}")

    def _problem(self) -> str:
        """What is wrong with the arguments; "" for a sound space."""
        knobs, settings = self.knobs, self.settings
        if not knobs or len(set(knobs)) != len(knobs):
            return "give one knob or more, each a name of its own"
        if len(set(settings)) != len(settings) or len(settings) < 2:
            return f"{len(set(settings))} different settings; two or more are needed"
        for setting in settings:
            if len(setting) != len(knobs) or not all(isinstance(value, (str, int, float)) for value in setting):
                return f"setting {setting!r}; a setting is one number or word for each knob"
        if self.default not in range(len(settings)):
            return f"default is {self.default!r}; indices go from 0 to {len(settings) - 1}"
        if self.missing not in MISSING:
            return f"missing is {self.missing!r}; available: {', '.join(MISSING)}"
        # "below" needs an order: ascending numbers, or words as they are listed.
        values: list[Any] = [setting[0] for setting in settings]
        words = [isinstance(value, str) for value in values]
        ascends = all(words) or (not any(words) and values == sorted(values))
        if self.missing == "below" and not (len(knobs) == 1 and ascends):
            requirement = "missing='below' is for one knob, its numbers in ascending order"
            return f"{requirement}. Order them, or use 'default' or 'never'"
        return ""

    @classmethod
    def product(
        cls,
        knobs: Mapping[str, Sequence[Value]],
        *,
        default: Mapping[str, Value],
        missing: Literal["default", "below", "never"] = "default",
    ) -> Self:
        """All combinations of the knobs' values, the last one varying fastest. Raises TaskError: no such default."""
        settings = tuple(itertools.product(*knobs.values()))
        default_setting = tuple(default.get(knob, "") for knob in knobs)
        if default_setting not in settings or set(default) != set(knobs):
            problem = f"default {dict(default)} is not a setting of {', '.join(knobs)}"
            raise TaskError(f"{problem}. Give each knob one of its values")
        return cls(tuple(knobs), settings, settings.index(default_setting), missing)

    def __len__(self) -> int:
        return len(self.settings)

    @property
    def default_first(self) -> tuple[Setting, ...]:
        """The settings, with the default before the others."""
        default = self.settings[self.default]
        return (default, *(setting for setting in self.settings if setting != default))

    @cached_property
    def place(self) -> Mapping[Setting, int]:
        """The index of each setting."""
        return {setting: index for index, setting in enumerate(self.settings)}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What each setting is called: the value of a single knob, else ``knob=value`` for each."""
        return tuple(setting_name(self.knobs, setting) for setting in self.settings)

    def runs(self, measured: Bool) -> Int64:
        """The setting that runs when each is asked for; -1 where nobody may ask (``missing``). (n, K) -> (n, K)."""
        count = len(self)
        numbers = np.broadcast_to(np.arange(count), measured.shape)
        if self.missing == "below":
            last = np.maximum.accumulate(np.where(measured, numbers, -1), axis=1)
            # Nothing at or below was measured: the least measured one runs.
            replacement = np.where(last >= 0, last, np.argmax(measured, axis=1)[:, None])
        else:
            replacement = np.full(measured.shape, self.default if self.missing == "default" else -1)
        return np.where(measured, numbers, replacement).astype(np.int64)


def setting_name(knobs: Sequence[str], setting: Sequence[Value]) -> str:
    """The value of a single knob, else ``knob=value`` for each."""
    if len(knobs) == 1:
        return str(setting[0])
    return " ".join(f"{knob}={value}" for knob, value in zip(knobs, setting, strict=True))


@dataclass(frozen=True)
class SettingEncoder:
    """Settings as numbers: a signed logarithm for knobs of numbers, a column a word for the others.

    The columns do not depend on which settings a space holds, so that settings of several spaces compare.
    """

    knobs: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]]  # words of each knob that has any; a knob that is not in it has numbers

    @classmethod
    def of(cls, spaces: Sequence[Space]) -> Self:
        """The encoder of spaces of the same knobs. Raises TaskError: other knobs, or a knob of words and numbers."""
        knobs = spaces[0].knobs
        if other_knobs := [space.knobs for space in spaces if space.knobs != knobs]:
            problem = f"some samples have the knobs {', '.join(knobs)}, others {', '.join(other_knobs[0])}"
            raise TaskError(f"{problem}. Give all samples the same knobs")
        words: dict[str, tuple[str, ...]] = {}
        for place, knob in enumerate(knobs):
            values = {setting[place] for space in spaces for setting in space.settings}
            texts = {value for value in values if isinstance(value, str)}
            if texts and texts != values:
                raise TaskError(f"knob {knob!r} has words and numbers as values; use one kind")
            if texts:
                words[knob] = tuple(sorted(texts))
        return cls(knobs, words)

    def __call__(self, settings: Sequence[Setting]) -> Float64:
        """Settings as rows. K settings -> (K, F) float64; a word that was not known has no column."""
        columns: list[list[float]] = []
        for place, knob in enumerate(self.knobs):
            values: list[Any] = [setting[place] for setting in settings]
            if knob in self.words:
                columns += [[float(value == word) for value in values] for word in self.words[knob]]
            else:
                columns.append([float(np.sign(value) * np.log2(1 + abs(value))) for value in values])
        return np.array(columns, dtype=np.float64).T
