"""Tokenizer and text encoders."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from mirenc.config.base import _Config

__all__ = ["ConvolutionConfig", "TextConfig", "TextEncoderConfig", "TokenizerConfig"]


def _kind(values: Any) -> str:
    """Which class a table of values is for; a table of a release that had one kind does not say."""
    kind = values.get("kind") if isinstance(values, dict) else getattr(values, "kind", None)
    return "transformer" if kind is None else str(kind)


class TokenizerConfig(_Config):
    """WordPiece tokenizer (paper section 3.1).

    Attributes
    ----------
    vocab_size : int
        Pieces, special tokens included.
    max_length : int
        Tokens of a statement, [CLS] and [SEP] included; longer ones are cut.
    normalisation : str
        Level of statement normalisation the pieces are trained on.
    min_frequency : int
        A piece must occur this often in the training statements.
    """

    vocab_size: int = Field(4096, ge=256, le=65535)
    max_length: int = Field(64, ge=8, le=512)
    normalisation: Literal["none", "locals"] = "locals"
    min_frequency: int = Field(2, ge=1)


class TextEncoderConfig(_Config):
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
        """Components of a row of the token embedding."""
        return self.hidden

    @property
    def state_width(self) -> int:
        """Components of a token's state after the last layer."""
        return self.hidden


class ConvolutionConfig(_Config):
    """Convolutions over the tokens of one statement: some thirty times cheaper than the Transformer of `base`.

    Attributes
    ----------
    embedding : int
        Width of the token embedding, which is projected to ``channels``.
    channels : int
        Width of a token's state.
    layers : int
    width : int
        Tokens that a convolution sees, an odd number.
    expansion : int
        The pointwise layers of a block have ``expansion * channels`` components between them.
    feed_forward : int
        Width of the hidden layer that makes the statement vector of mean and maximum.
    hidden : int
        Width of the statement vector.
    """

    kind: Literal["convolution"] = "convolution"
    embedding: int = Field(128, ge=8)
    channels: int = Field(192, ge=8)
    layers: int = Field(2, ge=1)
    width: int = Field(5, ge=1)
    expansion: int = Field(2, ge=1)
    feed_forward: int = Field(512, ge=8)
    hidden: int = Field(384, ge=8)

    @model_validator(mode="after")
    def _odd(self) -> Self:
        if self.width % 2 == 0:
            raise ValueError(f"width ({self.width}) must be odd, so that a token is in the middle of what it sees")
        return self

    @property
    def token_width(self) -> int:
        """Components of a row of the token embedding."""
        return self.embedding

    @property
    def state_width(self) -> int:
        """Components of a token's state after the last layer."""
        return self.channels


TextConfig = Annotated[
    Annotated[TextEncoderConfig, Tag("transformer")] | Annotated[ConvolutionConfig, Tag("convolution")],
    Discriminator(
        _kind,
        custom_error_type="kind",
        custom_error_message="kind must be 'transformer' or 'convolution'",
    ),
]
