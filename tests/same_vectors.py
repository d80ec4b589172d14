"""Vectors of one code, computed on two ways: the same but for rounding."""

from __future__ import annotations

import numpy as np

from mirenc.encoder.golden import TOLERANCE, difference


def assert_same_vectors(actual: np.ndarray, expected: np.ndarray) -> None:
    """Of one shape, and no component further apart than `TOLERANCE` of its vector's length.

    For vectors across batches, runtimes and caches; what is read back or computed again in the same way is equal to the
    bit.
    """
    assert actual.shape == expected.shape
    assert difference(actual, expected) <= TOLERANCE
