"""What heads that choose a setting share: costs in, preferences out. Preferences of a row sum to 1: they average."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from mirenc.base.arrays import Float64, Int64
from mirenc.base.errors import HeadError
from mirenc.decide.estimators.base import Head

# How a difference in predicted log cost becomes a preference: with 2, a factor e in cost is a preference of 88 to 12.
SHARPNESS = 2.0
_LEAST_SHARE = 0.01  # of the greatest preference, which no cost ratio goes below
_SWEEPS = 8


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings of n samples as numbers: at most K a sample, T different ones.

    ``features`` (T, F) float64: a row for each different setting. ``row`` (n, K) int64: the rows of ``features`` that
    are each sample's settings; -1 where a sample has fewer than K, or a setting may not be asked for. Raises HeadError:
    shapes that do not fit.
    """

    features: Float64
    row: Int64

    def __post_init__(self) -> None:
        if self.features.ndim != 2 or self.row.ndim != 2 or not np.isfinite(self.features).all():
            shapes = f"features {self.features.shape} and rows {self.row.shape}"
            raise HeadError(f"settings have {shapes}; allowed: finite numbers, in two dimensions each")
        if self.row.size and not -1 <= self.row.min() <= self.row.max() < len(self.features):
            problem = f"rows of settings are {self.row.min()} to {self.row.max()}"
            raise HeadError(f"{problem}; allowed: -1 to {len(self.features) - 1}, the rows of features")

    def __len__(self) -> int:
        return len(self.row)

    def take(self, rows: NDArray[np.integer[Any]] | slice) -> Self:
        """The settings of some samples."""
        return replace(self, row=self.row[rows])


SettingViews = Settings | Sequence[Settings] | None
"""What is known of settings. Several `Settings` of the same samples are equally likely views, such as what settings
make of a loop for each of some trip counts where nobody knows how often it runs; an ensemble averages over them."""


def settings_for(head: Any, settings: SettingViews) -> tuple[Any, ...]:
    """The extra argument of a head's methods: the settings, where it takes any."""
    return (settings,) if settings is not None and getattr(head, "takes_settings", False) else ()


class Chooser(Head):
    """A head that chooses; ``n_choices_`` is the number of its settings."""

    takes_settings: ClassVar[bool] = False
    """Whether it sees settings as numbers, and so learns what they have in common."""

    def fit(self, X: ArrayLike, y: ArrayLike, settings: Settings | None = None) -> Self:
        """Train on rows (n, A + D), context columns before code columns, and measured costs (n, K).

        Costs are positive; NaN where a setting was not measured. ``settings``: for heads that take settings; needed
        where samples have different ones. Raises ConfigError, HeadError, ValueError: a parameter out of range; costs or
        settings that cannot be used; NaN or infinity in ``X``.
        """
        features: Float64 = self._checked_training(X)
        costs = checked_costs(y)
        if len(costs) != len(features):
            problem = f"{len(features)} rows of features and {len(costs)} rows of costs"
            raise HeadError(f"{problem}; for each sample, a row of features and a row of costs are needed")
        self.n_choices_ = costs.shape[1]
        self._learn(features, costs, *settings_for(self, settings))
        return self

    def predict_proba(self, X: ArrayLike, settings: SettingViews = None) -> Float64:
        """(n, K) preference for each setting; 0 where there is none. Several views: for ensembles alone."""
        return self._answer(self._checked_rows(X), *settings_for(self, settings))

    def predict(self, X: ArrayLike, settings: Settings | None = None) -> Int64:
        """(n,) index of the preferred setting."""
        return np.asarray(self.predict_proba(X, *settings_for(self, settings)).argmax(axis=1).astype(np.int64))

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Mean of log(least cost / cost of the choice): 0 for an oracle, negative for anything else.

        A choice that was not measured is given the row's greatest cost.
        """
        costs = checked_costs(y)
        chosen_cost = costs[np.arange(len(costs)), self.predict(X)]
        chosen_cost = np.where(np.isnan(chosen_cost), np.nanmax(costs, axis=1), chosen_cost)
        return float(np.mean(np.log(np.nanmin(costs, axis=1) / chosen_cost)))

    def _any_settings(self, samples: int) -> Settings | None:
        """Some settings that it can be asked about; None where it takes none."""
        return None


class CostRegressor(Chooser):
    """A chooser that predicts log costs; ``mean_`` has one number a setting."""

    def predict_log_costs(self, X: ArrayLike, settings: SettingViews = None) -> Float64:
        """(n, K) predicted log cost of each setting, up to a constant of the row; infinite where there is none."""
        return self._answer(self._checked_rows(X), *settings_for(self, settings))

    def predict_proba(self, X: ArrayLike, settings: SettingViews = None) -> Float64:
        """(n, K) preference for each setting; 0 where there is none."""
        return preferences(self.predict_log_costs(X, settings))


def checked_costs(costs: ArrayLike) -> Float64:
    """(n, K) float64 costs, positive or NaN, at least one a row. Raises HeadError, which names the row."""
    table = np.asarray(costs, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise HeadError(f"costs have shape {table.shape}; allowed: (samples, choices), two choices or more")
    with np.errstate(invalid="ignore"):
        invalid_cells = ~(np.isnan(table) | (np.isfinite(table) & (table > 0)))
    invalid_rows = invalid_cells.any(axis=1) | np.isnan(table).all(axis=1)
    if invalid_rows.any():
        row = int(np.argmax(invalid_rows))
        raise HeadError(f"costs of row {row} are {table[row].tolist()}; a cost is a positive time, NaN if not measured")
    return table


def additive_effects(
    values: Float64, sample: Int64, setting: Int64, samples: int, settings: int
) -> tuple[Float64, Float64]:
    """Fit value = effect of the sample + effect of the setting by least squares, in a few alternating sweeps.

    So a sample of which only bad settings were measured is not taken for a bad sample. ``values`` (m,) are log costs,
    ``sample`` and ``setting`` (m,) what each is of. -> (samples,), (settings,); 0 for what has no measurement.
    """
    sample_effect, setting_effect = np.zeros(samples), np.zeros(settings)
    per_sample = np.maximum(np.bincount(sample, minlength=samples), 1)
    per_setting = np.maximum(np.bincount(setting, minlength=settings), 1)
    for _ in range(_SWEEPS):
        sample_effect = np.bincount(sample, values - setting_effect[setting], samples) / per_sample
        new_effect = np.bincount(setting, values - sample_effect[sample], settings) / per_setting
        if np.abs(new_effect - setting_effect).max(initial=0.0) < 1e-12:
            break
        setting_effect = new_effect
    return sample_effect, setting_effect


def relative_log_costs(costs: Float64, clip: float) -> Float64:
    """log(cost / the row's geometric mean), clipped to +-``clip``. (n, K) -> (n, K).

    A setting that was not measured gets its mean over the other samples, so that it tells nothing about this one.
    """
    logs = np.log(costs)
    measured = np.isfinite(logs)
    if measured.all():
        relative_costs = logs - logs.mean(axis=1, keepdims=True)
    else:
        sample, setting = np.nonzero(measured)
        sample_effect, setting_effect = additive_effects(logs[measured], sample, setting, *logs.shape)
        relative_costs = np.where(measured, logs - sample_effect[:, None], setting_effect[None, :])
    return np.asarray(np.clip(relative_costs, -clip, clip))


def preferences(log_costs: Float64) -> Float64:
    """Predicted log costs as preferences: a softmax of their negatives. (n, K) -> (n, K), rows sum to 1."""
    return np.asarray(softmax(-SHARPNESS * log_costs, axis=1))


def cost_ratios(preference: Float64) -> Float64:
    """Costs that preferences stand for, over that of the preferred choice: the inverse of `preferences`. (..., K).

    A preference of 0 counts as one in a hundred, a cost ratio of about 10.
    """
    bounded_preference = np.maximum(preference, _LEAST_SHARE * preference.max(axis=-1, keepdims=True))
    return np.asarray((bounded_preference.max(axis=-1, keepdims=True) / bounded_preference) ** (1 / SHARPNESS))


def portfolio(logs: Float64, size: int) -> Int64:
    """Choose settings one by one, each so that the best of those chosen costs the samples least on average.

    ``logs`` are log costs (n, K), NaN where a sample may not ask. Returns (min(size, K),) columns, none of them twice.
    """
    loss = logs - np.nanmin(logs, axis=1, keepdims=True)
    loss = np.where(np.isnan(loss), np.nanmax(loss), loss)
    least_loss = np.full(len(loss), np.inf)
    chosen: list[int] = []
    for _ in range(min(size, loss.shape[1])):
        mean_loss = np.minimum(least_loss[:, None], loss).mean(axis=0)
        mean_loss[chosen] = np.inf
        chosen.append(int(mean_loss.argmin()))
        least_loss = np.minimum(least_loss, loss[:, chosen[-1]])
    return np.array(chosen, dtype=np.int64)
