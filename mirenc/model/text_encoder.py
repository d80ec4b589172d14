"""The text encoder: what every kind of it has in common, the Transformer, and the masked-language-modelling head.

Paper section 3.2: statements are encoded one by one and pre-trained with MLM. Architecture: BERT's, with the layer norm
before each sub-layer (it trains without a long warm-up). Needs torch; `mirenc.model.numpy_text` computes the same.

    h = LN(E[ids] + P[0..T-1])
    h = h + Attention(LN(h));  h = h + W2 gelu(W1 LN(h))        (layers times)
    statement = mean over tokens of LN(h)                       (or its [CLS] row)

The other kind is `mirenc.model.convolution_encoder`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mirenc.config import TextConfig, TextEncoderConfig, TokenizerConfig

__all__ = ["MLMHead", "TextEncoder", "TransformerEncoder"]

PAD_ID = 3
_SLICE_TOKENS = 16384


def gelu(x: Tensor) -> Tensor:
    """GELU by the tanh formula, which numpy computes as fast as torch does."""
    return F.gelu(x, approximate="tanh")


class TextEncoder(nn.Module, ABC):
    """Statements to vectors: the states of the tokens, and one vector of them.

    Parameters
    ----------
    config : TextConfig
    tokenizer : TokenizerConfig
        Gives the vocabulary size.
    """

    def __init__(self, config: TextConfig, tokenizer: TokenizerConfig) -> None:
        super().__init__()
        self.token = nn.Embedding(tokenizer.vocab_size, config.token_width)
        self.hidden = config.hidden

    @abstractmethod
    def forward(self, ids: Tensor) -> Tensor:
        """Token states.

        Shapes: ids (B, T) int64 -> (B, T, S)
        """

    @abstractmethod
    def pool(self, tokens: Tensor, ids: Tensor) -> Tensor:
        """Statement vectors from token states.

        Shapes: (B, T, S), (B, T) -> (B, H)
        """

    def encode(self, ids: Tensor) -> Tensor:
        """Statement vectors.

        Shapes: ids (B, T) int64 -> (B, H)
        """
        return self.pool(self(ids), ids)

    def encode_all(self, ids: Tensor, advance: Callable[[int], None] | None = None) -> Tensor:
        """Statement vectors of any number of statements, those of similar length together.

        A slice has some thousand tokens and is as wide as its longest statement, up to a multiple of 4: on a CPU every
        new shape of a product costs memory for good. ``advance`` is told how many statements are done.

        Shapes: ids (U, T) -> (U, H)
        """
        length = (ids != PAD_ID).sum(1)
        order = torch.argsort(length, stable=True)
        width = (-(-length[order] // 4) * 4).clamp(max=ids.shape[1]).tolist()
        parts, last = [ids.new_zeros(0, self.hidden, dtype=self.token.weight.dtype)], len(ids)
        while last:
            first = max(0, last - max(1, _SLICE_TOKENS // width[last - 1]))
            parts.append(self.encode(ids[order[first:last], : width[last - 1]]))
            if advance is not None:
                advance(last - first)
            last = first
        return torch.cat(parts[::-1])[torch.argsort(order)]


class Block(nn.Module):
    """One pre-norm Transformer layer."""

    def __init__(self, config: TextEncoderConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.dropout = config.dropout
        self.norm1 = nn.LayerNorm(config.hidden)
        self.qkv = nn.Linear(config.hidden, 3 * config.hidden)
        self.project = nn.Linear(config.hidden, config.hidden)
        self.norm2 = nn.LayerNorm(config.hidden)
        self.expand = nn.Linear(config.hidden, config.feed_forward)
        self.contract = nn.Linear(config.feed_forward, config.hidden)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """One layer; ``mask`` is (B, 1, 1, T), True where a token may be attended to.

        Shapes: (B, T, H) -> (B, T, H)
        """
        batch, length, hidden = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # each (B, heads, T, H / heads)
        y = _attention(q, k, v, mask)
        y = self.project(y.transpose(1, 2).reshape(batch, length, hidden))  # (B, T, H)
        x = x + F.dropout(y, self.dropout, self.training)
        y = self.contract(gelu(self.expand(self.norm2(x))))
        return x + F.dropout(y, self.dropout, self.training)


def _attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """softmax(q k^T / sqrt(d)) v, over the tokens that ``mask`` allows.

    Statements are short, so the whole matrix fits: on a CPU, torch's fused kernel takes up to eight times as long for
    the backward pass in bfloat16 (12 heads of 32, 16 tokens).

    Shapes: three (B, heads, T, d), (B, 1, 1, T) -> (B, heads, T, d)
    """
    if q.device.type != "cpu":
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    scores = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5  # (B, heads, T, T)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    out: Tensor = scores.softmax(-1) @ v
    return out


class TransformerEncoder(TextEncoder):
    """Statements to vectors by a Transformer.

    Parameters
    ----------
    config : TextEncoderConfig
    tokenizer : TokenizerConfig
        Gives vocabulary size and the number of positions.
    """

    def __init__(self, config: TextEncoderConfig, tokenizer: TokenizerConfig) -> None:
        super().__init__(config, tokenizer)
        self.config = config
        self.position = nn.Embedding(tokenizer.max_length, config.hidden)
        self.norm_in = nn.LayerNorm(config.hidden)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm_out = nn.LayerNorm(config.hidden)
        self.apply(initialise)

    def forward(self, ids: Tensor) -> Tensor:
        """Token vectors.

        Shapes: ids (B, T) int64 -> (B, T, H)
        """
        length = ids.shape[1]
        x = self.token(ids) + self.position.weight[:length]  # (B, T, H)
        x = self.norm_in(x)
        pad = ids == PAD_ID
        mask = ~pad[:, None, None, :] if bool(pad.any()) else None
        for block in self.blocks:
            x = block(x, mask)
        tokens: Tensor = self.norm_out(x)
        return tokens

    def pool(self, tokens: Tensor, ids: Tensor) -> Tensor:
        """Statement vectors from token vectors.

        Shapes: (B, T, H), (B, T) -> (B, H)
        """
        if self.config.pooling == "cls":
            return tokens[:, 0]
        real = (ids != PAD_ID).unsqueeze(-1).to(tokens.dtype)  # (B, T, 1)
        return (tokens * real).sum(1) / real.sum(1)


class MLMHead(nn.Module):
    """Token states to scores over the vocabulary; the output matrix is the token embedding (tied).

    scores = LN(gelu(W h)) E^T + b

    Parameters
    ----------
    config : TextConfig
    tokenizer : TokenizerConfig
    """

    def __init__(self, config: TextConfig, tokenizer: TokenizerConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.state_width, config.token_width)
        self.norm = nn.LayerNorm(config.token_width)
        self.bias = nn.Parameter(torch.zeros(tokenizer.vocab_size))
        self.dense.apply(initialise)

    def forward(self, tokens: Tensor, embedding: Tensor) -> Tensor:
        """Scores of masked positions.

        Shapes: tokens (M, S), embedding (V, F) -> (M, V)
        """
        return F.linear(self.norm(gelu(self.dense(tokens))), embedding, self.bias)


def initialise(module: nn.Module) -> None:
    """BERT's: normal with standard deviation 0.02, zero biases."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
