"""The model in torch, behind the same calls as `mirenc.model.numpy_runtime`: for GPUs, and to check the other."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mirenc.base.arrays import Float32, Int32, UInt16
from mirenc.model.config import ModelConfig
from mirenc.model.data import sample_data
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.pooling import Pools
from mirenc.model.runtime import Pooled
from mirenc.model.sample import IRSample


class TorchRuntime:
    """A `Runtime` with the torch modules; ``weights`` are named as in ``MIREncoder.state_dict``."""

    name = "torch"

    def __init__(self, config: ModelConfig, weights: dict[str, Float32], device: str = "cpu") -> None:
        self.config = config
        self.device = torch.device(device)
        self.model = MIREncoder(config)
        self.model.load_state_dict({name: torch.tensor(value) for name, value in weights.items()})
        self.model.to(self.device).eval()

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(self.device)

    @torch.inference_mode()
    def encode_texts(
        self, text_ids: UInt16, text_length: Int32, *, advance: Callable[[int], None] | None = None
    ) -> Float32:
        return _array(self.model.text.encode_all(self._tensor(text_ids.astype(np.int64)), advance))

    @torch.inference_mode()
    def forward(
        self, sample: IRSample, pools: Pools, part: str = "both", *, text_vectors: Float32 | None = None
    ) -> Pooled:
        vectors = None if text_vectors is None else self._tensor(text_vectors)
        encoded = self.model(sample_data(sample, pools).to(self.device), part, text_vectors=vectors)
        return Pooled(_array(encoded.text), _array(encoded.graph), _array(encoded.taught))

    @torch.inference_mode()
    def match(self, text: Float32, graph: Float32) -> Float32:
        return _array(torch.sigmoid(self.model.matching(self._tensor(text), self._tensor(graph))))


def _array(tensor: Tensor) -> Float32:
    return tensor.cpu().numpy()
