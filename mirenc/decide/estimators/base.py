"""What all heads share: checked parameters, checked rows, and a state of arrays and a small description.

A head is a dataclass: its fields are the parameters that scikit-learn knows. Subclasses say what it learns: `Regressor`
one number a row, `MultiRegressor` several (labels, 0 or 1), `mirenc.decide.estimators.chooser.Chooser` a setting.
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
    from sklearn.decomposition import PCA
    from sklearn.utils.validation import check_is_fitted, validate_data


class Head(BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """Checks and state of every head; ``kind`` is the name of the class in head.json and must never change."""

    _POSITIVE: ClassVar[tuple[str, ...]] = ()  # parameters above 0; None where that is the default
    _COUNTS: ClassVar[tuple[str, ...]] = ()  # parameters from 1 up

    def __init_subclass__(cls, *, kind: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
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
        count: Any = getattr(self, "context_columns", 0)
        minimum = 0 if getattr(self, "use_code", True) else 1
        if not isinstance(count, Integral) or not minimum <= int(count) <= columns:
            raise ConfigError(f"context_columns is {count!r}; allowed: {minimum} to {columns}, the columns of X")

    def _checked_training(self, X: ArrayLike, y: Any = "no_validation", **options: Any) -> Any:
        """Checked training rows, and the checked target where one is given; parameters are checked, too."""
        checked = validate_data(self, X, y, dtype=np.float64, **options)
        self._check_parameters(self.n_features_in_)
        return checked

    def _checked_rows(self, X: ArrayLike) -> Float64:
        """Rows to predict for, (n, A + D). Raises NotFittedError, ValueError: other columns than in training."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=False))

    def _learn(self, features: Float64, target: Float64) -> None:
        """Train on checked rows (n, A + D) and targets (n, P)."""
        raise NotImplementedError

    def _answer(self, features: Float64) -> Float64:
        """(n, P) predictions for checked rows."""
        raise NotImplementedError

    def _state(self) -> dict[str, Any]:
        """Parameters, and learned attributes, which end in an underscore, as scikit-learn's do."""
        return {**self.get_params(deep=False), **_learned_attributes(self.__dict__)}

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        head = cls(**{name: state[name] for name in cls._get_param_names()})
        if attributes := _learned_attributes(state):
            head.__dict__.update(attributes)
            head._check_parameters(attributes["n_features_in_"])
        return head


class Reducing(Head):
    """A head that reduces the code columns, where these are more than ``components``, to so many principal ones.

    ``center_`` (E,) and ``axes_`` (E, C) are of the code columns; C = 0: the columns are kept.
    """

    context_columns: int
    components: int

    def _used_columns(self, features: Float64) -> Float64:
        """The columns that the head looks at: all, or without ``use_code`` the context columns."""
        return features if getattr(self, "use_code", True) else features[:, : self.context_columns]

    def _find_components(self, columns: Float64) -> None:
        code = columns[:, self.context_columns :]
        self.center_, self.axes_ = np.zeros(code.shape[1]), np.zeros((code.shape[1], 0))
        if code.shape[1] > self.components:
            # A single row has no variance to divide by; whatever axis is found, the row is at 0.
            with np.errstate(invalid="ignore"):
                pca = PCA(min(self.components, *code.shape), random_state=0).fit(code)
            self.center_, self.axes_ = pca.mean_, pca.components_.T

    def _reduced(self, columns: Float64) -> Float64:
        """(n, A + E) -> (n, A + C), or (n, A + E) where nothing is reduced."""
        context, code = columns[:, : self.context_columns], columns[:, self.context_columns :]
        if self.axes_.shape[1]:
            code = (code - self.center_) @ self.axes_
        return np.concatenate([context, code], axis=1)


class Regressor(RegressorMixin, Head):  # type: ignore[misc]
    """A head that predicts a number."""

    _MULTI_OUTPUT: ClassVar[bool] = False

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows (n, A + D) and numbers (n,); a `MultiRegressor` on several numbers a row, (n, P)."""
        features, target = self._checked_training(X, y, multi_output=self._MULTI_OUTPUT, y_numeric=True)
        self._learn(features, np.asarray(target, dtype=np.float64).reshape(len(features), -1))
        return self

    def predict(self, X: ArrayLike) -> Float64:
        """Predicted numbers, (n,); of a `MultiRegressor` (n, P), which are not cut to 0 and 1."""
        answer = self._answer(self._checked_rows(X))
        return answer if self._MULTI_OUTPUT else answer.ravel()


class MultiRegressor(Regressor):
    """A head that predicts several numbers, such as how likely each of some labels is."""

    _MULTI_OUTPUT = True


def _learned_attributes(state: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name.endswith("_") and name[0] != "_"}


def is_count(value: Any) -> bool:
    """Whether it is a whole number from 1 up."""
    return isinstance(value, Integral) and value is not True and int(value) >= 1


def scaling(features: Float64) -> tuple[Float64, Float64]:
    """Mean and standard deviation of columns, (D,) each.

    The deviation of a column that does not vary in training is infinite, so that the column never has an effect.
    """
    mean, spread = features.mean(axis=0), features.std(axis=0)
    return mean, np.where(spread > 1e-9 * np.maximum(1.0, np.abs(mean)), spread, np.inf)
