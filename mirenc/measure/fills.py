"""Inputs of OpenCL and CUDA kernels: arrays that are the same on any machine and with any numpy.

Only a bit generator's raw words are promised to stay as they are, so everything is made from those, with
operations that round the same everywhere (no logarithm, no pairwise sum).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FILLS", "Fill", "filled"]


@dataclass(frozen=True)
class Fill:
    """What a fill takes beside its seed, and whether it is of whole numbers only."""

    keys: frozenset[str] = frozenset()
    needs_below: bool = False
    whole: bool = False


FILLS: Mapping[str, Fill] = {
    "zeros": Fill(),
    "ramp": Fill(frozenset({"below"})),
    "uniform": Fill(frozenset({"low", "high"})),
    "indices": Fill(frozenset({"below"}), needs_below=True, whole=True),
    "permutation": Fill(whole=True),
    "power-law": Fill(frozenset({"below"}), needs_below=True, whole=True),
    "row-starts": Fill(frozenset({"below"}), needs_below=True, whole=True),
}


def filled(
    fill: str, count: int, dtype: np.dtype[Any], *, seed: int, low: float, high: float, below: int | None
) -> NDArray[Any]:
    """Make one array.

    Parameters
    ----------
    fill : str
        A name in `FILLS`; the text of `mirenc.measure.gpu_driver` says what they are.
    count : int
        Elements.
    dtype : numpy.dtype
        Of the elements.
    seed, low, high, below : number
        What the fill is told.

    Returns
    -------
    numpy.ndarray
        (count,) of ``dtype``.
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
