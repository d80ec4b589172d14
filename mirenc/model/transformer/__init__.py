"""A Transformer over the tokens of one statement (paper section 3.2)."""

from typing import Literal, Self

from pydantic import Field, model_validator

from mirenc.model.kinds import Shapes, TextKind


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

    def add_shapes(self, shapes: Shapes, max_length: int) -> None:
        shapes["text.position.weight"] = (max_length, self.hidden)
        for block in (f"text.blocks.{layer}" for layer in range(self.layers)):
            shapes.norm(f"{block}.norm1", self.hidden)
            shapes.norm(f"{block}.norm2", self.hidden)
            shapes.linear(f"{block}.qkv", self.hidden, 3 * self.hidden)
            shapes.linear(f"{block}.project", self.hidden, self.hidden)
            shapes.linear(f"{block}.expand", self.hidden, self.feed_forward)
            shapes.linear(f"{block}.contract", self.feed_forward, self.hidden)
        shapes.norm("text.norm_in", self.hidden)
        shapes.norm("text.norm_out", self.hidden)

    @property
    def card(self) -> str:
        return f"{self.layers} layers, hidden {self.hidden}, {self.heads} heads"
