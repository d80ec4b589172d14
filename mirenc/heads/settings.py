"""`Settings`: which settings each sample has, as numbers, for heads that learn what settings have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.arrays import Float64, Int64
from mirenc.errors import HeadError


@dataclass(frozen=True, eq=False)
class Settings:
    """Settings of n samples, at most K each, T different ones; `HeadError` for shapes that do not fit.

    Attributes
    ----------
    features : (T, F) float64
        Each different setting as numbers.
    row : (n, K) int64
        Row of ``features`` of each sample's settings; -1 where a sample has fewer than K, or may not be asked.
    """

    features: Float64
    row: Int64

    def __post_init__(self) -> None:
        if self.features.ndim != 2 or self.row.ndim != 2 or not np.isfinite(self.features).all():
            raise HeadError(
                f"settings have features {self.features.shape} and rows {self.row.shape}; "
                "allowed: finite (T, F) and (n, K)"
            )
        if self.row.size and not -1 <= self.row.min() <= self.row.max() < len(self.features):
            raise HeadError(f"settings name rows up to {self.row.max()} of {len(self.features)}")

    def __len__(self) -> int:
        return len(self.row)

    def take(self, rows: NDArray[np.integer[Any]] | slice) -> Settings:
        """The settings of some samples."""
        return Settings(self.features, self.row[rows])
