"""The model in numpy: the same numbers as the torch modules, without torch's start-up time."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from mirenc.base.arrays import Float32, Int32, Int64, UInt16
from mirenc.model.config import GraphConfig, ModelConfig, TextConfig
from mirenc.model.heads import matching_logits, taught_vectors
from mirenc.model.numpy_layers import NumpyLayers, Weights
from mirenc.model.pooling import Pool, Pools
from mirenc.model.refinement import RefinedPooling
from mirenc.model.runtime import Pooled, needed_texts
from mirenc.model.sample import IRSample
from mirenc.model.segments import segment_sum
from mirenc.model.threads import map_in_order, map_slices, one_blas_thread, usable_cores
from mirenc.model.windows import encode_windows

# Tokens a chunk has: large enough for BLAS, small enough for the processor's cache.
_CHUNK_TOKENS = 2048


# From a sample, a pool of nodes, and features (U, F) and statement vectors (U, H) of the texts to groups (G, D).
GraphPooling = Callable[[IRSample, Pool, Float32, Float32 | None], Float32]


def graph_pooling(config: GraphConfig, layers: NumpyLayers, threads: int) -> GraphPooling:
    """The function that computes a graph encoder: a faster one where there is one, else its formula."""
    if config.kind == "directed":
        return RefinedPooling(config, layers, threads)
    if config.kind == "gcn":
        from mirenc.model.gcn_slices import GCNPooling  # it imports scipy.sparse, which takes long

        return GCNPooling(config, layers)
    return partial(pooled_by_formula, config, layers)


def pooled_by_formula(
    config: GraphConfig,
    layers: NumpyLayers,
    sample: IRSample,
    pool: Pool,
    features: Float32,
    statements: Float32 | None,
) -> Float32:
    """Vectors of groups of nodes from the vector of every node."""
    rows = sample.node_row
    flows = config.node_vectors(layers, sample, features[rows], None if statements is None else statements[rows])
    return pool.readout(np.mean(flows, axis=0), sizes=config.readout != "mean")


def encode_by_length(
    config: TextConfig, layers: NumpyLayers, threads: int, ids: UInt16, length: Int32
) -> Iterator[tuple[Int64, Float32]]:
    """Statement vectors by the formula, texts of equal length together: as `encode_windows` gives them."""
    order = np.argsort(length, kind="stable")
    lengths, starts = np.unique(length[order], return_index=True)
    chunks: list[tuple[int, Int64]] = []
    for tokens, first, last in zip(lengths.tolist(), starts, [*starts[1:], len(order)], strict=True):
        step = max(1, _CHUNK_TOKENS // tokens)
        chunks += [(tokens, order[start : min(start + step, last)]) for start in range(first, last, step)]

    def encode_chunk(chunk: tuple[int, Int64]) -> tuple[Int64, Float32]:
        tokens, rows = chunk
        return rows, config.pool(layers, config.states(layers, ids[rows, :tokens], None), None)

    # Long chunks first, so that no thread is left with one at the end.
    return map_in_order(encode_chunk, chunks[::-1], threads)


class NumpyRuntime:
    """Inference with plain arrays, a `Runtime`, on as many threads as this process may use if ``threads`` is left out.

    ``weights`` are named as in the torch module's ``state_dict``. The result does not depend on the threads.
    """

    name = "numpy"

    def __init__(self, config: ModelConfig, weights: Weights, *, threads: int | None = None) -> None:
        self.config = config
        self.threads = threads or usable_cores()
        self.weights = weights
        self._layers = {part: NumpyLayers(weights, part) for part in ("text", "graph", "matching", "taught")}
        self._pool_graph = graph_pooling(config.graph, self._layers["graph"], self.threads)

    def encode_texts(
        self, text_ids: UInt16, text_length: Int32, *, advance: Callable[[int], None] | None = None
    ) -> Float32:
        out = np.empty((len(text_ids), self.config.text.hidden), dtype=np.float32)
        if len(out) == 0:
            return out
        encode = encode_windows if self.config.text.kind == "convolution" else encode_by_length
        with one_blas_thread():
            for rows, vectors in encode(self.config.text, self._layers["text"], self.threads, text_ids, text_length):
                out[rows] = vectors
                if advance is not None:
                    advance(len(rows))
        return out

    def text_features(self, text_ids: UInt16, text_length: Int32) -> Float32:
        """Mean token embeddings of texts, without [CLS] and [SEP]. Shapes: (U, L), (U,) -> (U, F) float32."""
        counts = np.maximum(text_length.astype(np.int64) - 2, 0)
        # A sparse (U, V) matrix of token shares times the embedding: one pass over the tokens.
        is_token = np.arange(text_ids.shape[1]) < (text_length - 1)[:, None]
        is_token[:, 0] = False
        shares = np.repeat((1.0 / np.maximum(counts, 1)).astype(np.float32), counts)
        pointer = np.concatenate([[0], np.cumsum(counts)])
        # Of the table only the rows that are asked for: it is large, and may be in half precision.
        embedding, ids = self.weights["text.token.weight"], text_ids[is_token]
        token_rows = np.flatnonzero(np.bincount(ids, minlength=len(embedding)))
        place = np.zeros(len(embedding), dtype=np.int64)
        place[token_rows] = np.arange(len(token_rows))
        return segment_sum(shares, place[ids], pointer, embedding[token_rows].astype(np.float32))

    def forward(
        self, sample: IRSample, pools: Pools, part: str = "both", *, text_vectors: Float32 | None = None
    ) -> Pooled:
        text = graph = taught = np.zeros((pools.text.groups, 0), dtype=np.float32)
        if text_vectors is None:
            text_rows = needed_texts(self.config, sample, pools, part)
            text_vectors = np.zeros((len(sample.text_ids), self.config.text.hidden), dtype=np.float32)
            text_vectors[text_rows] = self.encode_texts(sample.text_ids[text_rows], sample.text_length[text_rows])
        if part != "graph":
            text = pools.text.readout(text_vectors)
        with one_blas_thread():
            if part != "text":
                features = self.text_features(sample.text_ids, sample.text_length)
                statements = text_vectors if self.config.graph.statements else None
                graph = self._pool_graph(sample, pools.graph, features, statements)
            if part == "both" and self.config.taught is not None:
                parts = self.config.graph.width // self.config.graph.out
                counts, layers = pools.counts(sample.node_kind), self._layers["taught"]
                taught = map_slices(
                    lambda rows: taught_vectors(layers, text[rows], graph[rows], counts[rows], graph_parts=parts),
                    *(len(text), self.config.taught.width, self.threads),
                )
        return Pooled(text, graph, taught)

    def match(self, text: Float32, graph: Float32) -> Float32:
        logits = matching_logits(self._layers["matching"], text, graph)
        return np.reciprocal(np.float32(1.0) + np.exp(-logits))
