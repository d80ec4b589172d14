"""The model in torch, behind the same calls as `mirenc.model.numpy_runtime`: for GPUs, and to check the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from mirenc.arrays import Float32, Int32, UInt16
from mirenc.model.config import ModelConfig
from mirenc.model.data import sample_data
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.pooling import Pools
from mirenc.model.runtime import Pooled
from mirenc.model.sample import IRSample


class TorchRuntime:
    """Inference with the torch modules: a `mirenc.model.runtime.Runtime`.

    ``weights`` are named as in ``MIREncoder.state_dict``; ``device`` is ``cpu``, ``cuda``, ``cuda:1`` ...
    """

    name = "torch"

    def __init__(self, config: ModelConfig, weights: dict[str, Float32], device: str = "cpu") -> None:
        self.config = config
        self.device = torch.device(device)
        self.model = MIREncoder(config)
        self.model.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
        self.model.to(self.device).eval()

    @torch.inference_mode()
    def encode_texts(
        self,
        text_ids: UInt16,
        text_length: Int32,
        *,
        advance: Callable[[int], None] | None = None,
    ) -> Float32:
        """Statement vectors. Shapes: (U, L), (U,) -> (U, H) float32."""
        vectors = self.model.text.encode_all(torch.from_numpy(text_ids.astype(np.int64)).to(self.device), advance)
        result: Float32 = vectors.cpu().numpy()
        return result

    @torch.inference_mode()
    def forward(
        self, sample: IRSample, pools: Pools, part: str = "both", *, text_vectors: Float32 | None = None
    ) -> Pooled:
        """Pooled vectors of one module. Shapes: ``text_vectors`` (U, H) -> (G, H), (G, d), (G, width) float32."""
        vectors = None if text_vectors is None else torch.from_numpy(text_vectors).to(self.device)
        encoded = self.model(sample_data(sample, pools).to(self.device), part, text_vectors=vectors)
        return Pooled(*(each.cpu().numpy() for each in (encoded.text, encoded.graph, encoded.taught)))

    @torch.inference_mode()
    def whiten(self, part: str, vectors: Float32) -> Float32:
        """Vectors of ``text``, ``graph`` or ``lexical`` as the model gives them to users. Shapes: (n, D) -> (n, D)."""
        result: Float32 = getattr(self.model, f"whiten_{part}")(torch.from_numpy(vectors).to(self.device)).cpu().numpy()
        return result

    @torch.inference_mode()
    def match(self, text: Float32, graph: Float32) -> Float32:
        """Probability that a text and a graph vector come from one IR. Shapes: (B, H), (B, d) -> (B,)."""
        logits = self.model.matching(torch.from_numpy(text).to(self.device), torch.from_numpy(graph).to(self.device))
        result: Float32 = torch.sigmoid(logits).cpu().numpy()
        return result
