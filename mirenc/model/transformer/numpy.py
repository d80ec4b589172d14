"""The Transformer text encoder in numpy; formulae: `mirenc.model.transformer.torch`."""

import numpy as np

from mirenc.base.arrays import Float32, UInt16
from mirenc.model.layers import Layers, gelu, softmax
from mirenc.model.transformer import TextEncoderConfig


class Encoder:
    """Statements of equal length to vectors, (B, T) -> (B, H): no padding, and no mask."""

    def __init__(self, config: TextEncoderConfig, layers: Layers) -> None:
        self.config, self.w, self._linear, self._norm = config, layers.w, layers.linear, layers.norm

    def __call__(self, ids: UInt16) -> Float32:
        batch, length = ids.shape
        x = self.w["text.token.weight"][ids] + self.w["text.position.weight"][:length]
        x = self._norm(x, "text.norm_in").reshape(batch * length, -1)  # (B T, H)
        for prefix in (f"text.blocks.{layer}" for layer in range(self.config.layers)):
            qkv = self._linear(self._norm(x, f"{prefix}.norm1"), f"{prefix}.qkv")
            qkv = qkv.reshape(batch, length, 3, self.config.heads, -1).transpose(2, 0, 3, 1, 4)
            q, k, v = qkv[0], qkv[1], qkv[2]  # each (B, heads, T, H / heads)
            scores = q @ k.transpose(0, 1, 3, 2)  # (B, heads, T, T)
            scores *= np.float32(1.0 / np.sqrt(q.shape[-1]))
            y = softmax(scores) @ v  # (B, heads, T, H / heads)
            x += self._linear(y.transpose(0, 2, 1, 3).reshape(batch * length, -1), f"{prefix}.project")
            y = gelu(self._linear(self._norm(x, f"{prefix}.norm2"), f"{prefix}.expand"))
            x += self._linear(y, f"{prefix}.contract")
        x = self._norm(x, "text.norm_out").reshape(batch, length, -1)
        if self.config.pooling == "cls":
            return np.ascontiguousarray(x[:, 0])
        return x.mean(1)
