"""Rows of a measured table (`mirenc.tasks.measured`): a kernel, and a kernel measured on a part of the machine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mirenc.ir.regions import Region
from mirenc.tasks.space import Value

__all__ = ["MeasuredKernel", "MeasuredSample"]


@dataclass(frozen=True)
class MeasuredKernel:
    """A row of ``kernels.parquet``: what `mirenc.measure.kernel.Kernel` says, and the IR."""

    name: str
    group: str
    family: str
    language: str
    function: str
    line: int
    size: int
    context: Mapping[str, Any]
    source: str
    driver: str
    ir: str = ""  # what a head sees; "" where the kernel did not compile
    region: Region | None = None  # what of ``ir`` is decided about; None: all of it
    # Digest of what a user's source and driver include; "" for the project's own, and in tables of older releases
    headers: str = ""


@dataclass(frozen=True)
class MeasuredSample:
    """A row of ``samples.parquet`` and its rows of ``costs.parquet``: a kernel on a part of the machine. K settings."""

    kernel: str
    part: str
    noise: float = math.nan  # gap between the default and its copy, as a share; NaN: not timed
    rounds: int = 0  # rounds, and calls of a batch of the default
    calls: int = 0
    dropped: str = ""  # why it is no sample; "" if it is one
    # As asked, and what the compiler says that it made of each; empty where nothing was built
    settings: tuple[tuple[Value, ...], ...] = ()
    effective: tuple[tuple[Value, ...], ...] = ()
    status: tuple[str, ...] = ()  # ``ok``, ``same``, ``differs``, ``compile``, ``crash``, ``timeout`` or ``flood``
    # Settings of one code are one measurement, which stands at the first of them. "": not known
    code: tuple[str, ...] = ()
    # Seconds a call in the rounds that labels are made of, and in those that gains are reported in; NaN unless ``ok``
    label: tuple[float, ...] = field(default=(), repr=False)
    report: tuple[float, ...] = field(default=(), repr=False)
    tries: int = 1  # how often it was measured: again only after noise

    @cached_property
    def measured_as(self) -> tuple[int, ...]:
        """For each setting the one whose cost is its own: the first of its code."""
        first: dict[str, int] = {}
        found = []
        for index, (status, code) in enumerate(zip(self.status, self.code, strict=True)):
            found.append(first[code] if status == "same" else index)
            if code:
                first.setdefault(code, index)
        return tuple(found)
