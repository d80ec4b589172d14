"""A small measured table: a kernel on two parts of a machine, and one that was dropped."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from mirenc.decide.settings import Space
from mirenc.decide.tables.measured import MeasuredKernel, MeasuredSample, MeasuredTable
from mirenc.llvm import Region

SPACE = Space.product({"width": (1, 4), "schedule": ("a", "b")}, default={"width": 1, "schedule": "b"}, missing="never")
NAN = math.nan
REGION = Region("loop", "f:%5", "f", "%5", 1, "f.c", 3, "_Z1f")
KERNELS = {
    name: MeasuredKernel(name, f"g-{name}", "sums", "c", "f", 3, 64, {"n": 64.0}, "src", "drv", f"ir {name}", REGION)
    for name in ("one", "two")
}
FIRST = MeasuredSample(
    "one",
    "avx2",
    0.01,
    12,
    500,
    "",
    SPACE.settings,
    ((1, "a"), (1, "a"), (4, "a"), (4, "b")),
    ("ok", "same", "crash", "ok"),
    ("c0", "c0", "c1", "c2"),
    (1e-6, NAN, NAN, 5e-7),
    (1.1e-6, NAN, NAN, 6e-7),
    tries=2,
)
SECOND = replace(
    FIRST, part="sse2", status=("ok",) * 4, code=("",) * 4, label=(1.0, 2.0, 3.0, 4.0), report=(2.0, 3.0, 4.0, 5.0)
)
DROPPED = MeasuredSample("two", "avx2", dropped="compile: error: x")
MACHINE: dict[str, Any] = {"task": "made", "format": 1, "knobs": list(SPACE.knobs), "title": "a machine; a compiler"}


def measured_table(*samples: MeasuredSample) -> MeasuredTable:
    return MeasuredTable(MACHINE, KERNELS, list(samples))


def machine_record(task: str, *knobs: str) -> dict[str, Any]:
    """``machine.json`` of a made-up table."""
    return {"task": task, "format": 1, "knobs": list(knobs), "title": "a machine"}


def kernel_of(name: str, ir: str, region: Region, context: dict[str, Any], family: str = "f") -> MeasuredKernel:
    """A kernel that is its own group."""
    return MeasuredKernel(name, name, family, "c", "f", 1, 64, context, "", "", ir, region)


def sample_of(
    kernel: str, part: str, settings: tuple[Any, ...], costs: list[float], effective: tuple[Any, ...] = ()
) -> MeasuredSample:
    """A sample whose settings ran at these costs; NaN: it did not."""
    status = tuple("compile" if math.isnan(cost) else "ok" for cost in costs)
    measured = (tuple(costs), tuple(costs))
    return MeasuredSample(
        kernel, part, 0.01, 12, 9, "", settings, effective or settings, status, ("",) * len(costs), *measured
    )
