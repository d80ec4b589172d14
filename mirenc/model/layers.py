"""Layers as an encoder declares them.

`mirenc.model.torch_layers` builds modules of the declarations to train; `mirenc.model.numpy_layers` computes with
trained weights. Both have the same operations, in which a formula is written: layers and formulas are stated once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Backend = Any
"""`mirenc.model.numpy_layers.NumpyLayers` or `mirenc.model.torch_layers.TorchLayers`."""
Array = Any
"""A numpy array or a torch tensor, as the back end has it."""
BERT_STD = 0.02
Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Linear:
    """x W' + b. ``std``: initial standard deviation, with zero biases; None: torch's default."""

    inputs: int
    outputs: int
    bias: bool = True
    std: float | None = None

    def shapes(self) -> Shapes:
        return {".weight": (self.outputs, self.inputs)} | ({".bias": (self.outputs,)} if self.bias else {})


@dataclass(frozen=True)
class Norm:
    """Layer norm over the last axis."""

    size: int

    def shapes(self) -> Shapes:
        return {".weight": (self.size,), ".bias": (self.size,)}


@dataclass(frozen=True)
class Embedding:
    """A table of vectors, drawn with standard deviation ``std``."""

    rows: int
    width: int
    std: float = BERT_STD

    def shapes(self) -> Shapes:
        return {".weight": (self.rows, self.width)}


@dataclass(frozen=True)
class Depthwise:
    """Each channel convolved over ``width`` neighbouring tokens."""

    channels: int
    width: int

    def shapes(self) -> Shapes:
        return {".weight": (self.channels, 1, self.width), ".bias": (self.channels,)}


@dataclass(frozen=True)
class GraphConvolution:
    """D^-1/2 (A + I) D^-1/2 x W' + b (Kipf and Welling 2017)."""

    inputs: int
    outputs: int

    def shapes(self) -> Shapes:
        return {".lin.weight": (self.outputs, self.inputs), ".bias": (self.outputs,)}


@dataclass(frozen=True)
class Weight:
    """One array of its own, drawn with standard deviation ``std``."""

    shape: tuple[int, ...]
    std: float = 0.0

    def shapes(self) -> Shapes:
        return {"": self.shape}


Layer = Linear | Norm | Embedding | Depthwise | GraphConvolution | Weight
Layers = dict[str, Layer]
"""Layers by name, in the order in which torch draws their first weights."""


def shapes_of(layers: Mapping[str, Layer]) -> Shapes:
    """Shape of each weight of some layers, by its name in torch's ``state_dict``."""
    return {f"{name}{end}": shape for name, layer in layers.items() for end, shape in layer.shapes().items()}
