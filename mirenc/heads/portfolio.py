"""`PortfolioHead`: a choice among the few settings that together do best, where settings outnumber kernels.

A head that ranks all of them mostly ranks noise. Two or three that complement each other are found from the training
costs alone, and which of them is a question of few answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mirenc.arrays import Float64, Int64
from mirenc.errors import ConfigError
from mirenc.heads.base import is_count
from mirenc.heads.choosing import CostRegressor

# Predicted log cost of what is outside of the portfolio, above the worst within: it is never preferred.
_OUTSIDE = 1.0


def portfolio(logs: Float64, size: int) -> Int64:
    """So many settings of which the best costs the samples least in the mean: each helps most beside those before it.

    Of log costs (n, K); NaN, which helps no sample, where nobody may ask. -> (min(size, K),), without repetition.
    """
    loss = logs - np.nanmin(logs, axis=1, keepdims=True)
    loss = np.where(np.isnan(loss), np.nanmax(loss), loss)
    least = np.full(len(loss), np.inf)
    chosen: list[int] = []
    for _ in range(min(size, loss.shape[1])):
        mean = np.minimum(least[:, None], loss).mean(axis=0)
        mean[chosen] = np.inf
        chosen.append(int(mean.argmin()))
        least = np.minimum(least, loss[:, chosen[-1]])
    return np.array(chosen, dtype=np.int64)


@dataclass(eq=False, repr=False)
class PortfolioHead(CostRegressor, kind="portfolio"):
    """A head over the settings of a `portfolio`: ``settings_``, (size,) int64.

    Parameters
    ----------
    chooser : estimator
        A head that learns from costs and has ``predict_log_costs``, such as `CostHead`.
    size : int
        Settings of the portfolio.
    """

    chooser: Any
    size: int = 3
    _INNER = "chooser"
    _ARRAYS = ("settings_ S",)

    def _check_parameters(self, columns: int) -> None:
        if not is_count(self.size) or self.size == 1:
            raise ConfigError(f"size is {self.size!r}; allowed: a whole number from 2 up")
        super()._check_parameters(columns)

    def _learn(self, features: Float64, target: Float64) -> None:
        self.settings_ = portfolio(np.log(target), int(self.size))
        among = target[:, self.settings_]
        measured = np.isfinite(among).any(axis=1)
        self.chooser_ = clone(self.chooser).fit(features[measured], among[measured])

    def _answer(self, features: Float64) -> Float64:
        logs = self.chooser_.predict_log_costs(features)
        result: Float64 = np.repeat(logs.max(axis=1, keepdims=True) + _OUTSIDE, self.n_choices_, axis=1)
        result[:, self.settings_] = logs
        return result

    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {"choices": self.n_choices_}, {}

    def _fits(self) -> bool:
        chosen = self.settings_
        whole = super()._fits() and len(chosen) == self.chooser_.n_choices_ == len(np.unique(chosen))
        return whole and bool(((chosen >= 0) & (chosen < self.n_choices_)).all())
