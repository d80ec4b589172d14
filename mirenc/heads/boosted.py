"""`BoostedRegressor`: gradient boosting over histograms (Ke et al., LightGBM, 2017), for thousands of rows.

scikit-learn's `HistGradientBoostingRegressor` grows the trees; what is kept and saved are arrays.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirenc.errors import HeadError, MissingExtraError
from mirenc.heads.choosing import parameters_of
from mirenc.heads.forest import Forest, Tree
from mirenc.heads.reduce import CodeReducer
from mirenc.heads.state import Arrays, register

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError(f"heads need scikit-learn ({error}). Type: pip install 'mirenc[tasks]'") from None

__all__ = ["BoostedRegressor"]

Float = NDArray[np.float64]
_BLOCK = 8192  # rows that walk the trees at once


@register("boosted_number")
class BoostedRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """Gradient boosted trees that predict a number.

    Parameters
    ----------
    context_columns : int
        The first so many columns are context features.
    components : int
        Code columns beyond this many are first reduced to so many principal components.
    trees, leaves : int
    learning_rate : float
    random_state : int
    """

    def __init__(
        self,
        context_columns: int = 0,
        *,
        components: int = 64,
        trees: int = 150,
        leaves: int = 31,
        learning_rate: float = 0.1,
        random_state: int = 0,
    ) -> None:
        self.context_columns = context_columns
        self.components = components
        self.trees = trees
        self.leaves = leaves
        self.learning_rate = learning_rate
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows (n, C) and numbers (n,)."""
        features, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._reduce = CodeReducer(min(self.context_columns, features.shape[1]), self.components).fit(features)
        grown = HistGradientBoostingRegressor(
            max_iter=self.trees,
            max_leaf_nodes=self.leaves,
            learning_rate=self.learning_rate,
            early_stopping=False,
            random_state=self.random_state,
        ).fit(self._reduce(features), target)
        # No public attribute holds the trees; tests/heads/test_boosted.py compares with the estimator's own answers.
        self.start_ = float(grown._baseline_prediction.item())
        self.forest_ = Forest.join([_tree(stage[0].nodes) for stage in grown._predictors])
        return self

    def predict(self, X: ArrayLike) -> Float:
        """(n,) predicted number."""
        check_is_fitted(self)
        rows = self._reduce(validate_data(self, X, dtype=np.float64, reset=False))
        out = np.empty(len(rows))
        for first in range(0, len(rows), _BLOCK):
            part = slice(first, first + _BLOCK)
            out[part] = self.start_ + self.forest_.leaves(rows[part])[:, :, 0].sum(axis=1)
        return out

    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        check_is_fitted(self)
        meta = {"parameters": parameters_of(self), "features": self.n_features_in_, "start": self.start_}
        return meta, {**self.forest_.arrays(), **self._reduce.arrays()}

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        head = cls(**meta["parameters"])
        head.n_features_in_, head.start_ = meta["features"], meta["start"]
        if not isinstance(head.start_, float) or not np.isfinite(head.start_):
            raise HeadError(f"a boosted head starts from {head.start_!r}, no finite number. Save the head again")
        context = min(head.context_columns, head.n_features_in_)
        head._reduce = CodeReducer.from_arrays(context, head.components, arrays, columns=head.n_features_in_)
        head.forest_ = Forest.from_arrays(arrays, columns=head._reduce.columns)
        return head


def _tree(nodes: NDArray[Any]) -> Tree:
    """A tree of scikit-learn's own record array, in preorder; an infinite cut sends every number left."""
    leaf = nodes["is_leaf"].astype(bool)
    return Tree(
        column=np.where(leaf, -1, nodes["feature_idx"].astype(np.int64)),
        cut=nodes["num_threshold"],
        value=nodes["value"][:, None],
    )
