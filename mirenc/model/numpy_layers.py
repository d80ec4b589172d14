"""Layers in numpy: what the text and the graph encoder of `mirenc.model.numpy_runtime` are made of."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

__all__ = ["SLICE", "Float32", "Layers", "Weights", "by_slices", "gelu", "layer_norm", "softmax"]

Float32 = NDArray[np.float32]
Weights = dict[str, Float32]
SLICE = 1 << 11
"""Rows or nodes that are computed at once: enough for equal neighbours to meet, few enough for a processor's cache."""

_NORM_EPSILON = np.float32(1e-5)


class Layers:
    """A model's weights, and the layers that are called by their names.

    Parameters
    ----------
    weights : dict of float32 arrays
        Named as in the torch module's ``state_dict``.

    Attributes
    ----------
    w : dict of float32 arrays
        The same, matrices of linear layers as (inputs, outputs).
    """

    def __init__(self, weights: Weights) -> None:
        # Transposed once, so that x @ W runs on contiguous rows.
        self.w = {
            name: np.ascontiguousarray(value.T) if value.ndim == 2 and _is_linear(name) else value
            for name, value in weights.items()
        }

    def linear(self, x: Float32, name: str) -> Float32:
        """Linear layer. Shapes: (..., I) -> (..., O)."""
        y: Float32 = x @ self.w[f"{name}.weight"]
        y += self.w[f"{name}.bias"]
        return y

    def norm(self, x: Float32, name: str) -> Float32:
        """Layer norm by its name. Shapes: (..., D) -> (..., D)."""
        return layer_norm(x, self.w[f"{name}.weight"], self.w[f"{name}.bias"])


def by_slices(work: Callable[[slice], Float32], rows: int, width: int, threads: int) -> Float32:
    """What ``work`` makes of each slice of many rows, one below the other: no step of it holds all rows at once.

    Shapes: -> (rows, width) float32
    """
    out = np.empty((rows, width), dtype=np.float32)

    def fill(first: int) -> None:
        part = slice(first, min(first + SLICE, rows))
        out[part] = work(part)

    starts = range(0, rows, SLICE)
    if threads == 1 or len(starts) < 2:
        for first in starts:
            fill(first)
    else:
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(fill, starts):
                pass
    return out


def layer_norm(x: Float32, weight: Float32, bias: Float32) -> Float32:
    """Layer norm over the last axis. Shapes: (..., D), (D,), (D,) -> (..., D)."""
    x = x - x.mean(-1, keepdims=True)
    variance = np.einsum("...i,...i->...", x, x)[..., None] / np.float32(x.shape[-1])
    x /= np.sqrt(variance + _NORM_EPSILON)
    x *= weight
    x += bias
    return x


def gelu(x: Float32) -> Float32:
    """GELU by the tanh formula, in place where it can."""
    inner = x * x
    inner *= np.float32(0.044715)
    inner += np.float32(1.0)
    inner *= x
    inner *= np.float32(0.7978845608028654)
    np.tanh(inner, out=inner)
    inner += np.float32(1.0)
    inner *= x
    inner *= np.float32(0.5)
    return inner


def softmax(x: Float32) -> Float32:
    """Over the last axis, in place."""
    x -= x.max(-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(-1, keepdims=True)
    return x


def _is_linear(name: str) -> bool:
    """Whether a matrix is that of a linear layer: neither an embedding, nor a mix of relations, nor a map."""
    others = ("text.token", "text.position", "graph.kind", "graph.argument", "whiten_")
    return not name.startswith(others) and not name.endswith(".mix")
