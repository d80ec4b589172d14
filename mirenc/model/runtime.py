"""`Runtime`: what an encoder asks of whatever computes a model: `numpy_runtime` or `torch_runtime`."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from mirenc.base.arrays import Float32, Int32, Int64, UInt16
from mirenc.model.config import ModelConfig
from mirenc.model.graph import NodeKind
from mirenc.model.pooling import Pools
from mirenc.model.sample import IRSample


class Pooled(NamedTuple):
    """Vectors of G groups, float32; a part that was not asked for, or that the model has not, has no columns."""

    text: Float32  # (G, H)
    graph: Float32  # (G, D)
    taught: Float32  # (G, width), what the model's trunk makes of both


def needed_texts(config: ModelConfig, sample: IRSample, pools: Pools, part: str = "both") -> Int64:
    """Texts whose statement vectors ``part`` takes, ascending: the pooled ones, and instructions' for the graph."""
    needed = np.zeros(len(sample.texts), dtype=bool)
    if part != "graph":
        needed[pools.text.item] = True
    if part != "text" and config.graph.statements:
        needed[sample.node_row[sample.node_kind == NodeKind.INSTRUCTION]] = True
    return np.flatnonzero(needed)


class Runtime(Protocol):
    """A model that can be computed."""

    name: str
    config: ModelConfig

    def encode_texts(
        self, text_ids: UInt16, text_length: Int32, *, advance: Callable[[int], None] | None = None
    ) -> Float32:
        """Statement vectors; ``advance`` is called with how many are done. Shapes: (U, L), (U,) -> (U, H)."""

    def forward(
        self, sample: IRSample, pools: Pools, part: str = "both", *, text_vectors: Float32 | None = None
    ) -> Pooled:
        """Pooled vectors of one module, not whitened; zero for a group without items.

        ``part`` (``text``, ``graph`` or ``both``) is what is computed; ``text_vectors`` (U, H) are vectors of the
        texts, where they are known.
        """

    def match(self, text: Float32, graph: Float32) -> Float32:
        """Probability that a text and a graph vector come from one IR. Shapes: (B, H), (B, D) -> (B,)."""
