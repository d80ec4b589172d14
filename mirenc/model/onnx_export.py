"""The encoders as ONNX: that of statements, and the directed one of graphs, whose sizes no tensor decides."""

import warnings
from pathlib import Path
from types import SimpleNamespace

import torch
from torch import Tensor, nn

from mirenc.arrays import Float32
from mirenc.errors import needs
from mirenc.model.config import ModelConfig
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.sample import GRAPH_ARRAYS
from mirenc.model.torch_runtime import TorchRuntime
from mirenc.tokenizer import PAD

_OPSET = 18
_ARRAYS = GRAPH_ARRAYS[1:]


class _Text(nn.Module):
    def __init__(self, model: MIREncoder) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors of texts, and features of nodes that have them. (U, T) int64 -> (U, H), (U, F)."""
        return self.model.text.encode(ids), self.model.text_features(ids)


class _Graph(_Text):
    def forward(self, features: Tensor, statements: Tensor, *arrays: Tensor) -> Tensor:  # type: ignore[override]
        """Node vectors, of features and statement vectors of each node's text. (N, F), (N, H), ... -> (N, d)."""
        data: object = SimpleNamespace(**dict(zip(_ARRAYS, arrays, strict=True)))
        return self.model.graph.combine(self.model.graph(data, features, statements))


def export_encoders(config: ModelConfig, weights: dict[str, Float32], folder: Path, name: str) -> list[Path]:
    """Write NAME.text.onnx and, where the graph encoder is directed, NAME.graph.onnx: the files.

    A GCN is left out: torch-geometric sorts out its edges in steps that a trace cannot take. Raises MissingExtraError.
    """
    with needs("onnx", "writing ONNX needs more packages"):
        import onnx  # noqa: F401 - torch asks for it late, and in words of its own
    model = TorchRuntime(config, weights).model
    ids = torch.full((2, 4), PAD + 1)
    ids[0, 2:] = PAD  # padding is a branch of the encoder, and a trace has the one that was taken
    out = folder / f"{name}.text.onnx"
    each = {"ids": {0: "texts", 1: "tokens"}, "vectors": {0: "texts"}, "features": {0: "texts"}}
    _export(_Text(model), (ids,), out, each, ["ids"])
    if config.graph.kind != "directed":
        return [out]
    made = [torch.zeros(2, config.text.token_width), torch.zeros(2, config.text.hidden)]
    for array in _ARRAYS:
        shape = (2, 2) if array == "edge_index" else (2,)
        made.append(torch.zeros(shape, dtype=torch.int64))
    inputs = ["features", "statements", *_ARRAYS]
    each = {one: {1 if one == "edge_index" else 0: "edges" if "edge" in one else "nodes"} for one in inputs}
    graph = folder / f"{name}.graph.onnx"
    _export(_Graph(model), tuple(made), graph, {**each, "vectors": {0: "nodes"}}, inputs)
    return [out, graph]


def _export(
    module: nn.Module, made: tuple[Tensor, ...], to: Path, axes: dict[str, dict[int, str]], inputs: list[str]
) -> None:
    with warnings.catch_warnings():
        # Of its own age, and of sizes that are a model's, not an input's. The newer exporter, which wants another
        # package, takes no branch on padding.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module,
            made,
            to,
            dynamo=False,
            opset_version=_OPSET,
            input_names=inputs,
            output_names=[one for one in axes if one not in inputs],
            dynamic_axes=axes,
        )
