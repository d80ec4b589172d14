"""The fast text encoder: convolutions over the tokens of one statement, no attention.

A block is ConvNeXt's (Liu et al. 2022, https://arxiv.org/abs/2201.03545): a depthwise convolution, layer norm, and two
pointwise layers around a GELU.

    h = LN(P E[ids])                                    E narrow, P its projection to the channels
    h = h + W2 gelu(W1 LN(D h))                         (layers times; D: each channel over `width` tokens)
    h = LN(h)                                           the state of a token, which MLM reads
    statement = V2 gelu(V1 [mean over tokens of h; maximum of h])

Deviation: the paper's text encoder is a Transformer (`mirenc.model.transformer`). A token sees the
``layers * (width - 1)`` nearest ones and knows no position but the distance to a border that it sees.
"""

import torch
from torch import Tensor, nn

from mirenc.model.convolution import ConvolutionConfig
from mirenc.model.tokenizer import PAD, TokenizerConfig
from mirenc.model.torch_encoders import TextEncoder, gelu, initialise


class _Block(nn.Module):
    def __init__(self, config: ConvolutionConfig) -> None:
        super().__init__()
        channels, wide = config.channels, config.expansion * config.channels
        self.depthwise = nn.Conv1d(channels, channels, config.width, padding=config.width // 2, groups=channels)
        self.norm = nn.LayerNorm(channels)
        self.expand = nn.Linear(channels, wide)
        self.contract = nn.Linear(wide, channels)

    def forward(self, x: Tensor, real: Tensor | None) -> Tensor:
        """One layer; ``real`` (B, T, 1) is 0 where there is padding, which is no neighbour. (B, T, C) -> (B, T, C)."""
        seen = x if real is None else x * real
        y = self.depthwise(seen.transpose(1, 2)).transpose(1, 2)  # (B, T, C)
        return x + self.contract(gelu(self.expand(self.norm(y))))


class Encoder(TextEncoder):
    """Statements to vectors by convolutions."""

    def __init__(self, config: ConvolutionConfig, tokenizer: TokenizerConfig) -> None:
        super().__init__(config, tokenizer)
        self.project = nn.Linear(config.embedding, config.channels)
        self.norm_in = nn.LayerNorm(config.channels)
        self.blocks = nn.ModuleList(_Block(config) for _ in range(config.layers))
        self.norm_out = nn.LayerNorm(config.channels)
        self.pool1 = nn.Linear(2 * config.channels, config.feed_forward)
        self.pool2 = nn.Linear(config.feed_forward, config.hidden)
        self.apply(initialise)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.norm_in(self.project(self.token(ids)))  # (B, T, C)
        pad = ids == PAD
        real = (~pad).unsqueeze(-1).to(x.dtype) if bool(pad.any()) else None  # (B, T, 1)
        for block in self.blocks:
            x = block(x, real)
        return self.norm_out(x)

    def pool(self, tokens: Tensor, ids: Tensor) -> Tensor:
        pad = (ids == PAD).unsqueeze(-1)  # (B, T, 1)
        mean = tokens.masked_fill(pad, 0.0).sum(1) / (~pad).sum(1)
        largest = tokens.masked_fill(pad, float("-inf")).amax(1)
        return self.pool2(gelu(self.pool1(torch.cat([mean, largest], -1))))
