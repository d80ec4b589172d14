"""The encoders as ONNX: that of statements, and the directed one of graphs."""

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from mirenc.base.arrays import Float32
from mirenc.base.errors import needs
from mirenc.model.config import ModelConfig
from mirenc.model.sample import GRAPH_ARRAYS
from mirenc.model.tokenizer import PAD
from mirenc.model.torch_runtime import TorchRuntime

_ARRAYS = GRAPH_ARRAYS[1:]


class _Text(nn.Module):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors of statements, and features of nodes that have them as text. (U, T) -> (U, H), (U, F)."""
        return self.model.text.encode(ids), self.model.text_features(ids)


class _Graph(_Text):
    def forward(self, features: Tensor, statements: Tensor, *arrays: Tensor) -> Tensor:  # type: ignore[override]
        """Node vectors, from both vectors of each node's text and the graph. (N, F), (N, H), ... -> (N, d)."""
        data = SimpleNamespace(**dict(zip(_ARRAYS, arrays, strict=True)))
        return self.model.graph.combine(self.model.graph(data, features, statements))


def export_encoders(config: ModelConfig, weights: dict[str, Float32], folder: Path, name: str) -> list[Path]:
    """Write NAME.text.onnx and, where the graph encoder is directed, NAME.graph.onnx.

    Pooling and whitening are left to who runs them, and so is a GCN, whose edges torch-geometric sorts out in steps
    that a trace cannot take. Raises MissingExtraError: no onnx.
    """
    with needs("onnx", "writing ONNX needs more packages"):
        import onnx  # noqa: F401 - torch asks for it late, and in words of its own
    text, graph = folder / f"{name}.text.onnx", folder / f"{name}.graph.onnx"
    model = TorchRuntime(config, weights).model
    ids = torch.full((2, 4), PAD + 1)
    ids[0, 2:] = PAD  # padding is a branch of the encoder, and a trace has the one that was taken
    _export(_Text(model), {"ids": ids}, text, {"ids": ["texts", "tokens"], "vectors": ["texts"], "features": ["texts"]})
    if config.graph.kind != "directed":
        return [text]
    inputs = {"features": torch.zeros(2, config.text.token_width), "statements": torch.zeros(2, config.text.hidden)}
    inputs |= {array: torch.zeros((2, 2) if array == "edge_index" else 2, dtype=torch.int64) for array in _ARRAYS}
    axes = {array: ["edges" if array.startswith("edge") else "nodes"] for array in inputs}
    _export(_Graph(model), inputs, graph, {**axes, "edge_index": ["", "edges"], "vectors": ["nodes"]})
    return [text, graph]


def _export(model: nn.Module, inputs: dict[str, Tensor], path: Path, axes: dict[str, list[str]]) -> None:
    dynamic = {name: {position: axis for position, axis in enumerate(names) if axis} for name, names in axes.items()}
    outputs = [name for name in axes if name not in inputs]
    with warnings.catch_warnings():
        # It warns of its age, and of sizes that are a model's. The newer one takes no branch on padding.
        warnings.simplefilter("ignore")
        kwargs: dict[str, Any] = {"dynamo": False, "opset_version": 18, "dynamic_axes": dynamic}
        torch.onnx.export(model, tuple(inputs.values()), path, input_names=list(inputs), output_names=outputs, **kwargs)
