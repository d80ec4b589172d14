"""`TreesHead`: extremely randomised trees over the winning labels (Geurts, Ernst, Wehenkel, 2006).

Trees cut a single context feature at exact values, which no smooth head does, and that is most of what can be known
without the code. scikit-learn grows them; what is kept and saved are arrays.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirenc.errors import ConfigError, MissingExtraError
from mirenc.heads.choosing import ChoosingMixin, checked_costs, parameters_of
from mirenc.heads.forest import Forest, Tree, extra_tree
from mirenc.heads.reduce import CodeReducer
from mirenc.heads.state import Arrays, register
from mirenc.metrics import oracle_choice

try:
    from sklearn.base import BaseEstimator
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
    context_columns : int
        The first so many columns are context features.
    use_code : bool
        False looks at the context features only.
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
        context_columns: int = 0,
        *,
        use_code: bool = True,
        components: int = 16,
        trees: int = 60,
        share: float = 0.5,
        random_state: int = 0,
    ) -> None:
        self.context_columns = context_columns
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
            ``context_columns`` out of range, or no column to look at.
        HeadError
            Costs that cannot be used.
        """
        features = validate_data(self, X, dtype=np.float64)
        if not 0 <= self.context_columns <= features.shape[1] or not (self.context_columns or self.use_code):
            raise ConfigError(
                f"context_columns is {self.context_columns}; allowed: 1 to {features.shape[1]}, the columns of X"
            )
        costs = checked_costs(y)
        self.n_choices_ = costs.shape[1]
        self._reduce = CodeReducer(self.context_columns, self.components).fit(self._seen(features))
        forest = ExtraTreesClassifier(self.trees, max_features=self.share, random_state=self.random_state)
        forest.fit(self._reduce(self._seen(features)), oracle_choice(costs))
        self.forest_ = Forest.join([self._tree(one.tree_, forest.classes_) for one in forest.estimators_])
        return self

    def _seen(self, features: Float) -> Float:
        """The columns that the trees may look at."""
        return features if self.use_code else features[:, : self.context_columns]

    def _tree(self, grown: Any, classes: NDArray[np.int64]) -> Tree:
        share = grown.value[:, 0, :]
        value = np.zeros((len(share), self.n_choices_))
        value[:, classes] = share / share.sum(axis=1, keepdims=True)
        return extra_tree(grown, value)

    def predict_proba(self, X: ArrayLike) -> Float:
        """(n, K) mean over the trees of the labels' shares in the leaf."""
        check_is_fitted(self)
        rows = self._reduce(self._seen(validate_data(self, X, dtype=np.float64, reset=False)))
        # The trees were grown on single precision, and a cut may lie between two doubles that are one float.
        result: Float = self.forest_.leaves(rows.astype(np.float32)).mean(axis=1)
        return result

    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        check_is_fitted(self)
        meta = {"parameters": parameters_of(self), "features": self.n_features_in_}
        return meta, {**self.forest_.arrays(), **self._reduce.arrays()}

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        head = cls(**meta["parameters"])
        head.n_features_in_ = meta["features"]
        columns = head.n_features_in_ if head.use_code else head.context_columns
        head._reduce = CodeReducer.from_arrays(head.context_columns, head.components, arrays, columns=columns)
        head.forest_ = Forest.from_arrays(arrays, columns=head._reduce.columns)
        head.n_choices_ = head.forest_.value.shape[1]
        return head
