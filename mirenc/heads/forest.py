"""`Forest`: grown trees as arrays, so that they can be saved without pickle and read by any later scikit-learn."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mirenc.arrays import Float64, Floating, Int32, Int64
from mirenc.errors import HeadError
from mirenc.heads.state import Arrays

_BYTE = 256  # values that a byte tells apart
_BLOCK = 1024  # rows that walk the trees at once


class Tree(NamedTuple):
    """One tree of B nodes in preorder: a node's left child follows it, and its right child the whole left side."""

    column: NDArray[Any]  # (B,) negative: a leaf
    cut: NDArray[Any]  # (B,) a row goes left where its column is at most the cut
    value: NDArray[Any]  # (B, V)


class _Walk(NamedTuple):
    """What a walk needs of each of A nodes; follows from the columns, because they are in preorder."""

    root: Int64  # (M,) first node of each tree
    right: Int64  # (A,) right child
    place: Int64  # (A,) number among the inner nodes, or among the leaves
    whole: bool  # whether the last tree is complete


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees in preorder, one after the other. A nodes, I of them inner and L leaves, V values a leaf."""

    column: Int32  # (A,) negative: a leaf
    cut: Float64  # (I,)
    value: Float64  # (L, V)

    @classmethod
    def join(cls, trees: Sequence[Tree]) -> Self:
        """One forest of some trees."""
        return cls._of_nodes(*(np.concatenate([getattr(tree, name) for tree in trees]) for name in Tree._fields))

    @classmethod
    def _of_nodes(cls, column: NDArray[Any], cut: NDArray[Any], value: NDArray[Any]) -> Self:
        """Of arrays that have a cut and values for every node."""
        inner = column >= 0
        return cls(column.astype(np.int32), cut[inner].astype(np.float64), value[~inner].astype(np.float64))

    @cached_property
    def _walk(self) -> _Walk:
        inner = self.column >= 0
        nodes = len(inner)
        # How many subtrees are still to come, after each node; a tree ends one below where it began.
        left = np.cumsum(np.where(inner, 1, -1))
        lowest = np.minimum.accumulate(np.minimum(left, 0))
        ends = np.flatnonzero(np.diff(lowest, prepend=0) < 0)
        # The left side of a node ends at the next place that is one below it.
        shifted = left - left.min(initial=0) + 1
        order = np.argsort(shifted, kind="stable")
        next_lower = np.searchsorted(shifted[order] * nodes + order, (shifted - 1) * nodes + np.arange(nodes))
        return _Walk(
            root=np.concatenate([[0], ends[:-1] + 1]),
            right=order[np.minimum(next_lower, nodes - 1)] + 1,
            place=np.where(inner, np.cumsum(inner), np.cumsum(~inner)) - 1,
            whole=bool(len(ends) and ends[-1] == nodes - 1),
        )

    def leaves(self, rows: Floating) -> Float64:
        """Values of the leaf that each row falls into in each tree. (n, C) -> (n, M, V)."""
        walk = self._walk
        node = np.repeat(walk.root[None, :], len(rows), axis=0)  # (n, M)
        for _ in range(len(self.column)):
            column = self.column[node]
            inner = column >= 0
            if not inner.any():
                break
            cut = self.cut[np.where(inner, walk.place[node], 0)]
            below = np.take_along_axis(rows, np.maximum(column, 0), axis=1) <= cut
            node = np.where(inner, np.where(below, node + 1, walk.right[node]), node)
        return self.value[walk.place[node]]

    def summed(self, rows: Floating) -> Float64:
        """Sum over the trees of `leaves`. (n, C) -> (n, V)."""
        blocks = [self.leaves(rows[first : first + _BLOCK]).sum(axis=1) for first in range(0, len(rows), _BLOCK)]
        return np.concatenate(blocks)

    def mean(self, rows: Floating) -> Float64:
        """Mean over the trees of `leaves`. (n, C) -> (n, V)."""
        return self.summed(rows) / len(self._walk.root)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `from_arrays` wants back. Where a column of values has few different ones, each is a byte."""
        kept: dict[str, NDArray[Any]] = {"column_": self.column, "cut_": self.cut}
        different = [np.unique(column, return_inverse=True) for column in self.value.T]
        most = max(len(levels) for levels, _ in different)
        if most > _BYTE:
            return {**kept, "value_": self.value}
        levels = np.stack([np.pad(levels, (0, most - len(levels))) for levels, _ in different], axis=1)
        number = np.stack([number for _, number in different], axis=1)
        return {**kept, "value_": number.astype(np.uint8), "levels_": levels}

    @classmethod
    def from_arrays(cls, arrays: Arrays, *, columns: int) -> Self:
        """A forest that was saved, in which every walk ends; `HeadError` for arrays that do not fit or more columns."""
        column, cut, value = (arrays[f"{name}_"] for name in Tree._fields)
        wrong = HeadError("arrays of trees do not belong together. Save the head again")
        if column.ndim != 1 or len(column) == 0 or cut.ndim != 1 or value.ndim != 2:
            raise wrong
        if value.dtype.kind == "u":
            levels = arrays["levels_"]
            if levels.shape[1:] != value.shape[1:] or value.max(initial=0) >= len(levels):
                raise wrong
            value = np.take_along_axis(levels, value.astype(np.int64), axis=0)
        inner = int((column >= 0).sum())
        forest = cls(column, cut, value)
        if len(cut) == len(value) == len(column):  # older releases kept both for every node, and where its children are
            forest = cls._of_nodes(column, cut, value)
        elif (len(cut), len(value)) != (inner, len(column) - inner):
            raise wrong
        if not forest._walk.whole or not (column < columns).all():
            raise wrong
        return forest


def extra_tree(grown: Any, value: Float64 | None = None) -> Tree:
    """A tree that scikit-learn's extremely randomised trees have grown (their ``tree_``), or with other values.

    They compare numbers in single precision, for which the next lower single is as good a cut.
    """
    cut = grown.threshold.astype(np.float32)
    cut = np.where(cut > grown.threshold, np.nextafter(cut, np.float32(-np.inf)), cut)
    return Tree(grown.feature, cut, grown.value[:, :, 0] if value is None else value)
