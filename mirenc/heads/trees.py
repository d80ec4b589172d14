"""Heads of trees. scikit-learn grows them on reduced columns; what is kept and saved are arrays (`Forest`).

Trees cut a single context feature at exact values, which no smooth head does, and that is most of what can be known
without the code. Extremely randomised trees: Geurts, Ernst, Wehenkel, 2006. Boosting over histograms: Ke et al.,
LightGBM, 2017.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, HistGradientBoostingRegressor

from mirenc.arrays import Float64
from mirenc.errors import ConfigError, HeadError
from mirenc.heads.base import Labels, Number
from mirenc.heads.choosing import Chooser, CostRegressor
from mirenc.heads.forest import Forest, Tree, extra_tree
from mirenc.heads.reduce import Reducing
from mirenc.heads.state import Arrays
from mirenc.metrics import oracle_choice

# A gain counts up to a factor of 7. A loss beyond a factor of 1.6 is a loss: how large teaches nothing about choosing,
# and would be most of what the trees explain.
_MOST_GAIN, _MOST_LOSS = 2.0, 0.5


@dataclass(eq=False, repr=False)
class _Trees(Reducing):
    """A forest on reduced columns."""

    context_columns: int = 0
    _: KW_ONLY
    components: int = 16
    trees: int = 60
    random_state: int = 0

    def _learn(self, features: Float64, target: Float64) -> None:
        seen = self._seen(features)
        self._find_components(seen)
        self.forest_ = Forest.join(self._grown(self._reduced(seen), target))

    def _grown(self, rows: Float64, target: Float64) -> list[Tree]:
        raise NotImplementedError

    def _answer(self, features: Float64) -> Float64:
        # Trees were grown on single precision, and a cut may lie between two doubles that are one float.
        return self.forest_.mean(self._reduced(self._seen(features)).astype(np.float32))

    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {}, self.forest_.arrays()

    def _restore(self, meta: dict[str, Any], arrays: Arrays) -> None:
        super()._restore(meta, arrays)
        self.forest_ = Forest.from_arrays(arrays, columns=self._columns)


@dataclass(eq=False, repr=False)
class TreesHead(_Trees, Chooser, kind="trees"):
    """Extremely randomised trees over the winning settings.

    Parameters
    ----------
    context_columns : int
        The first so many columns are context features.
    use_code : bool
        False looks at the context features only.
    components : int
        Code features of more columns than this are first reduced to so many principal components: a tree that draws
        its cuts among hundreds of columns hardly ever draws a good one.
    trees, random_state : int
    share : float
        Share of the columns that a cut is chosen among.
    """

    _: KW_ONLY
    use_code: bool = True
    share: float = 0.5

    def _grown(self, rows: Float64, target: Float64) -> list[Tree]:
        forest = ExtraTreesClassifier(self.trees, max_features=self.share, random_state=self.random_state)
        forest.fit(rows, oracle_choice(target))
        grown = []
        for one in forest.estimators_:
            share = one.tree_.value[:, 0, :]
            value = np.zeros((len(share), target.shape[1]))
            value[:, forest.classes_] = share / share.sum(axis=1, keepdims=True)
            grown.append(extra_tree(one.tree_, value))
        return grown

    def _restore(self, meta: dict[str, Any], arrays: Arrays) -> None:
        super()._restore(meta, arrays)
        self.n_choices_ = self.forest_.value.shape[1]


def log_ratios(costs: Float64, default: int) -> Float64:
    """log(cost / cost of the default), cut where it teaches no more. (n, K), NaN: not measured -> (n, K) finite.

    What was not measured gets the setting's mean over the other samples, so that it says nothing; a setting that no
    sample has is a loss.
    """
    ratios = np.clip(np.log(costs / costs[:, default, None]), -_MOST_GAIN, _MOST_LOSS)
    measured = np.isfinite(ratios)
    count = measured.sum(axis=0)
    mean = np.where(measured, ratios, 0.0).sum(axis=0) / np.maximum(count, 1)
    return np.where(measured, ratios, np.where(count > 0, mean, _MOST_LOSS)[None, :])


@dataclass(eq=False, repr=False)
class _RegressionTrees(_Trees):
    """Extremely randomised trees of numbers."""

    _: KW_ONLY
    share: float = 0.4
    leaf: int = 1

    def _grown(self, rows: Float64, target: Float64) -> list[Tree]:
        forest = ExtraTreesRegressor(
            self.trees, max_features=self.share, min_samples_leaf=self.leaf, random_state=self.random_state
        )
        forest.fit(rows, target[:, 0] if target.shape[1] == 1 else target)
        return [extra_tree(one.tree_) for one in forest.estimators_]


@dataclass(eq=False, repr=False)
class RatioTreesHead(_RegressionTrees, CostRegressor, kind="ratio_trees"):
    """Extremely randomised trees of log cost ratios to the default, for thousands of samples under dozens of settings.

    A tree is grown for all settings at once, on few numbers, because settings that are neighbours cost alike (principal
    components of the targets, as in reduced-rank regression: Izenman, 1975).

    Parameters
    ----------
    context_columns, use_code, trees, share, random_state
        As those of `TreesHead`.
    default : int
        The setting that runs when nobody decides: measured on every row.
    components : int
        As that of `TreesHead`, of the different pieces of code: however often one was measured, it is one.
    outputs : int
        Principal components of the targets that are learned.
    leaf : int
        Rows of a leaf, at least.
    """

    _: KW_ONLY
    default: int = 0
    use_code: bool = True
    components: int = 48
    outputs: int = 8
    leaf: int = 4
    _ARRAYS = (*Reducing._ARRAYS, "mean_ K", "directions_ VK")

    def _learn(self, features: Float64, target: Float64) -> None:
        if self.default not in range(self.n_choices_):
            raise ConfigError(f"default is {self.default}; allowed: 0 to {self.n_choices_ - 1}, the columns of costs")
        measured = np.isfinite(target[:, self.default]).sum()
        if measured < len(features):
            raise HeadError(f"{len(features)} rows of features, {measured} costs of the default; one each is needed")
        ratios = log_ratios(target, self.default)
        self.mean_ = ratios.mean(axis=0)
        _, spread, axes = np.linalg.svd(ratios - self.mean_, full_matrices=False)
        self.directions_ = axes[: max(1, min(self.outputs, int((spread > 1e-9).sum())))]
        super()._learn(features, (ratios - self.mean_) @ self.directions_.T)

    def _find_components(self, seen: Float64) -> None:
        """Of the first row of each different piece of code."""
        # As bytes: sorting thousands of rows of hundreds of numbers takes longer than finding their components.
        rows: dict[bytes, int] = {}
        for row, code in enumerate(seen[:, self.context_columns :] + 0.0):  # minus zero is zero
            rows.setdefault(code.tobytes(), row)
        super()._find_components(seen[list(rows.values())])

    def _answer(self, features: Float64) -> Float64:
        result: Float64 = self.mean_ + super()._answer(features) @ self.directions_
        return result

    def _fits(self) -> bool:
        return super()._fits() and len(self.directions_) == self.forest_.value.shape[1]


@dataclass(eq=False, repr=False)
class TreesLabels(_RegressionTrees, Labels, kind="trees_labels"):
    """Extremely randomised trees of all labels at once, 0 or 1 each; parameters as those of `RatioTreesHead`.

    A leaf has many rows, which is what keeps a forest of many labels small.
    """

    _: KW_ONLY
    components: int = 32
    trees: int = 30
    leaf: int = 10


@dataclass(eq=False, repr=False)
class BoostedRegressor(_Trees, Number, kind="boosted_number"):
    """Gradient boosted trees that predict a number, for thousands of rows.

    Parameters
    ----------
    context_columns, components : int
        As those of `TreesHead`.
    trees, leaves, random_state : int
    learning_rate : float
    """

    _: KW_ONLY
    components: int = 64
    trees: int = 150
    leaves: int = 31
    learning_rate: float = 0.1
    _KEPT = ("start start_",)

    def _grown(self, rows: Float64, target: Float64) -> list[Tree]:
        boosted = HistGradientBoostingRegressor(
            max_iter=self.trees,
            max_leaf_nodes=self.leaves,
            learning_rate=self.learning_rate,
            early_stopping=False,
            random_state=self.random_state,
        ).fit(rows, target[:, 0])
        # No public attribute holds the trees; tests/heads/test_boosted.py compares with the estimator's own answers.
        self.start_ = float(boosted._baseline_prediction.item())
        grown = []
        for (stage,) in boosted._predictors:
            nodes = stage.nodes  # in preorder; an infinite cut sends every number left
            column = np.where(nodes["is_leaf"].astype(bool), -1, nodes["feature_idx"].astype(np.int64))
            grown.append(Tree(column, nodes["num_threshold"], nodes["value"][:, None]))
        return grown

    def _answer(self, features: Float64) -> Float64:
        return self.start_ + self.forest_.summed(self._reduced(features))  # boosted on double precision

    def _fits(self) -> bool:
        return super()._fits() and isinstance(self.start_, float) and math.isfinite(self.start_)
