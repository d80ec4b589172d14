"""`Forest`: grown trees as arrays, so that they can be saved without pickle and read by any later scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import HeadError
from mirenc.heads.state import Arrays

__all__ = ["Forest", "Tree", "extra_tree"]


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree. A nodes: columns of `Forest`, children counted from the tree's own first node."""

    left: NDArray[Any]
    right: NDArray[Any]
    column: NDArray[Any]
    cut: NDArray[Any]
    value: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees, nodes of one after those of the other. M trees, A nodes, V values a leaf.

    Attributes
    ----------
    root : (M,) int32
        First node of each tree.
    left, right : (A,) int32
        Children; a row goes left where its column is at most the cut.
    column : (A,) int32
        Negative: a leaf.
    cut : (A,) float64
    value : (A, V) float64
    """

    root: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    column: NDArray[np.int32]
    cut: NDArray[np.float64]
    value: NDArray[np.float64]

    @classmethod
    def join(cls, trees: Sequence[Tree]) -> Self:
        """One forest of some trees."""
        start = np.cumsum([0, *(len(tree.column) for tree in trees)])[:-1]
        shift = np.repeat(start, [len(tree.column) for tree in trees])

        def column(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(tree, name) for tree in trees])

        return cls(
            root=start.astype(np.int32),
            left=(column("left") + shift).astype(np.int32),
            right=(column("right") + shift).astype(np.int32),
            column=column("column").astype(np.int32),
            cut=column("cut").astype(np.float64),
            value=column("value").astype(np.float64),
        )

    def leaves(self, rows: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """Values of the leaf that each row falls into in each tree. (n, C) -> (n, M, V)."""
        node = np.repeat(self.root[None, :], len(rows), axis=0)  # (n, M)
        for _ in range(len(self.column)):
            column = self.column[node]
            inner = column >= 0
            if not inner.any():
                break
            below = np.take_along_axis(rows, np.maximum(column, 0), axis=1) <= self.cut[node]
            node = np.where(inner, np.where(below, self.left[node], self.right[node]), node)
        result: NDArray[np.float64] = self.value[node]
        return result

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `from_arrays` wants back."""
        return {f"{field.name}_": getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Arrays, *, columns: int) -> Self:
        """A forest that was saved; every walk through it stays inside it and ends.

        Raises
        ------
        HeadError
            Arrays that do not belong together, or look at more than so many columns.
        """
        forest = cls(**{field.name: arrays[f"{field.name}_"] for field in fields(cls)})
        nodes = len(forest.column)
        same = {len(array) for array in (forest.left, forest.right, forest.cut, forest.value)} == {nodes}
        if not same or nodes == 0 or forest.value.ndim != 2 or len(forest.root) == 0:
            raise HeadError("arrays of trees do not belong together. Save the head again")
        inner = np.flatnonzero(forest.column >= 0)
        # A child follows its parent, so a walk through the nodes ends.
        steps = [side[inner] for side in (forest.left, forest.right)]
        inside = all((step > inner).all() and (step < nodes).all() for step in steps)
        roots = (forest.root >= 0).all() and (forest.root < nodes).all()
        finite = np.isfinite(forest.value).all() and not np.isnan(forest.cut).any()
        if not (inside and roots and finite and (forest.column < columns).all()):
            raise HeadError("arrays of trees do not belong together. Save the head again")
        return forest


def extra_tree(grown: Any) -> Tree:
    """A tree that scikit-learn's `ExtraTreesRegressor` has grown (its ``tree_``), on one target or several."""
    return Tree(grown.children_left, grown.children_right, grown.feature, grown.threshold, grown.value[:, :, 0])
