"""`TaskData`: the samples of a task, checked, as columns; the label, the setting of least cost, is never stored."""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import Bool, Float64, Int64
from mirenc.base.errors import TaskError
from mirenc.base.shown import short_repr
from mirenc.decide.estimators.chooser import Settings
from mirenc.decide.metrics import oracle_choice
from mirenc.decide.sample import Costs, IRSource, Sample
from mirenc.decide.settings import Setting, SettingEncoder, Space
from mirenc.llvm import Region

Code = tuple[IRSource, Region | None]
_NAMES_SHOWN = 8


def _column(value: Callable[[Sample], Any], dtype: Any) -> cached_property[NDArray[Any]]:
    """(n,) a value of each sample."""
    return cached_property(lambda data: np.array([value(sample) for sample in data.samples], dtype=dtype))


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

    __repr__ = short_repr

    def __post_init__(self) -> None:
        if not self.samples:
            raise TaskError("the task has no samples. Check the data folder")
        for row, (sample, space) in enumerate(zip(self.samples, self._spaces, strict=True)):
            _check_sample(sample, space, self.label_names, f"sample {row} ({sample.name})")
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
            problem = f"the settings of task {task!r} are not those of its samples"
            raise TaskError(f"{problem}. Give the same `space` to the task and to TaskData")

    def subset(self, rows: Sequence[int] | NDArray[np.integer[Any]]) -> Self:
        """The samples of these rows, in this order; the hash says that it is a part."""
        digest = hashlib.sha256(f"{self.content_hash} {list(map(int, rows))}".encode()).hexdigest()
        return replace(self, samples=[self.samples[row] for row in rows], content_hash=digest)

    # -- what the samples say, a row a sample ------------------------------------------------------------
    group = _column(lambda sample: sample.group, str)
    kernel = _column(lambda sample: sample.kernel or sample.group, str)  # samples of one are the same code
    suite = _column(lambda sample: sample.suite, str)
    part = _column(lambda sample: sample.part, str)
    held_out = _column(lambda sample: sample.held_out, bool)
    value = _column(lambda sample: sample.value, np.float64)  # NaN where the target is another

    @cached_property
    def label_table(self) -> Bool:
        """(n, P) whether each of the labels holds; P = 0 where the target is another."""
        return np.array([sample.labels for sample in self.samples], dtype=bool).reshape(len(self), -1)

    @property
    def has_code(self) -> bool:
        """Whether every sample has its IR."""
        return all(sample.ir is not None for sample in self.samples)

    @cached_property
    def distinct_code(self) -> tuple[list[Code], Int64]:
        """The different pieces of code, ``(ir, region)``, and the number of each sample's: ``(pieces, (n,) int64)``.

        Raises TaskError: a sample has no IR.
        """
        numbers: dict[Code, int] = {}
        piece = []
        for sample in self.samples:
            if sample.ir is None:
                advice = "Without code, only heads that see no code can be trained: give --row no_code"
                if sample.code:
                    files = f"DIR/{sample.code}.ll or .bc (Python: mirenc.decide.with_ir)"
                    advice = f"Give IR of your own for all samples with --ir-dir DIR, as in {files}"
                raise TaskError(f"sample {sample.name} comes without code. {advice}")
            piece.append(numbers.setdefault((sample.ir, sample.region), len(numbers)))
        return list(numbers), np.array(piece, dtype=np.int64)

    # -- settings ----------------------------------------------------------------------------------------
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
    def default(self) -> Int64:
        """(n,) the setting that runs when nobody decides."""
        return np.array([space.default for space in self.spaces], dtype=np.int64)

    @cached_property
    def encoder(self) -> SettingEncoder:
        """How the settings become numbers."""
        return SettingEncoder.of(self._distinct_spaces)

    @cached_property
    def setting_values(self) -> list[Setting]:
        """The T different settings of all samples."""
        return list(dict.fromkeys(setting for space in self._distinct_spaces for setting in space.settings))

    @cached_property
    def settings(self) -> Settings:
        """The settings that may be asked for, as heads take them: T different ones, (n, K) rows."""
        place = {setting: row for row, setting in enumerate(self.setting_values)}
        rows_of = {id(space): [place[setting] for setting in space.settings] for space in self._distinct_spaces}
        row = np.full((len(self), self.width), -1, dtype=np.int64)
        for number, space in enumerate(self.spaces):
            row[number, : len(space)] = rows_of[id(space)]
        row[~np.isfinite(self.known)] = -1
        return Settings(self.encoder(self.setting_values), row)

    # -- costs -------------------------------------------------------------------------------------------
    @cached_property
    def _effective(self) -> Int64:
        """(n, K) what the compiler made of each setting: its own column where nothing else is known."""
        table = np.tile(np.arange(self.width), (len(self), 1))
        for row, sample in enumerate(self.samples):
            if sample.effective is not None:
                table[row, : len(sample.effective)] = sample.effective
        return table

    def _cost_table(self, costs: Sequence[Costs]) -> Float64:
        """(n, K) costs of samples; settings of one effective setting share its cost."""
        table = np.full((len(self), self.width), np.nan)
        for row, cells in zip(table, costs, strict=True):
            row[list(cells) if isinstance(cells, Mapping) else slice(len(cells))] = _values(cells)
        return np.take_along_axis(table, self._effective, axis=1)

    @cached_property
    def costs(self) -> Float64:
        """(n, K) float64 as measured; NaN: not measured."""
        return self._cost_table([sample.costs for sample in self.samples])

    @cached_property
    def _runs(self) -> Int64:
        """(n, K) the setting that runs when each is asked for; -1 where nobody may ask."""
        measured = np.isfinite(self.costs)
        table = np.full(measured.shape, -1, dtype=np.int64)
        space_ids = np.array([id(space) for space in self.spaces])
        for space in self._distinct_spaces:
            rows = np.flatnonzero(space_ids == id(space))
            table[rows, : len(space)] = space.runs(measured[rows, : len(space)])
        return np.where(table < 0, -1, np.take_along_axis(self._effective, np.maximum(table, 0), axis=1))

    def resolve(self, choice: Int64) -> Int64:
        """The settings that run when ``choice`` is asked for. (n,) -> (n,); -1 where nobody may ask."""
        return np.asarray(self._runs[np.arange(len(self)), choice])

    def _costs_of_runs(self, costs: Float64) -> Float64:
        return np.where(self._runs < 0, np.nan, np.take_along_axis(costs, np.maximum(self._runs, 0), axis=1))

    @cached_property
    def known(self) -> Float64:
        """(n, K) cost of what runs when each setting is asked for (`Space.missing`). NaN: nobody may ask."""
        return self._costs_of_runs(self.costs)

    @cached_property
    def paid(self) -> Float64:
        """(n, K) as `known`, of the reported costs where samples have any: reports judge by it. NaN: nobody may ask."""
        if not any(sample.reported for sample in self.samples):
            return self.known
        return self._costs_of_runs(self._cost_table([sample.reported or sample.costs for sample in self.samples]))

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


def hash_samples(samples: Sequence[Sample]) -> str:
    """SHA-256 of all that samples say; an IR file counts by its name."""
    copies = [replace(sample, ir=sample.ir.name) if isinstance(sample.ir, Path) else sample for sample in samples]
    return hashlib.sha256(repr(copies).encode("utf-8", "surrogateescape")).hexdigest()


def _check_sample(sample: Sample, space: Space | None, names: tuple[str, ...], where: str) -> None:
    """Refuse a sample whose labels are not those of the names, whose value is none, or whose costs do not fit."""
    value: Any = sample.value
    if names or sample.labels:
        if sample.costs or space is not None or len(sample.labels) != len(names):
            raise TaskError(
                f"{where} has {len(sample.labels)} labels for {len(names)} label names, {len(sample.costs)} costs. For "
                "labels, give TaskData `label_names` and no `space`, and each sample a label for each name and no costs"
            )
        if invalid_labels := [label for label in sample.labels if label not in (0, 1)]:
            raise TaskError(f"{where}: label {invalid_labels[0]!r}; allowed: 0 and 1")
    elif space is not None:
        _check_costs(sample, space, where)
    elif sample.costs or sample.reported or not isinstance(value, Real) or not math.isfinite(value):
        problem = f"no space of settings, and the value to predict is {value!r}"
        raise TaskError(f"{where}: {problem}. Give a finite value, or a space with costs")


def _check_costs(sample: Sample, space: Space, where: str) -> None:
    measured = _measured(sample.costs, space, where, "cost")
    default, count, effective = space.default, len(space), sample.effective
    if effective is not None:
        if len(effective) != count or not all(_is_setting(index, count) for index in effective):
            advice = f"give the number of one setting, 0 to {count - 1}, for each of the {count} settings"
            raise TaskError(f"{where}: effective is {effective}; {advice}")
        if chain := [index for index in effective if effective[index] != index]:
            problem = f"`effective` maps others to setting {chain[0]}, but setting {chain[0]} to {effective[chain[0]]}"
            raise TaskError(f"{where}: {problem}. A setting that others are mapped to must be mapped to itself")
        if len(gaps := np.flatnonzero(measured & ~measured[list(effective)])):
            problem = f"setting {gaps[0]} has a cost, but `effective` maps it to {effective[gaps[0]]}, which has none"
            raise TaskError(f"{where}: {problem}. Give the cost to setting {effective[gaps[0]]}")
        default = effective[default]
    if not measured[default]:
        problem = f"the default {space.names[space.default]!r} has no cost, and speedups are relative to the default"
        raise TaskError(f"{where}: {problem}. Leave the sample out")
    if sample.reported:
        unmatched = np.flatnonzero(measured ^ _measured(sample.reported, space, where, "reported cost"))
        if len(unmatched):
            difference = "a cost but no reported cost" if measured[unmatched[0]] else "a reported cost but no cost"
            raise TaskError(f"{where}: setting {space.names[unmatched[0]]!r} has {difference}. Give both, or neither")


def _measured(costs: Costs, space: Space, where: str, quantity: str) -> Bool:
    """(K,) which settings have a cost; costs that do not fit the space are refused."""
    count = len(space)
    if isinstance(costs, Mapping):
        if misfits := [index for index in costs if not _is_setting(index, count)]:
            raise TaskError(f"{where} has a {quantity} of setting {misfits[0]!r}; the space has 0 to {count - 1}")
    elif len(costs) != count:
        names = ", ".join(space.names[:_NAMES_SHOWN]) + (" ..." if count > _NAMES_SHOWN else "")
        problem = f"{where} has {len(costs)} {quantity}s; its space has {count} settings: {names}"
        raise TaskError(f"{problem}. Give one for each, NaN where it was not measured")
    measured = np.zeros(count, dtype=bool)
    for index, cost in zip(costs if isinstance(costs, Mapping) else range(count), _values(costs), strict=True):
        if not isinstance(cost, Real) or cost <= 0 or math.isinf(cost):
            problem = f"the {quantity} of {space.names[index]!r} is {cost!r}; a cost is a positive time, or NaN"
            raise TaskError(f"{where}: {problem}")
        measured[index] = not math.isnan(cost)
    return measured


def _values(costs: Costs) -> list[Any]:
    return list(costs.values() if isinstance(costs, Mapping) else costs)


def _is_setting(index: Any, count: int) -> bool:
    """Whether this is the number of one of so many settings: 1.0 and True would index another way."""
    return not isinstance(index, bool) and isinstance(index, Integral) and 0 <= int(index) < count
