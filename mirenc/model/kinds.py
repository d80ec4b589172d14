"""Kinds of encoders: what the configuration of each says of it.

A kind is a folder beside this file, and that is all: ``__init__.py`` (a `TextKind` or `GraphKind`), ``torch.py`` and
``numpy.py`` (an ``Encoder`` each).
"""

from importlib import import_module
from typing import Any, ClassVar, Literal

from pydantic import Field

from mirenc.base.config import Config
from mirenc.model.graph import NodeKind

COUNTS = len(NodeKind) + 1  # of a group's nodes of each kind, and of its distinct statements


class Shapes(dict[str, tuple[int, ...]]):
    """Shapes of weights by name, as `torch.nn` names them."""

    def linear(self, name: str, inputs: int, outputs: int, *, bias: bool = True) -> None:
        self[f"{name}.weight"] = (outputs, inputs)
        if bias:
            self[f"{name}.bias"] = (outputs,)

    def norm(self, name: str, size: int) -> None:
        self[f"{name}.weight"] = self[f"{name}.bias"] = (size,)


class TextKind(Config):
    """What a text encoder is.

    Each kind has its name, ``kind``; ``hidden``, the width of a statement's vector; ``token_width``, of a row of the
    token embedding; ``state_width``, of a token's state after the last layer; ``add_shapes(shapes, max_length)``, which
    adds those of all its weights but the token embedding; ``card``, its words in the model card.

    In torch its ``Encoder(config, tokenizer_config)`` is a `mirenc.model.torch_encoders.TextEncoder`; in numpy
    ``Encoder(config, layers)`` takes ids (B, T) of statements of equal length to vectors (B, H).
    """


class GraphKind(Config):
    """What a graph encoder is.

    Each kind has its name, ``kind``; ``statements``, whether instructions go into it with their statement vectors, and
    ``positions``, whether it reads positions of edges and argument numbers; ``add_shapes(shapes, features,
    statement)``, which adds those of all its weights, named ``graph...``; for the model card ``card(features)``, and
    ``order``: how far it sees that of operands and of targets, or why not. In torch its ``Encoder(config, features,
    statement)``, by the widths of what it takes, is a `mirenc.model.torch_encoders.GraphEncoder`; in numpy
    ``Encoder(config, layers, threads).pooled(sample, pool, features, statements)`` gives the vectors of groups of nodes
    (G, D), from features of texts (U, F) and, where it takes them, statement vectors (U, H).

    ``hidden`` is the width of its layers, ``out`` of a node's vector; ``readout`` leads from those to one of a module:
    ``mean`` (paper section 3.4) or ``mean-max-sum`` (`mirenc.model.pooling`).
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


def encoder_class(config: TextKind | GraphKind, backend: str) -> Any:
    """What computes an encoder in ``torch`` or ``numpy``; only its own file is imported."""
    return import_module(f"{type(config).__module__}.{backend}").Encoder
