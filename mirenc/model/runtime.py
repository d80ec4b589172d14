"""What an encoder asks of whatever computes a model: `numpy_runtime` or `torch_runtime`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mirenc.config import ModelConfig
from mirenc.sample import IRSample

__all__ = ["Runtime"]

Float32 = NDArray[np.float32]


class Runtime(Protocol):
    """A model that can be computed. Shapes are those of `mirenc.model.mirencoder`."""

    name: str
    config: ModelConfig

    def encode_texts(
        self,
        text_ids: NDArray[np.uint16],
        text_length: NDArray[np.int32],
        *,
        advance: Callable[[int], None] | None = None,
    ) -> Float32: ...

    def encode_nodes(self, sample: IRSample) -> Float32: ...

    def encode_groups(
        self, sample: IRSample, group: NDArray[np.int32], groups: int, *, weighting: str = "count"
    ) -> Float32: ...

    def whiten(self, part: str, vectors: Float32) -> Float32: ...

    def match(self, text: Float32, graph: Float32) -> Float32: ...
