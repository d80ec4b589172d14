"""From the vectors of statements or nodes to one vector a module or function: weights, and a whitening map.

A module says `br label %` a thousand times and its one `fdiv` once. With ``weighting = "sqrt"`` a text that occurs n
times weighs sqrt(n) instead of n. The means of two programs are still nearly parallel, because most of what the encoder
says is "this is IR": whitening takes the training modules' mean away and gives every direction the same variance.
Both come after training; IR-graph matching takes the plain means. On held-out projects they took the text vector's
recall@1 from 0.03 to 0.47 (-O0 function to the same one at -O2, mirenc-tiny; pretrain/README.md). The paper has the
plain mean (section 3.4: "aggregated").

    v_g = sum_i w_i v_i / sum_i w_i,  w = 1 (count) or 1 / sqrt(occurrences of the item's text in the group) (sqrt)
    y   = (v - mean) V diag(variance + eps)^-1/2 V^T, V and variance from the training modules' covariance
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


def fit_whitening(vectors: NDArray[np.floating]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The map that takes away the mean and gives every direction variance 1: ``(x - mean) @ matrix``.

    Vectors that do not differ (or a single one) fix no map: then it is the identity.

    Shapes: (M, D) -> (D,), (D, D)
    """
    wide = vectors.astype(np.float64)
    if np.ptp(wide, axis=0).max() == 0:
        return np.zeros(wide.shape[1], np.float32), np.eye(wide.shape[1], dtype=np.float32)
    mean = wide.mean(0)
    variance, directions = np.linalg.eigh(np.cov(wide - mean, rowvar=False))
    variance = np.maximum(variance, 0)
    # Symmetric (ZCA): component i stays as near to the encoder's component i as can be.
    scale = 1.0 / np.sqrt(variance + _FLOOR * variance.mean() + np.finfo(np.float32).tiny)
    return mean.astype(np.float32), ((directions * scale) @ directions.T).astype(np.float32)
