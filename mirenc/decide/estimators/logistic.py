"""`LogisticHead`: logistic regression over classes, on columns scaled to unit variance."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.linear_model import LogisticRegression

from mirenc.base.arrays import Float64
from mirenc.decide.estimators.base import Head, scaling


@dataclass(eq=False, repr=False)
class LogisticHead(ClassifierMixin, Head, kind="logistic"):  # type: ignore[misc]  # scikit-learn carries no types
    """Scikit-learn's logistic regression, saved without pickle; ``C`` is the inverse of its L2 penalty."""

    C: float = 1.0
    _POSITIVE = ("C",)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows (n, D) and their classes (n,), strings or numbers; two classes are needed."""
        features, labels = self._checked_training(X, y)
        self.center_, self.spread_ = scaling(features)
        regression = LogisticRegression(C=self.C, max_iter=5000).fit((features - self.center_) / self.spread_, labels)
        weights, intercept = regression.coef_, regression.intercept_
        if len(regression.classes_) == 2:  # scikit-learn keeps one difference: split, so that softmax serves both
            weights, intercept = (np.concatenate([-part / 2, part / 2]) for part in (weights, intercept))
        self.classes_: NDArray[np.str_] = regression.classes_
        self.weights_: Float64 = weights.T  # (D, P)
        self.intercept_: Float64 = intercept  # (P,)
        return self

    def predict_proba(self, X: ArrayLike) -> Float64:
        """Probability of each class, in the order of ``classes_``. (n, D) -> (n, P)."""
        rows = (self._checked_rows(X) - self.center_) / self.spread_
        return np.asarray(softmax(rows @ self.weights_ + self.intercept_, axis=1))

    def predict(self, X: ArrayLike) -> NDArray[np.str_]:
        """The most probable class of each row. (n, D) -> (n,)."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
