"""The taught trunk in numpy; formulae: `mirenc.model.taught`."""

from __future__ import annotations

import numpy as np

from mirenc.config import ModelConfig
from mirenc.model.numpy_layers import Float32, Layers, by_slices

__all__ = ["Trunk"]


class Trunk:
    """Pooled vectors and counts to the taught vector.

    Parameters
    ----------
    config : ModelConfig
        Of a model that has a trunk.
    layers : Layers
    threads : int
        The result does not depend on it.
    """

    def __init__(self, config: ModelConfig, layers: Layers, threads: int = 1) -> None:
        assert config.taught is not None
        self._width = config.taught.width
        self._threads = threads
        self._parts = config.graph.width // config.graph.out
        self._layers = layers

    def __call__(self, text: Float32, graph: Float32, counts: Float32) -> Float32:
        """Taught vectors. Shapes: (G, H), (G, D), (G, COUNTS) -> (G, width)."""
        return by_slices(
            lambda part: self._made(text[part], graph[part], counts[part]), len(text), self._width, self._threads
        )

    def _made(self, text: Float32, graph: Float32, counts: Float32) -> Float32:
        linear, norm, w = self._layers.linear, self._layers.norm, self._layers.w
        parts = [
            norm(part, f"taught.norm_graph.{number}")
            for number, part in enumerate(np.split(graph, self._parts, axis=1))
        ]
        x = np.concatenate([norm(text, "taught.norm_text"), *parts, np.log1p(counts)], axis=1)
        z = linear(np.maximum(linear(x, "taught.linear1"), 0), "taught.linear2")
        z += x @ w["taught.skip.weight"]
        return z
