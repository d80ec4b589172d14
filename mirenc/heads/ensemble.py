"""`EnsembleHead`: members chosen by cross-validation inside the training rows, and averaged.

Ensemble selection (Caruana, Niculescu-Mizil, Crew, Ksikes, ICML 2004): members predict training rows that they were
not trained on; then, one at a time and with repetition, the member is added that improves the mean most. It is at once
the search over heads and their hyper-parameters: test rows have no part in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirenc.errors import ConfigError, HeadError, MissingExtraError
from mirenc.heads.choosing import ChoosingMixin, checked_costs
from mirenc.heads.state import Arrays, pack, register, unpack
from mirenc.metrics import chosen_costs, clip_to_measured, oracle_choice

try:
    from sklearn.base import BaseEstimator, clone
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise MissingExtraError(f"heads need scikit-learn ({error}). Type: pip install 'mirenc[tasks]'") from None

__all__ = ["SELECT", "EnsembleHead"]

Float = NDArray[np.float64]
SELECT = ("accuracy", "speedup")
# Among choices of members that are right equally often, the one that costs less.
_TIE = 1e-2


@register("ensemble")
class EnsembleHead(ChoosingMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """A mean of members, chosen on held-out training rows.

    Parameters
    ----------
    members : sequence of (name, head)
        Candidates; each is cloned.
    select : str
        ``accuracy``: share of rows whose best choice is found. ``speedup``: mean log cost.
    picks : int
        How many members are added at most; one may be added again, which gives it more weight.

    Attributes
    ----------
    weights_ : dict of str to float
        Share of each chosen member.
    scores_ : dict of str to float
        What each candidate alone scores on held-out training rows; empty where there is only one.
    """

    def __init__(self, members: Sequence[tuple[str, Any]], *, select: str = "accuracy", picks: int = 8) -> None:
        self.members = members
        self.select = select
        self.picks = picks

    def fit(self, X: ArrayLike, y: ArrayLike, *, part: ArrayLike | None = None) -> Self:
        """Choose members and train them on all rows.

        Parameters
        ----------
        X : (n, A + D)
        y : (n, K)
            Costs; NaN where a choice was not measured.
        part : (n,), optional
            Inner fold of each row. Rows that must not be on both sides, such as those of one kernel, share one.
            Left out: five folds by turns.

        Raises
        ------
        ConfigError
            No members, two of one name, an unknown ``select``, or ``picks`` below 1.
        """
        self._check_parameters()
        features = np.asarray(X, dtype=np.float64)
        costs = checked_costs(y)
        inner = np.arange(len(features)) % 5 if part is None else np.asarray(part)
        if len(self.members) > 1 and len(np.unique(inner)) < 2:
            raise ConfigError(f"part has {len(np.unique(inner))} inner folds; two are needed to choose among members")
        fitted = {name: clone(member).fit(features, costs) for name, member in self.members}
        self.scores_: dict[str, float] = {}
        counts = Counter(fitted.keys())
        if len(fitted) > 1:
            seen = {name: _held_out(member, fitted[name], features, costs, inner) for name, member in self.members}
            self.scores_ = {name: self._score(preference, costs) for name, preference in seen.items()}
            counts = self._pick(seen, costs)
        total = sum(counts.values())
        self.weights_ = {name: count / total for name, count in counts.items()}
        self.fitted_ = {name: fitted[name] for name in counts}
        self.n_choices_ = costs.shape[1]
        self.n_features_in_ = features.shape[1]
        return self

    def _check_parameters(self) -> None:
        if not self.members:
            raise ConfigError("members is empty; give one head or more, as in [('cost', CostHead())]")
        name, times = Counter(name for name, _ in self.members).most_common(1)[0]
        if times > 1:
            raise ConfigError(f"{times} members are named {name!r}; give each a name of its own")
        if self.select not in SELECT:
            raise ConfigError(f"unknown select {self.select!r}; available: {', '.join(SELECT)}")
        picks: Any = self.picks
        if not isinstance(picks, Integral) or picks < 1:
            raise ConfigError(f"picks is {picks!r}; allowed: a whole number from 1 up")

    def _pick(self, seen: dict[str, Float], costs: Float) -> Counter[str]:
        """How often each member is taken."""
        taken: list[str] = []
        total = np.zeros_like(costs)
        best, length = -np.inf, 0
        for count in range(1, self.picks + 1):
            score, name = max((self._score((total + seen[name]) / count, costs), name) for name in seen)
            taken.append(name)
            total += seen[name]
            if score > best:  # a longer list must be better, not as good
                best, length = score, count
        return Counter(taken[:length])

    def _score(self, preference: Float, costs: Float) -> float:
        choice = preference.argmax(axis=1).astype(np.int64)
        cost = np.log(chosen_costs(costs, choice) / np.nanmin(costs, axis=1))
        if self.select == "speedup":
            return float(-cost.mean())
        hit = clip_to_measured(costs, choice) == oracle_choice(costs)
        return float(np.mean(hit) - _TIE * np.minimum(cost, 1.0).mean())

    def predict_proba(self, X: ArrayLike) -> Float:
        """(n, K) weighted mean of the members' preferences."""
        check_is_fitted(self)
        features = np.asarray(X, dtype=np.float64)
        total = np.zeros((len(features), self.n_choices_))
        for name, weight in self.weights_.items():
            total += weight * self.fitted_[name].predict_proba(features)
        return total

    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        check_is_fitted(self)
        entries: dict[str, Any] = {}
        arrays: dict[str, NDArray[Any]] = {}
        for name, member in self.fitted_.items():
            entries[name], own = pack(member, name)
            arrays |= own
        meta = {
            "select": self.select,
            "picks": self.picks,
            "weights": self.weights_,
            "scores": self.scores_,
            "members": entries,
            "choices": self.n_choices_,
            "features": self.n_features_in_,
        }
        return meta, arrays

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        fitted = {name: unpack(entry, arrays, name) for name, entry in meta["members"].items()}
        head = cls(
            [(name, clone(member)) for name, member in fitted.items()], select=meta["select"], picks=meta["picks"]
        )
        head.fitted_ = fitted
        head.weights_, head.scores_ = meta["weights"], meta["scores"]
        _check_weights(head.weights_, fitted)
        head.n_choices_, head.n_features_in_ = meta["choices"], meta["features"]
        return head


def _check_weights(weights: dict[str, Any], fitted: dict[str, Any]) -> None:
    """Refuse shares that are not those of the members."""
    if set(weights) != set(fitted) or not fitted:
        raise HeadError(f"an ensemble weighs {', '.join(weights)} and holds {', '.join(fitted)}. Save the head again")
    shares = list(weights.values())
    if not all(isinstance(share, float | int) and 0 < share <= 1 for share in shares) or abs(sum(shares) - 1) > 1e-6:
        raise HeadError(
            f"an ensemble's weights are {shares}; allowed: shares above 0 that sum to 1. Save the head again"
        )


def _held_out(member: Any, fitted: Any, features: Float, costs: Float, inner: NDArray[Any]) -> Float:
    """Preferences for all rows, each by a member that was not trained on its inner fold. (n, K)."""
    if hasattr(fitted, "held_out"):
        result: Float = fitted.held_out(inner)
        return result
    out = np.empty_like(costs)
    for name in np.unique(inner):
        test = inner == name
        out[test] = clone(member).fit(features[~test], costs[~test]).predict_proba(features[test])
    return out
