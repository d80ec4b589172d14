"""`CautiousEnsembleHead`: an ensemble that leaves the default alone unless the expected gain is worth the risk.

A mean of predictions prefers some setting to the default wherever it is a hair better, and half of those are a hair
worse. What a person minds is code that was fine and became slower. So the default gets a head start, in log cost: the
one that, on rows held out in training, made the mean best among those that slow few rows down.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirenc.arrays import Float64
from mirenc.errors import ConfigError, HeadError
from mirenc.heads.choosing import SHARPNESS
from mirenc.heads.ensemble import EnsembleHead
from mirenc.heads.settings import Settings
from mirenc.heads.state import Arrays, register
from mirenc.metrics import PLAIN_SLOWDOWN

_NEVER = 100.0  # log cost: no prediction gains as much
_LEAST = 1e-300


def best_margin(preference: Float64, costs: Float64, default: int, most_slow: float) -> tuple[float, float]:
    """The margin in log cost that makes the held-out mean best while few rows are slowed down.

    Parameters
    ----------
    preference : (n, K)
        Of held-out rows.
    costs : (n, K)
        NaN: nobody may ask.
    default : int
    most_slow : float
        Share of all rows that may be more than 2 % slower than the default.

    Returns
    -------
    margin : float
        0 or more.
    won : float
        Mean over all rows of log(cost of the default / cost of the choice).
    """
    asked = np.where(np.isfinite(costs), preference, -1.0)
    asked[:, default] = -1.0
    best = asked.argmax(axis=1)
    rows = np.arange(len(costs))
    gain = np.log(np.maximum(asked[rows, best], _LEAST) / np.maximum(preference[:, default], _LEAST)) / SHARPNESS
    order = np.argsort(-gain, kind="stable")
    order = order[gain[order] > 0]
    ratio = costs[rows, default] / np.where(np.isfinite(costs[rows, best]), costs[rows, best], costs[rows, default])
    won = np.concatenate([[0.0], np.cumsum(np.log(ratio[order]))])
    slow = np.concatenate([[0], np.cumsum(ratio[order] * PLAIN_SLOWDOWN < 1)])
    left = int(np.where(slow <= most_slow * len(costs), won, -np.inf).argmax())  # rows that leave the default
    mean = float(won[left] / len(costs))
    if left == 0:
        return _NEVER, mean
    after = float(gain[order[left]]) if left < len(order) else 0.0
    return (float(gain[order[left - 1]]) + after) / 2, mean


@register("cautious_ensemble")
@dataclass(eq=False, repr=False)
class CautiousEnsembleHead(EnsembleHead):
    """A mean of heads that choose, with a head start for the default.

    Preferences are those of the mean, with the default's raised: who takes the most preferred setting takes the default
    unless another is expected to gain more than ``margin_``, and expected gains are told less the margin.

    Parameters
    ----------
    members, picks
        As those of `EnsembleHead`; a member is judged by the mean log speedup that it brings with the margin that suits
        it.
    default : int
        Column of the default.
    most_slow : float
        Share of held-out training rows that may be more than 2 % slower than the default.

    Attributes
    ----------
    margin_ : float
        Head start of the default, in log cost.
    members_, weights_, scores_ : dict
        As those of `EnsembleHead`.
    """

    _: KW_ONLY
    select: str = field(default="speedup", init=False)
    default: int = 0
    most_slow: float = 0.05
    _HOLDS_OUT = True

    def _check_parameters(self, columns: int) -> None:
        if self.default not in range(self.n_choices_):
            raise ConfigError(f"default is {self.default!r}; allowed: a column of the costs")
        most_slow: Any = self.most_slow
        if not isinstance(most_slow, Real) or not 0 <= float(most_slow) <= 1:
            raise ConfigError(f"most_slow is {most_slow!r}; allowed: a share, 0 to 1")
        super()._check_parameters(columns)

    def _score(self, predicted: Float64, target: Float64) -> float:
        """What it wins with a margin of its own: a member that is bold and right is not drowned by its losses."""
        _, won = best_margin(predicted, target, self.default, self.most_slow)
        return won

    def _after_search(self, held_out: dict[str, Float64], target: Float64) -> None:
        mean = np.sum([weight * held_out[name] for name, weight in self.weights_.items()], axis=0)
        self.margin_, _ = best_margin(mean, target, self.default, self.most_slow)

    def predict_proba(self, X: ArrayLike, settings: Settings | None = None) -> Float64:
        """(n, K) weighted mean of the members' preferences, with the default's raised."""
        raised = super().predict_proba(X, settings)
        raised[:, self.default] = np.maximum(raised[:, self.default], _LEAST) * math.exp(SHARPNESS * self.margin_)
        result: Float64 = raised / raised.sum(axis=1, keepdims=True)
        return result

    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        meta, arrays = super()._learned()
        return {**meta, "margin": self.margin_}, arrays

    def _restore(self, meta: dict[str, Any], arrays: Arrays) -> None:
        super()._restore(meta, arrays)
        margin = meta["margin"]
        if not isinstance(margin, Real) or not 0 <= float(margin) <= _NEVER:
            raise HeadError(f"a cautious head has margin {margin!r}. Save the head again")
        self.margin_ = float(margin)
