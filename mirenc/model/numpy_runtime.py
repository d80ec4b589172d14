"""The model in numpy: the same numbers as the torch modules, without torch's start-up time.

Importing torch and torch-geometric takes seconds; embedding a small file takes milliseconds. So inference on a CPU
needs neither. `tests/model/test_runtimes_agree.py` holds this to the torch modules at 1e-5. The text encoders are in
`mirenc.model.numpy_text`; formulae of the graph: `mirenc.model.graph_encoder`.

Statements are grouped by exact length, so there is no padding and no mask, and a statement's vector does not depend on
its batch. Groups are cut into chunks that a few threads work off, each with a single-threaded BLAS: BLAS's own
threads wait for each other at every product, which on a busy machine costs far more than it gains (measured: 2.2 s
against 0.7 s
for a small file while another process ran).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from mirenc.config import DirectedGraphConfig, ModelConfig
from mirenc.graph import Flow, NodeKind
from mirenc.model.directed_numpy import DirectedGraph
from mirenc.model.numpy_layers import Float32, Layers, Weights
from mirenc.model.numpy_text import make_text_encoder
from mirenc.model.pooling import Pool, Pools, node_keys
from mirenc.model.runtime import Pooled, needed_texts
from mirenc.model.taught_numpy import Trunk
from mirenc.sample import IRSample

__all__ = ["NumpyRuntime"]

# Tokens a chunk has: large enough for BLAS, small enough for the processor's cache.
_CHUNK_TOKENS = 2048
_SLICE_NODES = 1 << 15
# With fewer nodes a group than this, it is cheaper to make every node's vector.
_NODES_A_GROUP = 8


@cache
def _blas() -> ThreadpoolController:
    """Found once: looking through the loaded libraries takes milliseconds."""
    return ThreadpoolController()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class NumpyRuntime:
    """Inference with plain arrays.

    Parameters
    ----------
    config : ModelConfig
    weights : dict of float32 arrays
        Named as in the torch module's ``state_dict``.
    threads : int, optional
        Threads that encode statements; the cores this process may use, if left out. The result does not depend on it.
    """

    name = "numpy"

    def __init__(self, config: ModelConfig, weights: Weights, *, threads: int | None = None) -> None:
        self.config = config
        self.threads = threads or _cores()
        layers = Layers(weights)
        self.w, self._linear, self._norm = layers.w, layers.linear, layers.norm
        self._encode = make_text_encoder(config.text, layers)
        self._taught = Trunk(config, layers) if config.taught is not None else None
        self._directed = DirectedGraph(config.graph, layers) if isinstance(config.graph, DirectedGraphConfig) else None

    # -- text ------------------------------------------------------------------------------------------
    def encode_texts(
        self,
        text_ids: NDArray[np.uint16],
        text_length: NDArray[np.int32],
        *,
        advance: Callable[[int], None] | None = None,
    ) -> Float32:
        """Statement vectors.

        Parameters
        ----------
        text_ids : (U, L) uint16
        text_length : (U,) int32
        advance : callable, optional
            Told how many texts are done, for a progress bar.

        Returns
        -------
        (U, H) float32
        """
        out = np.empty((len(text_ids), self.config.text.hidden), dtype=np.float32)
        if len(out) == 0:
            return out
        order = np.argsort(text_length, kind="stable")
        lengths, starts = np.unique(text_length[order], return_index=True)
        chunks: list[tuple[int, NDArray[np.int64]]] = []
        for length, first, last in zip(lengths.tolist(), starts, [*starts[1:], len(order)], strict=True):
            step = max(1, _CHUNK_TOKENS // length)
            chunks += [(length, order[at : min(at + step, last)]) for at in range(first, last, step)]

        def work(chunk: tuple[int, NDArray[np.int64]]) -> int:
            length, rows = chunk
            out[rows] = self._encode(text_ids[rows, :length])
            return len(rows)

        with _blas().limit(limits=1, user_api="blas"):
            if min(self.threads, len(chunks)) <= 1:
                _tell(map(work, chunks), advance)
            else:
                # Long chunks first, so that no thread is left with one at the end.
                with ThreadPoolExecutor(self.threads) as pool:
                    _tell(pool.map(work, reversed(chunks)), advance)
        return out

    # -- graph -----------------------------------------------------------------------------------------
    def text_features(self, text_ids: NDArray[np.uint16], text_length: NDArray[np.int32]) -> Float32:
        """Node features of texts: mean of the token embeddings without [CLS] and [SEP].

        Returns
        -------
        (U, F) float32, F the width of the token embedding
        """
        embedding = self.w["text.token.weight"]
        counts = np.maximum(text_length.astype(np.int64) - 2, 0)
        # A sparse (U, V) matrix of token shares times the embedding: one pass over the tokens.
        inside = np.arange(text_ids.shape[1]) < (text_length - 1)[:, None]
        inside[:, 0] = False
        shares = np.repeat((1.0 / np.maximum(counts, 1)).astype(np.float32), counts)
        pointer = np.concatenate([[0], np.cumsum(counts)])
        matrix = sp.csr_matrix(
            (shares, text_ids[inside].astype(np.int64), pointer),
            shape=(len(text_ids), embedding.shape[0]),
        )
        result: Float32 = matrix @ embedding
        return result

    def _first_product(self, sample: IRSample) -> tuple[Float32, NDArray[np.int64]]:
        """X W1, which depends on a node's text and kind alone: once per distinct pair.

        Returns
        -------
        (pairs, hidden) float32, and each node's pair (N,) int64
        """
        features = self.text_features(sample.text_ids, sample.text_length)
        kinds = len(NodeKind)
        pairs, node_pair = np.unique(node_keys(sample.node_row, sample.node_kind), return_inverse=True)
        x = self._norm(features[pairs // kinds] + self.w["graph.kind.weight"][pairs % kinds], "graph.norm_in")
        product: Float32 = x @ self.w["graph.conv1.lin.weight"]
        return product, node_pair

    def _hidden(self, rows: sp.csr_matrix, product: Float32, node_pair: NDArray[np.int64]) -> Float32:
        """relu(N_f X W1 + b1) of some rows of N_f; X W1 is gathered by pair and never spread over the nodes."""
        spread = sp.csr_matrix((rows.data, node_pair[rows.indices], rows.indptr), shape=(rows.shape[0], len(product)))
        hidden: Float32 = spread @ product
        hidden += self.w["graph.conv1.bias"]
        return np.maximum(hidden, 0, out=hidden)

    def forward(
        self, sample: IRSample, pools: Pools, part: str = "both", *, text_vectors: Float32 | None = None
    ) -> Pooled:
        """Pooled vectors of one module, as `MIREncoder.forward` has them.

        Parameters
        ----------
        sample : IRSample
        pools : Pools
        part : str
            ``text``, ``graph`` or ``both``: what is computed.
        text_vectors : (U, H) float32, optional
            Vectors of the texts, where they are known.

        Returns
        -------
        Pooled
            (G, H), (G, D) and (G, width) float32; the first two are zero for a group without items.
        """
        text = graph = taught = np.zeros((pools.text.groups, 0), dtype=np.float32)
        if text_vectors is None:
            used = needed_texts(self.config, sample, pools, part)
            text_vectors = np.zeros((len(sample.text_ids), self.config.text.hidden), dtype=np.float32)
            text_vectors[used] = self.encode_texts(sample.text_ids[used], sample.text_length[used])
        if part != "graph":
            text = pools.text.mean(text_vectors)
        if part != "text":
            with _blas().limit(limits=1, user_api="blas"):
                graph = self._graph(sample, pools.graph, text_vectors)
        if part == "both" and self._taught is not None:
            with _blas().limit(limits=1, user_api="blas"):
                taught = self._taught(text, graph, pools.counts(sample.node_kind))
        return Pooled(text, graph, taught)

    def _graph(self, sample: IRSample, pool: Pool, text_vectors: Float32) -> Float32:
        """Graph vector of each group. Shapes: (U, H) -> (G, D)."""
        mean_alone = self.config.graph.readout == "mean"
        if self._directed is not None:
            statements = text_vectors if self.config.graph_takes_statements else None
            features = self.text_features(sample.text_ids, sample.text_length)
            nodes, row = self._directed.nodes(sample, features, statements)
            pool = replace(pool, item=row[pool.item])
        elif mean_alone:
            return self._mean(sample, pool)
        else:
            nodes = self._nodes(sample, *self._first_product(sample))
        return pool.mean(nodes) if mean_alone else pool.mean_max_sum(nodes)

    def _nodes(self, sample: IRSample, product: Float32, node_pair: NDArray[np.int64]) -> Float32:
        """Node vectors of the GCN. (N, d) float32."""
        total = np.zeros((len(node_pair), self.config.graph.out), dtype=np.float32)
        for flow in Flow:
            adjacency = _normalised_adjacency(sample, [flow])
            hidden = self._hidden(adjacency, product, node_pair)
            total += adjacency @ (hidden @ self.w["graph.conv2.lin.weight"])
        total *= np.float32(1.0 / len(Flow))
        total += self.w["graph.conv2.bias"]
        return total

    def _mean(self, sample: IRSample, pool: Pool) -> Float32:
        """Weighted mean of the GCN's node vectors of each group. (G, d) float32.

        A mean is linear, so with M the (G, N) matrix of weights, M (N_f H) W2 = ((M N_f) H) W2: the second convolution
        costs a product a group instead of one a node, and H is made and used a slice at a time. With many groups (the
        instructions of a module) that would be the dearer way, and node vectors are made first.
        """
        nodes, groups = len(sample.node_row), pool.groups
        product, node_pair = self._first_product(sample)
        if groups > 1 and groups > nodes // _NODES_A_GROUP:
            return pool.mean(self._nodes(sample, product, node_pair))
        # Small graphs take the flows as one graph of three components: scipy's own overhead is most of their time.
        together = [list(Flow)] if nodes * len(Flow) <= _SLICE_NODES else [[flow] for flow in Flow]
        share = pool.matrix(nodes).astype(np.float32)
        total = np.zeros((groups, self.config.graph.hidden), dtype=np.float64)
        alone = np.maximum(product + self.w["graph.conv1.bias"], 0)  # hidden row of a node without edges
        for flows in together:
            adjacency = _normalised_adjacency(sample, flows)  # (F N, F N)
            pair = np.tile(node_pair, len(flows))
            weight = sp.csc_matrix(sp.block_diag([share] * len(flows), "csr") @ adjacency)  # (F G, F N)
            joined = np.diff(adjacency.indptr) > 1
            lonely = np.flatnonzero(~joined)
            spread = sp.csr_matrix(
                (np.ones(len(lonely), dtype=np.float32), (lonely, pair[lonely])), shape=(len(pair), len(product))
            )
            parts = ((weight @ spread) @ alone).astype(np.float64)  # (F G, hidden)
            rows = np.flatnonzero(joined)
            for first in range(0, len(rows), _SLICE_NODES):
                part = rows[first : first + _SLICE_NODES]
                parts += weight[:, part] @ self._hidden(adjacency[part], product, pair)
            total += parts.reshape(len(flows), *total.shape).sum(0)
        total /= len(Flow)
        result: Float32 = (total @ self.w["graph.conv2.lin.weight"]).astype(np.float32)
        result[np.bincount(pool.group, minlength=groups) > 0] += self.w["graph.conv2.bias"]
        return result

    def whiten(self, part: str, vectors: Float32) -> Float32:
        """Pooled vectors of ``text`` or ``graph`` as the model gives them to users. Shapes: (n, D) -> (n, D)."""
        if not self.config.pooling.whiten:
            return vectors
        with _blas().limit(limits=1, user_api="blas"):
            centred = vectors - self.w[f"whiten_{part}.mean"]
            result: Float32 = np.asarray(centred @ self.w[f"whiten_{part}.matrix"], dtype=np.float32)
        return result

    # -- matching --------------------------------------------------------------------------------------
    def match(self, text: Float32, graph: Float32) -> Float32:
        """Probability that a text vector and a graph vector come from one IR.

        Shapes: (B, H), (B, D) -> (B,)
        """
        x = np.concatenate([self._norm(text, "matching.norm_text"), self._norm(graph, "matching.norm_graph")], -1)
        x = np.maximum(self._linear(x, "matching.linear1"), 0)
        x = np.maximum(self._linear(x, "matching.linear2"), 0)
        logit = self._linear(x, "matching.linear3")[..., 0]
        result: Float32 = np.reciprocal(np.float32(1.0) + np.exp(-logit))
        return result


def _tell(done: Iterable[int], advance: Callable[[int], None] | None) -> None:
    for count in done:
        if advance is not None:
            advance(count)


def _normalised_adjacency(sample: IRSample, flows: Sequence[Flow]) -> sp.csr_matrix:
    """D^-1/2 (A + I) D^-1/2 of some flows side by side, A symmetric and without repetition. (F N, F N) float32."""
    nodes = len(sample.node_row)
    size = len(flows) * nodes
    ends = [sample.edge_index[:, sample.edge_flow == flow] + first * nodes for first, flow in enumerate(flows)]
    source, target = np.concatenate(ends, axis=1)
    loop = np.arange(size, dtype=np.int32)
    adjacency = sp.csr_matrix(
        (
            np.ones(2 * len(source) + size, dtype=np.float32),
            (np.concatenate([source, target, loop]), np.concatenate([target, source, loop])),
        ),
        shape=(size, size),
    )
    adjacency.sum_duplicates()
    adjacency.data[:] = 1.0  # parallel edges count once
    scale = (1.0 / np.sqrt(np.diff(adjacency.indptr))).astype(np.float32)
    adjacency.data *= np.repeat(scale, np.diff(adjacency.indptr))
    adjacency.data *= scale[adjacency.indices]
    return adjacency
