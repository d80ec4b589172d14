"""`TreesHead`: extremely randomised trees over the winning labels (Geurts, Ernst, Wehenkel, 2006).

Trees cut a single task feature at exact values, which no smooth head does, and that is most of what can be known
without the code. scikit-learn grows them; what is kept and saved are arrays.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirenc.errors import ConfigError, HeadError, MissingExtraError
from mirenc.heads.choosing import ChoosingMixin, checked_costs, parameters_of
from mirenc.heads.state import Arrays, register
from mirenc.metrics import oracle_choice

try:
    from sklearn.base import BaseEstimator
    from sklearn.decomposition import PCA
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError(f"heads need scikit-learn ({error}). Type: pip install 'mirenc[tasks]'") from None

__all__ = ["TreesHead"]

Float = NDArray[np.float64]


@register("trees")
class TreesHead(ChoosingMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """Extremely randomised trees.

    Parameters
    ----------
    aux_columns : int
        The first so many columns are task features.
    use_code : bool
        False looks at the task features only.
    components : int
        Code features of more columns than this are first reduced to so many principal components: a tree that draws
        its cuts among hundreds of columns hardly ever draws a good one.
    trees : int
    share : float
        Share of the columns that a cut is chosen among.
    random_state : int
    """

    def __init__(
        self,
        aux_columns: int = 0,
        *,
        use_code: bool = True,
        components: int = 16,
        trees: int = 60,
        share: float = 0.5,
        random_state: int = 0,
    ) -> None:
        self.aux_columns = aux_columns
        self.use_code = use_code
        self.components = components
        self.trees = trees
        self.share = share
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows (n, A + D) and measured costs (n, K).

        Raises
        ------
        ConfigError
            ``aux_columns`` out of range, or no column to look at.
        HeadError
            Costs that cannot be used.
        """
        features = validate_data(self, X, dtype=np.float64)
        if not 0 <= self.aux_columns <= features.shape[1] or not (self.aux_columns or self.use_code):
            raise ConfigError(f"aux_columns is {self.aux_columns}; allowed: 1 to {features.shape[1]}, the columns of X")
        costs = checked_costs(y)
        self.n_choices_ = costs.shape[1]
        code = features[:, self.aux_columns :]
        if self.use_code and code.shape[1] > self.components:
            reduce = PCA(min(self.components, *code.shape), random_state=0).fit(code)
            self.center_, self.axes_ = reduce.mean_, reduce.components_.T  # (D,), (D, components)
        else:
            self.center_, self.axes_ = np.zeros(code.shape[1]), np.zeros((code.shape[1], 0))
        forest = ExtraTreesClassifier(self.trees, max_features=self.share, random_state=self.random_state)
        forest.fit(self._reduced(features), oracle_choice(costs))
        self._keep(forest)
        return self

    def _reduced(self, features: Float) -> Float:
        aux, code = features[:, : self.aux_columns], features[:, self.aux_columns :]
        if not self.use_code:
            return aux
        if self.axes_.shape[1]:
            code = (code - self.center_) @ self.axes_
        return np.concatenate([aux, code], axis=1)

    def _keep(self, forest: ExtraTreesClassifier) -> None:
        """All trees as one set of arrays: nodes of a tree follow those of the one before."""
        grown = [estimator.tree_ for estimator in forest.estimators_]
        start = np.cumsum([0, *(tree.node_count for tree in grown)])[:-1]
        self.root_ = start.astype(np.int32)
        shift = np.repeat(start, [tree.node_count for tree in grown])
        self.left_ = (np.concatenate([tree.children_left for tree in grown]) + shift).astype(np.int32)
        self.right_ = (np.concatenate([tree.children_right for tree in grown]) + shift).astype(np.int32)
        self.column_ = np.concatenate([tree.feature for tree in grown]).astype(np.int32)  # negative: a leaf
        self.cut_ = np.concatenate([tree.threshold for tree in grown])
        share = np.concatenate([tree.value[:, 0, :] for tree in grown])
        value = np.zeros((len(share), self.n_choices_))
        value[:, forest.classes_] = share / share.sum(axis=1, keepdims=True)
        self.value_ = value

    def predict_proba(self, X: ArrayLike) -> Float:
        """(n, K) mean over the trees of the labels' shares in the leaf."""
        check_is_fitted(self)
        # The trees were grown on single precision, and a cut may lie between two doubles that are one float.
        rows = self._reduced(validate_data(self, X, dtype=np.float64, reset=False)).astype(np.float32)
        node = np.repeat(self.root_[None, :], len(rows), axis=0)  # (n, trees)
        for _ in range(len(self.column_)):
            column = self.column_[node]
            inner = column >= 0
            if not inner.any():
                break
            below = np.take_along_axis(rows, np.maximum(column, 0), axis=1) <= self.cut_[node]
            node = np.where(inner, np.where(below, self.left_[node], self.right_[node]), node)
        result: Float = self.value_[node].mean(axis=1)
        return result

    _ARRAYS = ("center_", "axes_", "root_", "left_", "right_", "column_", "cut_", "value_")

    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        check_is_fitted(self)
        meta = {"parameters": parameters_of(self), "features": self.n_features_in_}
        return meta, {name: getattr(self, name) for name in self._ARRAYS}

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        head = cls(**meta["parameters"])
        for name in cls._ARRAYS:
            setattr(head, name, arrays[name])
        head.n_features_in_ = meta["features"]
        head.n_choices_ = head.value_.shape[1]
        if not head._is_whole():
            raise HeadError("arrays of a trees head do not belong together. Save the head again")
        return head

    def _is_whole(self) -> bool:
        """Whether each array has the length that the others ask for, and each walk stays inside them and ends."""
        nodes, code = len(self.column_), len(self.center_)
        lengths = {len(array) for array in (self.left_, self.right_, self.cut_, self.value_)}
        if lengths != {nodes} or len(self.axes_) != code or self.n_features_in_ != self.aux_columns + code:
            return False
        looked_at = self.aux_columns + (self.axes_.shape[1] or code) * self.use_code
        inner = np.flatnonzero(self.column_ >= 0)
        # A child follows its parent, so a walk through the nodes ends.
        steps = [side[inner] for side in (self.left_, self.right_)]
        inside = all((step > inner).all() and (step < nodes).all() for step in steps)
        roots = (self.root_ >= 0).all() and (self.root_ < nodes).all()
        return bool(inside and roots and (self.column_ < looked_at).all())
