"""`CodeReducer`: context columns as they are, hundreds of code columns as a few principal components."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import HeadError
from mirenc.heads.state import Arrays

__all__ = ["CodeReducer"]

Float = NDArray[np.float64]


class CodeReducer:
    """Principal components of the code columns, each scaled to the variance of the first.

    Parameters
    ----------
    context_columns : int
        The first so many columns are context features and stay.
    components : int
        Code columns are kept as they are where there are no more than this.

    Attributes
    ----------
    center : (D,) float64
    axes : (D, C) float64
        C = 0: the columns are kept.
    """

    def __init__(self, context_columns: int, components: int) -> None:
        self.context_columns = context_columns
        self.components = components

    def fit(self, features: Float) -> Self:
        """Find the components. (n, A + D)."""
        from sklearn.decomposition import PCA

        code = features[:, self.context_columns :]
        if code.shape[1] > self.components:
            # One row alone has no variance to divide by; whatever axis comes of it, the row is at 0.
            with np.errstate(invalid="ignore"):
                fitted = PCA(min(self.components, *code.shape), random_state=0).fit(code)
            self.center, self.axes = fitted.mean_, fitted.components_.T
        else:
            self.center, self.axes = np.zeros(code.shape[1]), np.zeros((code.shape[1], 0))
        return self

    def __call__(self, features: Float) -> Float:
        """(n, A + D) -> (n, A + C), or (n, A + D) where nothing is reduced."""
        context, code = features[:, : self.context_columns], features[:, self.context_columns :]
        if self.axes.shape[1]:
            code = (code - self.center) @ self.axes
        return np.concatenate([context, code], axis=1)

    @property
    def columns(self) -> int:
        """Columns that come out."""
        return self.context_columns + (self.axes.shape[1] or len(self.center))

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"center_": self.center, "axes_": self.axes}

    @classmethod
    def from_arrays(cls, context_columns: int, components: int, arrays: Arrays, *, columns: int) -> Self:
        """A reducer that was saved, for so many columns; `HeadError` where its arrays do not fit these."""
        reducer = cls(context_columns, components)
        center, axes = reducer.center, reducer.axes = arrays["center_"], arrays["axes_"]
        whole = center.ndim == 1 and axes.ndim == 2 and len(axes) == len(center)
        if not whole or context_columns + len(center) != columns:
            raise HeadError("principal components of a head do not fit its columns. Save the head again")
        return reducer
