"""The Transformer text encoder.

Paper section 3.2: statements are encoded one by one and pre-trained with MLM. Architecture: BERT's, with the layer norm
before each sub-layer (it trains without a long warm-up).

    h = LN(E[ids] + P[0..T-1])
    h = h + Attention(LN(h));  h = h + W2 gelu(W1 LN(h))        (layers times)
    statement = mean over tokens of LN(h)                       (or its [CLS] row)
"""

import torch.nn.functional as F
from torch import Tensor, nn

from mirenc.model.tokenizer import PAD, TokenizerConfig
from mirenc.model.torch_encoders import TextEncoder, gelu, initialise
from mirenc.model.transformer import TextEncoderConfig


class _Block(nn.Module):
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
        """One layer; ``mask`` is (B, 1, 1, T), True where a token may be attended to. (B, T, H) -> (B, T, H)."""
        batch, length, hidden = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # each (B, heads, T, H / heads)
        y = _attention(q, k, v, mask)
        y = self.project(y.transpose(1, 2).reshape(batch, length, hidden))  # (B, T, H)
        x = x + F.dropout(y, self.dropout, self.training)
        y = self.contract(gelu(self.expand(self.norm2(x))))
        return x + F.dropout(y, self.dropout, self.training)


def _attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """softmax(q k^T / sqrt(d)) v, over the tokens that ``mask`` allows. Three (B, heads, T, d) -> (B, heads, T, d)."""
    # On a CPU, torch's fused kernel takes up to eight times as long for the backward pass in bfloat16.
    if q.device.type != "cpu":
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    scores = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5  # (B, heads, T, T)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ v


class Encoder(TextEncoder):
    """Statements to vectors by a Transformer."""

    def __init__(self, config: TextEncoderConfig, tokenizer: TokenizerConfig) -> None:
        super().__init__(config, tokenizer)
        self.config = config
        self.position = nn.Embedding(tokenizer.max_length, config.hidden)
        self.norm_in = nn.LayerNorm(config.hidden)
        self.blocks = nn.ModuleList(_Block(config) for _ in range(config.layers))
        self.norm_out = nn.LayerNorm(config.hidden)
        self.apply(initialise)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.norm_in(self.token(ids) + self.position.weight[: ids.shape[1]])  # (B, T, H)
        pad = ids == PAD
        mask = ~pad[:, None, None, :] if bool(pad.any()) else None
        for block in self.blocks:
            x = block(x, mask)
        return self.norm_out(x)

    def pool(self, tokens: Tensor, ids: Tensor) -> Tensor:
        if self.config.pooling == "cls":
            return tokens[:, 0]
        real = (ids != PAD).unsqueeze(-1).to(tokens.dtype)  # (B, T, 1)
        return (tokens * real).sum(1) / real.sum(1)
