"""The fast text encoder in numpy; formulae: `mirenc.model.convolution.torch`."""

import numpy as np

from mirenc.base.arrays import Float32, UInt16
from mirenc.model.convolution import ConvolutionConfig
from mirenc.model.layers import Layers, gelu


class Encoder:
    """Statements of equal length to vectors, (B, T) -> (B, H): the borders of a convolution are those of the array."""

    def __init__(self, config: ConvolutionConfig, layers: Layers) -> None:
        self.w, self._linear, self._norm = layers.w, layers.linear, layers.norm
        # (layers, width, C): one row a neighbour.
        weights = (layers.w[f"text.blocks.{layer}.depthwise.weight"] for layer in range(config.layers))
        self.taps = [np.ascontiguousarray(weight[:, 0].T) for weight in weights]

    def __call__(self, ids: UInt16) -> Float32:
        batch, length = ids.shape
        # Before the first convolution a token knows nothing of its place: once per distinct piece.
        piece, row = np.unique(ids, return_inverse=True)
        first = self._linear(self.w["text.token.weight"][piece].astype(np.float32), "text.project")
        x = self._norm(first, "text.norm_in")[row.reshape(-1)]  # (B T, C)
        for layer, taps in enumerate(self.taps):
            prefix = f"text.blocks.{layer}"
            y = _depthwise(x.reshape(batch, length, -1), taps, self.w[f"{prefix}.depthwise.bias"])
            y = self._norm(y, f"{prefix}.norm").reshape(batch * length, -1)  # (B T, C)
            x += self._linear(gelu(self._linear(y, f"{prefix}.expand")), f"{prefix}.contract")
        x = self._norm(x, "text.norm_out").reshape(batch, length, -1)
        pooled = np.concatenate([x.mean(1), x.max(1)], -1)  # (B, 2 C)
        return self._linear(gelu(self._linear(pooled, "text.pool1")), "text.pool2")


def _depthwise(x: Float32, taps: Float32, bias: Float32) -> Float32:
    """Each channel over its neighbours along the tokens, zero beyond. (B, T, C), (width, C), (C,) -> (B, T, C)."""
    middle = len(taps) // 2
    y: Float32 = x * taps[middle]
    for shift in range(1, min(middle + 1, x.shape[1])):
        y[:, shift:] += x[:, :-shift] * taps[middle - shift]
        y[:, :-shift] += x[:, shift:] * taps[middle + shift]
    y += bias
    return y
