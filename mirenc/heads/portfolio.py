"""`PortfolioHead`: a choice among the few settings that together do best, where there are many and few kernels.

With a thousand settings and a few dozen kernels, a head that ranks all of them mostly ranks noise. Two or three that
complement each other are found from the training costs alone, and which of them is a question of few answers.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirenc.errors import ConfigError, HeadError, MissingExtraError
from mirenc.heads.choosing import ChoosingMixin, checked_costs, preferences
from mirenc.heads.state import Arrays, pack, register, unpack

try:
    from sklearn.base import BaseEstimator, clone
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError(f"heads need scikit-learn ({error}). Type: pip install 'mirenc[tasks]'") from None

__all__ = ["PortfolioHead", "portfolio"]

Float = NDArray[np.float64]
# Predicted log cost of what is outside of the portfolio, above the worst within: it is never preferred.
_OUTSIDE = 1.0


def portfolio(logs: Float, size: int) -> NDArray[np.int64]:
    """So many settings of which the best costs the samples least in the mean, found one after the other.

    Parameters
    ----------
    logs : (n, K)
        Log costs; NaN, which helps no sample, where nobody may ask. At least one a row.
    size : int

    Returns
    -------
    (min(size, K),) int64
        Each helps most beside those before it; without repetition.
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


@register("portfolio")
class PortfolioHead(ChoosingMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """A head over the settings of a `portfolio`.

    Parameters
    ----------
    chooser : estimator
        A head that learns from costs and has ``predict_log_costs``, such as `CostHead`.
    size : int
        Settings of the portfolio.

    Attributes
    ----------
    chooser_ : estimator
        Fitted clone.
    settings_ : (size,) int64
    n_choices_ : int
        K.
    """

    def __init__(self, chooser: Any, size: int = 3) -> None:
        self.chooser = chooser
        self.size = size

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows and measured costs.

        Parameters
        ----------
        X : (n, A + D)
        y : (n, K)
            Costs, positive; NaN where a setting was not measured.

        Raises
        ------
        ConfigError, HeadError
            ``size`` is below 2; costs that cannot be used.
        """
        features = validate_data(self, X, dtype=np.float64)
        size: Any = self.size
        if not isinstance(size, Integral) or size < 2:
            raise ConfigError(f"size is {size!r}; allowed: a whole number from 2 up")
        costs = checked_costs(y)
        self.n_choices_ = costs.shape[1]
        self.settings_ = portfolio(np.log(costs), int(size))
        own = costs[:, self.settings_]
        measured = np.isfinite(own).any(axis=1)
        self.chooser_ = clone(self.chooser).fit(features[measured], own[measured])
        return self

    def predict_log_costs(self, X: ArrayLike) -> Float:
        """(n, K) predicted log cost of each setting; those outside of the portfolio are worse than all within."""
        check_is_fitted(self)
        features = validate_data(self, X, dtype=np.float64, reset=False)
        found = self.chooser_.predict_log_costs(features)
        result: Float = np.repeat(found.max(axis=1, keepdims=True) + _OUTSIDE, self.n_choices_, axis=1)
        result[:, self.settings_] = found
        return result

    def predict_proba(self, X: ArrayLike) -> Float:
        """(n, K) preference for each setting."""
        return preferences(self.predict_log_costs(X))

    # -- saving ----------------------------------------------------------------------------------------
    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        check_is_fitted(self)
        entry, arrays = pack(self.chooser_, "chooser")
        meta = {"size": int(self.size), "chooser": entry, "choices": self.n_choices_, "features": self.n_features_in_}
        return meta, arrays | {"settings_": self.settings_}

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        fitted = unpack(meta["chooser"], arrays, "chooser")
        head = cls(clone(fitted), meta["size"])
        head.chooser_, head.settings_ = fitted, arrays["settings_"].astype(np.int64)
        head.n_choices_, head.n_features_in_ = meta["choices"], meta["features"]
        chosen = head.settings_
        whole = chosen.ndim == 1 and len(chosen) == fitted.n_choices_ == len(np.unique(chosen))
        if not whole or not ((chosen >= 0) & (chosen < head.n_choices_)).all():
            raise HeadError("arrays of a portfolio head do not belong together. Save the head again")
        return head
