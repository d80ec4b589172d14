"""Kinds of encoders: what a file in `mirenc.model.encoders` has, and that is all that a new one needs.

It is a configuration (a `TextKind` or `GraphKind`) that declares its layers and computes with them. The formula is
written in the operations of `mirenc.model.numpy_layers`, so torch trains it and numpy embeds with it.
"""

from abc import abstractmethod
from typing import Any, ClassVar, Literal

from pydantic import Field

from mirenc.base.config import Config
from mirenc.model.graph import NodeKind
from mirenc.model.layers import Array, Backend, Layers

COUNTS = len(NodeKind) + 1  # of a group's nodes of each kind, and of its distinct statements


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
