"""Both kinds of text encoder in numpy. Formulae: `mirenc.model.text_encoder` and `mirenc.model.convolution_encoder`.

An encoder is given statements of equal length: there is no padding and no mask, and the borders of a convolution are
those of the array.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mirenc.config import ConvolutionConfig, TextConfig, TextEncoderConfig
from mirenc.model.numpy_layers import Float32, Layers, gelu, softmax

__all__ = ["make_text_encoder"]

# Vectors of statements of equal length. Shapes: (B, T) uint16 -> (B, H).
Encode = Callable[[NDArray[np.uint16]], Float32]


def make_text_encoder(config: TextConfig, layers: Layers) -> Encode:
    """What encodes statements of equal length."""
    if isinstance(config, ConvolutionConfig):
        return _Convolution(config, layers)
    return _Transformer(config, layers)


class _Transformer:
    def __init__(self, config: TextEncoderConfig, layers: Layers) -> None:
        self.config, self.w, self._linear, self._norm = config, layers.w, layers.linear, layers.norm

    def __call__(self, ids: NDArray[np.uint16]) -> Float32:
        """Vectors of statements of equal length. Shapes: (B, T) -> (B, H)."""
        batch, length = ids.shape
        text = self.config
        x = self.w["text.token.weight"][ids] + self.w["text.position.weight"][:length]
        x = self._norm(x, "text.norm_in").reshape(batch * length, -1)  # (B T, H)
        for layer in range(text.layers):
            prefix = f"text.blocks.{layer}"
            qkv = self._linear(self._norm(x, f"{prefix}.norm1"), f"{prefix}.qkv")
            qkv = qkv.reshape(batch, length, 3, text.heads, -1).transpose(2, 0, 3, 1, 4)
            q, k, v = qkv[0], qkv[1], qkv[2]  # each (B, heads, T, H / heads)
            scores = q @ k.transpose(0, 1, 3, 2)  # (B, heads, T, T)
            scores *= np.float32(1.0 / np.sqrt(q.shape[-1]))
            y = softmax(scores) @ v  # (B, heads, T, H / heads)
            y = y.transpose(0, 2, 1, 3).reshape(batch * length, -1)
            x += self._linear(y, f"{prefix}.project")
            y = gelu(self._linear(self._norm(x, f"{prefix}.norm2"), f"{prefix}.expand"))
            x += self._linear(y, f"{prefix}.contract")
        x = self._norm(x, "text.norm_out").reshape(batch, length, -1)
        if text.pooling == "cls":
            return np.ascontiguousarray(x[:, 0])
        result: Float32 = x.mean(1)
        return result


class _Convolution:
    def __init__(self, config: ConvolutionConfig, layers: Layers) -> None:
        self.config, self.w, self._linear, self._norm = config, layers.w, layers.linear, layers.norm
        # (layers, width, C): one row a neighbour.
        self.taps = [
            np.ascontiguousarray(layers.w[f"text.blocks.{layer}.depthwise.weight"][:, 0].T)
            for layer in range(config.layers)
        ]

    def __call__(self, ids: NDArray[np.uint16]) -> Float32:
        """Vectors of statements of equal length. Shapes: (B, T) -> (B, H)."""
        batch, length = ids.shape
        # Before the first convolution a token knows nothing of its place: once per distinct piece.
        piece, row = np.unique(ids, return_inverse=True)
        known = self._norm(
            self._linear(self.w["text.token.weight"][piece].astype(np.float32), "text.project"), "text.norm_in"
        )
        x = known[row.reshape(-1)]  # (B T, C)
        for layer, taps in enumerate(self.taps):
            prefix = f"text.blocks.{layer}"
            y = _depthwise(x.reshape(batch, length, -1), taps, self.w[f"{prefix}.depthwise.bias"])
            y = self._norm(y, f"{prefix}.norm").reshape(batch * length, -1)  # (B T, C)
            x += self._linear(gelu(self._linear(y, f"{prefix}.expand")), f"{prefix}.contract")
        x = self._norm(x, "text.norm_out").reshape(batch, length, -1)
        pooled = np.concatenate([x.mean(1), x.max(1)], -1)  # (B, 2 C)
        return self._linear(gelu(self._linear(pooled, "text.pool1")), "text.pool2")


def _depthwise(x: Float32, taps: Float32, bias: Float32) -> Float32:
    """Each channel over its neighbours along the tokens, zero beyond the borders.

    Shapes: (B, T, C), (width, C), (C,) -> (B, T, C)
    """
    middle = len(taps) // 2
    y: Float32 = x * taps[middle]
    for shift in range(1, min(middle + 1, x.shape[1])):
        y[:, shift:] += x[:, :-shift] * taps[middle - shift]
        y[:, :-shift] += x[:, shift:] * taps[middle + shift]
    y += bias
    return y
