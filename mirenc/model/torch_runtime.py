"""The model in torch, behind the same four calls as `mirenc.model.numpy_runtime`: for GPUs, and to check the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from mirenc.config import ModelConfig
from mirenc.graph import NodeKind
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.pooling import item_weights
from mirenc.sample import IRSample

__all__ = ["TorchRuntime"]

Float32 = NDArray[np.float32]
_CHUNK_TOKENS = 16384


class TorchRuntime:
    """Inference with the torch modules.

    Parameters
    ----------
    config : ModelConfig
    weights : dict of float32 arrays
        Named as in ``MIREncoder.state_dict``.
    device : str
        ``cpu``, ``cuda``, ``cuda:1`` ...
    """

    name = "torch"

    def __init__(self, config: ModelConfig, weights: dict[str, Float32], device: str = "cpu") -> None:
        self.config = config
        self.device = torch.device(device)
        self.model = MIREncoder(config)
        self.model.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
        self.model.to(self.device).eval()

    def _to(self, array: NDArray[np.generic], dtype: torch.dtype = torch.int64) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array).astype(np.int64)).to(self.device, dtype)

    @torch.inference_mode()
    def encode_texts(
        self,
        text_ids: NDArray[np.uint16],
        text_length: NDArray[np.int32],
        *,
        advance: Callable[[int], None] | None = None,
    ) -> Float32:
        """Statement vectors. Shapes: (U, L), (U,) -> (U, H) float32."""
        out = np.empty((len(text_ids), self.config.text.hidden), dtype=np.float32)
        if len(out) == 0:
            return out
        order = np.argsort(text_length, kind="stable")
        lengths, starts = np.unique(text_length[order], return_index=True)
        for length, first, last in zip(lengths, starts, [*starts[1:], len(order)], strict=True):
            step = max(1, _CHUNK_TOKENS // int(length))
            for at in range(int(first), int(last), step):
                rows = order[at : min(at + step, int(last))]
                out[rows] = self.model.text.encode(self._to(text_ids[rows, : int(length)])).cpu().numpy()
                if advance is not None:
                    advance(len(rows))
        return out

    @torch.inference_mode()
    def encode_nodes(self, sample: IRSample) -> Float32:
        """Node vectors. (N, d) float32."""
        features = self.model.text_features(self._to(sample.text_ids))
        per_flow = self.model.graph(
            features[self._to(sample.node_row)],
            self._to(sample.node_kind),
            self._to(sample.edge_index),
            self._to(sample.edge_flow),
        )
        result: Float32 = self.model.graph.combine(per_flow).cpu().numpy()
        return result

    def encode_groups(
        self, sample: IRSample, group: NDArray[np.int32], groups: int, *, weighting: str = "count"
    ) -> Float32:
        """Weighted mean of the node vectors of each group; negative groups are left out. (groups, d) float32."""
        nodes = self.encode_nodes(sample).astype(np.float64)
        pair = sample.node_row.astype(np.int64) * len(NodeKind) + sample.node_kind
        weights = item_weights(pair, group, groups, weighting)
        inside = group >= 0
        out = np.zeros((groups, nodes.shape[1]))
        np.add.at(out, group[inside], nodes[inside] * weights[inside, None])
        return out.astype(np.float32)

    @torch.inference_mode()
    def whiten(self, part: str, vectors: Float32) -> Float32:
        """Pooled vectors of ``text`` or ``graph`` as the model gives them to users. Shapes: (n, D) -> (n, D)."""
        if not self.config.pooling.whiten:
            return vectors
        layer = getattr(self.model, f"whiten_{part}")
        result: Float32 = layer(torch.from_numpy(vectors).to(self.device)).cpu().numpy()
        return result

    @torch.inference_mode()
    def match(self, text: Float32, graph: Float32) -> Float32:
        """Probability that a text and a graph vector come from one IR. Shapes: (B, H), (B, d) -> (B,)."""
        logits = self.model.matching(torch.from_numpy(text).to(self.device), torch.from_numpy(graph).to(self.device))
        result: Float32 = torch.sigmoid(logits).cpu().numpy()
        return result
