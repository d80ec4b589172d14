"""The model in numpy: the same numbers as the torch modules, without torch's start-up time.

Importing torch and torch-geometric takes seconds; embedding a small file takes milliseconds. So inference on a CPU
needs neither. `tests/model/test_runtimes_agree.py` holds this to the torch modules at 1e-5. The text encoders are in
`mirenc.model.numpy_text`, the graph encoders in `mirenc.model.directed_numpy` and `mirenc.model.gcn_numpy`.

Statements are grouped by exact length, so there is no padding and no mask, and a statement's vector does not depend on
its batch but for rounding. Groups are cut into chunks that a few threads work off, each with a single-threaded BLAS:
BLAS's own threads wait for each other at every product, which on a busy machine costs far more than it gains (measured:
2.2 s against 0.7 s for a small file while another process ran).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from mirenc.config import DirectedGraphConfig, ModelConfig
from mirenc.model.directed_numpy import DirectedGraph
from mirenc.model.numpy_layers import Float32, Layers, Weights, by_slices
from mirenc.model.numpy_text import make_text_encoder
from mirenc.model.pooling import Pool, Pools
from mirenc.model.runtime import Pooled, needed_texts
from mirenc.model.sample import IRSample
from mirenc.model.sparse import segment_sum
from mirenc.model.taught_numpy import Trunk

__all__ = ["NumpyRuntime"]

# Tokens a chunk has: large enough for BLAS, small enough for the processor's cache.
_CHUNK_TOKENS = 2048


class GraphEncoder(Protocol):
    """Vectors of groups of nodes, from features of the texts and, where the model takes them, statement vectors."""

    def pooled(self, sample: IRSample, pool: Pool, features: Float32, statements: Float32 | None) -> Float32: ...


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
        self._graph = _make_graph_encoder(config, layers, self.threads)
        self._taught = Trunk(config, layers, self.threads) if config.taught is not None else None

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
        # Of the table only the rows that are asked for: it is large, and may be in half precision.
        ids = text_ids[inside]
        used = np.flatnonzero(np.bincount(ids, minlength=len(embedding)))
        place = np.zeros(len(embedding), dtype=np.int64)
        place[used] = np.arange(len(used))
        return segment_sum(shares, place[ids], pointer, embedding[used].astype(np.float32))

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
                features = self.text_features(sample.text_ids, sample.text_length)
                statements = text_vectors if self.config.graph_takes_statements else None
                graph = self._graph.pooled(sample, pools.graph, features, statements)
        if part == "both" and self._taught is not None:
            with _blas().limit(limits=1, user_api="blas"):
                taught = self._taught(text, graph, pools.counts(sample.node_kind))
        return Pooled(text, graph, taught)

    def whiten(self, part: str, vectors: Float32) -> Float32:
        """Vectors of ``text``, ``graph`` or ``lexical`` as the model gives them to users. Shapes: (n, D) -> (n, D)."""
        if f"whiten_{part}.mean" not in self.w:
            return vectors
        with _blas().limit(limits=1, user_api="blas"):
            mean, matrix = self.w[f"whiten_{part}.mean"], self.w[f"whiten_{part}.matrix"]
            return by_slices(
                lambda rows: np.matmul(vectors[rows] - mean, matrix),
                len(vectors),
                matrix.shape[1],
                self.threads,
            )

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


def _make_graph_encoder(config: ModelConfig, layers: Layers, threads: int) -> GraphEncoder:
    """What makes vectors of groups of nodes."""
    if isinstance(config.graph, DirectedGraphConfig):
        return DirectedGraph(config.graph, layers, threads)
    # Here, because it imports scipy.sparse, which takes as long as the rest of a small file's start.
    from mirenc.model.gcn_numpy import GCN

    return GCN(config.graph, layers)
