"""What all heads share: parameters that are checked, checked rows, and a state of arrays and a small description.

A head is a dataclass: its fields are the parameters that scikit-learn knows. Three subclasses say what it learns:
`Number`, `Labels` and `mirenc.decide.estimators.chooser.Chooser`.
"""

import math
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from mirenc.base.arrays import Float64
from mirenc.base.errors import ConfigError, needs
from mirenc.decide.estimators.head_state import register

with needs("tasks", "heads need scikit-learn 1.7 or later"):
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.utils.validation import check_is_fitted, validate_data


class Head(BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """Checks, and the state, of every head; ``kind`` is the class's name in head.json, and never changes."""

    _POSITIVE: ClassVar[tuple[str, ...]] = ()  # parameters above 0; None where that is the default
    _COUNTS: ClassVar[tuple[str, ...]] = ()  # parameters from 1 up

    def __init_subclass__(cls, *, kind: str = "", **how: Any) -> None:
        super().__init_subclass__(**how)
        if kind:
            register(kind)(cls)

    def _check_parameters(self, columns: int) -> None:
        for name in self._POSITIVE:
            value = getattr(self, name)
            if value is None and getattr(type(self), name) is None:
                continue
            if not isinstance(value, Real) or not math.isfinite(value) or value <= 0:
                raise ConfigError(f"{name} is {value!r}; allowed: a number above 0")
        for name in self._COUNTS:
            value = getattr(self, name)
            if not is_count(value):
                raise ConfigError(f"{name} is {value!r}; allowed: a whole number from 1 up")
        context: Any = getattr(self, "context_columns", 0)
        least = 0 if getattr(self, "use_code", True) else 1
        if not isinstance(context, Integral) or not least <= int(context) <= columns:
            raise ConfigError(f"context_columns is {context!r}; allowed: {least} to {columns}, the columns of X")

    def _training_rows(self, X: ArrayLike, y: Any = "no_validation", **how: Any) -> Any:
        """Checked rows, and what is to be learned of them where it is given; checks the parameters, too."""
        checked = validate_data(self, X, y, dtype=np.float64, **how)
        self._check_parameters(self.n_features_in_)
        return checked

    def _rows(self, X: ArrayLike) -> Float64:
        """(n, A + D) checked rows to answer for."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=False))

    def _learn(self, features: Float64, target: Float64) -> None:
        """Train on checked rows (n, A + D) and a table (n, P)."""
        raise NotImplementedError

    def _answer(self, features: Float64) -> Float64:
        """(n, P) for checked rows."""
        raise NotImplementedError

    def _state(self) -> dict[str, Any]:
        """Parameters, and what was learned: what ends in an underscore, as scikit-learn's estimators have it."""
        learned = {name: value for name, value in vars(self).items() if name.endswith("_") and name[0] != "_"}
        return {**self.get_params(deep=False), **learned}

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        head = cls(**{name: state[name] for name in cls._get_param_names()})
        learned = {name: value for name, value in state.items() if name.endswith("_") and name[0] != "_"}
        if learned:
            for name, value in learned.items():
                setattr(head, name, value)
            head._check_parameters(learned["n_features_in_"])
        return head


class Number(RegressorMixin, Head):  # type: ignore[misc]
    """A head that predicts a number."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows (n, A + D) and numbers (n,)."""
        features, target = self._training_rows(X, y, y_numeric=True)
        self._learn(features, np.asarray(target, dtype=np.float64)[:, None])
        return self

    def predict(self, X: ArrayLike) -> Float64:
        """(n,) predicted number."""
        return self._answer(self._rows(X)).ravel()


class Labels(RegressorMixin, Head):  # type: ignore[misc]
    """A head that tells labels, 0 or 1 each."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows (n, A + D) and labels (n, P)."""
        features, target = self._training_rows(X, y, multi_output=True, y_numeric=True)
        self._learn(features, np.asarray(target, dtype=np.float64))
        return self

    def predict(self, X: ArrayLike) -> Float64:
        """(n, P) about how likely each label is; not cut to 0 and 1."""
        return self._answer(self._rows(X))


def is_count(value: Any) -> bool:
    """Whether it is a whole number from 1 up."""
    return isinstance(value, Integral) and value is not True and int(value) >= 1


def scaling(features: Float64) -> tuple[Float64, Float64]:
    """Mean and standard deviation of columns.

    A column that does not vary in training says nothing and must not explode later: its deviation is infinite.
    """
    middle, spread = features.mean(axis=0), features.std(axis=0)
    return middle, np.where(spread > 1e-9 * np.maximum(1.0, np.abs(middle)), spread, np.inf)
