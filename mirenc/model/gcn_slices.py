"""The GCN (`mirenc.model.encoders.gcn`) in numpy: a group's vector without the vector of every node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from mirenc.base.arrays import Float32, Int64
from mirenc.model.graph import Flow, NodeKind
from mirenc.model.numpy_layers import NumpyLayers, normalised_adjacency
from mirenc.model.pooling import Pool, node_keys
from mirenc.model.sample import IRSample

if TYPE_CHECKING:
    from mirenc.model.encoders.gcn import GraphEncoderConfig

_SLICE_NODES = 1 << 15
# With fewer nodes than a slice, or than this a group, it is cheaper to make every node's vector.
_NODES_A_GROUP = 8


class GCNPooling:
    """Vectors of groups of nodes."""

    def __init__(self, config: GraphEncoderConfig, layers: NumpyLayers) -> None:
        self.config, self._layers = config, layers

    def __call__(self, sample: IRSample, pool: Pool, features: Float32, statements: Float32 | None) -> Float32:
        """Vectors of groups of nodes; ``statements`` are not used. Shapes: features (U, F) -> (G, D) float32."""
        if self.config.readout == "mean":
            return self._mean(sample, pool, features)
        return pool.readout(self._nodes(sample, *self._first_product(sample, features)), sizes=True)

    def _first_product(self, sample: IRSample, features: Float32) -> tuple[Float32, Int64]:
        """X W1, which depends on text and kind alone: once per pair of them (pairs, hidden); each node's pair (N,)."""
        kinds = len(NodeKind)
        pairs, node_pair = np.unique(node_keys(sample.node_row, sample.node_kind), return_inverse=True)
        x = self._layers.norm("norm_in", features[pairs // kinds] + self._layers.weight("kind.weight")[pairs % kinds])
        return x @ self._layers.matrix("conv1.lin"), node_pair

    def _hidden(self, rows: Any, product: Float32, node_pair: Int64) -> Float32:
        """relu(N_f X W1 + b1) of some rows of N_f; X W1 is gathered by pair and never spread over the nodes."""
        spread = sp.csr_matrix((rows.data, node_pair[rows.indices], rows.indptr), shape=(rows.shape[0], len(product)))
        hidden: Float32 = spread @ product
        hidden += self._layers.weight("conv1.bias")
        return np.maximum(hidden, 0, out=hidden)

    def _nodes(self, sample: IRSample, product: Float32, node_pair: Int64) -> Float32:
        """Node vectors of the GCN. (N, d) float32."""
        total = np.zeros((len(node_pair), self.config.out), dtype=np.float32)
        for flow in Flow:
            adjacency = normalised_adjacency(sample.edge_index[:, sample.edge_flow == flow], len(node_pair))
            hidden = self._hidden(adjacency, product, node_pair)
            total += adjacency @ (hidden @ self._layers.matrix("conv2.lin"))
        total *= np.float32(1.0 / len(Flow))
        total += self._layers.weight("conv2.bias")
        return total

    def _mean(self, sample: IRSample, pool: Pool, features: Float32) -> Float32:
        """Weighted mean of the GCN's node vectors of each group. (G, d) float32.

        With M the (G, N) weights, M (N_f H) W2 = ((M N_f) H) W2: with few groups the second convolution costs a product
        a group instead of one a node, and H is made a slice at a time.
        """
        nodes, groups = len(sample.node_row), pool.groups
        product, node_pair = self._first_product(sample, features)
        if nodes <= _SLICE_NODES or groups > nodes // _NODES_A_GROUP:
            return pool.readout(self._nodes(sample, product, node_pair))
        share = sp.csr_matrix((pool.weight.astype(np.float32), (pool.group, pool.item)), shape=(groups, nodes))
        total = np.zeros((groups, self.config.hidden), dtype=np.float64)
        isolated_row = np.maximum(product + self._layers.weight("conv1.bias"), 0)  # hidden row of a node without edges
        for flow in Flow:
            adjacency = normalised_adjacency(sample.edge_index[:, sample.edge_flow == flow], len(node_pair))  # (N, N)
            weight = sp.csc_matrix(share @ adjacency)  # (G, N)
            has_edges = np.diff(adjacency.indptr) > 1
            isolated = np.flatnonzero(~has_edges)
            places, ones = (isolated, node_pair[isolated]), np.ones(len(isolated), dtype=np.float32)
            spread = sp.csr_matrix((ones, places), shape=(nodes, len(product)))
            total += (weight @ spread) @ isolated_row
            rows = np.flatnonzero(has_edges)
            for first in range(0, len(rows), _SLICE_NODES):
                part = rows[first : first + _SLICE_NODES]
                total += weight[:, part] @ self._hidden(adjacency[part], product, node_pair)
        total /= len(Flow)
        result: Float32 = (total @ self._layers.matrix("conv2.lin")).astype(np.float32)
        result[np.bincount(pool.group, minlength=groups) > 0] += self._layers.weight("conv2.bias")
        return result
