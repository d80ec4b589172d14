"""`Reducing`: replaces hundreds of code columns by a few principal components; context columns stay as they are."""

import numpy as np
from sklearn.decomposition import PCA

from mirenc.base.arrays import Float64
from mirenc.decide.estimators.base import Head


class Reducing(Head):
    """A head that first reduces the code columns, where these are more than ``components``.

    ``center_`` (E,) and ``axes_`` (E, C) are of the code columns; C = 0: the columns are kept.
    """

    context_columns: int
    components: int

    def _seen(self, features: Float64) -> Float64:
        """The columns that the head looks at: all, or without ``use_code`` the context columns."""
        return features if getattr(self, "use_code", True) else features[:, : self.context_columns]

    def _find_components(self, seen: Float64) -> None:
        code = seen[:, self.context_columns :]
        self.center_, self.axes_ = np.zeros(code.shape[1]), np.zeros((code.shape[1], 0))
        if code.shape[1] > self.components:
            # A single row has no variance to divide by; whatever axis is found, the row is at 0.
            with np.errstate(invalid="ignore"):
                found = PCA(min(self.components, *code.shape), random_state=0).fit(code)
            self.center_, self.axes_ = found.mean_, found.components_.T

    def _reduced(self, seen: Float64) -> Float64:
        """(n, A + E) -> (n, A + C), or (n, A + E) where nothing is reduced."""
        context, code = seen[:, : self.context_columns], seen[:, self.context_columns :]
        if self.axes_.shape[1]:
            code = (code - self.center_) @ self.axes_
        return np.concatenate([context, code], axis=1)
