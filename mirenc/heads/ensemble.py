"""Ensembles: members chosen by cross-validation inside the training rows, and averaged.

Ensemble selection (Caruana, Niculescu-Mizil, Crew, Ksikes, ICML 2004): members predict training rows that they were
not trained on; then, one at a time and with repetition, the member is added that improves the mean most. It is at once
the search over heads and their hyper-parameters: test rows have no part in it, and no member sees the inner fold it is
judged on, its scales and means included.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirenc.errors import ConfigError, HeadError, MissingExtraError
from mirenc.heads.choosing import SHARPNESS, ChoosingMixin, checked_costs, cost_ratios
from mirenc.heads.settings import Settings
from mirenc.heads.state import Arrays, pack, register, unpack

try:
    from sklearn.base import BaseEstimator, RegressorMixin, clone
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise MissingExtraError(f"heads need scikit-learn ({error}). Type: pip install 'mirenc[tasks]'") from None

__all__ = ["SELECT", "EnsembleHead", "LabelsEnsembleHead", "NumberEnsembleHead"]

Float = NDArray[np.float64]
SELECT = ("accuracy", "speedup")
# Among choices of members that are right equally often, the one that costs less.
_TIE = 1e-2
_LEAST = 1e-300  # of a preference, where its logarithm is taken


class _Ensemble(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn carries no types
    """Selection, averaging and saving, whatever the members say."""

    members: Sequence[tuple[str, Any]]
    picks: int
    # Whether held-out answers are wanted even where there is nothing to choose among.
    _holds_out = False

    @abstractmethod
    def _score(self, said: Float, target: Float) -> float:
        """How good what was said of held-out rows is; more is better."""

    @staticmethod
    @abstractmethod
    def _ask(member: Any, features: Float, settings: Settings | None) -> Float:
        """What a fitted member says of rows: preferences (n, K) or numbers (n,)."""

    def _fit_members(self, features: Float, target: Float, settings: Settings | None, part: ArrayLike | None) -> None:
        self._check_parameters()
        inner = np.arange(len(features)) % 5 if part is None else np.asarray(part)
        searches = len(self.members) > 1 or self._holds_out
        if searches and len(np.unique(inner)) < 2:
            raise ConfigError(f"part has {len(np.unique(inner))} inner folds; two are needed to choose among members")
        self.scores_: dict[str, float] = {}
        counts = Counter(name for name, _ in self.members)
        seen: dict[str, Float] = {}
        if searches:
            seen = {name: self._held_out(member, features, target, settings, inner) for name, member in self.members}
            self.scores_ = {name: self._score(said, target) for name, said in seen.items()}
            counts = self._pick(seen, target)
        total = sum(counts.values())
        self.weights_ = {name: count / total for name, count in counts.items()}
        self._after_search(seen, target)
        everything = np.arange(len(features))
        self.fitted_ = {
            name: _fitted(member, features, target, settings, everything)
            for name, member in self.members
            if name in counts
        }
        self.n_features_in_ = features.shape[1]

    def _after_search(self, seen: dict[str, Float], target: Float) -> None:
        """What a subclass learns from what the members said of held-out rows."""

    def _held_out(
        self, member: Any, features: Float, target: Float, settings: Settings | None, inner: NDArray[Any]
    ) -> Float:
        """What a member says of each row when it was not trained on the row's inner fold."""
        out = np.empty_like(target)
        for name in np.unique(inner):
            test, training = np.flatnonzero(inner == name), np.flatnonzero(inner != name)
            fitted = _fitted(member, features, target, settings, training)
            out[test] = self._ask(fitted, features[test], None if settings is None else settings.take(test))
        return out

    def _check_parameters(self) -> None:
        if not self.members:
            raise ConfigError("members is empty; give one head or more, as in [('cost', CostHead())]")
        name, times = Counter(name for name, _ in self.members).most_common(1)[0]
        if times > 1:
            raise ConfigError(f"{times} members are named {name!r}; give each a name of its own")
        picks: Any = self.picks
        if not isinstance(picks, Integral) or picks < 1:
            raise ConfigError(f"picks is {picks!r}; allowed: a whole number from 1 up")

    def _pick(self, seen: dict[str, Float], target: Float) -> Counter[str]:
        """How often each member is taken."""
        taken: list[str] = []
        total = np.zeros_like(target)
        best, length = -np.inf, 0
        for count in range(1, self.picks + 1):
            score, name = max((self._score((total + seen[name]) / count, target), name) for name in seen)
            taken.append(name)
            total += seen[name]
            if score > best:  # a longer list must be better, not as good
                best, length = score, count
        return Counter(taken[:length])

    def _mean(self, features: Float, settings: Settings | None) -> Float:
        check_is_fitted(self)
        parts = [weight * self._ask(self.fitted_[name], features, settings) for name, weight in self.weights_.items()]
        result: Float = np.sum(parts, axis=0)
        return result

    # -- saving ----------------------------------------------------------------------------------------
    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        check_is_fitted(self)
        entries: dict[str, Any] = {}
        arrays: dict[str, NDArray[Any]] = {}
        for name, member in self.fitted_.items():
            entries[name], own = pack(member, name)
            arrays |= own
        meta = {
            "parameters": {name: getattr(self, name) for name in self._get_param_names() if name != "members"},
            "weights": self.weights_,
            "scores": self.scores_,
            "members": entries,
            "features": self.n_features_in_,
        }
        return meta, arrays

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        fitted = {name: unpack(entry, arrays, name) for name, entry in meta["members"].items()}
        head = cls([(name, clone(member)) for name, member in fitted.items()], **meta["parameters"])
        head.fitted_ = fitted
        head.weights_, head.scores_ = meta["weights"], meta["scores"]
        _check_weights(head.weights_, fitted)
        head.n_features_in_ = meta["features"]
        return head


@register("ensemble")
class EnsembleHead(ChoosingMixin, _Ensemble):
    """A mean of heads that choose.

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

    takes_settings = True

    def __init__(self, members: Sequence[tuple[str, Any]], *, select: str = "accuracy", picks: int = 8) -> None:
        self.members = members
        self.select = select
        self.picks = picks

    def fit(
        self, X: ArrayLike, y: ArrayLike, settings: Settings | None = None, *, part: ArrayLike | None = None
    ) -> Self:
        """Choose members and train them on all rows.

        Parameters
        ----------
        X : (n, A + D)
        y : (n, K)
            Costs; NaN where a setting was not measured.
        settings : Settings, optional
            For members that learn what settings share (`PairHead`); needed where samples have different settings.
        part : (n,), optional
            Inner fold of each row. Rows that must not be on both sides, such as those of one kernel, share one.
            Left out: five folds by turns.

        Raises
        ------
        ConfigError
            No members, two of one name, an unknown ``select``, or ``picks`` below 1.
        """
        if self.select not in SELECT:
            raise ConfigError(f"unknown select {self.select!r}; available: {', '.join(SELECT)}")
        costs = checked_costs(y)
        self._fit_members(np.asarray(X, dtype=np.float64), costs, settings, part)
        self.n_choices_ = costs.shape[1]
        return self

    def _score(self, said: Float, target: Float) -> float:
        asked = np.where(np.isfinite(target), said, -np.inf).argmax(axis=1)
        chosen, best = target[np.arange(len(target)), asked], np.nanmin(target, axis=1)
        cost = np.log(chosen / best)
        if self.select == "speedup":
            return float(-cost.mean())
        return float(np.mean(chosen == best) - _TIE * np.minimum(cost, 1.0).mean())

    @staticmethod
    def _ask(member: Any, features: Float, settings: Settings | None) -> Float:
        found: Float = member.predict_proba(features, *_given(member, settings))
        return found

    def predict_proba(self, X: ArrayLike, settings: Settings | None = None) -> Float:
        """(n, K) weighted mean of the members' preferences."""
        return self._mean(np.asarray(X, dtype=np.float64), settings)

    def predict_cost(self, X: ArrayLike, settings: Settings | None = None) -> Float:
        """(n, K) expected cost of each setting over that of the preferred one."""
        return cost_ratios(self.predict_proba(X, settings))

    def expected_ratios(self, X: ArrayLike, settings: Settings | None = None, *, default: int) -> Float:
        """(n, K) expected cost of each setting over that of the default, as members see it: no caution, no bound."""
        mean = np.maximum(self._mean(np.asarray(X, dtype=np.float64), settings), _LEAST)
        found: Float = (mean[:, default, None] / mean) ** (1 / SHARPNESS)
        return found

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        head = super()._from_state(meta, arrays)
        counts = {getattr(member, "n_choices_", None) for member in head.fitted_.values()} - {None}
        counts |= {member.n_settings_ for member in head.fitted_.values() if hasattr(member, "n_settings_")}
        if len(counts) != 1:
            raise HeadError(f"members of an ensemble have {sorted(map(str, counts))} choices. Save the head again")
        head.n_choices_ = counts.pop()
        return head


@register("number_ensemble")
class NumberEnsembleHead(RegressorMixin, _Ensemble):  # type: ignore[misc]  # scikit-learn carries no types
    """A mean of regressors of one number.

    Parameters
    ----------
    members : sequence of (name, regressor)
        Candidates; each is cloned.
    picks : int
        How many members are added at most; one may be added again.

    Attributes
    ----------
    weights_, scores_ : dict of str to float
        As those of `EnsembleHead`; a score is minus the mean square error.
    """

    def __init__(self, members: Sequence[tuple[str, Any]], *, picks: int = 8) -> None:
        self.members = members
        self.picks = picks

    def fit(self, X: ArrayLike, y: ArrayLike, *, part: ArrayLike | None = None) -> Self:
        """Choose members and train them on all rows.

        Parameters
        ----------
        X : (n, A + D)
        y : (n,)
            The number.
        part : (n,), optional
            Inner fold of each row, as for `EnsembleHead`.

        Raises
        ------
        HeadError
            Numbers that are not finite, or not one a row.
        """
        features, target = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if target.shape != (len(features),) or not np.isfinite(target).all():
            raise HeadError(
                f"numbers of shape {target.shape} for {len(features)} rows; one finite number a row is needed"
            )
        self._fit_members(features, target, None, part)
        return self

    def _score(self, said: Float, target: Float) -> float:
        return -float(np.mean((said - target) ** 2))

    @staticmethod
    def _ask(member: Any, features: Float, settings: Settings | None) -> Float:
        found: Float = member.predict(features)
        return found

    def predict(self, X: ArrayLike) -> Float:
        """(n,) weighted mean of what the members predict."""
        return self._mean(np.asarray(X, dtype=np.float64), None)


@register("labels_ensemble")
class LabelsEnsembleHead(RegressorMixin, _Ensemble):  # type: ignore[misc]  # scikit-learn carries no types
    """A mean of heads that tell labels, 0 or 1 each.

    Parameters
    ----------
    members : sequence of (name, head)
        Candidates; each is cloned.
    picks : int
        How many members are added at most; one may be added again.

    Attributes
    ----------
    weights_, scores_ : dict of str to float
        As those of `EnsembleHead`; a score is minus the mean square error (Brier, 1950), so that what is told is
        about how likely a label is, and not only an order.
    n_labels_ : int
    """

    def __init__(self, members: Sequence[tuple[str, Any]], *, picks: int = 8) -> None:
        self.members = members
        self.picks = picks

    def fit(self, X: ArrayLike, y: ArrayLike, *, part: ArrayLike | None = None) -> Self:
        """Choose members and train them on all rows.

        Parameters
        ----------
        X : (n, A + D)
        y : (n, P)
            0 or 1.
        part : (n,), optional
            Inner fold of each row, as for `EnsembleHead`.

        Raises
        ------
        HeadError
            Labels that are others, or not rows of some.
        """
        features, target = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if target.ndim != 2 or len(target) != len(features) or not target.shape[1] or not np.isin(target, (0, 1)).all():
            raise HeadError(f"labels of shape {target.shape} for {len(features)} rows; rows of 0 and 1 are needed")
        self._fit_members(features, target, None, part)
        self.n_labels_ = target.shape[1]
        return self

    def _score(self, said: Float, target: Float) -> float:
        return -float(np.mean((said - target) ** 2))

    @staticmethod
    def _ask(member: Any, features: Float, settings: Settings | None) -> Float:
        found: Float = member.predict(features)
        return found

    def predict(self, X: ArrayLike) -> Float:
        """(n, P) weighted mean of what the members say: it ranks, below 0 and above 1, too."""
        return self._mean(np.asarray(X, dtype=np.float64), None)

    def probabilities(self, X: ArrayLike) -> Float:
        """(n, P) how likely each label is: what `predict` says, cut to 0 and 1."""
        return np.clip(self.predict(X), 0.0, 1.0)

    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        meta, arrays = super()._get_state()
        return {**meta, "labels": self.n_labels_}, arrays

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        head = super()._from_state(meta, arrays)
        head.n_labels_ = meta["labels"]
        row = np.zeros((1, head.n_features_in_))
        for name, member in head.fitted_.items():
            if np.shape(member.predict(row)) != (1, head.n_labels_):
                raise HeadError(f"member {name!r} does not tell {head.n_labels_!r} labels. Save the head again")
        return head


def _given(member: Any, settings: Settings | None) -> tuple[Settings, ...]:
    """The settings, for a member that takes any."""
    return (settings,) if settings is not None and getattr(member, "takes_settings", False) else ()


def _fitted(
    member: Any, features: Float, target: Float, settings: Settings | None, rows: NDArray[np.integer[Any]]
) -> Any:
    """A clone of a member, trained on some rows."""
    own = None if settings is None else settings.take(rows)
    return clone(member).fit(features[rows], target[rows], *_given(member, own))


def _check_weights(weights: dict[str, Any], fitted: dict[str, Any]) -> None:
    """Refuse shares that are not those of the members."""
    if set(weights) != set(fitted) or not fitted:
        raise HeadError(f"an ensemble weighs {', '.join(weights)} and holds {', '.join(fitted)}. Save the head again")
    shares = list(weights.values())
    if not all(isinstance(share, float | int) and 0 < share <= 1 for share in shares) or abs(sum(shares) - 1) > 1e-6:
        raise HeadError(
            f"an ensemble's weights are {shares}; allowed: shares above 0 that sum to 1. Save the head again"
        )
