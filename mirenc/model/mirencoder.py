"""`MIREncoder`: text encoder, graph encoder and matching head in one module (paper figure 1, section 3.4)."""

from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mirenc.model.config import ModelConfig, declared_layers
from mirenc.model.data import IRData
from mirenc.model.graph import NodeKind
from mirenc.model.heads import matching_logits, taught_vectors
from mirenc.model.kinds import COUNTS
from mirenc.model.tokenizer import CLS, PAD, SEP
from mirenc.model.torch_layers import GraphEncoder, Head, TextEncoder, TorchLayers


class Encoded(NamedTuple):
    """What one forward pass gives: `mirenc.model.runtime.Pooled`, and node vectors (N, d) by flow, if asked for."""

    text: Tensor
    graph: Tensor
    flows: list[Tensor]
    taught: Tensor


def _token_scores(layers: TorchLayers, tokens: Tensor, embedding: Tensor) -> Tensor:
    """Scores of masked positions: LN(gelu(W h)) E^T + b, E the token embedding. Shapes: (M, S), (V, F) -> (M, V)."""
    return F.linear(layers.norm("norm", layers.gelu(layers.linear("dense", tokens))), embedding, layers.weight("bias"))


class Whitening(nn.Module):
    """(x - mean) @ matrix, fitted after training (`mirenc.model.whitening`); the identity until then."""

    mean: Tensor
    matrix: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("matrix", torch.eye(size))

    def forward(self, vectors: Tensor) -> Tensor:
        return (vectors - self.mean) @ self.matrix


class MIREncoder(nn.Module):
    """The whole model."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        text, graph = config.text, config.graph
        layers = declared_layers(config)
        self.text = TextEncoder(text, layers["text"])
        self.mlm = Head(layers["mlm"], _token_scores)
        self.graph = GraphEncoder(graph, layers["graph"])
        self.matching = Head(layers["matching"], matching_logits)
        self.taught = None
        if config.taught is not None:
            formula = partial(taught_vectors, graph_parts=graph.width // graph.out, dropout=config.taught.dropout)
            self.taught = Head(layers["taught"], formula)
        has_map = config.pooling.whiten
        self.whiten_text = Whitening(text.hidden) if has_map else nn.Identity()
        self.whiten_graph = Whitening(graph.width) if has_map else nn.Identity()
        lexical = config.lexical
        self.whiten_lexical = Whitening(lexical.width) if lexical is not None and lexical.whiten else nn.Identity()
        if lexical is not None:
            # Kept with the model; `mirenc.model.lexical` computes with it.
            self.register_buffer("lexical_idf", torch.zeros(lexical.buckets))

    def parameter_count(self) -> int:
        """Number of parameters; the tied output matrix counts once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def forward(
        self,
        data: IRData,
        part: str = "both",
        *,
        text_vectors: Tensor | None = None,
        text_features: Tensor | None = None,
    ) -> Encoded:
        """Pooled vectors of the rows that the data ask for, not whitened (paper section 3).

        ``part`` and ``text_vectors`` (U, H) as in `mirenc.model.runtime.Runtime.forward`; ``text_features`` (U, F) are
        node features of the texts, where others than `text_features`, or none that train, are wanted.
        """
        text = graph = taught = data.pool_row_weight.new_zeros(data.groups, 0).float()
        flows: list[Tensor] = []
        if text_vectors is None:
            text_vectors = self.text_vectors(data, part)
        if part != "graph":
            text = _group_means(text_vectors, data.pool_row, data.pool_row_group, data.pool_row_weight, data.groups)
        if part != "text":
            if text_features is None:
                text_features = self.text_features(data.text_ids)
            statements = text_vectors[data.node_row] if self.config.graph.statements else None
            flows = self.graph(data, text_features[data.node_row], statements)
            nodes = self.graph.combine(flows)
            memberships = (data.pool_node, data.pool_node_group)
            graph = _group_means(nodes, *memberships, data.pool_node_weight, data.groups)
            if self.config.graph.readout == "mean-max-sum":
                graph = torch.cat([graph, *_max_and_sum(nodes, *memberships, data.groups)], -1)
        if part == "both" and self.taught is not None:
            taught = self.taught(text, graph, _group_counts(data))
        return Encoded(text, graph, flows, taught)

    def text_vectors(self, data: IRData, part: str) -> Tensor:
        """Statement vectors of the texts that ``part`` takes; those of other texts are zero. (U, H)."""
        rows = [data.pool_row[:0] if part == "graph" else data.pool_row]
        if part != "text" and self.config.graph.statements:
            rows.append(data.node_row[data.node_kind == NodeKind.INSTRUCTION])
        text_rows = torch.unique(torch.cat(rows))
        table = self.text.token.weight.new_zeros(len(data.text_ids), self.config.text.hidden)
        return table.index_copy(0, text_rows, self.text.encode_all(data.text_ids[text_rows]).to(table.dtype))

    def text_features(self, text_ids: Tensor) -> Tensor:
        """Mean token embeddings of texts, [CLS], [SEP] and [PAD] left out. (U, T) int64 -> (U, F)."""
        real = (text_ids != PAD) & (text_ids != CLS) & (text_ids != SEP)
        weight = real.unsqueeze(-1).to(self.text.token.weight.dtype)  # (U, T, 1)
        return (self.text.token(text_ids) * weight).sum(1) / weight.sum(1).clamp(min=1)


def _group_means(vectors: Tensor, item: Tensor, group: Tensor, weight: Tensor, groups: int) -> Tensor:
    """Weighted means by group. In double precision, as `Pool.readout`. Shapes: (n, D), three (M,) -> (G, D)."""
    weighted = vectors[item] * weight.unsqueeze(-1)  # (M, D) float64
    return weighted.new_zeros(groups, vectors.shape[1]).index_add(0, group, weighted).float()


def _group_counts(data: IRData) -> Tensor:
    """Nodes of each kind and distinct texts of each group: `Pools.counts`. (G, COUNTS) float32."""
    columns = torch.cat([data.node_kind[data.pool_node], torch.full_like(data.pool_row, COUNTS - 1)])
    group = torch.cat([data.pool_node_group, data.pool_row_group])
    counts = torch.zeros(data.groups * COUNTS, device=group.device)
    return counts.index_add(0, group * COUNTS + columns, torch.ones_like(group, dtype=counts.dtype)).view(-1, COUNTS)


def _max_and_sum(vectors: Tensor, item: Tensor, group: Tensor, groups: int) -> tuple[Tensor, Tensor]:
    """Maximum and log(1 + sum of the positive parts) by group: `Pool.readout`. (n, D), two (M,) -> 2 x (G, D)."""
    rows = vectors[item]
    empty = rows.new_zeros(groups, vectors.shape[1])
    maximum = empty.scatter_reduce(0, group.unsqueeze(-1).expand_as(rows), rows, "amax", include_self=False)
    total = empty.double().index_add(0, group, F.relu(rows).double())
    return maximum, torch.log1p(total).float()
