"""The directed graph encoder in numpy; formulae: `mirenc.model.directed`.

Before the first layer a node's state depends on its text, kind and argument number alone: it is made once for each
distinct triple. Means are taken a slice of nodes at a time, so that memory does not grow with the relations.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mirenc.config import DirectedGraphConfig
from mirenc.graph import Flow, NodeKind
from mirenc.model.pooling import node_keys
from mirenc.model.relations import ARGUMENTS, LAST_POSITION, RELATION_OF, RELATIONS
from mirenc.sample import IRSample

__all__ = ["DirectedGraph"]

Float32 = NDArray[np.float32]
Int64 = NDArray[np.int64]
Norm = Callable[[Float32, Float32, Float32], Float32]
_SLICE = 1 << 14


class _Neighbours:
    """K pairs of a relation and a node with neighbours under it, sorted by relation: the rows of a (K, N) matrix."""

    def __init__(self, sample: IRSample, positions: bool) -> None:
        nodes = len(sample.node_row)
        position = np.minimum(sample.edge_position, LAST_POSITION) if positions else 0
        forward = RELATION_OF[sample.edge_flow, position]
        relation = np.concatenate([forward, forward + RELATIONS // 2])
        source, target = np.concatenate([sample.edge_index, sample.edge_index[::-1]], axis=1)
        key = relation * nodes + target
        counts = sp.csr_matrix((np.ones(len(key), np.float32), (key, source)), shape=(RELATIONS * nodes, nodes))
        kept = np.flatnonzero(np.diff(counts.indptr))
        self.start = np.append(counts.indptr[kept], counts.indptr[-1])
        self.source = counts.indices
        self.share = counts.data / np.repeat(np.bincount(key, minlength=1)[kept], np.diff(self.start))
        self.node = kept % max(nodes, 1)
        self.first = np.searchsorted(kept, np.arange(RELATIONS + 1) * nodes)

    def add_means(self, message: Float32, u: Float32, matrices: Float32, column: Int64 | None) -> None:
        """Add mean over N_r(i) of u_j W_r to the message of each node i; ``column`` is the row of ``u`` of a node."""
        source = self.source if column is None else column[self.source]
        share = self.share.astype(np.float32)
        for relation, matrix in enumerate(matrices):
            for low in range(self.first[relation], self.first[relation + 1], _SLICE):
                high = min(low + _SLICE, self.first[relation + 1])
                begin, end = self.start[low], self.start[high]
                rows = sp.csr_matrix(
                    (share[begin:end], source[begin:end], self.start[low : high + 1] - begin),
                    shape=(high - low, len(u)),
                )
                message[self.node[low:high]] += (rows @ u) @ matrix  # a node is there once under one relation


class DirectedGraph:
    """Node vectors.

    Parameters
    ----------
    config : DirectedGraphConfig
    weights : dict of float32 arrays
        Named as in the torch module's ``state_dict``.
    norm : callable
        LayerNorm of rows, weight and bias.
    """

    def __init__(self, config: DirectedGraphConfig, weights: dict[str, Float32], norm: Norm) -> None:
        self.config = config
        self._layer_norm = norm
        self.w = {
            name: np.ascontiguousarray(value.T) if name.split(".")[-2] in _LINEAR and value.ndim == 2 else value
            for name, value in weights.items()
            if name.startswith("graph.")
        }
        mixed = [
            np.tensordot(self.w[f"graph.layers.{layer}.mix"], self.w[f"graph.layers.{layer}.basis"], 1)
            for layer in range(config.layers)
        ]
        self._matrices = [np.ascontiguousarray(matrices, dtype=np.float32) for matrices in mixed]
        # Mean of the flows' projections, which is one projection.
        self._leave = self.w["graph.leave.weight"].reshape(config.hidden, len(Flow), config.out).mean(1)
        self._leave_bias = self.w["graph.leave.bias"].reshape(len(Flow), config.out).mean(0)

    def _linear(self, x: Float32, name: str) -> Float32:
        y: Float32 = x @ self.w[f"graph.{name}.weight"]
        y += self.w[f"graph.{name}.bias"]
        return y

    def _norm(self, x: Float32, name: str) -> Float32:
        return self._layer_norm(x, self.w[f"graph.{name}.weight"], self.w[f"graph.{name}.bias"])

    def _entered(self, sample: IRSample, features: Float32, statements: Float32 | None) -> tuple[Float32, Int64]:
        """First states of the distinct nodes (P, d), and which of them each node is (N,)."""
        argument = np.minimum(sample.node_argument, ARGUMENTS - 1) if self.config.positions else 0
        keys, place = np.unique(
            node_keys(sample.node_row, sample.node_kind) * ARGUMENTS + argument, return_inverse=True
        )
        row, kind = np.divmod(keys // ARGUMENTS, len(NodeKind))
        x = features[row] + self.w["graph.kind.weight"][kind] + self.w["graph.argument.weight"][keys % ARGUMENTS]
        state = self._linear(self._norm(x, "norm_in"), "enter")
        if statements is not None:
            spoken = kind == NodeKind.INSTRUCTION
            known = self._norm(statements[row[spoken]], "norm_statement")
            state[spoken] += known @ self.w["graph.enter_statement.weight"]
        return state, place

    def nodes(self, sample: IRSample, features: Float32, statements: Float32 | None) -> Float32:
        """Vectors of all nodes.

        Parameters
        ----------
        sample : IRSample
        features : (U, H) float32
            Node features of its texts.
        statements : (U, H) float32, optional
            Statement vectors of its instructions' texts, where the model takes them.

        Returns
        -------
        (N, d) float32
        """
        state, place = self._entered(sample, features, statements)
        column: Int64 | None = place
        near = _Neighbours(sample, self.config.positions)
        for layer, matrices in enumerate(self._matrices):
            u = self._norm(state, f"layers.{layer}.norm")
            message = self._linear(u, f"layers.{layer}.own")
            if column is not None:
                state, message = state[column], message[column]
            near.add_means(message, u, matrices, column)
            state += self._linear(np.maximum(message, 0, out=message), f"layers.{layer}.out")
            column = None
        vectors: Float32 = self._norm(state, "norm_out") @ self._leave
        vectors += self._leave_bias
        return vectors


_LINEAR = ("enter", "enter_statement", "own", "out", "leave")
