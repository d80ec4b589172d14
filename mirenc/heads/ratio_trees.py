"""`RatioTreesHead`: extremely randomised trees over what every setting costs beside the default.

For thousands of samples under dozens of settings. All settings are one target of many numbers, so that a tree is grown
once and not once a setting; the numbers are few, because settings that are neighbours cost alike (principal components
of the targets, as in reduced-rank regression: Izenman, 1975). Trees: Geurts, Ernst, Wehenkel, 2006.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirenc.errors import ConfigError, HeadError, MissingExtraError
from mirenc.heads.choosing import ChoosingMixin, checked_costs, parameters_of, preferences
from mirenc.heads.forest import Forest, extra_tree
from mirenc.heads.reduce import CodeReducer
from mirenc.heads.state import Arrays, register

try:
    from sklearn.base import BaseEstimator
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError(f"heads need scikit-learn ({error}). Type: pip install 'mirenc[tasks]'") from None

__all__ = ["RatioTreesHead", "log_ratios"]

Float = NDArray[np.float64]
# A gain counts up to a factor of 7. A loss beyond a factor of 1.6 is a loss: how large teaches nothing about choosing,
# and would be most of what the trees explain.
_MOST_GAIN, _MOST_LOSS = 2.0, 0.5


def log_ratios(costs: Float, default: int) -> Float:
    """log(cost / cost of the default), cut where it teaches no more. (n, K), NaN: not measured -> (n, K) finite.

    What was not measured gets the setting's mean over the other samples, so that it says nothing; a setting that no
    sample has is a loss.
    """
    ratios = np.clip(np.log(costs / costs[:, default, None]), -_MOST_GAIN, _MOST_LOSS)
    known = np.isfinite(ratios)
    count = known.sum(axis=0)
    mean = np.where(known, ratios, 0.0).sum(axis=0) / np.maximum(count, 1)
    result: Float = np.where(known, ratios, np.where(count > 0, mean, _MOST_LOSS)[None, :])
    return result


@register("ratio_trees")
class RatioTreesHead(ChoosingMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """Extremely randomised trees of log cost ratios to the default.

    Parameters
    ----------
    context_columns : int
        The first so many columns are context features.
    default : int
        The setting that runs when nobody decides: measured on every row.
    use_code : bool
        False looks at the context features only.
    components : int
        Code features of more columns than this are first reduced to so many principal components, of the different
        pieces of code: however often one was measured, it is one.
    outputs : int
        Principal components of the targets that are learned.
    trees : int
    share : float
        Share of the columns that a cut is chosen among.
    leaf : int
        Rows of a leaf, at least.
    random_state : int
    """

    def __init__(
        self,
        context_columns: int = 0,
        *,
        default: int = 0,
        use_code: bool = True,
        components: int = 48,
        outputs: int = 8,
        trees: int = 60,
        share: float = 0.4,
        leaf: int = 4,
        random_state: int = 0,
    ) -> None:
        self.context_columns = context_columns
        self.default = default
        self.use_code = use_code
        self.components = components
        self.outputs = outputs
        self.trees = trees
        self.share = share
        self.leaf = leaf
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows (n, A + D) and measured costs (n, K); NaN where a setting was not measured.

        Raises
        ------
        ConfigError
            ``context_columns`` or ``default`` out of range, or no column to look at.
        HeadError
            Costs that cannot be used, or none of the default.
        """
        features = validate_data(self, X, dtype=np.float64)
        if not 0 <= self.context_columns <= features.shape[1] or not (self.context_columns or self.use_code):
            raise ConfigError(
                f"context_columns is {self.context_columns}; allowed: 1 to {features.shape[1]}, the columns of X"
            )
        costs = checked_costs(y)
        if self.default not in range(costs.shape[1]):
            raise ConfigError(f"default is {self.default}; allowed: 0 to {costs.shape[1] - 1}, the columns of costs")
        if len(costs) != len(features) or np.isnan(costs[:, self.default]).any():
            raise HeadError(
                f"{len(features)} rows of features, {np.isfinite(costs[:, self.default]).sum()} costs of the default; "
                "one for each is needed"
            )
        ratios = log_ratios(costs, self.default)
        self.mean_ = ratios.mean(axis=0)
        _, spread, axes = np.linalg.svd(ratios - self.mean_, full_matrices=False)
        self.directions_ = axes[: max(1, min(self.outputs, int((spread > 1e-9).sum())))]
        target = (ratios - self.mean_) @ self.directions_.T
        seen = self._seen(features)
        self._reduce = CodeReducer(self.context_columns, self.components).fit(_once_each(seen, self.context_columns))
        forest = ExtraTreesRegressor(
            self.trees, max_features=self.share, min_samples_leaf=self.leaf, random_state=self.random_state
        )
        forest.fit(self._reduce(seen), target)
        self.forest_ = Forest.join([extra_tree(one.tree_) for one in forest.estimators_])
        self.n_choices_ = costs.shape[1]
        return self

    def _seen(self, features: Float) -> Float:
        """The columns that the trees may look at."""
        return features if self.use_code else features[:, : self.context_columns]

    def predict_proba(self, X: ArrayLike) -> Float:
        """(n, K) preference for each setting."""
        check_is_fitted(self)
        rows = self._reduce(self._seen(validate_data(self, X, dtype=np.float64, reset=False)))
        # The trees were grown on single precision, and a cut may lie between two doubles that are one float.
        found = self.forest_.leaves(rows.astype(np.float32)).mean(axis=1)
        return preferences(self.mean_ + found @ self.directions_)

    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        check_is_fitted(self)
        own = {"mean_": self.mean_, "directions_": self.directions_}
        meta = {"parameters": parameters_of(self), "features": self.n_features_in_}
        return meta, {**own, **self.forest_.arrays(), **self._reduce.arrays()}

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        head = cls(**meta["parameters"])
        head.n_features_in_ = meta["features"]
        columns = head.n_features_in_ if head.use_code else head.context_columns
        head._reduce = CodeReducer.from_arrays(head.context_columns, head.components, arrays, columns=columns)
        head.forest_ = Forest.from_arrays(arrays, columns=head._reduce.columns)
        head.mean_, head.directions_ = arrays["mean_"], arrays["directions_"]
        if head.mean_.ndim != 1 or head.directions_.shape != (head.forest_.value.shape[1], len(head.mean_)):
            raise HeadError("arrays of a head of cost ratios do not belong together. Save the head again")
        head.n_choices_ = len(head.mean_)
        return head


def _once_each(features: Float, context_columns: int) -> Float:
    """The first row of each different piece of code. (n, A + D) -> (m, A + D)."""
    if features.shape[1] == context_columns:
        return features
    # As bytes: sorting thousands of rows of hundreds of numbers takes longer than finding their components.
    rows: dict[bytes, int] = {}
    for row, code in enumerate(features[:, context_columns:] + 0.0):  # minus zero is zero
        rows.setdefault(code.tobytes(), row)
    result: Float = features[list(rows.values())]
    return result
