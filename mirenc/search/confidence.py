"""The probability that the first answer to a query for a function is correct, by logistic regression.

Fitted and tested on projects that the model never saw, in C, C++ and Rust (`pretrain/calibrate.py`), with whole builds
as queries, so that functions that the index lacks are among them.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mirenc.base.arrays import Float32, Float64, Int64
from mirenc.encoder import Encoder
from mirenc.encoder.options import SEARCH_FORM
from mirenc.search.table import Maker, VectorTable

# By model and language: coefficients of `features_of`, then the intercept; from pretrain/calibration.json.
_COEFFICIENTS: dict[str, dict[str, tuple[float, ...]]] = {
    "mirenc-search": {
        "C": (1.9713, 0.5293, 0.0068, 0.5252, -4.6986),
        "C++": (1.9125, 0.176, -0.1985, 0.8422, -5.0295),
        "Rust": (1.985, -0.0404, -0.3526, 1.2906, -7.5915),
    }
}
_COPY = 1e-4  # by which the cosine of a copy differs at most
_MIN_DISTANCE, _MIN_GAP = 0.01, 0.002  # keep the logarithms finite for a cosine of 1 and for equal ones
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
    """Share of first answers like that of each query which were correct in the test; None where nothing was tested.

    Parameters are those of `features_of`, and the ``symbols`` of the queries. Tested were whole vectors of functions in
    C, C++ and Rust in the form `SEARCH_FORM`, and, by cosine alone (`mirenc.model.config.PairedConfig.sure`), in the
    form plain.
    """
    values = np.asarray(cosines)
    paired = encoder.files.config.paired
    if paired is None or not maker.usual or maker.level != "function" or encoder.whitening_map is not None:
        return [None] * len(values)
    if maker.form == "plain":
        return [paired.sure(float(cosine)) for cosine in values[:, 0]]
    by_language = _COEFFICIENTS.get(encoder.name, {}) if maker.form == SEARCH_FORM else {}
    coefficients = map(by_language.get, map(language_of, symbols))
    rows_and_weights = zip(features_of(values, rows, instructions), coefficients, strict=True)
    return [None if weights is None else float(probability(row[None], weights)[0]) for row, weights in rows_and_weights]


def rivals(table: VectorTable, rows: Int64, cosines: Float32) -> Float64:
    """Cosines (q, 2) of the first answers, and of the next after each that is no copy of it, for `shares_right`.

    A copy has the first answer's symbol and cosine, as where a source is compiled for a static and a shared library: it
    makes the answer no less sure. Shapes of ``rows`` and ``cosines``: (q, k).
    """
    symbols, second_cosines = table.labels["symbol"], []
    for hits, sims in zip(rows.tolist(), cosines.tolist(), strict=True):
        pairs = zip(hits, sims, strict=True)
        scores = [cosine for row, cosine in pairs if symbols[row] != symbols[hits[0]] or abs(cosine - sims[0]) > _COPY]
        # Where all are copies, the next is no nearer than the last, if there is one.
        second_cosines.append([*scores, sims[-1] if len(hits) < len(table) else 0][0])
    return np.column_stack([cosines[:, 0], second_cosines])


def features_of(cosines: ArrayLike, rows: int, instructions: ArrayLike) -> Float64:
    """Features of the first answer to each query.

    ``cosines`` (q, k) of the nearest in an index of ``rows`` rows; ``instructions`` (q,) counts those of each query.
    -> (q, 4): -log(1.01 - first cosine), log(0.002 + first - second cosine), log(rows), log(instructions).
    """
    values = np.asarray(cosines, dtype=np.float64)
    second = values[:, 1] if values.shape[1] > 1 else np.zeros(len(values))
    gap = np.log(_MIN_GAP + np.maximum(values[:, 0] - second, 0))
    nearness = -np.log(1 + _MIN_DISTANCE - np.minimum(values[:, 0], 1))
    size = np.log(np.maximum(np.asarray(instructions, dtype=np.float64), 1))
    return np.column_stack([nearness, gap, np.full(len(values), np.log(max(rows, 1))), size])


def probability(features: Float64, weights: ArrayLike) -> Float64:
    """1 / (1 + exp(-(features . coefficients + intercept))). Shapes: (q, 4), (5,) -> (q,)."""
    coefficients = np.asarray(weights, dtype=np.float64)
    probabilities: Float64 = 1 / (1 + np.exp(-(features @ coefficients[:-1] + coefficients[-1])))
    return probabilities
