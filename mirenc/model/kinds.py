"""Kinds of encoders: what a file in `mirenc.model.encoders` has, and that is all that a new one needs.

It is a configuration (a `TextKind` or `GraphKind`) that declares its layers and computes with them: layers and formulas
are stated once. `mirenc.model.torch_layers` builds modules of the layers to train; `mirenc.model.numpy_layers` computes
with trained weights. Both have the same operations, in which a formula is written.
"""

from abc import abstractmethod
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from mirenc.base.config import Config
from mirenc.model.graph import NodeKind

COUNTS = len(NodeKind) + 1  # of a group's nodes of each kind, and of its distinct statements
Backend = Any
"""`mirenc.model.numpy_layers.NumpyLayers` or `mirenc.model.torch_layers.TorchLayers`."""
Array = Any
"""A numpy array or a torch tensor, as the back end has it."""
BERT_STD = 0.02
Shapes = dict[str, tuple[int, ...]]


class Linear(NamedTuple):
    """x W' + b. ``std``: initial standard deviation, with zero biases; None: torch's default."""

    inputs: int
    outputs: int
    bias: bool = True
    std: float | None = None

    def shapes(self) -> Shapes:
        return {".weight": (self.outputs, self.inputs)} | ({".bias": (self.outputs,)} if self.bias else {})


class Norm(NamedTuple):
    """Layer norm over the last axis."""

    size: int

    def shapes(self) -> Shapes:
        return {".weight": (self.size,), ".bias": (self.size,)}


class Embedding(NamedTuple):
    """A table of vectors, drawn with standard deviation ``std``."""

    rows: int
    width: int
    std: float = BERT_STD

    def shapes(self) -> Shapes:
        return {".weight": (self.rows, self.width)}


class Depthwise(NamedTuple):
    """Each channel convolved over ``width`` neighbouring tokens."""

    channels: int
    width: int

    def shapes(self) -> Shapes:
        return {".weight": (self.channels, 1, self.width), ".bias": (self.channels,)}


class GraphConvolution(NamedTuple):
    """D^-1/2 (A + I) D^-1/2 x W' + b (Kipf and Welling 2017)."""

    inputs: int
    outputs: int

    def shapes(self) -> Shapes:
        return {".lin.weight": (self.outputs, self.inputs), ".bias": (self.outputs,)}


class Weight(NamedTuple):
    """One array of its own, drawn with standard deviation ``std``."""

    shape: tuple[int, ...]
    std: float = 0.0

    def shapes(self) -> Shapes:
        return {"": self.shape}


Layer = Linear | Norm | Embedding | Depthwise | GraphConvolution | Weight
Layers = dict[str, Layer]
"""Layers by name, in the order in which torch draws their first weights."""


class TextKind(Config):
    """A text encoder: ``kind`` is its name, ``hidden`` the width of a statement's vector, ``card`` for the model card.

    ``token_width`` is the width of a row of the token embedding, the layer ``token``; ``state_width`` that of a
    token's state, which masked language modelling reads. The layers ``blocks...`` are those between embedding and
    pooling: their matrices are trained by Muon.
    """

    @abstractmethod
    def declare(self, max_length: int) -> Layers:
        """All layers but the token embedding, for statements of at most ``max_length`` tokens."""

    @abstractmethod
    def states(self, backend: Backend, ids: Array, real: Array | None) -> Array:
        """Token states; ``real`` (B, T) says which tokens are no padding, None: all. Shapes: (B, T) -> (B, T, S)."""

    @abstractmethod
    def pool(self, backend: Backend, states: Array, real: Array | None) -> Array:
        """Statement vectors. Shapes: (B, T, S), (B, T) -> (B, H)."""


class GraphKind(Config):
    """A graph encoder: ``kind`` is its name, ``hidden`` the width of its layers, ``out`` that of a node's vector.

    ``readout`` leads from nodes to one vector: ``mean`` (paper section 3.4) or ``mean-max-sum``
    (`mirenc.model.pooling`). ``statements`` says whether instructions go into it with their statement vectors,
    ``positions`` whether it reads positions of edges and argument numbers; ``order``, for the model card, how far it
    sees that of operands and of targets, or why not.
    """

    joins: ClassVar[bool] = False
    """Whether modules side by side in one small graph have the vectors that they have alone."""
    hidden: int = Field(128, ge=8)
    out: int = Field(128, ge=8)
    readout: Literal["mean", "mean-max-sum"] = "mean"

    @property
    def width(self) -> int:
        """Components of a module's graph vector."""
        return self.out if self.readout == "mean" else 3 * self.out

    @abstractmethod
    def declare(self, features: int, statement: int) -> Layers:
        """All layers, by the widths of a node's features and of a statement vector."""

    @abstractmethod
    def node_vectors(self, backend: Backend, graph: Any, features: Array, statements: Array | None) -> list[Array]:
        """Node vectors of each flow; the encoder's vector of a node is their mean.

        ``graph`` has the arrays of `mirenc.model.sample.GraphArrays`. Shapes: features of the nodes' texts (N, F),
        their statement vectors (N, H), of which rows that are no instructions mean nothing -> 3 x (N, d)
        """

    @abstractmethod
    def card(self, features: int) -> str:
        """What the model card says of it."""
