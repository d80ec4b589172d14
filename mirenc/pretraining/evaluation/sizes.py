"""The matching baseline: a graph of another size than the text's is another module's.

It also says which graphs are the negatives: another source file's, a random one or the one nearest in size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from mirenc.pretraining.corpus import Corpus

__all__ = ["SizeBaseline", "matching_modules", "partners"]

Int64 = NDArray[np.int64]
MAX_NODES = 20_000


def matching_modules(corpus: Corpus, modules: NDArray[np.integer], limit: int, rng: np.random.Generator) -> Int64:
    """At most ``limit`` of the modules, drawn among those that have a graph of at most `MAX_NODES` nodes."""
    nodes = corpus.node_count[modules]
    fit = np.asarray(modules, dtype=np.int64)[(nodes > 0) & (nodes <= MAX_NODES)]
    chosen: Int64 = np.sort(rng.permutation(fit)[:limit])
    return chosen


def partners(corpus: Corpus, modules: Int64, rng: np.random.Generator) -> tuple[Int64, Int64] | None:
    """For each module another source file's: a random one, and the one nearest in node count.

    Source files are told apart by their last name: two levels of one program, or one file in two packages, are no
    negatives.

    Returns
    -------
    two (M,) int64, positions in ``modules``; None where some module has no partner
    """
    files = np.array([corpus.names[module].rsplit("/", 1)[-1] for module in modules])
    file = np.unique(files, return_inverse=True)[1]
    if file.max(initial=0) == 0:
        return None
    nodes = corpus.node_count[modules]
    random = np.empty(len(modules), dtype=np.int64)
    near = np.empty(len(modules), dtype=np.int64)
    for module in range(len(modules)):
        others = np.flatnonzero(file != file[module])
        random[module] = rng.choice(others)
        near[module] = others[np.argmin(np.abs(nodes[others] - nodes[module]))]
    return random, near


@dataclass(frozen=True, eq=False)
class SizeBaseline:
    """Logistic regression on the difference of log statement count and log node count.

    Attributes
    ----------
    values : (5,) float64
        Median difference of a module's own pair; three weights; intercept.
    """

    values: NDArray[np.float64]

    @classmethod
    def fit(cls, statements: Int64, nodes: Int64, partner: Int64) -> SizeBaseline:
        """Fit on modules' own pairs and the pairs with their partners. Shapes: three (M,)."""
        own, other = _differences(statements, nodes, partner)
        median = float(np.median(own))
        features = _features(np.concatenate([own, other]), median)
        model = LogisticRegression().fit(features, np.repeat([1, 0], [len(own), len(other)]))
        return cls(np.array([median, *model.coef_[0], model.intercept_[0]], dtype=np.float64))

    def accuracy(self, statements: Int64, nodes: Int64, partner: Int64) -> float:
        """Share of own pairs and partners' pairs that are told apart. Shapes: three (M,)."""
        own, other = (
            _features(difference, self.values[0]) @ self.values[1:4] + self.values[4]
            for difference in _differences(statements, nodes, partner)
        )
        return float(((own > 0).mean() + (other <= 0).mean()) / 2)


def _differences(statements: Int64, nodes: Int64, partner: Int64) -> tuple[NDArray[Any], NDArray[Any]]:
    log_statements, log_nodes = np.log(np.maximum(statements, 1)), np.log(np.maximum(nodes, 1))
    return log_statements - log_nodes, log_statements - log_nodes[partner]


def _features(difference: NDArray[Any], median: float) -> NDArray[Any]:
    return np.stack([difference, np.abs(difference - median), difference**2], 1)
