"""The directed graph encoder in numpy; formulae: `mirenc.model.directed`.

What a node's state is after l layers depends on its surroundings up to l edges away, and code repeats itself: of
SQLite's 486 thousand nodes 13 thousand differ before the first layer, 136 thousand after it and 302 thousand after two.
So a layer is computed once for each class of nodes that are equal so far, and classes are refined from layer to layer
by what a node hears (Weisfeiler and Leman's colour refinement, with 64-bit hashes for colours: two nodes that differ
are taken for equal with a chance of N^2 / 2^65, a hundred-millionth for SQLite).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mirenc.config import DirectedGraphConfig
from mirenc.graph import Flow, NodeKind
from mirenc.model.numpy_layers import Float32, Layers
from mirenc.model.pooling import node_keys
from mirenc.model.relations import ARGUMENTS, LAST_POSITION, RELATION_OF, RELATIONS
from mirenc.sample import IRSample

__all__ = ["DirectedGraph"]

Int64 = NDArray[np.int64]
UInt64 = NDArray[np.uint64]
# Nodes that are computed at once: what they need at a time stays in the processor's cache.
_SLICE = 1 << 11


def _scrambled(values: UInt64) -> UInt64:
    """A 64-bit hash of each number (the finalizer of splitmix64, Steele et al. 2014)."""
    x = values + np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


class _Classes(NamedTuple):
    """Nodes that are equal: the class of each node (N,), and one node of each class (C,), ascending."""

    of_node: Int64
    member: Int64


def _classes(key: NDArray[np.integer]) -> _Classes:
    _, member, of_node = np.unique(key, return_index=True, return_inverse=True)
    # In the order of their members: edges join neighbours, and neighbours' states then lie side by side.
    order = np.argsort(member)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return _Classes(place[of_node], member[order])


class _Neighbours:
    """K pairs of a node and a relation under which it has neighbours, sorted by node: rows of a (K, N) matrix."""

    def __init__(self, sample: IRSample, positions: bool) -> None:
        nodes = len(sample.node_row)
        position = np.minimum(sample.edge_position, LAST_POSITION) if positions else 0
        forward = RELATION_OF[sample.edge_flow, position]
        relation = np.concatenate([forward, forward + RELATIONS // 2])
        source, target = np.concatenate([sample.edge_index, sample.edge_index[::-1]], axis=1)
        edges = sp.csr_matrix(
            (np.ones(len(source), np.float32), (target * RELATIONS + relation, source)),
            shape=(nodes * RELATIONS, nodes),
        )
        kept = np.flatnonzero(np.diff(edges.indptr))
        self.start = np.append(edges.indptr[kept], edges.indptr[-1])
        self.source, self.count = edges.indices, edges.data  # parallel edges are one of a higher count
        self.node, self.relation = np.divmod(kept, RELATIONS)
        self.first = np.searchsorted(self.node, np.arange(nodes + 1))  # pairs of each node

    def refined(self, classes: _Classes) -> _Classes:
        """Classes of nodes that were equal and hear the same."""
        colour = _scrambled(classes.of_node.astype(np.uint64))
        relation = np.repeat(self.relation, np.diff(self.start)).astype(np.uint64)
        heard = _scrambled(colour[self.source] + relation) * self.count.astype(np.uint64)
        total = np.append(np.cumsum(heard), np.uint64(0))  # total[-1] is the sum before the first
        ends = self.start[self.first]
        own = _scrambled(colour + np.uint64(RELATIONS))  # a node is to itself what no neighbour is
        return _classes(own + (total[ends[1:] - 1] - total[ends[:-1] - 1]))

    def messages(self, nodes: Int64, u: Float32, place: Int64, matrices: Float32) -> Float32:
        """Sum over the relations of the mean over the neighbours under it, times its matrix.

        Parameters
        ----------
        nodes : (n,) int64
            Whose messages are wanted.
        u : (C, d) float32
        place : (N,) int64
            Row of ``u`` of every node.
        matrices : (RELATIONS, d, d) float32

        Returns
        -------
        (n, d) float32
        """
        pairs, owner = _spread(self.first[nodes], self.first[nodes + 1])
        # One product a relation: its pairs side by side.
        order = np.argsort(self.relation[pairs], kind="stable")
        pairs = pairs[order]
        edges, pair = _spread(self.start[pairs], self.start[pairs + 1])
        count = self.count[edges]
        share = count / np.bincount(pair, weights=count, minlength=len(pairs))[pair].astype(np.float32)
        start = np.append(0, np.cumsum(self.start[pairs + 1] - self.start[pairs]))
        mean = sp.csr_matrix((share, place[self.source[edges]], start), shape=(len(pairs), len(u))) @ u
        bounds = np.searchsorted(self.relation[pairs], np.arange(RELATIONS + 1)).tolist()
        each = np.empty_like(mean)
        for matrix, first, last in zip(matrices, bounds[:-1], bounds[1:], strict=True):
            np.matmul(mean[first:last], matrix, out=each[first:last])
        ones = np.ones(len(pairs), dtype=np.float32)
        total: Float32 = (
            sp.csr_matrix((ones, (owner[order], np.arange(len(pairs)))), shape=(len(nodes), len(pairs))) @ each
        )
        return total


def _spread(first: Int64, last: Int64) -> tuple[Int64, Int64]:
    """The numbers first[i] .. last[i] - 1 of all i end to end, and the i of each."""
    size = (last - first).astype(np.int64)
    owner = np.repeat(np.arange(len(size)), size)
    return np.arange(len(owner)) + np.repeat(first - (np.cumsum(size) - size), size), owner


class DirectedGraph:
    """Node vectors.

    Parameters
    ----------
    config : DirectedGraphConfig
    layers : Layers
    """

    def __init__(self, config: DirectedGraphConfig, layers: Layers) -> None:
        self.config = config
        self._layers = layers
        self.w = layers.w
        mixed = [
            np.tensordot(self.w[f"graph.layers.{layer}.mix"], self.w[f"graph.layers.{layer}.basis"], 1)
            for layer in range(config.layers)
        ]
        self._matrices = [np.ascontiguousarray(matrices, dtype=np.float32) for matrices in mixed]
        # Mean of the flows' projections, which is one projection.
        self._leave = self.w["graph.leave.weight"].reshape(config.hidden, len(Flow), config.out).mean(1)
        self._leave_bias = self.w["graph.leave.bias"].reshape(len(Flow), config.out).mean(0)

    def _linear(self, x: Float32, name: str) -> Float32:
        return self._layers.linear(x, f"graph.{name}")

    def _norm(self, x: Float32, name: str) -> Float32:
        return self._layers.norm(x, f"graph.{name}")

    def nodes(self, sample: IRSample, features: Float32, statements: Float32 | None) -> tuple[Float32, Int64]:
        """Vectors of all nodes, equal ones once.

        Parameters
        ----------
        sample : IRSample
        features : (U, H) float32
            Node features of its texts.
        statements : (U, H) float32, optional
            Statement vectors of its instructions' texts, where the model takes them.

        Returns
        -------
        (C, d) float32, and which of them each node has (N,) int64
        """
        argument = np.minimum(sample.node_argument, ARGUMENTS - 1) if self.config.positions else np.int64(0)
        classes = _classes(node_keys(sample.node_row, sample.node_kind) * ARGUMENTS + argument)
        state = self._entered(sample, features, statements, classes.member)
        near = _Neighbours(sample, self.config.positions)
        for layer in range(self.config.layers):
            finer = near.refined(classes)
            last = layer == self.config.layers - 1
            state = self._layer(layer, state, near, classes.of_node, finer.member, last=last)
            classes = finer
        return state, classes.of_node

    def _entered(self, sample: IRSample, features: Float32, statements: Float32 | None, nodes: Int64) -> Float32:
        """First states of some nodes. (C, d)."""
        row, kind = sample.node_row[nodes], sample.node_kind[nodes]
        x = features[row] + self.w["graph.kind.weight"][kind]
        argument = np.minimum(sample.node_argument[nodes], ARGUMENTS - 1) * np.int64(self.config.positions)
        x += self.w["graph.argument.weight"][argument]
        state = self._linear(self._norm(x, "norm_in"), "enter")
        if statements is not None:
            spoken = kind == NodeKind.INSTRUCTION
            known = self._norm(statements[row[spoken]], "norm_statement")
            state[spoken] += known @ self.w["graph.enter_statement.weight"]
        return state

    def _layer(
        self, layer: int, state: Float32, near: _Neighbours, place: Int64, nodes: Int64, *, last: bool
    ) -> Float32:
        """Next states of some nodes, or after the last layer their vectors; ``place`` is the row of every node's state.

        Shapes: (C, d) -> (C', d)
        """
        name = f"layers.{layer}"
        u = np.empty_like(state)
        for first in range(0, len(state), _SLICE):
            part = slice(first, first + _SLICE)
            u[part] = self._norm(state[part], f"{name}.norm")
        after = np.empty((len(nodes), self.config.out if last else self.config.hidden), dtype=np.float32)
        for first in range(0, len(nodes), _SLICE):
            some = nodes[first : first + _SLICE]
            row = place[some]
            message = near.messages(some, u, place, self._matrices[layer])
            message += self._linear(u[row], f"{name}.own")
            moved = self._linear(np.maximum(message, 0, out=message), f"{name}.out")
            moved += state[row]
            if last:
                moved = self._norm(moved, "norm_out") @ self._leave
                moved += self._leave_bias
            after[first : first + _SLICE] = moved
        return after
