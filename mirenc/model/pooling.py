"""From the vectors of statements or nodes to one vector a module or function: weights, and a whitening map.

A module says `br label %` a thousand times and its one `fdiv` once. With ``weighting = "sqrt"`` a text that occurs n
times weighs sqrt(n) instead of n. The means of two programs are still nearly parallel, because most of what the encoder
says is "this is IR": a whitening map takes the training modules' mean away and scales every direction. Where one
program is there at two optimisation levels, a direction counts for what it tells about the program: what changes with
the level alone is scaled down (within-class covariance normalisation, Hatch et al. 2006, shrunk to the covariance of
all; the classes are programs, so no label is needed). Both come after training; IR-graph matching takes the plain
means. What they gain is measured in pretrain/README.md. The paper has the plain mean (section 3.4: "aggregated").

    v_g = sum_i w_i v_i / sum_i w_i,  w = 1 (count) or 1 / sqrt(occurrences of the item's text in the group) (sqrt)
    y   = (v - mean) S^-1/2,  S = covariance of the training modules (T), or that within a program + 0.01 T
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["fit_whitening", "item_weights", "text_weights"]

# Share of the mean variance that is added to each: directions that training modules never moved in stay small.
_FLOOR = 1e-4


def text_weights(counts: NDArray[np.integer], weighting: str) -> NDArray[np.float64]:
    """Weights of distinct texts from their counts, summing to 1. Shapes: (K,) -> (K,)."""
    weights = counts.astype(np.float64)
    if weighting == "sqrt":
        weights = np.sqrt(weights)
    result: NDArray[np.float64] = weights / weights.sum()
    return result


def item_weights(
    key: NDArray[np.integer], group: NDArray[np.integer], groups: int, weighting: str
) -> NDArray[np.float64]:
    """Weight of each item within its group; those of a group sum to 1.

    Parameters
    ----------
    key : (n,) int
        Items of one group with one key are equal.
    group : (n,) int
        Items of negative groups weigh nothing.
    groups : int
    weighting : str
        ``count`` or ``sqrt``.

    Returns
    -------
    (n,) float64
    """
    inside = np.flatnonzero(group >= 0)
    weights = np.zeros(len(key), dtype=np.float64)
    if not len(inside):
        return weights
    own = group[inside].astype(np.int64)
    weights[inside] = 1.0
    if weighting == "sqrt":
        pair = own * (int(key.max()) + 1) + key[inside]
        _, inverse, count = np.unique(pair, return_inverse=True, return_counts=True)
        weights[inside] = 1.0 / np.sqrt(count[inverse])
    total = np.bincount(own, weights=weights[inside], minlength=groups)
    weights[inside] /= total[own]
    return weights


def fit_whitening(
    vectors: NDArray[np.floating], pairs: NDArray[np.integer] | None = None, *, shrinkage: float = 0.01
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The map ``(x - mean) @ matrix`` under which cosines mean something.

    Without ``pairs`` every direction gets variance 1. With them, what differs within a pair counts least, and the
    variances add up to D as before, so that text and graph weigh alike side by side.

    Vectors that do not differ (or a single one) fix no map: then it is the identity.

    Parameters
    ----------
    vectors : (M, D) float
    pairs : (P, 2) int, optional
        Rows of ``vectors`` that are one program at two levels.
    shrinkage : float
        Share of the whole covariance that is added to the one within the pairs (chosen in pretrain/README.md).

    Returns
    -------
    (D,) float32, (D, D) float32
    """
    wide = vectors.astype(np.float64)
    if np.ptp(wide, axis=0).max() == 0:
        return np.zeros(wide.shape[1], np.float32), np.eye(wide.shape[1], dtype=np.float32)
    mean = wide.mean(0)
    covariance = np.cov(wide - mean, rowvar=False)
    within = covariance
    pairs = np.zeros((0, 2), np.int64) if pairs is None else pairs
    if len(pairs):
        difference = wide[pairs[:, 0]] - wide[pairs[:, 1]]
        within = difference.T @ difference / (2 * len(pairs)) + shrinkage * covariance
    variance, directions = np.linalg.eigh(within)
    variance = np.maximum(variance, 0)
    # Symmetric (ZCA): component i stays as near to the encoder's component i as can be.
    scale = 1.0 / np.sqrt(variance + _FLOOR * variance.mean() + np.finfo(np.float32).tiny)
    matrix = (directions * scale) @ directions.T
    if len(pairs):
        matrix *= np.sqrt(len(mean) / np.trace(matrix @ covariance @ matrix))
    return mean.astype(np.float32), matrix.astype(np.float32)
