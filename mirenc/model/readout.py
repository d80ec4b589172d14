"""Groups' mean, maximum and soft count, from vectors that come some at a time: never all of them in memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mirenc.model.sparse import segment_sum

__all__ = ["Readout", "Share", "share_of"]

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]


class Share(NamedTuple):
    """What some vectors add to the groups that have them. G' groups.

    Attributes
    ----------
    own : (G',) int64
        The groups.
    mean, total : (G', D) float64
        Weighted sum, and sum of the positive parts: in double precision, since neither may depend on an order.
    most : (G', D) float32
        Largest of each component.
    """

    own: Int64
    mean: Float64
    most: Float32
    total: Float64


def share_of(rows: Float32, group: Int64, weight: Float64, count: Float64, *, sizes: bool) -> Share:
    """The share of some memberships, sorted by group.

    Parameters
    ----------
    rows : (M, D) float32
        Vectors, one a membership.
    group : (M,) int64
        Ascending.
    weight : (M,) float64
        In the mean.
    count : (M,) float64
        For how many equal members each stands.
    sizes : bool
        False leaves out maximum and sum.
    """
    start = np.flatnonzero(np.diff(group, prepend=-1))
    own, bounds, column = group[start], np.append(start, len(group)), np.arange(len(group))
    wide = rows.astype(np.float64)
    mean = segment_sum(weight, column, bounds, wide)
    if not sizes:
        return Share(own, mean, rows[:0], mean[:0])
    most = np.maximum.reduceat(rows, start, axis=0) if len(start) else rows[:0]
    return Share(own, mean, most, segment_sum(count, column, bounds, np.maximum(wide, 0, out=wide)))


class Readout:
    """Adds shares up.

    Parameters
    ----------
    groups, width : int
    sizes : bool
        Whether maximum and soft count stand beside the mean.
    """

    def __init__(self, groups: int, width: int, *, sizes: bool) -> None:
        self._sizes = sizes
        self._mean = np.zeros((groups, width))
        if sizes:
            self._most = np.full((groups, width), -np.inf, dtype=np.float32)
            self._total = np.zeros((groups, width))

    def add(self, share: Share) -> None:
        """Take one share in."""
        self._mean[share.own] += share.mean
        if self._sizes:
            self._most[share.own] = np.maximum(self._most[share.own], share.most)
            self._total[share.own] += share.total

    def result(self) -> Float32:
        """Mean, or mean, maximum and log(1 + sum of the positive parts) side by side; zero where there are no members.

        Returns
        -------
        (G, D) or (G, 3 D) float32
        """
        if not self._sizes:
            return self._mean.astype(np.float32)
        groups, width = self._mean.shape
        out = np.empty((groups, 3 * width), dtype=np.float32)
        out[:, :width] = self._mean
        out[:, width : 2 * width] = np.where(np.isneginf(self._most), np.float32(0), self._most)
        out[:, 2 * width :] = np.log1p(self._total, out=self._total)
        return out
