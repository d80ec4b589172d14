"""`LabelHead`: a classifier as a head that chooses. It learns from the winning labels, as the paper's does."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirenc.errors import HeadError, MissingExtraError
from mirenc.heads.choosing import ChoosingMixin, checked_costs
from mirenc.heads.state import Arrays, pack, register, unpack
from mirenc.metrics import oracle_choice

try:
    from sklearn.base import BaseEstimator, clone
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise MissingExtraError(f"heads need scikit-learn ({error}). Type: pip install 'mirenc[tasks]'") from None

__all__ = ["LabelHead"]


@register("label")
class LabelHead(ChoosingMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """A classifier trained on the choice of least cost.

    Parameters
    ----------
    classifier : estimator
        `mirenc.heads.MLPHead`, or any classifier with ``predict_proba``. To be saved it must be one of mirenc's.

    Attributes
    ----------
    classifier_ : estimator
        Fitted clone. Its classes are indices of choices.
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows (n, D) and measured costs (n, K)."""
        costs = checked_costs(y)
        self.n_choices_ = costs.shape[1]
        self.classifier_ = clone(self.classifier).fit(X, oracle_choice(costs))
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """(n, K) probability that each choice is the best; 0 for one that never was in training."""
        check_is_fitted(self)
        found = self.classifier_.predict_proba(X)
        out = np.zeros((len(found), self.n_choices_))
        out[:, self.classifier_.classes_] = found
        return out

    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        check_is_fitted(self)
        entry, arrays = pack(self.classifier_, "classifier")
        return {"classifier": entry, "choices": self.n_choices_}, arrays

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        fitted = unpack(meta["classifier"], arrays, "classifier")
        head = cls(clone(fitted))
        head.classifier_ = fitted
        head.n_choices_ = meta["choices"]
        classes = fitted.classes_
        if classes.dtype.kind not in "iu" or classes.min() < 0 or classes.max() >= head.n_choices_:
            raise HeadError(
                f"a label head of {head.n_choices_} choices has classes {fitted.classes_.tolist()}. Save the head again"
            )
        return head
