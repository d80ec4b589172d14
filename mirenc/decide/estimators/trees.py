"""Heads of trees. scikit-learn grows them; a `Forest` of arrays is saved, without pickle, whatever its release.

Trees cut a context feature at exact values, as no smooth head does, and without code that is most of what can be
known. Extremely randomised trees: Geurts, Ernst, Wehenkel, 2006. Boosting: Ke et al., LightGBM, 2017.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from mirenc.base.arrays import Float64, Floating, Int32, Int64
from mirenc.base.errors import ConfigError, HeadError
from mirenc.decide.estimators.base import MultiRegressor, Reducing, Regressor
from mirenc.decide.estimators.chooser import Chooser, CostRegressor
from mirenc.decide.estimators.head_state import register
from mirenc.decide.metrics import oracle_choice

# A gain counts up to a factor of 7, a loss up to a factor of 1.6: how large a loss is says nothing about choosing, and
# would be most of what the trees explain.
_MOST_GAIN, _MOST_LOSS = 2.0, 0.5
_BYTE = 256  # different values of a byte
_BLOCK = 128  # rows that walk the trees together: they fit the processor's cache
_ABSENT_LOG_ODDS = -1000.0  # log-odds of an outcome that no row had
_MISMATCH = "arrays of trees do not belong together. Save the head again"


class Tree(NamedTuple):
    """One tree of B nodes in preorder: a node's left subtree follows it, and then its right subtree."""

    column: NDArray[Any]  # (B,) negative: a leaf
    cut: NDArray[Any]  # (B,) a row goes left if its column is at most the cut
    value: NDArray[Any]  # (B, V)


@register("forest")
@dataclass(eq=False)
class Forest:
    """Trees in preorder, one after the other: A nodes, of which I are inner and L are leaves, with V values each.

    Raises HeadError: arrays that are no whole trees, so that every walk ends.
    """

    column: Int32  # (A,) negative: a leaf
    cut: Float64  # (I,)
    value: Float64  # (L, V)

    def __post_init__(self) -> None:
        inner = self.column >= 0
        nodes = inner.size
        # How many subtrees are still missing after each node; a tree ends one below where it began.
        missing = np.cumsum(np.where(inner, 1, -1))
        ends = np.flatnonzero(np.diff(np.minimum.accumulate(np.minimum(missing, 0)), prepend=0) < 0)
        fits = (self.column.ndim, self.cut.ndim, self.value.ndim) == (1, 1, 2) and ends[-1:].tolist() == [nodes - 1]
        if not fits or (len(self.cut), len(self.value)) != (inner.sum(), (~inner).sum()):
            raise HeadError(_MISMATCH)
        self._root: Int64 = np.concatenate([[0], ends[:-1] + 1])  # (M,) first node of each tree
        # The left subtree of a node ends at the next place that is one below it.
        shifted = missing - missing.min(initial=0) + 1
        order = np.argsort(shifted, kind="stable")
        next_lower = np.searchsorted(shifted[order] * nodes + order, (shifted - 1) * nodes + np.arange(nodes))
        right = order[np.minimum(next_lower, nodes - 1)] + 1
        # A leaf is its own child, whatever a row has.
        node = np.arange(nodes)
        self._column = np.maximum(self.column, 0).astype(np.int64)
        self._last = int(self._column.max())
        self._cut = np.full(nodes, np.inf)
        self._cut[inner] = self.cut
        self._child = np.where(inner, [right, node + 1], node).T.ravel()  # (2 A,): right and left child of each node
        self._leaf = np.cumsum(~inner) - 1  # (A,) number of the leaf
        self._depth, level = 0, self._root
        while (level := level[inner[level]]).size:
            self._depth, level = self._depth + 1, np.concatenate([level + 1, right[level]])

    @classmethod
    def join(cls, trees: Sequence[Tree]) -> Self:
        """The forest of some trees."""
        column, cut, value = (np.concatenate([getattr(tree, name) for tree in trees]) for name in Tree._fields)
        inner = column >= 0
        return cls(column.astype(np.int32), cut[inner].astype(np.float64), value[~inner].astype(np.float64))

    def leaves(self, rows: Floating) -> Float64:
        """Values of the leaf that each row reaches in each of M trees. (n, C) -> (n, M, V)."""
        if self._last >= rows.shape[1]:
            raise HeadError(_MISMATCH)
        node = np.repeat(self._root[None, :], len(rows), axis=0)  # (n, M)
        cells, row_start = np.ascontiguousarray(rows).ravel(), rows.shape[1] * np.arange(len(rows))[:, None]
        for _ in range(self._depth):
            node = self._child[2 * node + (cells[row_start + self._column[node]] <= self._cut[node])]
        return np.asarray(self.value[self._leaf[node]])

    def summed(self, rows: Floating) -> Float64:
        """Sum over the trees of `leaves`. (n, C) -> (n, V)."""
        blocks = [self.leaves(rows[first : first + _BLOCK]).sum(axis=1) for first in range(0, len(rows), _BLOCK)]
        return np.concatenate(blocks)

    def mean(self, rows: Floating) -> Float64:
        """Mean over the trees of `leaves`. (n, C) -> (n, V)."""
        return self.summed(rows) / len(self._root)

    def _state(self) -> dict[str, Any]:
        """The arrays; values are bytes, which number their levels, where no column has more levels than that."""
        state: dict[str, Any] = {"column": self.column, "cut": self.cut}
        columns = [np.unique(column, return_inverse=True) for column in self.value.T]
        level_count = max(len(levels) for levels, _ in columns)
        if level_count > _BYTE:
            return {**state, "value_": self.value}
        levels = np.stack([np.pad(levels, (0, level_count - len(levels))) for levels, _ in columns], axis=1)
        number = np.stack([number for _, number in columns], axis=1)
        return {**state, "value_": number.astype(np.uint8), "levels": levels}

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        value = state["value_"]
        if "levels" in state:
            value = np.take_along_axis(state["levels"], value.astype(np.int64), axis=0)
        return cls(state["column"], state["cut"], value)


def extra_tree(tree: Any, value: Float64 | None = None) -> Tree:
    """A tree from the ``tree_`` of one of scikit-learn's extremely randomised trees, or with other leaf ``value``.

    They compare numbers in single precision, so the next lower single is an equal cut.
    """
    cut = tree.threshold.astype(np.float32)
    cut = np.where(cut > tree.threshold, np.nextafter(cut, np.float32(-np.inf)), cut)
    return Tree(tree.feature, cut, tree.value[:, :, 0] if value is None else value)


@dataclass(eq=False, repr=False)
class _Trees(Reducing):
    context_columns: int = 0
    _: KW_ONLY
    components: int = 16
    trees: int = 60
    random_state: int = 0

    def _learn(self, features: Float64, target: Float64) -> None:
        columns = self._used_columns(features)
        self._find_components(columns)
        self.forest_ = Forest.join(self._grow(self._reduced(columns), target))

    def _grow(self, rows: Float64, target: Float64) -> list[Tree]:
        raise NotImplementedError

    def _answer(self, features: Float64) -> Float64:
        # Trees were grown in single precision, and a cut may lie between two doubles that are one float.
        return self.forest_.mean(self._reduced(self._used_columns(features)).astype(np.float32))


@dataclass(eq=False, repr=False)
class TreesHead(_Trees, Chooser, kind="trees"):
    """Extremely randomised trees that classify which setting costs least.

    The first ``context_columns`` columns are context features; without ``use_code`` only they are looked at. Code
    features of more columns than ``components`` are first reduced to so many principal components: a tree that draws
    its cuts among hundreds of columns hardly ever draws a good one. ``share``: of the columns, drawn for each cut.
    """

    _: KW_ONLY
    use_code: bool = True
    share: float = 0.5

    def _grow(self, rows: Float64, target: Float64) -> list[Tree]:
        forest = ExtraTreesClassifier(self.trees, max_features=self.share, random_state=self.random_state)
        forest.fit(rows, oracle_choice(target))
        trees = []
        for estimator in forest.estimators_:
            class_shares = estimator.tree_.value[:, 0, :]
            value = np.zeros((len(class_shares), target.shape[1]))
            value[:, forest.classes_] = class_shares / class_shares.sum(axis=1, keepdims=True)
            trees.append(extra_tree(estimator.tree_, value))
        return trees


def log_ratios(costs: Float64, default: int) -> Float64:
    """log(cost / cost of the default), cut at a large gain and a loss. (n, K), NaN: not measured -> (n, K) finite.

    What was not measured gets the setting's mean over the other samples; a setting that no sample has counts as a loss.
    """
    ratios = np.clip(np.log(costs / costs[:, default, None]), -_MOST_GAIN, _MOST_LOSS)
    measured = np.isfinite(ratios)
    count = measured.sum(axis=0)
    mean = np.where(measured, ratios, 0.0).sum(axis=0) / np.maximum(count, 1)
    return np.where(measured, ratios, np.where(count > 0, mean, _MOST_LOSS)[None, :])


@dataclass(eq=False, repr=False)
class _RegressionTrees(_Trees):
    _: KW_ONLY
    share: float = 0.4
    leaf: int = 1

    def _grow(self, rows: Float64, target: Float64) -> list[Tree]:
        forest = ExtraTreesRegressor(
            self.trees, max_features=self.share, min_samples_leaf=self.leaf, random_state=self.random_state
        )
        forest.fit(rows, target[:, 0] if target.shape[1] == 1 else target)
        return [extra_tree(estimator.tree_) for estimator in forest.estimators_]


@dataclass(eq=False, repr=False)
class RatioTreesHead(_RegressionTrees, CostRegressor, kind="ratio_trees"):
    """Extremely randomised trees of log cost ratios to the default, for thousands of samples and dozens of settings.

    Each tree predicts a few principal components of the ratios of all settings, because neighbouring settings cost
    alike (reduced-rank regression: Izenman, 1975).

    ``default`` is the setting that runs when nobody decides, measured on every row. ``components`` of the code columns
    are of the distinct pieces of code, however often each was measured. ``outputs``: principal components of the ratios
    that are learned. ``leaf``: rows of a leaf, at least. Other parameters are as those of `TreesHead`.
    """

    _: KW_ONLY
    default: int = 0
    use_code: bool = True
    components: int = 48
    outputs: int = 8
    leaf: int = 4

    def _learn(self, features: Float64, target: Float64) -> None:
        if self.default not in range(self.n_choices_):
            raise ConfigError(f"default is {self.default}; allowed: 0 to {self.n_choices_ - 1}, the columns of costs")
        if (measured := np.isfinite(target[:, self.default]).sum()) < len(features):
            raise HeadError(f"{len(features)} rows of features, {measured} costs of the default; one each is needed")
        ratios = log_ratios(target, self.default)
        self.mean_: Float64 = ratios.mean(axis=0)
        _, singular_values, axes = np.linalg.svd(ratios - self.mean_, full_matrices=False)
        self.directions_: Float64 = axes[: max(1, min(self.outputs, int((singular_values > 1e-9).sum())))]
        super()._learn(features, (ratios - self.mean_) @ self.directions_.T)

    def _find_components(self, columns: Float64) -> None:
        # Hashing rows as bytes: sorting thousands of them takes longer than finding their components.
        rows: dict[bytes, int] = {}
        for row, code in enumerate(columns[:, self.context_columns :] + 0.0):  # minus zero is zero
            rows.setdefault(code.tobytes(), row)
        super()._find_components(columns[list(rows.values())])

    def _answer(self, features: Float64) -> Float64:
        return self.mean_ + super()._answer(features) @ self.directions_


@dataclass(eq=False, repr=False)
class TreesLabels(_RegressionTrees, MultiRegressor, kind="trees_labels"):
    """Extremely randomised trees of all labels at once, 0 or 1; parameters as those of `RatioTreesHead`."""

    _: KW_ONLY
    components: int = 32
    trees: int = 30
    leaf: int = 10


def boosted_trees(boosted: Any) -> list[Tree]:
    """The trees of scikit-learn's gradient boosting; a tree of one of V outcomes has zeros for the others."""
    # No public attribute holds the trees; tests/decide/estimators/test_trees.py compares with scikit-learn's answers.
    trees = []
    for stage in boosted._predictors:
        for outcome, predictor in enumerate(stage):
            nodes = predictor.nodes  # in preorder; an infinite cut sends every number left
            column = np.where(nodes["is_leaf"].astype(bool), -1, nodes["feature_idx"].astype(np.int64))
            value = np.zeros((len(nodes), len(stage)))
            value[:, outcome] = nodes["value"]
            trees.append(Tree(column, nodes["num_threshold"], value))
    return trees


@dataclass(eq=False, repr=False)
class BoostedRegressor(_Trees, Regressor, kind="boosted_number"):
    """Gradient boosted trees that predict a number, for thousands of rows; code is reduced as by `TreesHead`.

    ``share``: which part of the columns is drawn for each cut. ``bags``: how many ensembles are averaged; if several,
    each is grown on a random half of the rows, which lowers the variance (subagging: Buehlmann and Yu, 2002).
    """

    _: KW_ONLY
    components: int = 64
    trees: int = 150
    leaves: int = 31
    learning_rate: float = 0.1
    bags: int = 1
    share: float = 1.0
    _COUNTS = ("bags",)

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        return super()._from_state({"bags": 1, "share": 1.0} | state)  # missing in older heads

    def _grow(self, rows: Float64, target: Float64) -> list[Tree]:
        trees, starts = [], []
        options = {"learning_rate": self.learning_rate, "max_features": self.share, "early_stopping": False}
        options |= {"max_iter": self.trees, "max_leaf_nodes": self.leaves}
        for seed in range(self.random_state, self.random_state + self.bags):
            half = np.random.default_rng(seed).permutation(len(rows))[: (len(rows) + 1) // 2]
            bag = half if self.bags > 1 else slice(None)
            boosted = HistGradientBoostingRegressor(**options, random_state=seed).fit(rows[bag], target[bag, 0])
            starts.append(boosted._baseline_prediction.item())
            trees += [tree._replace(value=tree.value / self.bags) for tree in boosted_trees(boosted)]
        self.start_ = float(np.mean(starts))
        return trees

    def _answer(self, features: Float64) -> Float64:
        return self.start_ + self.forest_.summed(self._reduced(features))  # these trees compare in double precision


@dataclass(eq=False, repr=False)
class BoostedChances(MultiRegressor, kind="boosted_chances"):
    """Gradient boosted trees of how likely each of K outcomes is, learned from the share that each had.

    ``bags`` ensembles are grown, which differ in the columns drawn for each cut (``share`` of them), and averaged: the
    random error of one is about as large as the effects that thousands of rows show.
    """

    _: KW_ONLY
    trees: int = 120
    leaves: int = 15
    learning_rate: float = 0.1
    bags: int = 3
    share: float = 0.3
    random_state: int = 0
    _COUNTS = ("trees", "leaves", "bags")
    _POSITIVE = ("learning_rate", "share")

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on rows (n, A), shares (n, K), which sum to 1, and weights of rows (n,)."""
        features, shares = self._checked_training(X, y, multi_output=True, y_numeric=True)
        weight = shares * (1.0 if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)[:, None])
        row, outcome = np.nonzero(weight)
        outcomes = np.unique(outcome)
        if len(outcomes) < 2:
            problem = f"only {len(outcomes)} of {shares.shape[1]} outcomes have a share above 0 in some row"
            raise HeadError(f"{problem}; at least 2 are needed")
        options = {"learning_rate": self.learning_rate, "max_features": self.share, "early_stopping": False}
        options |= {"max_iter": self.trees, "max_leaf_nodes": self.leaves, "l2_regularization": 1.0}
        # From the outcomes that are present to all K; of two outcomes one number describes both.
        expansion = np.eye(shares.shape[1])[outcomes] if shares.shape[1] > 2 else np.eye(2)
        expansion = expansion[1:] if len(outcomes) == 2 else expansion
        expansion = expansion[:, 1:] if shares.shape[1] == 2 else expansion
        trees = []
        for bag in range(self.bags):
            boosted = HistGradientBoostingClassifier(**options, random_state=self.random_state + bag)
            boosted.fit(features[row], outcome, sample_weight=weight[row, outcome])
            trees += [tree._replace(value=tree.value @ expansion / self.bags) for tree in boosted_trees(boosted)]
        self.start_ = np.asarray(boosted._baseline_prediction, dtype=np.float64).ravel() @ expansion  # (V,): K, or 1
        if shares.shape[1] > 2:
            self.start_[np.setdiff1d(np.arange(shares.shape[1]), outcomes)] = _ABSENT_LOG_ODDS
        self.forest_ = Forest.join(trees)
        return self

    def _answer(self, features: Float64) -> Float64:
        scores = self.start_ + self.forest_.summed(features)
        scores = np.concatenate([np.zeros_like(scores), scores], axis=1) if scores.shape[1] == 1 else scores
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))
