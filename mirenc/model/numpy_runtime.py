"""The model in numpy: the same numbers as the torch modules, without torch's start-up time."""

from collections.abc import Callable

import numpy as np

from mirenc.base.arrays import Float32, Int32, Int64, UInt16
from mirenc.model.config import ModelConfig
from mirenc.model.kinds import encoder_class
from mirenc.model.layers import Layers, Weights, by_slices, in_order, one_blas_thread, segment_sum, usable_cores
from mirenc.model.pooling import Pools
from mirenc.model.runtime import Pooled, needed_texts
from mirenc.model.sample import IRSample

# Tokens a chunk has: large enough for BLAS, small enough for the processor's cache.
_CHUNK_TOKENS = 2048


class NumpyRuntime:
    """Inference with plain arrays, a `Runtime`, on as many threads as this process may use if ``threads`` is left out.

    ``weights`` are named as in the torch module's ``state_dict``. The result does not depend on the threads.
    """

    name = "numpy"

    def __init__(self, config: ModelConfig, weights: Weights, *, threads: int | None = None) -> None:
        self.config = config
        self.threads = threads or usable_cores()
        self._layers = Layers(weights)
        self.w, self._linear, self._norm = weights, self._layers.linear, self._layers.norm
        self._encode: Callable[[UInt16], Float32] = encoder_class(config.text, "numpy")(config.text, self._layers)
        self._graph = encoder_class(config.graph, "numpy")(config.graph, self._layers, self.threads)

    def encode_texts(
        self, text_ids: UInt16, text_length: Int32, *, advance: Callable[[int], None] | None = None
    ) -> Float32:
        out = np.empty((len(text_ids), self.config.text.hidden), dtype=np.float32)
        if len(out) == 0:
            return out
        order = np.argsort(text_length, kind="stable")
        lengths, starts = np.unique(text_length[order], return_index=True)
        chunks: list[tuple[int, Int64]] = []
        for length, first, last in zip(lengths.tolist(), starts, [*starts[1:], len(order)], strict=True):
            step = max(1, _CHUNK_TOKENS // length)
            chunks += [(length, order[at : min(at + step, last)]) for at in range(first, last, step)]

        def work(chunk: tuple[int, Int64]) -> int:
            length, rows = chunk
            out[rows] = self._encode(text_ids[rows, :length])
            return len(rows)

        with one_blas_thread():
            # Long chunks first, so that no thread is left with one at the end.
            for done in in_order(work, chunks[::-1], self.threads):
                if advance is not None:
                    advance(done)
        return out

    def text_features(self, text_ids: UInt16, text_length: Int32) -> Float32:
        """Mean token embeddings of texts, without [CLS] and [SEP]. Shapes: (U, L), (U,) -> (U, F) float32."""
        counts = np.maximum(text_length.astype(np.int64) - 2, 0)
        # A sparse (U, V) matrix of token shares times the embedding: one pass over the tokens.
        inside = np.arange(text_ids.shape[1]) < (text_length - 1)[:, None]
        inside[:, 0] = False
        shares = np.repeat((1.0 / np.maximum(counts, 1)).astype(np.float32), counts)
        pointer = np.concatenate([[0], np.cumsum(counts)])
        # Of the table only the rows that are asked for: it is large, and may be in half precision.
        embedding, ids = self.w["text.token.weight"], text_ids[inside]
        used = np.flatnonzero(np.bincount(ids, minlength=len(embedding)))
        place = np.zeros(len(embedding), dtype=np.int64)
        place[used] = np.arange(len(used))
        return segment_sum(shares, place[ids], pointer, embedding[used].astype(np.float32))

    def forward(
        self, sample: IRSample, pools: Pools, part: str = "both", *, text_vectors: Float32 | None = None
    ) -> Pooled:
        text = graph = taught = np.zeros((pools.text.groups, 0), dtype=np.float32)
        if text_vectors is None:
            used = needed_texts(self.config, sample, pools, part)
            text_vectors = np.zeros((len(sample.text_ids), self.config.text.hidden), dtype=np.float32)
            text_vectors[used] = self.encode_texts(sample.text_ids[used], sample.text_length[used])
        if part != "graph":
            text = pools.text.readout(text_vectors)
        with one_blas_thread():
            if part != "text":
                features = self.text_features(sample.text_ids, sample.text_length)
                statements = text_vectors if self.config.graph.statements else None
                graph = self._graph.pooled(sample, pools.graph, features, statements)
            if part == "both" and self.config.taught is not None:
                counts, width = pools.counts(sample.node_kind), self.config.taught.width
                taught = by_slices(
                    lambda some: self._trunk(text[some], graph[some], counts[some]), len(text), width, self.threads
                )
        return Pooled(text, graph, taught)

    def _trunk(self, text: Float32, graph: Float32, counts: Float32) -> Float32:
        """Taught vectors, by `mirenc.model.mirencoder.Trunk`'s formula. (G, H), (G, D), (G, COUNTS) -> (G, width)."""
        parts = np.split(graph, self.config.graph.width // self.config.graph.out, axis=1)
        normed = [self._norm(part, f"taught.norm_graph.{number}") for number, part in enumerate(parts)]
        x = np.concatenate([self._norm(text, "taught.norm_text"), *normed, np.log1p(counts)], axis=1)
        z = self._linear(np.maximum(self._linear(x, "taught.linear1"), 0), "taught.linear2")
        z += x @ self._layers.matrix("taught.skip")
        return z

    def match(self, text: Float32, graph: Float32) -> Float32:
        x = np.concatenate([self._norm(text, "matching.norm_text"), self._norm(graph, "matching.norm_graph")], -1)
        x = np.maximum(self._linear(x, "matching.linear1"), 0)
        x = np.maximum(self._linear(x, "matching.linear2"), 0)
        return np.reciprocal(np.float32(1.0) + np.exp(-self._linear(x, "matching.linear3")[..., 0]))
