"""The operations of encoders and heads in numpy: the same numbers as torch's, without its start-up time.

What an operation is stands here; those of `mirenc.model.torch_layers` have the same names and shapes.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import Bool, Float32, Integer

Weights = dict[str, Float32]
_NORM_EPSILON = np.float32(1e-5)


class _Pairs(NamedTuple):
    source: Integer  # (E,)
    pair: Integer  # (E,) pair of relation and target of each edge
    relation: Integer  # (P,)
    target: Integer  # (P,)
    edges: Integer  # (P,) edges of each pair


class NumpyLayers:
    """Operations on one ``part`` of a model, whose ``weights`` are named as in torch's ``state_dict``.

    ``name`` is a layer's, as declared. Texts come in batches of equal length: no token is padding.
    """

    def __init__(self, weights: Weights, part: str) -> None:
        self._weights, self._part = weights, part
        self._transposed: Weights = {}

    def weight(self, name: str) -> Float32:
        """A weight as it is stored."""
        return self._weights[f"{self._part}.{name}"]

    def matrix(self, name: str) -> Float32:
        """A linear layer's (inputs, outputs), transposed once, so that x @ W runs on contiguous rows."""
        if name not in self._transposed:
            self._transposed[name] = np.ascontiguousarray(self.weight(f"{name}.weight").T)
        return self._transposed[name]

    def embedding(self, name: str, rows: Integer) -> Float32:
        """Rows of a table. Shapes: (...) -> (..., D)."""
        return self.weight(f"{name}.weight")[rows].astype(np.float32, copy=False)  # the table may be float16

    def linear(self, name: str, x: Float32) -> Float32:
        """Linear layer. Shapes: (..., I) -> (..., O)."""
        matrix = self.matrix(name)
        y: Float32 = x.reshape(-1, len(matrix)) @ matrix
        if (bias := self._weights.get(f"{self._part}.{name}.bias")) is not None:
            y += bias
        return y.reshape(*x.shape[:-1], matrix.shape[1])

    def norm(self, name: str, x: Float32) -> Float32:
        """Layer norm. Shapes: (..., D) -> (..., D)."""
        x = x - x.mean(-1, keepdims=True)
        variance = np.einsum("...i,...i->...", x, x)[..., None] / np.float32(x.shape[-1])
        x /= np.sqrt(variance + _NORM_EPSILON)
        x *= self.weight(f"{name}.weight")
        x += self.weight(f"{name}.bias")
        return x

    def constant(self, values: NDArray[Any]) -> NDArray[Any]:
        """A numpy array that is no weight, as the back end has arrays."""
        return values

    def gelu(self, x: Float32) -> Float32:
        """GELU by the tanh formula."""
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

    def relu(self, x: Float32) -> Float32:
        """max(x, 0)."""
        return np.maximum(x, 0)

    def log1p(self, x: Float32) -> Float32:
        """log(1 + x)."""
        return np.log1p(x)

    def concatenate(self, parts: Sequence[Any]) -> Any:
        """Parts side by side, along the last axis."""
        return np.concatenate(parts, axis=-1)

    def split(self, x: Float32, parts: int) -> list[Float32]:
        """Equal parts of the last axis."""
        return np.split(x, parts, axis=-1)

    def add(self, x: Float32, change: Float32) -> Float32:
        """Sum of both; ``x`` may be overwritten."""
        x += change
        return x

    def dropout(self, x: Float32, share: float) -> Float32:
        """In training, a ``share`` of the components set to zero."""
        return x

    def attention(self, qkv: Float32, heads: int, real: None) -> Float32:
        """softmax(q k' / sqrt(d)) v over the tokens that are ``real`` (B, T). Shapes: (B, T, 3 H) -> (B, T, H)."""
        batch, length, width = qkv.shape
        q, k, v = qkv.reshape(batch, length, 3, heads, -1).transpose(2, 0, 3, 1, 4)  # each (B, heads, T, d)
        scores = q @ k.transpose(0, 1, 3, 2)  # (B, heads, T, T)
        scores *= np.float32(1.0 / np.sqrt(q.shape[-1]))
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        return (scores @ v).transpose(0, 2, 1, 3).reshape(batch, length, width // 3)

    def depthwise(self, name: str, x: Float32, real: None) -> Float32:
        """Convolution of each channel, zero beyond the ``real`` tokens (B, T). Shapes: (B, T, C) -> (B, T, C)."""
        batch, length, channels = x.shape
        half = self.weight(f"{name}.weight").shape[-1] // 2
        rows = np.zeros((batch, length + 2 * half), dtype=np.int64)  # row 0: what is outside
        rows[:, half : half + length] = np.arange(batch * length).reshape(batch, length) + 1
        windows = np.lib.stride_tricks.sliding_window_view(rows, length, axis=1)  # (B, width, T)
        states = np.concatenate([np.zeros((1, channels), x.dtype), x.reshape(-1, channels)])
        return self.window_sum(name, states, windows.swapaxes(0, 1).reshape(2 * half + 1, -1)).reshape(x.shape)

    def window_sum(self, name: str, x: Float32, windows: Integer) -> Float32:
        """Convolution of each channel over windows of rows of ``x``. Shapes: (N, C), (width, W) -> (W, C)."""
        if name not in self._transposed:
            self._transposed[name] = np.ascontiguousarray(self.weight(f"{name}.weight")[:, 0].T)
        taps = self._transposed[name]  # (width, C): one row a neighbour
        middle = len(taps) // 2
        y: Float32 = x[windows[middle]] * taps[middle]
        for shift in range(1, middle + 1):
            for neighbour in (middle - shift, middle + shift):
                y += x[windows[neighbour]] * taps[neighbour]
        y += self.weight(f"{name}.bias")
        return y

    def token_mean(self, x: Float32, real: None) -> Float32:
        """Mean over the ``real`` tokens (B, T); None: all. Shapes: (B, T, C) -> (B, C)."""
        return x.mean(1)

    def token_max(self, x: Float32, real: None) -> Float32:
        """Maximum over the ``real`` tokens (B, T); None: all. Shapes: (B, T, C) -> (B, C)."""
        return x.max(1)

    def add_rows(self, x: Float32, chosen: Bool, compute: Callable[[Any], Float32]) -> Float32:
        """``x`` plus what is computed of the ``chosen`` rows (N,), in these; ``x`` may be overwritten.

        ``compute`` is called with the rows to compute, which may be all of them. Shapes: (N, D) -> (N, D)
        """
        x[chosen] += compute(chosen)
        return x

    def graph_convolution(self, name: str, x: Float32, edges: Integer) -> Float32:
        """Graph convolution over edges (2, E), without direction and repetition. Shapes: (N, I) -> (N, O)."""
        product = x @ self.matrix(f"{name}.lin")
        return normalised_adjacency(edges, len(x)) @ product + self.weight(f"{name}.bias")

    def neighbours(self, edges: Integer, relation: Integer, relations: int, nodes: int) -> _Pairs:
        """Edges (2, E), each of a relation (E,), as `relation_means` takes them."""
        key = relation * np.int64(nodes) + edges[1]
        pairs, pair, count = np.unique(key, return_inverse=True, return_counts=True)
        return _Pairs(edges[0], pair, pairs // nodes, pairs % nodes, count)

    def relation_means(self, base: Float32, x: Float32, neighbours: _Pairs, mix: Float32, basis: Float32) -> Float32:
        """``base`` + sum_r (mean of x over a node's neighbours under relation r) sum_b mix_rb basis_b.

        Shapes: base (N, O), x (N, D), mix (R, B), basis (B, D, O) -> (N, O)
        """
        mean = np.zeros((len(neighbours.edges), x.shape[1]), dtype=np.float32)
        np.add.at(mean, neighbours.pair, x[neighbours.source])
        mean /= neighbours.edges[:, None].astype(np.float32)
        matrices = np.tensordot(mix, basis, 1)
        for relation in np.unique(neighbours.relation).tolist():
            pairs = neighbours.relation == relation
            base[neighbours.target[pairs]] += mean[pairs] @ matrices[relation]  # a node is once in a relation
        return base


def normalised_adjacency(edges: Integer, nodes: int) -> Any:
    """D^-1/2 (A + I) D^-1/2 of edges (2, E), A symmetric and without repetition: a sparse (N, N) float32."""
    import scipy.sparse as sp  # here: the models that ship do without, and its import takes long

    source, target = edges
    loop = np.arange(nodes, dtype=np.int32)
    places = (np.concatenate([source, target, loop]), np.concatenate([target, source, loop]))
    adjacency = sp.csr_matrix((np.ones(len(places[0]), dtype=np.float32), places), shape=(nodes, nodes))
    adjacency.sum_duplicates()
    adjacency.data[:] = 1.0  # parallel edges count once
    scale = (1.0 / np.sqrt(np.diff(adjacency.indptr))).astype(np.float32)
    adjacency.data *= np.repeat(scale, np.diff(adjacency.indptr))
    adjacency.data *= scale[adjacency.indices]
    return adjacency
