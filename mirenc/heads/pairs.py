"""`PairHead`: one model for all settings. It predicts the cost of (context, code, setting) by what settings share.

A head with a column a setting learns 32 threads and 16 threads as if they were strangers, and has no answer for a
setting that it never saw. Here a setting is numbers beside the code's, so spaces may be large, sparse, or differ from
sample to sample, and one measurement teaches about its neighbours.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirenc.errors import ConfigError, HeadError, MissingExtraError
from mirenc.heads.choosing import ChoosingMixin, additive_effects, checked_costs, preferences
from mirenc.heads.reduce import CodeReducer
from mirenc.heads.settings import Settings
from mirenc.heads.state import Arrays, pack, register, unpack

try:
    from sklearn.base import BaseEstimator, clone
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError(f"heads need scikit-learn ({error}). Type: pip install 'mirenc[tasks]'") from None

__all__ = ["PairHead"]

Float = NDArray[np.float64]
_BLOCK = 65536  # pairs that are predicted at once
_PARAMETERS = ("context_columns", "use_code", "components", "products", "clip", "most_pairs", "random_state")


@register("pairs")
class PairHead(ChoosingMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """A regressor of relative log costs over pairs of a sample and a setting.

    The target of a pair is log(cost) less the sample's own effect (`additive_effects`), so that code and context need
    not explain how long a kernel runs, only which setting suits it.

    Parameters
    ----------
    regressor : estimator
        `RidgeRegressor` or `BoostedRegressor`, or any regressor. To be saved it must be one of mirenc's.
    context_columns : int
        The first so many columns of X are context features.
    use_code : bool
        False looks at the context features only.
    components : int
        Principal components of the code columns.
    products : bool
        Give the regressor products of the sample's columns with the setting's too: a linear one needs them, since
        without them every sample gets the same order of settings.
    clip : float
        Relative log costs are cut at plus and minus this.
    most_pairs : int
        Of more pairs than this, so many are drawn, spread over the samples.
    random_state : int

    Attributes
    ----------
    regressor_ : estimator
        Fitted clone.
    """

    takes_settings = True

    def __init__(
        self,
        regressor: Any,
        context_columns: int = 0,
        *,
        use_code: bool = True,
        components: int = 16,
        products: bool = False,
        clip: float = 2.0,
        most_pairs: int = 100_000,
        random_state: int = 0,
    ) -> None:
        self.regressor = regressor
        self.context_columns = context_columns
        self.use_code = use_code
        self.components = components
        self.products = products
        self.clip = clip
        self.most_pairs = most_pairs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, settings: Settings | None = None) -> Self:
        """Train on samples, their measured costs and their settings.

        Parameters
        ----------
        X : (n, A + D)
            Context features, then code features; finite.
        y : (n, K)
            Costs, positive; NaN where a setting was not measured.
        settings : Settings
            (n, K) settings; left out: K settings of which nothing is known but their number.

        Raises
        ------
        ConfigError, HeadError
            A parameter out of range; costs or settings that cannot be used.
        """
        features = validate_data(self, X, dtype=np.float64)
        self._check_parameters(features.shape[1])
        features = self._seen(features)
        costs = checked_costs(y)
        settings = settings or _numbered(costs)
        if not len(costs) == len(features) == len(settings) or costs.shape != settings.row.shape:
            raise HeadError(
                f"{len(features)} rows of features, {costs.shape} costs and {settings.row.shape} settings; "
                "one row of each a sample is needed"
            )
        self._scale(features, settings)
        sample, column = np.nonzero(np.isfinite(costs) & (settings.row >= 0))
        if len(sample) == 0:
            raise HeadError("no cost belongs to a setting. Give a row of `settings` for each that was measured")
        setting = settings.row[sample, column]
        logs = np.log(costs[sample, column])
        own, _ = additive_effects(logs, sample, setting, len(costs), len(settings.features))
        target = np.clip(logs - own[sample], -self.clip, self.clip)
        if len(sample) > self.most_pairs:
            drawn = np.random.default_rng(self.random_state).permutation(len(sample))[: self.most_pairs]
            sample, setting, target = sample[drawn], setting[drawn], target[drawn]
        rows = self._rows(
            self._reduce(self._scaled(features)), self._setting_columns(settings.features), sample, setting
        )
        self.regressor_ = clone(self.regressor).fit(rows, target)
        self.n_settings_ = settings.row.shape[1]
        return self

    def _check_parameters(self, columns: int) -> None:
        context: Any = self.context_columns
        if not isinstance(context, Integral) or not 0 <= int(context) <= columns:
            raise ConfigError(f"context_columns is {self.context_columns!r}; allowed: 0 to {columns}, the columns of X")
        if not context and not self.use_code:
            raise ConfigError("use_code=False leaves no column to look at. Give context_columns")
        clip: Any = self.clip
        if not isinstance(clip, Real) or not math.isfinite(clip) or clip <= 0:
            raise ConfigError(f"clip is {clip!r}; allowed: a number above 0")
        for name in ("components", "most_pairs"):
            value: Any = getattr(self, name)
            if not isinstance(value, Integral) or value < 1:
                raise ConfigError(f"{name} is {value!r}; allowed: a whole number from 1 up")

    # -- columns ---------------------------------------------------------------------------------------
    def _scale(self, features: Float, settings: Settings) -> None:
        """Columns to unit variance; code columns then to their principal components."""
        self.middle_, self.spread_ = _scaling(features)
        self._reduce = CodeReducer(self.context_columns, self.components).fit(self._scaled(features))
        self.setting_middle_, self.setting_spread_ = _scaling(settings.features)

    def _seen(self, features: Float) -> Float:
        """The columns that the head may look at."""
        return features if self.use_code else features[:, : self.context_columns]

    def _scaled(self, features: Float) -> Float:
        result: Float = (features - self.middle_) / self.spread_
        return result

    def _setting_columns(self, features: Float) -> Float:
        """Settings as the regressor sees them. (T, F) -> (T, F').

        With ``products`` also squares and products: a linear regressor can then have a best value in the middle, and
        knobs can act together.
        """
        scaled = (features - self.setting_middle_) / self.setting_spread_
        if not self.products:
            return scaled
        first, second = np.triu_indices(scaled.shape[1])
        return np.concatenate([scaled, scaled[:, first] * scaled[:, second]], axis=1)

    def _rows(self, reduced: Float, columns: Float, sample: NDArray[np.int64], setting: NDArray[np.int64]) -> Float:
        """What the regressor sees of pairs. (n, C), (T, F'), (m,), (m,) -> (m, C + F') or with products."""
        own, asked = reduced[sample], columns[setting]
        parts = [own, asked]
        if self.products:
            parts.append((own[:, :, None] * asked[:, None, :]).reshape(len(sample), -1))
        return np.concatenate(parts, axis=1)

    # -- prediction ------------------------------------------------------------------------------------
    def predict_log_costs(self, X: ArrayLike, settings: Settings | None = None) -> Float:
        """(n, K) predicted log cost of each setting, up to a constant of the sample; infinite where there is none."""
        check_is_fitted(self)
        features = self._seen(validate_data(self, X, dtype=np.float64, reset=False))
        settings = settings or _numbered(np.ones((len(features), self.n_settings_)))
        if len(settings) != len(features) or settings.features.shape[1] != len(self.setting_middle_):
            raise HeadError(
                f"{len(features)} rows of features and settings {settings.row.shape} of {settings.features.shape[1]} "
                f"columns; one row a sample and {len(self.setting_middle_)} columns are needed"
            )
        reduced, columns = self._reduce(self._scaled(features)), self._setting_columns(settings.features)
        sample, place = np.nonzero(settings.row >= 0)
        out = np.full(settings.row.shape, np.inf)
        for first in range(0, len(sample), _BLOCK):
            rows, at = sample[first : first + _BLOCK], place[first : first + _BLOCK]
            out[rows, at] = self.regressor_.predict(self._rows(reduced, columns, rows, settings.row[rows, at]))
        return out

    def predict_proba(self, X: ArrayLike, settings: Settings | None = None) -> Float:
        """(n, K) preference for each setting; 0 where there is none."""
        return preferences(self.predict_log_costs(X, settings))

    # -- saving ----------------------------------------------------------------------------------------
    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        check_is_fitted(self)
        entry, arrays = pack(self.regressor_, "regressor")
        meta = {
            "parameters": {name: getattr(self, name) for name in _PARAMETERS},
            "regressor": entry,
            "features": self.n_features_in_,
            "settings": self.n_settings_,
        }
        own = {"middle_": self.middle_, "spread_": self.spread_}
        own |= {"setting_middle_": self.setting_middle_, "setting_spread_": self.setting_spread_}
        return meta, {**arrays, **own, **self._reduce.arrays()}

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        fitted = unpack(meta["regressor"], arrays, "regressor")
        head = cls(clone(fitted), **meta["parameters"])
        head.regressor_ = fitted
        head.n_features_in_, head.n_settings_ = meta["features"], meta["settings"]
        head._check_parameters(head.n_features_in_)
        for name in ("middle_", "spread_", "setting_middle_", "setting_spread_"):
            setattr(head, name, arrays[name])
        seen = head.n_features_in_ if head.use_code else head.context_columns
        head._reduce = CodeReducer.from_arrays(head.context_columns, head.components, arrays, columns=seen)
        shapes = head.middle_.shape == head.spread_.shape == (seen,)
        shapes &= head.setting_middle_.shape == head.setting_spread_.shape and head.setting_middle_.ndim == 1
        settings = head.setting_middle_.size
        asked = settings + (settings * (settings + 1) // 2 if head.products else 0)
        columns = head._reduce.columns + asked + (head._reduce.columns * asked if head.products else 0)
        finite = all(np.isfinite(array).all() for array in (head.middle_, head.setting_middle_))
        positive = (head.spread_ > 0).all() and (head.setting_spread_ > 0).all()
        if not (finite and positive and shapes and fitted.n_features_in_ == columns):
            raise HeadError("arrays of a pair head do not belong together. Save the head again")
        return head


def _numbered(costs: Float) -> Settings:
    """Settings of which nothing is known: each a column of its own."""
    count = costs.shape[1]
    return Settings(np.eye(count), np.broadcast_to(np.arange(count), costs.shape))


def _scaling(features: Float) -> tuple[Float, Float]:
    """Mean and spread of columns; a column that does not vary has an infinite spread, and becomes zero."""
    middle = features.mean(axis=0)
    spread = features.std(axis=0)
    return middle, np.where(spread > 1e-9 * np.maximum(1.0, np.abs(middle)), spread, np.inf)
