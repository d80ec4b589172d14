"""The fast text encoder: convolutions over the tokens of one statement, no attention.

A block is ConvNeXt's (Liu et al. 2022, https://arxiv.org/abs/2201.03545): a depthwise convolution, layer norm, and two
pointwise layers around a GELU.

    h = LN(P E[ids])                                    E narrow, P its projection to the channels
    h = h + W2 gelu(W1 LN(D h))                         (layers times; D: each channel over `width` tokens)
    h = LN(h)                                           the state of a token, which MLM reads
    statement = V2 gelu(V1 [mean over tokens of h; maximum of h])

Deviation: the paper's text encoder is a Transformer (`mirenc.model.encoders.transformer`). A token sees the
``layers * (width - 1)`` nearest ones and knows no position but the distance to a border that it sees.
"""

from typing import Literal, Self

from pydantic import Field, model_validator

from mirenc.model.kinds import BERT_STD, Array, Backend, Depthwise, Layers, Linear, Norm, TextKind


class ConvolutionConfig(TextKind):
    """Convolutions over the tokens of one statement: some thirty times cheaper than the Transformer of `base`.

    The token embedding is ``embedding`` wide and projected to ``channels``, the width of a token's state. A convolution
    sees ``width`` tokens, an odd number; between the pointwise layers of a block are ``expansion * channels``
    components. A hidden layer ``feed_forward`` wide makes the statement vector, ``hidden`` wide, of mean and maximum.
    """

    # In the order in which saved models have them.
    kind: Literal["convolution"] = "convolution"
    embedding: int = Field(128, ge=8)
    channels: int = Field(192, ge=8)
    layers: int = Field(2, ge=1)
    width: int = Field(5, ge=1)
    expansion: int = Field(2, ge=1)
    feed_forward: int = Field(512, ge=8)
    hidden: int = Field(384, ge=8)

    @model_validator(mode="after")
    def _width_is_odd(self) -> Self:
        if self.width % 2 == 0:
            raise ValueError(f"width ({self.width}) must be odd, so that a token is in the middle of what it sees")
        return self

    @property
    def token_width(self) -> int:
        return self.embedding

    @property
    def state_width(self) -> int:
        return self.channels

    @property
    def card(self) -> str:
        return f"{self.layers} convolutions over {self.width} tokens, {self.channels} channels"

    def declare(self, max_length: int) -> Layers:
        channels, inner_width = self.channels, self.expansion * self.channels
        layers: Layers = {"project": Linear(self.embedding, channels, std=BERT_STD), "norm_in": Norm(channels)}
        for block in self.blocks:
            layers |= {
                f"{block}.depthwise": Depthwise(channels, self.width),
                f"{block}.norm": Norm(channels),
                f"{block}.expand": Linear(channels, inner_width, std=BERT_STD),
                f"{block}.contract": Linear(inner_width, channels, std=BERT_STD),
            }
        return layers | {
            "norm_out": Norm(channels),
            "pool1": Linear(2 * channels, self.feed_forward, std=BERT_STD),
            "pool2": Linear(self.feed_forward, self.hidden, std=BERT_STD),
        }

    @property
    def blocks(self) -> list[str]:
        """Names of the blocks."""
        return [f"blocks.{number}" for number in range(self.layers)]

    def first_states(self, backend: Backend, ids: Array) -> Array:
        """States of tokens before the first convolution, when they know nothing of their place. (...) -> (..., C)."""
        return backend.norm("norm_in", backend.linear("project", backend.embedding("token", ids)))

    def next_states(self, backend: Backend, block: str, x: Array, convolved: Array) -> Array:
        """States after a block from those before it and D h, their convolution. Shapes: two (..., C) -> (..., C)."""
        inner = backend.gelu(backend.linear(f"{block}.expand", backend.norm(f"{block}.norm", convolved)))
        return backend.add(x, backend.linear(f"{block}.contract", inner))

    def states(self, backend: Backend, ids: Array, real: Array | None) -> Array:
        x = self.first_states(backend, ids)
        for block in self.blocks:
            x = self.next_states(backend, block, x, backend.depthwise(f"{block}.depthwise", x, real))  # (B, T, C)
        return backend.norm("norm_out", x)

    def pool(self, backend: Backend, states: Array, real: Array | None) -> Array:
        pooled = backend.concatenate([backend.token_mean(states, real), backend.token_max(states, real)])  # (B, 2 C)
        return backend.linear("pool2", backend.gelu(backend.linear("pool1", pooled)))
