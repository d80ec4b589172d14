"""Ensembles: members chosen by cross-validation inside the training rows, and averaged.

Ensemble selection (Caruana, Niculescu-Mizil, Crew, Ksikes, ICML 2004): members predict training rows that they were
not trained on; then, one at a time and with repetition, the member is added that improves the mean most. This is the
search over heads and over their hyper-parameters: test rows have no part in it, and no member sees the inner fold that
it is judged on, not even for its scales and means.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from mirenc.base.arrays import Float64, Int64
from mirenc.base.errors import ConfigError, HeadError, unknown
from mirenc.decide.estimators.base import Head, MultiRegressor, Regressor
from mirenc.decide.estimators.chooser import (
    SHARPNESS,
    Chooser,
    Settings,
    SettingViews,
    checked_costs,
    portfolio,
    settings_for,
)
from mirenc.decide.metrics import PLAIN_SLOWDOWN

SELECT = ("accuracy", "speedup")
LEAST_PREFERENCE = 1e-300  # where a logarithm is taken of one
_TIE_BREAK = 1e-2  # among members that are right equally often, the one whose choices cost less
_MOST_ERRORS = 256  # rows whose errors are kept
_NEVER = 100.0  # log cost: no prediction gains as much


@dataclass(eq=False, repr=False)
class _Ensemble(Head):
    members: Sequence[tuple[str, Any]]
    _: KW_ONLY
    picks: int = 8
    _COUNTS = ("picks",)
    _ALWAYS_HOLDS_OUT: ClassVar[bool] = False  # whether a single member is cross-validated, too
    _METHOD: ClassVar[str] = "predict"  # of a member, whose results are averaged

    # -- what subclasses define ------------------------------------------------------------------------
    def _checked_target(self, y: ArrayLike, rows: int) -> Float64:
        """The target of so many rows; `HeadError` for another."""
        raise NotImplementedError

    def _score(self, predicted: Float64, target: Float64) -> float:
        """How good predictions of held-out rows are; more is better."""
        return -float(np.mean((predicted - target) ** 2))

    def _after_search(self, mean: Float64, target: Float64) -> None:
        """Learn from what the chosen members together predict of held-out rows."""

    # -- training --------------------------------------------------------------------------------------
    def _check_parameters(self, columns: int) -> None:
        if not self.members:
            raise ConfigError("members is empty; give one head or more, as in [('cost', CostHead())]")
        name, times = Counter(name for name, _ in self.members).most_common(1)[0]
        if times > 1:
            raise ConfigError(f"{times} members are named {name!r}; give each a name of its own")
        super()._check_parameters(columns)

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        settings: Settings | None = None,
        *,
        part: ArrayLike | None = None,
        asked: SettingViews = None,
    ) -> Self:
        """Choose members and train them on all rows; ``X``, ``y`` and ``settings`` are as members take them.

        ``y`` is costs (n, K), numbers (n,) or labels (n, P), 0 or 1. ``part`` (n,) is the inner fold of each row: rows
        that must not be on both sides, such as those of one kernel, share one; left out, five folds by turns.
        ``asked``: what is known of settings when a question comes, of the same rows; ``settings`` if left out. Raises
        ConfigError, HeadError: no members, two of one name; a parameter out of range; what cannot be learned from.
        """
        features = np.asarray(X, dtype=np.float64)
        target = self._checked_target(y, len(features))
        self.n_features_in_ = features.shape[1]
        self._check_parameters(self.n_features_in_)
        inner_fold = np.arange(len(features)) % 5 if part is None else np.asarray(part)
        counts = Counter(name for name, _ in self.members)
        held_out: dict[str, Float64] = {}
        if len(self.members) > 1 or self._ALWAYS_HOLDS_OUT:
            folds = np.unique(inner_fold)
            if len(folds) < 2:
                raise ConfigError(f"`part` gives {len(folds)} inner folds; two are needed to choose among members")
            held_out = {
                name: self._cross_predict(member, features, target, settings, inner_fold, asked)
                for name, member in self.members
            }
            counts = self._pick(held_out, target)
        self.scores_ = {name: self._score(predicted, target) for name, predicted in held_out.items()}
        self.weights_ = {name: count / counts.total() for name, count in counts.items()}
        if held_out:
            self._after_search(np.sum([self.weights_[name] * held_out[name] for name in counts], axis=0), target)
        self.members_ = {
            name: clone(member).fit(features, target, *settings_for(member, settings))
            for name, member in self.members
            if name in counts
        }
        return self

    def _predict_member(self, member: Any, features: Float64, views: SettingViews) -> Float64:
        """What a trained member predicts; the mean, where there are several views of the settings."""
        method = getattr(member, self._METHOD)
        view_list: Sequence[Settings | None] = views if isinstance(views, Sequence) else [views]
        answers: list[Float64] = [method(features, *settings_for(member, view)) for view in view_list]
        return answers[0] if len(answers) == 1 else np.mean(answers, axis=0)

    def _cross_predict(
        self,
        member: Any,
        features: Float64,
        target: Float64,
        settings: Settings | None,
        inner_fold: NDArray[Any],
        views: SettingViews = None,
    ) -> Float64:
        """What a member predicts of each row when it was not trained on the row's inner fold."""
        predictions = np.empty_like(target)
        for fold in np.unique(inner_fold):
            test, training = np.flatnonzero(inner_fold == fold), np.flatnonzero(inner_fold != fold)
            settings_known = settings_for(member, _view_rows(settings, training))
            trained = clone(member).fit(features[training], target[training], *settings_known)
            test_views = _view_rows(settings if views is None else views, test)
            predictions[test] = self._predict_member(trained, features[test], test_views)
        return predictions

    def _pick(self, held_out: dict[str, Float64], target: Float64) -> Counter[str]:
        names: list[str] = []
        total = np.zeros_like(target)
        best, length = -np.inf, 0
        for count in range(1, self.picks + 1):
            score, name = max((self._score((total + held_out[name]) / count, target), name) for name in held_out)
            names.append(name)
            total += held_out[name]
            if score > best:  # a longer list must be better, not as good
                best, length = score, count
        return Counter(names[:length])

    # -- prediction ------------------------------------------------------------------------------------
    def _answer(self, features: Float64, settings: SettingViews = None) -> Float64:
        parts = [
            weight * self._predict_member(self.members_[name], features, settings)
            for name, weight in self.weights_.items()
        ]
        return np.asarray(np.sum(parts, axis=0))


def _view_rows(views: SettingViews, rows: Int64) -> Any:
    """The views of some rows."""
    if isinstance(views, Sequence):
        return [view.take(rows) for view in views]
    return None if views is None else views.take(rows)


@dataclass(eq=False, repr=False)
class EnsembleHead(_Ensemble, Chooser, kind="ensemble"):
    """A mean of heads that choose.

    ``members`` are the candidates, (name, head); each is cloned. ``select``: by ``accuracy``, the share of rows whose
    best choice is found, or by ``speedup``, mean log cost. ``picks``: how many members are added at most; one may be
    added again, which gives it more weight.

    By name, ``members_`` has the chosen ones, trained, ``weights_`` the share of each, and ``scores_`` what each
    candidate alone scores on held-out training rows; empty where there is only one.
    """

    _: KW_ONLY
    select: str = "accuracy"
    takes_settings: ClassVar[bool] = True
    _METHOD = "predict_proba"

    def _check_parameters(self, columns: int) -> None:
        if self.select not in SELECT:
            raise ConfigError(unknown("select", self.select, SELECT))
        super()._check_parameters(columns)

    def _checked_target(self, y: ArrayLike, rows: int) -> Float64:
        costs = checked_costs(y)
        self.n_choices_ = costs.shape[1]
        return costs

    def _score(self, predicted: Float64, target: Float64) -> float:
        choice = np.where(np.isfinite(target), predicted, -np.inf).argmax(axis=1)
        chosen, best = target[np.arange(len(target)), choice], np.nanmin(target, axis=1)
        cost = np.log(chosen / best)
        if self.select == "speedup":
            return float(-cost.mean())
        return float(np.mean(chosen == best) - _TIE_BREAK * np.minimum(cost, 1.0).mean())

    def propose(self, preference: Float64, count: int) -> Int64:
        """The settings to try first, by the preferences of `predict_proba`. (m, K) -> (m, count)."""
        return np.argsort(-preference, axis=1, kind="stable")[:, :count]

    def expected_ratios(self, X: ArrayLike, settings: SettingViews = None, *, default: int) -> Float64:
        """(n, K) expected cost of each setting over that of the default, as members predict it, without a margin."""
        mean = np.maximum(_Ensemble._answer(self, self._checked_rows(X), settings), LEAST_PREFERENCE)
        return (mean[:, default, None] / mean) ** (1 / SHARPNESS)

    def _any_settings(self, samples: int) -> Settings | None:
        return next(filter(None, (member._any_settings(samples) for member in self.members_.values())), None)


@dataclass(eq=False, repr=False)
class NumberEnsembleHead(_Ensemble, Regressor, kind="number_ensemble"):
    """A mean of regressors of one number.

    Parameters and attributes are those of `EnsembleHead`, but ``select``; a score is minus the mean square error.
    """

    def _checked_target(self, y: ArrayLike, rows: int) -> Float64:
        target = np.asarray(y, dtype=np.float64)
        if target.shape != (rows,) or not np.isfinite(target).all():
            raise HeadError(f"numbers of shape {target.shape} for {rows} rows; each row needs one finite number")
        return target


@dataclass(eq=False, repr=False)
class LabelsEnsembleHead(_Ensemble, MultiRegressor, kind="labels_ensemble"):
    """A mean of heads that predict labels, 0 or 1.

    Parameters and attributes are those of `EnsembleHead`, but ``select``; a score is minus the mean square error
    (Brier, 1950), so that a prediction is about how likely a label is, and not only an order.
    """

    def _checked_target(self, y: ArrayLike, rows: int) -> Float64:
        target = np.asarray(y, dtype=np.float64)
        if target.ndim != 2 or len(target) != rows or not target.shape[1] or not np.isin(target, (0, 1)).all():
            raise HeadError(f"labels have shape {target.shape} for {rows} samples; each needs a row of zeros and ones")
        self.n_labels_ = target.shape[1]
        return target

    def probabilities(self, X: ArrayLike) -> Float64:
        """(n, P) how likely each label is: what `predict` gives, cut to 0 and 1."""
        return np.clip(self.predict(X), 0.0, 1.0)


# -- caution -------------------------------------------------------------------------------------------
def best_margin(preference: Float64, costs: Float64, default: int, most_slow: float) -> tuple[float, float]:
    """The margin with which leaving the default wins most on held-out rows, while few of them become slower.

    A row leaves the default where its expected gain, in log cost, is above the margin. Of preferences and costs (n, K),
    NaN where a setting may not be asked for; at most the share ``most_slow`` of the rows may be more than 2 % slower
    than the default. Returns the margin and the mean over all rows of log(cost of the default / cost of the choice).
    """
    allowed = np.where(np.isfinite(costs), preference, -1.0)
    allowed[:, default] = -1.0
    best = allowed.argmax(axis=1)
    rows = np.arange(len(costs))
    gain = np.maximum(allowed[rows, best], LEAST_PREFERENCE) / np.maximum(preference[:, default], LEAST_PREFERENCE)
    gain = np.log(gain) / SHARPNESS
    order = np.argsort(-gain, kind="stable")
    order = order[gain[order] > 0]
    ratio = costs[rows, default] / np.where(np.isfinite(costs[rows, best]), costs[rows, best], costs[rows, default])
    won = np.concatenate([[0.0], np.cumsum(np.log(ratio[order]))])
    slow = np.concatenate([[0], np.cumsum(ratio[order] * PLAIN_SLOWDOWN < 1)])
    leaving = int(np.where(slow <= most_slow * len(costs), won, -np.inf).argmax())  # rows that leave the default
    mean = float(won[leaving] / len(costs))
    if leaving == 0:
        return _NEVER, mean
    after = float(gain[order[leaving]]) if leaving < len(order) else 0.0
    return (float(gain[order[leaving - 1]]) + after) / 2, mean


@dataclass(eq=False, repr=False)
class CautiousEnsembleHead(EnsembleHead, kind="cautious_ensemble"):
    """A mean of heads that choose, which leaves the default only for an expected gain above ``margin_``, in log cost.

    A mean of predictions prefers some setting to the default wherever it is a little better, and half of those are a
    little worse. What people mind is code that became slower, so the margin is learned (`best_margin`).

    ``members`` and ``picks`` are as those of `EnsembleHead`; a member is judged by the mean log speedup that it brings
    with the margin that suits it. ``default`` is the column of the default, ``most_slow`` the share of held-out
    training rows that may be more than 2 % slower than it.
    """

    _: KW_ONLY
    select: str = field(default="speedup", init=False)
    default: int = 0
    most_slow: float = 0.05
    _ALWAYS_HOLDS_OUT = True

    def _check_parameters(self, columns: int) -> None:
        if self.default not in range(self.n_choices_):
            raise ConfigError(f"default is {self.default!r}; allowed: a column of the costs")
        most_slow: Any = self.most_slow
        if not isinstance(most_slow, Real) or not 0 <= float(most_slow) <= 1:
            raise ConfigError(f"most_slow is {most_slow!r}; allowed: a share, 0 to 1")
        super()._check_parameters(columns)

    def _score(self, predicted: Float64, target: Float64) -> float:
        """What it wins with a margin of its own, so that a bold member that is right is not dropped for its losses."""
        return best_margin(predicted, target, self.default, self.most_slow)[1]

    def _after_search(self, mean: Float64, target: Float64) -> None:
        self.margin_, _ = best_margin(mean, target, self.default, self.most_slow)

    def _answer(self, features: Float64, settings: SettingViews = None) -> Float64:
        raised = super()._answer(features, settings)
        raised[:, self.default] = np.maximum(raised[:, self.default], LEAST_PREFERENCE)
        raised[:, self.default] *= math.exp(SHARPNESS * self.margin_)
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))


@dataclass(eq=False, repr=False)
class HedgingEnsembleHead(CautiousEnsembleHead, kind="hedging_ensemble"):
    """A cautious mean whose proposals hedge: of several settings to try, one is good whichever way predictions err.

    Errors of neighbouring settings are alike, so the first few of an order are often wrong together. Here settings are
    chosen one by one, each to help most beside those before it, over errors like those of held-out rows: ``errors_``
    (S, K), log cost over that of the default, less the expected one; 0 where not measured.
    """

    def _after_search(self, mean: Float64, target: Float64) -> None:
        super()._after_search(mean, target)
        rows = np.random.default_rng(0).permutation(len(mean))[:_MOST_ERRORS]
        expected, logs = _log_costs(mean[rows]), np.log(target[rows])
        errors = logs - logs[:, self.default, None] - (expected - expected[:, self.default, None])
        self.errors_ = np.clip(np.where(np.isfinite(errors), errors, 0.0), -1.0, 1.0)

    def propose(self, preference: Float64, count: int) -> Int64:
        expected = _log_costs(preference)
        expected[:, self.default] += self.margin_
        proposals = np.empty((len(preference), count), dtype=np.int64)
        for row, allowed_mask in enumerate(preference > 0):
            allowed = np.flatnonzero(allowed_mask)
            best = allowed[portfolio(expected[row, allowed] + self.errors_[:, allowed], count)]
            proposals[row] = best[np.minimum(np.arange(count), len(best) - 1)]
        return proposals


def _log_costs(preference: Float64) -> Float64:
    """The log costs that preferences stand for, up to a constant of the row. (n, K)."""
    return np.asarray(-np.log(np.maximum(preference, LEAST_PREFERENCE)) / SHARPNESS)
