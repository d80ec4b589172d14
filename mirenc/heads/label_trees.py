"""`TreesLabels`: extremely randomised trees (Geurts, Ernst, Wehenkel, 2006) that tell all labels of a row at once."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirenc.errors import MissingExtraError
from mirenc.heads.choosing import parameters_of
from mirenc.heads.forest import Forest, extra_tree
from mirenc.heads.reduce import CodeReducer
from mirenc.heads.state import Arrays, register

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError(f"heads need scikit-learn ({error}). Type: pip install 'mirenc[tasks]'") from None

__all__ = ["TreesLabels"]

Float = NDArray[np.float64]
_BLOCK = 1024  # rows whose leaves are in memory at once


@register("trees_labels")
class TreesLabels(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """Extremely randomised trees of labels, 0 or 1 each.

    Parameters
    ----------
    context_columns : int
        The first so many columns are context features.
    components : int
        Code columns beyond this many are first reduced to so many principal components.
    trees : int
    share : float
        Share of the columns that a cut is chosen among.
    leaf : int
        Rows of a leaf, at least: what keeps a forest of many labels small.
    random_state : int
    """

    def __init__(
        self,
        context_columns: int = 0,
        *,
        components: int = 32,
        trees: int = 30,
        share: float = 0.4,
        leaf: int = 10,
        random_state: int = 0,
    ) -> None:
        self.context_columns = context_columns
        self.components = components
        self.trees = trees
        self.share = share
        self.leaf = leaf
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows (n, A + D) and labels (n, P)."""
        features, target = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        self._reduce = CodeReducer(min(self.context_columns, features.shape[1]), self.components).fit(features)
        forest = ExtraTreesRegressor(
            self.trees, max_features=self.share, min_samples_leaf=self.leaf, random_state=self.random_state
        )
        forest.fit(self._reduce(features), target[:, 0] if target.shape[1] == 1 else target)
        self.forest_ = Forest.join([extra_tree(one.tree_) for one in forest.estimators_])
        return self

    def predict(self, X: ArrayLike) -> Float:
        """(n, P) mean over the trees of the labels' shares in the leaf."""
        check_is_fitted(self)
        # The trees were grown on single precision, and a cut may lie between two doubles that are one float.
        rows = self._reduce(validate_data(self, X, dtype=np.float64, reset=False)).astype(np.float32)
        parts = [
            self.forest_.leaves(rows[first : first + _BLOCK]).mean(axis=1) for first in range(0, len(rows), _BLOCK)
        ]
        result: Float = np.concatenate(parts)
        return result

    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        check_is_fitted(self)
        meta = {"parameters": parameters_of(self), "features": self.n_features_in_}
        return meta, {**self.forest_.arrays(), **self._reduce.arrays()}

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        head = cls(**meta["parameters"])
        head.n_features_in_ = meta["features"]
        context = min(head.context_columns, head.n_features_in_)
        head._reduce = CodeReducer.from_arrays(context, head.components, arrays, columns=head.n_features_in_)
        head.forest_ = Forest.from_arrays(arrays, columns=head._reduce.columns)
        return head
