"""The Transformer text encoder (paper section 3.2): statements one by one, pre-trained with MLM.

Architecture: BERT's, with the layer norm before each sub-layer (it trains without a long warm-up).

    h = LN(E[ids] + P[0..T-1])
    h = h + Attention(LN(h));  h = h + W2 gelu(W1 LN(h))        (layers times)
    statement = mean over tokens of LN(h)                       (or its [CLS] row)
"""

from typing import Literal, Self

from pydantic import Field, model_validator

from mirenc.model.kinds import BERT_STD, Array, Backend, Embedding, Layers, Linear, Norm, TextKind


class TextEncoderConfig(TextKind):
    """Transformer over one statement (paper section 3.2: MLM per statement)."""

    kind: Literal["transformer"] = "transformer"
    hidden: int = Field(128, ge=8)
    layers: int = Field(3, ge=1)
    heads: int = Field(4, ge=1)
    feed_forward: int = Field(512, ge=8)
    dropout: float = Field(0.0, ge=0.0, lt=1.0)
    pooling: Literal["mean", "cls"] = "mean"

    @model_validator(mode="after")
    def _heads_divide(self) -> Self:
        if self.hidden % self.heads:
            raise ValueError(f"hidden ({self.hidden}) must be a multiple of heads ({self.heads})")
        return self

    @property
    def token_width(self) -> int:
        return self.hidden

    @property
    def state_width(self) -> int:
        return self.hidden

    @property
    def card(self) -> str:
        return f"{self.layers} layers, hidden {self.hidden}, {self.heads} heads"

    def declare(self, max_length: int) -> Layers:
        hidden, inner_width = self.hidden, self.feed_forward
        layers: Layers = {"position": Embedding(max_length, hidden), "norm_in": Norm(hidden)}
        for block in (f"blocks.{number}" for number in range(self.layers)):
            layers |= {
                f"{block}.norm1": Norm(hidden),
                f"{block}.qkv": Linear(hidden, 3 * hidden, std=BERT_STD),
                f"{block}.project": Linear(hidden, hidden, std=BERT_STD),
                f"{block}.norm2": Norm(hidden),
                f"{block}.expand": Linear(hidden, inner_width, std=BERT_STD),
                f"{block}.contract": Linear(inner_width, hidden, std=BERT_STD),
            }
        return layers | {"norm_out": Norm(hidden)}

    def states(self, backend: Backend, ids: Array, real: Array | None) -> Array:
        linear, norm = backend.linear, backend.norm
        position = backend.weight("position.weight")[: ids.shape[1]]
        x = norm("norm_in", backend.embedding("token", ids) + position)  # (B, T, H)
        for block in (f"blocks.{number}" for number in range(self.layers)):
            y = backend.attention(linear(f"{block}.qkv", norm(f"{block}.norm1", x)), self.heads, real)
            x = backend.add(x, backend.dropout(linear(f"{block}.project", y), self.dropout))
            y = backend.gelu(linear(f"{block}.expand", norm(f"{block}.norm2", x)))
            x = backend.add(x, backend.dropout(linear(f"{block}.contract", y), self.dropout))
        return norm("norm_out", x)

    def pool(self, backend: Backend, states: Array, real: Array | None) -> Array:
        return states[:, 0] if self.pooling == "cls" else backend.token_mean(states, real)
