"""`TaskData`: the samples of a task, checked, as columns; the label, the setting of least cost, is never stored."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import Bool, Float64, Int64
from mirenc.base.errors import TaskError
from mirenc.decide.estimators.chooser import Settings
from mirenc.decide.metrics import oracle_choice
from mirenc.decide.sample import IRSource, Sample
from mirenc.decide.settings import SettingEncoder, Space, Value
from mirenc.llvm import Region

Code = tuple[IRSource, Region | None]


@dataclass(frozen=True, eq=False)
class TaskData:
    """The samples of a task. n samples, K settings of the largest space.

    Raises TaskError: no samples; costs that do not fit the space, or are not positive and finite; an unmeasured
    default; a value that is no finite number; labels other than 0 and 1, or not one for each name; effective settings
    that become others themselves; reported costs of other settings than the costs. The message names the sample.
    """

    samples: Sequence[Sample]
    space: Space | None = None
    """The settings of every sample that brings none of its own. None without any: the target is a number,
    `Sample.value`, or labels."""
    content_hash: str = ""
    """SHA-256 of the files the samples come from; kept in every record."""
    machine: str = ""
    """What the costs were measured on, in one line for people: processor, compiler, flags. A head that is trained on
    them keeps it. "" where nobody said."""
    label_names: tuple[str, ...] = ()
    """What the labels of each sample say (`Sample.labels`); () where the target is another."""
    llvm: str = ""
    """Version of the LLVM whose work the targets are, ``19.1.7``; "" where they are no compiler's. A head keeps it."""

    def __post_init__(self) -> None:
        if not self.samples:
            raise TaskError("the task has no samples. Check the data folder")
        for row, sample in enumerate(self.samples):
            _check(sample, self._spaces[row], self.label_names, f"sample {row} ({sample.name})")
        if self._distinct_spaces and None in self._spaces:
            raise TaskError("some samples have settings and others have a value to predict. Make two tasks of them")

    def __len__(self) -> int:
        return len(self.samples)

    def check_fits(self, task: str, target: str, space: Space | None) -> None:
        """Raise TaskError for samples that a task of this target and space cannot have."""
        if self.target != target:
            words = {"costs": "costs of settings", "number": "numbers to predict", "labels": "labels"}[self.target]
            raise TaskError(f"task {task!r} has target {target!r}, and its samples have {words}. Mend the task")
        if space is not None and not (self.shares_space and self.space == space):
            found = "has a space, and its samples another. Give `space` to TaskData, or leave it out"
            raise TaskError(f"task {task!r} {found}")

    def subset(self, rows: Sequence[int] | NDArray[np.integer[Any]]) -> Self:
        """The samples of these rows, in this order; the hash says that it is a part."""
        kept = [self.samples[row] for row in rows]
        part = hashlib.sha256(f"{self.content_hash} {list(map(int, rows))}".encode()).hexdigest()
        return replace(self, samples=kept, content_hash=part)

    # -- columns ---------------------------------------------------------------------------------------
    @cached_property
    def target(self) -> str:
        """``costs``, ``number`` or ``labels``, as `mirenc.decide.Task.target`."""
        if self.label_names:
            return "labels"
        return "costs" if self._distinct_spaces else "number"

    @cached_property
    def _spaces(self) -> list[Space | None]:
        return [sample.space or self.space for sample in self.samples]

    @property
    def spaces(self) -> list[Space]:
        """(n) space of each sample. Raises TaskError: there are no settings."""
        if self.target != "costs":
            raise TaskError(f"the target of this task is a {self.target}: it has no settings to choose among")
        return [space for space in self._spaces if space is not None]

    @cached_property
    def _distinct_spaces(self) -> list[Space]:
        return list({id(space): space for space in self._spaces if space is not None}.values())

    @cached_property
    def shares_space(self) -> bool:
        """Whether every sample has the task's own space, so that a column is one setting."""
        return self.space is not None and all(space == self.space for space in self._distinct_spaces)

    @property
    def width(self) -> int:
        """K, settings of the largest space; 0 where there are none."""
        return max(map(len, self._distinct_spaces), default=0)

    @cached_property
    def value(self) -> Float64:
        """(n,) the number to predict; NaN where the target is costs."""
        return np.array([sample.value for sample in self.samples], dtype=np.float64)

    @cached_property
    def label_table(self) -> Bool:
        """(n, P) whether each of the labels holds; P = 0 where the target is another."""
        return np.array([sample.labels for sample in self.samples], dtype=bool).reshape(len(self), -1)

    @cached_property
    def _effective(self) -> Int64:
        """(n, K) what the compiler made of each setting: its own column where nothing else is known."""
        table = np.tile(np.arange(self.width), (len(self), 1))
        for row, sample in enumerate(self.samples):
            if sample.effective is not None:
                table[row, : len(sample.effective)] = sample.effective
        return table

    @cached_property
    def costs(self) -> Float64:
        """(n, K) float64 as measured; settings of one effective setting share its cost. NaN: not measured."""
        return self._table([sample.costs for sample in self.samples])

    def _table(self, costs: Sequence[tuple[float, ...] | Mapping[int, float]]) -> Float64:
        """Costs of samples, dense or sparse, as (n, K) float64."""
        table = np.full((len(self), self.width), np.nan)
        for row, own in enumerate(costs):
            if isinstance(own, Mapping):
                table[row, list(own)] = list(own.values())
            else:
                table[row, : len(own)] = own
        return np.take_along_axis(table, self._effective, axis=1)

    @cached_property
    def _runs(self) -> Int64:
        """(n, K) the setting that runs when each is asked for; -1 where nobody may ask."""
        measured = np.isfinite(self.costs)
        table = np.full(measured.shape, -1, dtype=np.int64)
        of = np.array([id(space) for space in self.spaces])
        for space in self._distinct_spaces:
            rows = np.flatnonzero(of == id(space))
            table[rows, : len(space)] = space.runs(measured[rows, : len(space)])
        return np.where(table < 0, -1, np.take_along_axis(self._effective, np.maximum(table, 0), axis=1))

    @cached_property
    def known(self) -> Float64:
        """(n, K) cost of what runs when each setting is asked for (`Space.missing`). NaN: nobody may ask."""
        return self._of_what_runs(self.costs)

    @cached_property
    def paid(self) -> Float64:
        """(n, K) `known` by the reported costs: what a report says that each setting costs. NaN: nobody may ask."""
        if not any(sample.reported for sample in self.samples):
            return self.known
        return self._of_what_runs(self._table([sample.reported or sample.costs for sample in self.samples]))

    def _of_what_runs(self, costs: Float64) -> Float64:
        return np.where(self._runs < 0, np.nan, np.take_along_axis(costs, np.maximum(self._runs, 0), axis=1))

    def resolve(self, choice: Int64) -> Int64:
        """The settings that run when ``choice`` is asked for. (n,) -> (n,); -1 where nobody may ask."""
        return np.asarray(self._runs[np.arange(len(self)), choice])

    @cached_property
    def default(self) -> Int64:
        """(n,) the setting that runs when nobody decides."""
        return np.array([space.default for space in self.spaces], dtype=np.int64)

    @cached_property
    def baseline(self) -> Float64:
        """(n,) cost of the default."""
        return np.asarray(self.costs[np.arange(len(self)), self.default])

    @cached_property
    def paid_baseline(self) -> Float64:
        """(n,) cost of the default as a report says it."""
        return np.asarray(self.paid[np.arange(len(self)), self.default])

    @cached_property
    def labels(self) -> Int64:
        """(n,) the effective setting of least cost; all 0 where there are no settings."""
        return self.resolve(oracle_choice(self.known)) if self._distinct_spaces else np.zeros(len(self), dtype=np.int64)

    @cached_property
    def encoder(self) -> SettingEncoder:
        """How the settings become numbers."""
        return SettingEncoder.of(self._distinct_spaces)

    @cached_property
    def setting_values(self) -> list[tuple[Value, ...]]:
        """The T different settings of all samples."""
        return list(dict.fromkeys(setting for space in self._distinct_spaces for setting in space.settings))

    @cached_property
    def settings(self) -> Settings:
        """The settings that may be asked for, as heads take them: T different ones, (n, K) rows."""
        place = {setting: row for row, setting in enumerate(self.setting_values)}
        of_space = {id(space): [place[setting] for setting in space.settings] for space in self._distinct_spaces}
        row = np.full((len(self), self.width), -1, dtype=np.int64)
        for number, space in enumerate(self.spaces):
            row[number, : len(space)] = of_space[id(space)]
        row[~np.isfinite(self.known)] = -1
        return Settings(self.encoder(self.setting_values), row)

    @cached_property
    def group(self) -> NDArray[np.str_]:
        return np.array([sample.group for sample in self.samples])

    @cached_property
    def kernel(self) -> NDArray[np.str_]:
        """(n,) the piece of code, by name: samples of one are the same code."""
        return np.array([sample.kernel or sample.group for sample in self.samples])

    @cached_property
    def held_out(self) -> Bool:
        return np.array([sample.held_out for sample in self.samples], dtype=bool)

    @cached_property
    def suite(self) -> NDArray[np.str_]:
        return np.array([sample.suite for sample in self.samples])

    @cached_property
    def part(self) -> NDArray[np.str_]:
        return np.array([sample.part for sample in self.samples])

    @cached_property
    def has_code(self) -> bool:
        """Whether every sample has its IR."""
        return all(sample.ir is not None for sample in self.samples)

    @cached_property
    def distinct_code(self) -> tuple[list[Code], Int64]:
        """The different pieces of code, ``(ir, region)``, and the number of each sample's: ``(pieces, (n,) int64)``.

        Raises TaskError: A sample has no IR.
        """
        numbers: dict[Code, int] = {}
        of = []
        for sample in self.samples:
            if sample.ir is None:
                how = "Nothing that looks at code can be made of these data: take row no_code"
                if sample.code:
                    files = f"DIR/{sample.code}.ll or .bc (Python: mirenc.decide.with_ir)"
                    how = f"Give your own IR of all with --ir-dir DIR, as in {files}"
                raise TaskError(f"sample {sample.name} comes without code. {how}")
            of.append(numbers.setdefault((sample.ir, sample.region), len(numbers)))
        return list(numbers), np.array(of, dtype=np.int64)


def hash_samples(samples: Sequence[Sample]) -> str:
    """SHA-256 of all that samples say; an IR file counts by its name."""
    named = [replace(one, ir=one.ir.name) if isinstance(one.ir, Path) else one for one in samples]
    return hashlib.sha256(repr(named).encode("utf-8", "surrogateescape")).hexdigest()


def _check(sample: Sample, space: Space | None, names: tuple[str, ...], where: str) -> None:
    """Refuse a sample whose labels are not those of the names, whose value is none, or whose costs do not fit."""
    value: Any = sample.value
    if names or sample.labels:
        if sample.costs or space is not None or len(sample.labels) != len(names):
            raise TaskError(
                f"{where}: {len(sample.labels)} labels for {len(names)} names, {len(sample.costs)} costs. For a target "
                "of labels give label_names to TaskData, as many labels to each sample, and neither costs nor space"
            )
        if strange := [label for label in sample.labels if label not in (0, 1)]:
            raise TaskError(f"{where}: label {strange[0]!r}; allowed: 0 and 1")
    elif space is not None:
        _check_settings(sample, space, where)
    elif sample.costs or sample.reported or not isinstance(value, Real) or not math.isfinite(value):
        need = f"no space of settings, and the value to predict is {value!r}"
        raise TaskError(f"{where}: {need}. Give a finite value, or a space with costs")


def _check_settings(sample: Sample, space: Space, where: str) -> None:
    measured = np.isfinite(_row(sample.costs, space, where, "cost"))
    default, count = space.default, len(space)
    if (made := sample.effective) is not None:
        if len(made) != count or not all(_is_setting(index, count) for index in made):
            raise TaskError(f"{where}: effective is {made}; give one setting, 0 to {count - 1}, for each of {count}")
        if moved := [index for index in made if made[index] != index]:
            found = f"setting {moved[0]} is effective for others, and itself becomes {made[moved[0]]}"
            raise TaskError(f"{where}: {found}. An effective setting is its own")
        if len(lost := np.flatnonzero(measured & ~measured[list(made)])):
            found = f"setting {lost[0]} has a cost and becomes {made[lost[0]]}, which has none"
            raise TaskError(f"{where}: {found}. Put the cost there")
        default = made[default]
    if not measured[default]:
        found = f"no cost of the default {space.names[space.default]!r}. Speedups are over it"
        raise TaskError(f"{where}: {found}; leave the sample out")
    if sample.reported:
        odd = np.flatnonzero(measured ^ np.isfinite(_row(sample.reported, space, where, "reported cost")))
        if len(odd):
            what = "cost" if measured[odd[0]] else "reported cost"
            raise TaskError(f"{where}: setting {space.names[odd[0]]!r} has a {what}, not both. Give both, or neither")


def _row(costs: tuple[float, ...] | Mapping[int, float], space: Space, where: str, what: str) -> Float64:
    """Costs of a sample, (K,), NaN where there is none; those that do not fit the space are refused."""
    count = len(space)
    row = np.full(count, np.nan)
    if isinstance(costs, Mapping):
        if strange := [index for index in costs if not _is_setting(index, count)]:
            raise TaskError(f"{where} has a {what} of setting {strange[0]!r}; the space has 0 to {count - 1}")
        index, given = list(costs), list[Any](costs.values())
    else:
        if len(costs) != count:
            listed = ", ".join(space.names[:8]) + (" ..." if count > 8 else "")
            raise TaskError(
                f"{where} has {len(costs)} {what}s; its space has {count} settings: {listed}. "
                "Give one for each, NaN where it was not measured"
            )
        index, given = list(range(count)), list(costs)
    row[index] = [cost if isinstance(cost, Real) else 0.0 for cost in given]
    if len(wrong := np.flatnonzero((row <= 0) | np.isinf(row))):
        name, cost = space.names[wrong[0]], costs[int(wrong[0])]
        raise TaskError(f"{where}: the {what} of {name!r} is {cost!r}; a cost is a positive time, or NaN")
    return row


def _is_setting(index: Any, count: int) -> bool:
    """Whether this is the number of one of so many settings: 1.0 and True would index another way."""
    return not isinstance(index, bool) and isinstance(index, Integral) and 0 <= int(index) < count
