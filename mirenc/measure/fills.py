"""Inputs of OpenCL and CUDA kernels: arrays that are the same on any machine and with any numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FILLS", "WHOLE", "filled"]

# What each fill takes beside its seed, and those of whole numbers only.
FILLS: Mapping[str, frozenset[str]] = {
    "zeros": frozenset(),
    "ramp": frozenset({"below"}),
    "uniform": frozenset({"low", "high"}),
    "indices": frozenset({"below"}),
    "permutation": frozenset(),
    "power-law": frozenset({"below"}),
    "row-starts": frozenset({"below"}),
}
WHOLE = ("indices", "permutation", "power-law", "row-starts")


def filled(
    fill: str, count: int, dtype: np.dtype[Any], *, seed: int, low: float, high: float, below: int | None
) -> NDArray[Any]:
    """An array, (count,) of ``dtype``, the same on any machine and with any numpy.

    Only a bit generator's raw words are promised to stay as they are, so everything is made from
    those, with operations that round the same everywhere (no logarithm, no pairwise sum).
    """
    match fill:
        case "zeros":
            return np.zeros(count, dtype)
        case "ramp":
            ramp = np.arange(count, dtype=np.int64)
            return (ramp if below is None else ramp % below).astype(dtype)
    words = np.random.PCG64(seed).random_raw(count)  # (count,) uint64
    if fill == "permutation":
        return np.argsort(words, kind="stable").astype(dtype)
    unit = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53  # (count,), in [0, 1)
    if fill == "uniform":
        return (low + (high - low) * unit).astype(dtype)
    assert below is not None  # the reader of drivers asks for it
    match fill:
        case "indices":
            return (unit * below).astype(np.int64).astype(dtype)
        case "power-law":  # u^4 has the density v^(-3/4)
            return (unit * unit * unit * unit * below).astype(np.int64).astype(dtype)
        case "row-starts":
            # A Pareto tail of exponent 1, cut at a hundred times the shortest row. `cumsum` adds one by one.
            ends = np.cumsum(1.0 / (unit + 0.01))
            starts = np.concatenate(([0.0], ends[:-1])) / (ends[-2] if count > 1 else 1.0)
            return (starts * below).astype(np.int64).astype(dtype)
    raise AssertionError(f"no fill {fill!r}")
