"""Declared layers as torch modules, with the operations of `mirenc.model.numpy_layers`; encoders, heads."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import to_undirected

from mirenc.model.config import GraphConfig, TextConfig
from mirenc.model.kinds import Depthwise, Embedding, GraphConvolution, Layer, Linear, Norm, Weight
from mirenc.model.tokenizer import PAD

# Tokens that are encoded at once: on a CPU as many as its cache takes.
_SLICE_TOKENS, _SLICE_TOKENS_GPU = 4096, 16384


class Neighbours(NamedTuple):
    """E edges, K pairs of a relation and a node with neighbours under it."""

    source: Tensor  # (E,) node an edge comes from
    pair: Tensor  # (E,) pair it goes to
    share: Tensor  # (E,) float32, one over the edges of that pair: they sum to 1
    node: Tensor  # (K,) node of each pair; pairs are sorted by relation
    sizes: list[int]  # pairs of each relation


def _module(layer: Layer) -> nn.Module | nn.Parameter:
    """A layer with its first weights, as torch draws them."""
    match layer:
        case Linear():
            return nn.Linear(layer.inputs, layer.outputs, layer.bias)
        case Norm():
            return nn.LayerNorm(layer.size)
        case Embedding():
            return nn.Embedding(layer.rows, layer.width)
        case Depthwise(channels, width):
            return nn.Conv1d(channels, channels, width, padding=width // 2, groups=channels)
        case GraphConvolution():
            return GCNConv(layer.inputs, layer.outputs)
        case Weight():
            values = torch.zeros(layer.shape)
            return nn.Parameter(nn.init.normal_(values, std=layer.std) if layer.std else values)


class TorchLayers(nn.Module):
    """Torch modules of declared layers; the layer ``blocks.0.norm`` is the module of that path."""

    def __init__(self, layers: Mapping[str, Layer]) -> None:
        super().__init__()
        self._by_name: dict[str, Any] = {}
        for name, layer in layers.items():
            module = self._by_name[name] = _module(layer)
            parent: nn.Module = self
            *path, last = name.split(".")
            for part in path:
                if part not in parent._modules:
                    parent.add_module(part, nn.Module())
                parent = parent.get_submodule(part)
            setattr(parent, last, module)
        for name, layer in layers.items():
            if isinstance(layer, (Linear, Embedding)) and layer.std is not None:
                nn.init.normal_(self._by_name[name].weight, std=layer.std)
                if isinstance(layer, Linear) and layer.bias:
                    nn.init.zeros_(self._by_name[name].bias)

    def weight(self, name: str) -> Tensor:
        return self.get_parameter(name)

    def embedding(self, name: str, rows: Tensor) -> Tensor:
        return self._by_name[name](rows)

    def linear(self, name: str, x: Tensor) -> Tensor:
        return self._by_name[name](x)

    def norm(self, name: str, x: Tensor) -> Tensor:
        return self._by_name[name](x)

    def constant(self, values: NDArray[Any]) -> Tensor:
        return torch.from_numpy(values).to(next(self.parameters()).device)

    def gelu(self, x: Tensor) -> Tensor:
        return F.gelu(x, approximate="tanh")

    def relu(self, x: Tensor) -> Tensor:
        return F.relu(x)

    def log1p(self, x: Tensor) -> Tensor:
        return torch.log1p(x)

    def concatenate(self, parts: Sequence[Tensor]) -> Tensor:
        return torch.cat(list(parts), -1)

    def split(self, x: Tensor, parts: int) -> list[Tensor]:
        return list(x.chunk(parts, -1))

    def add(self, x: Tensor, change: Tensor) -> Tensor:
        return x + change

    def dropout(self, x: Tensor, share: float) -> Tensor:
        return F.dropout(x, share, self.training)

    def attention(self, qkv: Tensor, heads: int, real: Tensor | None) -> Tensor:
        batch, length, width = qkv.shape
        q, k, v = qkv.view(batch, length, 3, heads, -1).permute(2, 0, 3, 1, 4)  # each (B, heads, T, d)
        mask = None if real is None else real[:, None, None, :]
        # On a CPU, torch's fused kernel takes up to eight times as long for the backward pass in bfloat16.
        if q.device.type != "cpu":
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            scores = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5  # (B, heads, T, T)
            if mask is not None:
                scores = scores.masked_fill(~mask, float("-inf"))
            y = scores.softmax(-1) @ v
        return y.transpose(1, 2).reshape(batch, length, width // 3)

    def depthwise(self, name: str, x: Tensor, real: Tensor | None) -> Tensor:
        masked = x if real is None else x * real.unsqueeze(-1).to(x.dtype)
        return self._by_name[name](masked.transpose(1, 2)).transpose(1, 2)

    def token_mean(self, x: Tensor, real: Tensor | None) -> Tensor:
        if real is None:
            return x.mean(1)
        mask = real.unsqueeze(-1)
        return x.masked_fill(~mask, 0.0).sum(1) / mask.sum(1)

    def token_max(self, x: Tensor, real: Tensor | None) -> Tensor:
        return (x if real is None else x.masked_fill(~real.unsqueeze(-1), float("-inf"))).amax(1)

    def add_rows(self, x: Tensor, chosen: Tensor, compute: Callable[[Any], Tensor]) -> Tensor:
        return x + compute(slice(None)) * chosen.unsqueeze(-1)

    def graph_convolution(self, name: str, x: Tensor, edges: Tensor) -> Tensor:
        return self._by_name[name](x, to_undirected(edges, num_nodes=x.shape[0]))

    def neighbours(self, edges: Tensor, relation: Tensor, relations: int, nodes: int) -> Neighbours:
        source, target = edges
        if torch.onnx.is_in_onnx_export():  # all pairs, so that no size depends on the edges
            pair = relation * nodes + target
            ones = torch.ones_like(pair, dtype=torch.float32)[:, None]
            count = _add_rows(torch.zeros(relations * nodes, 1), pair, ones)[:, 0]
            node = torch.arange(nodes).repeat(relations)
            return Neighbours(source, pair, 1.0 / count[pair], node, [nodes] * relations)
        key, pair, count = torch.unique(relation * nodes + target, return_inverse=True, return_counts=True)
        sizes = torch.bincount(key // max(nodes, 1), minlength=relations).tolist()
        return Neighbours(source, pair, 1.0 / count[pair], key % max(nodes, 1), sizes)

    def relation_means(self, base: Tensor, x: Tensor, neighbours: Neighbours, mix: Tensor, basis: Tensor) -> Tensor:
        zeros = x.new_zeros(neighbours.node.shape[0], x.shape[1])
        mean = _add_rows(zeros, neighbours.pair, x[neighbours.source] * neighbours.share[:, None])
        matrices = torch.einsum("rb,bij->rij", mix, basis)
        products = [part @ matrix for part, matrix in zip(torch.split(mean, neighbours.sizes), matrices, strict=True)]
        return _add_rows(base, neighbours.node, torch.cat(products))


def _add_rows(rows: Tensor, index: Tensor, addends: Tensor) -> Tensor:
    """``addends``, each row added to the one that the index says; ONNX has no other sum of rows that repeat."""
    if torch.onnx.is_in_onnx_export():
        return rows.scatter_add(0, index[:, None].expand_as(addends), addends)
    return rows.index_add(0, index, addends)


class TextEncoder(TorchLayers):
    """Statements to vectors: the states of the tokens, and one vector of them."""

    token: nn.Embedding
    blocks: nn.Module

    def __init__(self, config: TextConfig, layers: Mapping[str, Layer]) -> None:
        super().__init__(layers)
        self.config = config

    def forward(self, ids: Tensor) -> Tensor:
        """Token states. Shapes: ids (B, T) int64 -> (B, T, S)."""
        real = ids != PAD
        return self.config.states(self, ids, None if bool(real.all()) else real)

    def pool(self, tokens: Tensor, ids: Tensor) -> Tensor:
        """Statement vectors from token states. Shapes: (B, T, S), (B, T) -> (B, H)."""
        return self.config.pool(self, tokens, ids != PAD)

    def encode(self, ids: Tensor) -> Tensor:
        """Statement vectors. Shapes: ids (B, T) int64 -> (B, H)."""
        return self.pool(self(ids), ids)

    def encode_all(self, ids: Tensor, advance: Callable[[int], None] | None = None) -> Tensor:
        """Statement vectors, similar lengths together; ``advance`` takes how many are done. (U, T) -> (U, H)."""
        length = (ids != PAD).sum(1)
        order = torch.argsort(length, stable=True)
        # Up to a multiple of 4: on a CPU every new shape of a product costs memory for good.
        width = (-(-length[order] // 4) * 4).clamp(max=ids.shape[1]).tolist()
        tokens = _SLICE_TOKENS if ids.device.type == "cpu" else _SLICE_TOKENS_GPU
        parts, last = [ids.new_zeros(0, self.config.hidden, dtype=self.token.weight.dtype)], len(ids)
        while last:
            first = max(0, last - max(1, tokens // width[last - 1]))
            parts.append(self.encode(ids[order[first:last], : width[last - 1]]))
            if advance is not None:
                advance(last - first)
            last = first
        return torch.cat(parts[::-1])[torch.argsort(order)]


class GraphEncoder(TorchLayers):
    """Nodes to vectors."""

    def __init__(self, config: GraphConfig, layers: Mapping[str, Layer]) -> None:
        super().__init__(layers)
        self.config = config

    def forward(self, data: Any, features: Tensor, statements: Tensor | None = None) -> list[Tensor]:
        """Node vectors by flow: `mirenc.model.kinds.GraphKind.node_vectors`. Shapes: (N, F), (N, H) -> 3 x (N, d)."""
        return self.config.node_vectors(self, data, features, statements)

    @staticmethod
    def combine(per_flow: list[Tensor]) -> Tensor:
        """One vector a node. Shapes: 3 x (N, d) -> (N, d)."""
        return torch.stack(per_flow).mean(0)


class Head(TorchLayers):
    """Layers and the formula that computes with them."""

    def __init__(self, layers: Mapping[str, Layer], formula: Callable[..., Tensor]) -> None:
        super().__init__(layers)
        self._formula = formula

    def forward(self, *inputs: Tensor) -> Tensor:
        return self._formula(self, *inputs)


def edge_scores(z: Tensor, pairs: Tensor) -> Tensor:
    """Inner-product decoder: logits z_i . z_j of an edge between each pair. Shapes: (N, d), (2, P) -> (P,)."""
    return (z[pairs[0]] * z[pairs[1]]).sum(-1)
