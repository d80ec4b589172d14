"""`PairHead`: one regressor for all settings, which it sees as numbers beside the code's.

So spaces may be large, sparse, or differ from sample to sample, and a measurement tells about neighbouring settings.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from mirenc.base.arrays import Float64, Int64
from mirenc.base.errors import HeadError
from mirenc.decide.estimators.base import Reducing, scaling
from mirenc.decide.estimators.chooser import CostRegressor, Settings, additive_effects
from mirenc.decide.estimators.trees import log_ratios

_BLOCK = 65536  # pairs that are predicted together


@dataclass(eq=False, repr=False)
class PairHead(Reducing, CostRegressor, kind="pairs"):
    """A regressor of relative log costs over pairs of a sample and a setting.

    The target of a pair is log(cost) minus the effect of the sample (`additive_effects`), so that code and context
    need not explain how long a kernel runs, only which setting suits it. With ``default``, the column of the setting
    that runs when nobody decides, it is `log_ratios` to that one: a large loss counts no more than a moderate one.

    ``regressor``: `RidgeRegressor`, `BoostedRegressor`, or any; to be saved it must be one of mirenc's. The first
    ``context_columns`` columns of X are context features; without ``use_code`` only they are looked at.
    ``components``: principal components of the code columns. ``products``: the regressor also gets the products of
    the sample's columns and the setting's; a linear one needs them, or it orders settings alike for every sample.
    ``clip``: without ``default``, relative log costs are cut at plus and minus this. ``most_pairs``: where there are
    more pairs, this many are drawn.
    """

    regressor: Any
    context_columns: int = 0
    _: KW_ONLY
    use_code: bool = True
    components: int = 16
    products: bool = False
    clip: float = 2.0
    default: int | None = None
    most_pairs: int = 100_000
    random_state: int = 0
    takes_settings: ClassVar[bool] = True
    _POSITIVE = ("clip",)
    _COUNTS = ("components", "most_pairs")

    def _learn(self, features: Float64, costs: Float64, settings: Settings | None = None) -> None:
        features = self._used_columns(features)
        settings = settings or _indicator_settings(self.n_choices_, len(costs))
        if costs.shape != settings.row.shape:
            problem = f"costs {costs.shape}, settings {settings.row.shape}"
            raise HeadError(f"{problem}; for each sample, a row of costs and a row of settings are needed")
        self.middle_, self.spread_ = scaling(features)
        scaled = (features - self.middle_) / self.spread_
        self._find_components(scaled)
        self.setting_middle_, self.setting_spread_ = scaling(settings.features)
        sample, column = np.nonzero(np.isfinite(costs) & (settings.row >= 0))
        if len(sample) == 0:
            raise HeadError("no finite cost is of a setting in `settings`. Give each measured setting a row there")
        setting = settings.row[sample, column]
        if self.default is None:
            logs = np.log(costs[sample, column])
            sample_effect, _ = additive_effects(logs, sample, setting, len(costs), len(settings.features))
            relative = np.clip(logs - sample_effect[sample], -self.clip, self.clip)
        else:
            relative = log_ratios(costs, self.default)[sample, column]
        if len(sample) > self.most_pairs:
            drawn_pairs = np.random.default_rng(self.random_state).permutation(len(sample))[: self.most_pairs]
            sample, setting, relative = sample[drawn_pairs], setting[drawn_pairs], relative[drawn_pairs]
        rows = self._pairs(self._reduced(scaled), self._setting_columns(settings.features), sample, setting)
        self.regressor_ = clone(self.regressor).fit(rows, relative)

    def _setting_columns(self, features: Float64) -> Float64:
        """Settings as the regressor sees them. (T, F) -> (T, F')."""
        scaled = (features - self.setting_middle_) / self.setting_spread_
        if not self.products:
            return scaled
        first, second = np.triu_indices(scaled.shape[1])  # with squares, a linear one can prefer a middle value
        return np.concatenate([scaled, scaled[:, first] * scaled[:, second]], axis=1)

    def _pairs(self, reduced: Float64, columns: Float64, sample: Int64, setting: Int64) -> Float64:
        """What the regressor sees of pairs. (n, C), (T, F'), (m,), (m,) -> (m, C + F') or with products."""
        parts = [reduced[sample], columns[setting]]
        if self.products:
            parts.append((parts[0][:, :, None] * parts[1][:, None, :]).reshape(len(sample), -1))
        return np.concatenate(parts, axis=1)

    def _answer(self, features: Float64, settings: Settings | None = None) -> Float64:
        features = self._used_columns(features)
        settings = settings or _indicator_settings(self.n_choices_, len(features))
        width, columns_needed = settings.features.shape[1], len(self.setting_middle_)
        if len(settings) != len(features) or width != columns_needed:
            problem = f"{len(features)} rows of features, settings of shape {settings.row.shape} with {width} columns"
            raise HeadError(f"{problem}; settings need one row for each sample, and {columns_needed} columns")
        reduced = self._reduced((features - self.middle_) / self.spread_)
        columns = self._setting_columns(settings.features)
        sample, position = np.nonzero(settings.row >= 0)
        costs = np.full(settings.row.shape, np.inf)
        for first in range(0, len(sample), _BLOCK):
            rows, choice = sample[first : first + _BLOCK], position[first : first + _BLOCK]
            pairs = self._pairs(reduced, columns, rows, settings.row[rows, choice])
            costs[rows, choice] = self.regressor_.predict(pairs)
        return costs

    def _any_settings(self, samples: int) -> Settings:
        return Settings(np.zeros((1, len(self.setting_middle_))), np.zeros((samples, self.n_choices_), dtype=np.int64))


def _indicator_settings(count: int, samples: int) -> Settings:
    """Settings of which nothing is known: an indicator column for each."""
    return Settings(np.eye(count), np.broadcast_to(np.arange(count), (samples, count)))
