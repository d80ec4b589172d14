"""The map that whitens pooled vectors, so that cosines mean something.

    y = (v - mean) S^-1/2,  S = covariance of the vectors (T), or that within a program + 0.01 T

Where one program is there at two optimisation levels, what changes with the level alone is scaled down (within-class
covariance normalisation, Hatch et al. 2006, shrunk to the covariance of all). A map for several kinds of code,
*domains*, is fitted on their moments, each scaled to the same trace.

    mean = sum_d w_d mean_d,  S = sum_d w_d S_d / tr S_d + b B / tr B,  B = sum_d w_d (mean_d - mean)(mean_d - mean)'
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mirenc.base.arrays import Float32, Float64, Floating, Integer

Map = tuple[Float32, Float32]
# Share of the mean variance that is added to each: directions that the vectors never moved in stay small.
_FLOOR = 1e-4
_SHRINKAGE = 0.01  # chosen in pretrain/README.md


@dataclass(frozen=True, eq=False)
class Moments:
    """The moments of a domain's vectors that a map is fitted on."""

    mean: Float64  # (D,)
    covariance: Float64  # (D, D), 0 where the vectors do not differ
    within: Float64 | None  # (D, D) of what differs between two levels of a program; None: none is there twice


def moments_of(vectors: Floating, pairs: Integer | None = None) -> Moments:
    """Moments of some vectors (M, D), M > 0; ``pairs`` (P, 2) are rows that are one program at two levels."""
    values = vectors.astype(np.float64)
    mean = values.mean(0)
    if np.ptp(values, axis=0).max() == 0:
        return Moments(mean, np.zeros((len(mean), len(mean))), None)
    within = None
    if pairs is not None and len(pairs):
        difference = values[pairs[:, 0]] - values[pairs[:, 1]]
        within = difference.T @ difference / (2 * len(pairs))
    return Moments(mean, np.cov(values - mean, rowvar=False), within)


def mixed_whitening(
    domains: Sequence[tuple[Moments, float]],
    *,
    shrinkage: float = _SHRINKAGE,
    between: float = 0.0,
    floor: float = _FLOOR,
) -> Map:
    """The map ``(x - mean) @ matrix`` for several domains; the identity if no domain's vectors differ.

    The variances add up to D, averaged over the domains, each with its weight, so that text and graph weigh alike.
    ``shrinkage`` is the share of a domain's whole covariance that is added to the one within its pairs, ``between`` how
    much what parts the domains counts (b), ``floor`` the share of the mean variance that is added to each. (D,), (D, D)
    """
    width = len(domains[0][0].mean)
    mixture = [(m, weight) for m, weight in domains if weight > 0 and m.covariance.any()]
    if not mixture:
        return np.zeros(width, np.float32), np.eye(width, dtype=np.float32)
    share = np.array([weight for _, weight in mixture]) / sum(weight for _, weight in mixture)
    means = np.array([m.mean for m, _ in mixture])
    mean = share @ means
    spreads = np.array([m.covariance if m.within is None else m.within + shrinkage * m.covariance for m, _ in mixture])
    traces = np.trace(spreads, axis1=1, axis2=2)
    size = float(share @ traces)
    total = np.tensordot(share * size / traces, spreads, 1)
    scatter = ((means - mean).T * share) @ (means - mean)
    if between and np.trace(scatter) > 0:
        total += between * size / np.trace(scatter) * scatter
    variance, directions = np.linalg.eigh(total)
    variance = np.maximum(variance, 0)
    # Symmetric (ZCA): component i stays as near to the encoder's component i as can be.
    scale = 1.0 / np.sqrt(variance + floor * variance.mean() + np.finfo(np.float32).tiny)
    matrix = (directions * scale) @ directions.T
    lengths = [np.trace(matrix @ m.covariance @ matrix) for m, _ in mixture]
    matrix *= np.sqrt(width / float(share @ np.array(lengths)))
    return mean.astype(np.float32), matrix.astype(np.float32)


def fit_whitening(
    vectors: Floating, pairs: Integer | None = None, *, shrinkage: float = _SHRINKAGE, floor: float = _FLOOR
) -> Map:
    """The map of one domain, as of `moments_of` and `mixed_whitening`; the identity where vectors do not differ."""
    return mixed_whitening([(moments_of(vectors, pairs), 1.0)], shrinkage=shrinkage, floor=floor)
