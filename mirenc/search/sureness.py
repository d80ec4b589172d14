"""How likely the first answer to a function is the right one: a logistic regression on what a search knows.

Fitted and tested on projects that the model never saw, in C, C++ and Rust (`pretrain/calibrate.py`), for whole builds
as they are searched: functions that the index does not have are among them.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mirenc.base.arrays import Float64
from mirenc.encoder import Encoder
from mirenc.encoder.options import SEARCH_FORM
from mirenc.search.table import Maker

# By model and language: of `features_of`, the intercept last; those of pretrain/calibration.json.
_COEFFICIENTS: dict[str, dict[str, tuple[float, ...]]] = {
    "mirenc-search": {
        "C": (1.9713, 0.5293, 0.0068, 0.5252, -4.6986),
        "C++": (1.9125, 0.176, -0.1985, 0.8422, -5.0295),
        "Rust": (1.985, -0.0404, -0.3526, 1.2906, -7.5915),
    }
}
_NEAR, _APART = 0.01, 0.002  # keep logarithms of a cosine of 1 and of equals finite
_RUST = re.compile(r"_R[CMXYNIB]|.*17h[0-9a-f]{16}E")
_FORTRAN = re.compile(r"_Q|.*_$")


def language_of(symbol: str) -> str:
    """Language of a function by its symbol: ``C++``, ``Rust``, ``Fortran`` (as flang has it), ``MSVC`` or ``C``."""
    if _RUST.match(symbol):
        return "Rust"
    if symbol.startswith("?"):
        return "MSVC"
    return "C++" if symbol.startswith("_Z") else "Fortran" if _FORTRAN.match(symbol) else "C"


def shares_right(
    encoder: Encoder, maker: Maker, cosines: ArrayLike, rows: int, instructions: ArrayLike, symbols: Sequence[str]
) -> list[float | None]:
    """How often first answers like these were right, of each query; None where that was not tested.

    Parameters are those of `features_of`, and the queries' ``symbols``. Tested are whole vectors of functions in C, C++
    and Rust, in the form for search; and by their cosine alone (`mirenc.model.config.PairedConfig.sure`) those of IR as
    it is.
    """
    near = np.asarray(cosines)
    paired = encoder.files.config.paired
    if paired is None or not maker.usual or maker.level != "function" or encoder.whitening_map is not None:
        return [None] * len(near)
    if maker.form == "plain":
        return [paired.sure(float(cosine)) for cosine in near[:, 0]]
    of_language = _COEFFICIENTS.get(encoder.name, {}) if maker.form == SEARCH_FORM else {}
    features = features_of(near, rows, instructions)
    each = zip(features, map(of_language.get, map(language_of, symbols)), strict=True)
    return [None if weights is None else float(probability(row[None], weights)[0]) for row, weights in each]


def features_of(cosines: ArrayLike, rows: int, instructions: ArrayLike) -> Float64:
    """What the probability of each first answer goes by.

    ``cosines`` (q, k) are those of the nearest in an index of that many ``rows``; ``instructions`` (q,) are those of
    the queries. -> (q, 4): -log(1.01 - cosine), log(0.002 + what the second is less near by), log(rows), and
    log(instructions).
    """
    near = np.asarray(cosines, dtype=np.float64)
    second = near[:, 1] if near.shape[1] > 1 else np.zeros(len(near))
    apart = np.log(_APART + np.maximum(near[:, 0] - second, 0))
    spread = -np.log(1 + _NEAR - np.minimum(near[:, 0], 1))
    size = np.log(np.maximum(np.asarray(instructions, dtype=np.float64), 1))
    return np.column_stack([spread, apart, np.full(len(near), np.log(max(rows, 1))), size])


def probability(features: Float64, weights: ArrayLike) -> Float64:
    """1 / (1 + exp(-(features . coefficients + intercept))). Shapes: (q, 4), (5,) -> (q,)."""
    coefficients = np.asarray(weights, dtype=np.float64)
    found: Float64 = 1 / (1 + np.exp(-(features @ coefficients[:-1] + coefficients[-1])))
    return found
