"""`TaskSample` and `TaskData`: measured costs of a piece of code under each choice, and what groups it belongs to.

The label is the choice of least cost and is never stored (DESIGN section 6), so a head may learn from the costs.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import TaskError
from mirenc.metrics import clip_to_measured, oracle_choice

__all__ = ["TaskData", "TaskSample"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class TaskSample:
    """One measured run of one piece of code.

    Attributes
    ----------
    name : str
        What an error message calls it: kernel and data set.
    ir : str, bytes or path
        IR text, bitcode, or a file: whatever `mirenc.Encoder.embed` takes. Samples may share one.
    group : str
        Kernel source. Samples of one group are never on both sides of a grouped fold.
    aux : tuple
        Task features beside the code, raw, in the order of `Task.aux_names`.
    costs : tuple of float
        Seconds (or any unit, the same for one sample) for each choice; NaN where it was not measured.
    suite : str
        Benchmark suite; "" where there are none.
    part : str
        Name of a part of the table that is reported by itself, such as the GPU; "" for none.
    hand : tuple of float
        Published hand-made features of the code, raw, in the order of `Task.hand_names`; () for none.
    """

    name: str
    ir: str | bytes | os.PathLike[str]
    group: str
    aux: tuple[Any, ...]
    costs: tuple[float, ...]
    suite: str = ""
    part: str = ""
    hand: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class TaskData:
    """The samples of a task, checked, as columns.

    Parameters
    ----------
    samples : sequence of TaskSample
    choices : tuple of str
        K names, in the order of a sample's costs.
    default : int
        Index of the choice that runs when nobody decides: the baseline of every speedup.
    content_hash : str
        SHA-256 of the files the samples come from; kept in every record.

    Raises
    ------
    TaskError
        No samples; a sample with a wrong number of costs, a cost that is not positive and finite, fewer than one
        measured choice, or an unmeasured default. The message names the sample.
    """

    samples: Sequence[TaskSample]
    choices: tuple[str, ...]
    default: int = 0
    content_hash: str = ""

    def __post_init__(self) -> None:
        if self.default not in range(len(self.choices)):
            raise TaskError(f"default is {self.default!r}; choices are numbered from 0 to {len(self.choices) - 1}")
        if not self.samples:
            raise TaskError("the task has no samples. Check the data folder")
        for row, sample in enumerate(self.samples):
            where = f"sample {row} ({sample.name})"
            if len(sample.costs) != len(self.choices):
                raise TaskError(
                    f"{where} has {len(sample.costs)} costs; the task has {len(self.choices)} choices: "
                    f"{', '.join(self.choices)}. Give one for each, NaN where it was not measured"
                )
            for choice, cost in zip(self.choices, sample.costs, strict=True):
                if not _is_cost(cost):
                    raise TaskError(f"{where}: the cost of {choice!r} is {cost!r}; a cost is a positive time, or NaN")
            if np.isnan(sample.costs[self.default]):
                raise TaskError(
                    f"{where}: no cost of the default choice {self.choices[self.default]!r}. Speedups are over it; "
                    "leave the sample out"
                )

    def __len__(self) -> int:
        return len(self.samples)

    def subset(self, rows: Sequence[int] | NDArray[np.integer[Any]]) -> TaskData:
        """The samples of these rows, in this order; the hash says that it is a part."""
        kept = [self.samples[row] for row in rows]
        part = hashlib.sha256(f"{self.content_hash} {list(map(int, rows))}".encode()).hexdigest()
        return TaskData(kept, self.choices, self.default, part)

    @cached_property
    def costs(self) -> Float:
        """(n, K) float64; NaN: not measured."""
        return np.array([sample.costs for sample in self.samples], dtype=np.float64)

    @cached_property
    def baseline(self) -> Float:
        """(n,) cost of the default choice."""
        return self.costs[:, self.default]

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """(n,) index of the least measured cost."""
        return oracle_choice(self.costs)

    @cached_property
    def group(self) -> NDArray[np.str_]:
        return np.array([sample.group for sample in self.samples])

    @cached_property
    def suite(self) -> NDArray[np.str_]:
        return np.array([sample.suite for sample in self.samples])

    @cached_property
    def part(self) -> NDArray[np.str_]:
        return np.array([sample.part for sample in self.samples])

    @cached_property
    def distinct_ir(self) -> tuple[list[str | bytes | os.PathLike[str]], NDArray[np.int64]]:
        """The different pieces of IR, and the row of each sample's: ``(pieces, (n,) int64)``."""
        rows: dict[str | bytes, int] = {}
        pieces: list[str | bytes | os.PathLike[str]] = []
        of = np.zeros(len(self.samples), dtype=np.int64)
        for index, sample in enumerate(self.samples):
            key = os.fspath(sample.ir)
            if key not in rows:
                rows[key] = len(pieces)
                pieces.append(sample.ir)
            of[index] = rows[key]
        return pieces, of

    def resolve(self, choice: NDArray[np.int64]) -> NDArray[np.int64]:
        """The choices that run when ``choice`` is asked for (`mirenc.metrics.clip_to_measured`). (n,) -> (n,)."""
        return clip_to_measured(self.costs, choice)


def _is_cost(value: Any) -> bool:
    return isinstance(value, Real) and (math.isnan(float(value)) or 0 < float(value) < math.inf)
