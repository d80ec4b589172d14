"""`Runtime`: what an encoder asks of whatever computes a model: `numpy_runtime` or `torch_runtime`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mirenc.config import ModelConfig
from mirenc.errors import MissingExtraError, ModelError
from mirenc.graph import NodeKind
from mirenc.model.pooling import Pools
from mirenc.model.sample import IRSample

__all__ = ["Pooled", "Runtime", "make_runtime", "needed_texts"]

Float32 = NDArray[np.float32]


class Pooled(NamedTuple):
    """Vectors of G groups; a part that was not asked for has no columns.

    Attributes
    ----------
    text : (G, H) float32
    graph : (G, D) float32
        D is the ``width`` of the graph's configuration.
    taught : (G, width) float32
        What the model's trunk makes of both; no columns where it has none (`mirenc.model.taught`).
    """

    text: Float32
    graph: Float32
    taught: Float32


def needed_texts(config: ModelConfig, sample: IRSample, pools: Pools, part: str = "both") -> NDArray[np.int64]:
    """Texts whose statement vectors ``part`` takes, ascending: the pooled ones, and instructions' for the graph."""
    needed = np.zeros(len(sample.texts), dtype=bool)
    if part != "graph":
        needed[pools.text.item] = True
    if part != "text" and config.graph_takes_statements:
        needed[sample.node_row[sample.node_kind == NodeKind.INSTRUCTION]] = True
    return np.flatnonzero(needed)


class Runtime(Protocol):
    """A model that can be computed. `forward` is `mirenc.model.mirencoder.MIREncoder`'s, of one module."""

    name: str
    config: ModelConfig

    def encode_texts(
        self,
        text_ids: NDArray[np.uint16],
        text_length: NDArray[np.int32],
        *,
        advance: Callable[[int], None] | None = None,
    ) -> Float32: ...

    def forward(
        self, sample: IRSample, pools: Pools, part: str = "both", *, text_vectors: Float32 | None = None
    ) -> Pooled: ...

    def whiten(self, part: str, vectors: Float32) -> Float32: ...

    def match(self, text: Float32, graph: Float32) -> Float32: ...


def make_runtime(name: str, config: ModelConfig, weights: dict[str, Float32], backend: str, device: str) -> Runtime:
    """The runtime of a backend (``numpy`` or ``torch``) on a device; ``name`` is the model's, for messages.

    Raises
    ------
    MissingExtraError
        The torch backend without torch.
    ModelError
        The device cannot be used.
    """
    if backend == "numpy":
        from mirenc.model.numpy_runtime import NumpyRuntime

        return NumpyRuntime(config, weights)
    try:
        from mirenc.model.torch_runtime import TorchRuntime
    except ImportError as error:
        raise MissingExtraError(
            f"the torch backend needs torch and torch-geometric ({error}). Type: pip install 'mirenc[train]'"
        ) from None
    try:
        return TorchRuntime(config, weights, device)
    except (RuntimeError, AssertionError) as error:
        first = str(error).splitlines()[0]
        raise ModelError(f"cannot run {name} on device {device!r}: {first}. Use device='cpu'") from None
