"""The directed graph encoder: relations kept apart, residual layers, one projection a flow for the auto-encoder.

The paper's GCN (`mirenc.model.gcn`) takes edges without direction or position. Here each relation r
(`mirenc.model.directed`) has a matrix of its own, mixed from a few bases (Schlichtkrull et al. 2018, eq. 3), and
a node takes the mean of its neighbours under each, so that a vector does not depend on what else is in a batch:

    x    = LN(mean of the token embeddings of a node's text + kind embedding + argument number's embedding)  (N, H)
    s_0  = x W_in + b_in  [+ LN(statement vector) W_text of an instruction, where the model has ``statements``]  (N, d)
    u    = LN(s_l)
    s_l+1 = s_l + relu(u W_own + b_own + sum_r mean over N_r(i) of u_j W_r) W_out + b_out,   W_r = sum_b a_rb V_b
    Z_f  = LN(s_L) W_f + b_f,   Z = mean of Z_f over the flows
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mirenc.model.data import IRData
from mirenc.model.directed import ARGUMENTS, LAST_POSITION, RELATION_OF, RELATIONS, DirectedGraphConfig
from mirenc.model.graph import Flow, NodeKind
from mirenc.model.torch_encoders import GraphEncoder


class Neighbours(NamedTuple):
    """Who hears whom: E2 = 2 E directed edges, K pairs of a relation and a node with neighbours under it."""

    source: Tensor  # (E2,) node an edge comes from
    pair: Tensor  # (E2,) pair it goes to
    share: Tensor  # (E2,) float32, one over the edges of that pair: they sum to 1
    node: Tensor  # (K,) node of each pair; pairs are sorted by relation
    sizes: list[int]  # pairs of each relation


def neighbours(edge_index: Tensor, edge_flow: Tensor, edge_position: Tensor, nodes: int) -> Neighbours:
    """Edges in both directions, sorted into relations. Shapes: (2, E), (E,), (E,)."""
    table = torch.from_numpy(RELATION_OF).to(edge_index.device)
    forward = table[edge_flow, edge_position.clamp(max=LAST_POSITION)]
    relation = torch.cat([forward, forward + RELATIONS // 2])
    source, target = torch.cat([edge_index, edge_index.flip(0)], 1)
    if torch.onnx.is_in_onnx_export():  # all pairs, so that no size depends on the edges
        pair = relation * nodes + target
        count = _add(torch.zeros(RELATIONS * nodes, 1), pair, torch.ones_like(pair, dtype=torch.float32)[:, None])[:, 0]
        return Neighbours(source, pair, 1.0 / count[pair], torch.arange(nodes).repeat(RELATIONS), [nodes] * RELATIONS)
    key, pair, count = torch.unique(relation * nodes + target, return_inverse=True, return_counts=True)
    sizes = torch.bincount(key // max(nodes, 1), minlength=RELATIONS).tolist()
    return Neighbours(source, pair, 1.0 / count[pair], key % max(nodes, 1), sizes)


def _add(rows: Tensor, index: Tensor, more: Tensor) -> Tensor:
    """``more``, each row added to the one that the index says; ONNX has no other sum of rows that repeat."""
    if torch.onnx.is_in_onnx_export():
        return rows.scatter_add(0, index[:, None].expand_as(more), more)
    return rows.index_add(0, index, more)


class _RelationLayer(nn.Module):
    def __init__(self, width: int, bases: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.own = nn.Linear(width, width)
        self.basis = nn.Parameter(torch.empty(bases, width, width))
        self.mix = nn.Parameter(torch.empty(RELATIONS, bases))
        self.out = nn.Linear(width, width)
        nn.init.normal_(self.basis, std=width**-0.5)
        nn.init.normal_(self.mix, std=bases**-0.5)

    def forward(self, state: Tensor, near: Neighbours) -> Tensor:
        """Next states. Shapes: (N, d) -> (N, d)."""
        u = self.norm(state)
        mean = _add(u.new_zeros(near.node.shape[0], u.shape[1]), near.pair, u[near.source] * near.share[:, None])
        matrices = torch.einsum("rb,bij->rij", self.mix, self.basis)
        each = [part @ matrix for part, matrix in zip(torch.split(mean, near.sizes), matrices, strict=True)]
        message = _add(self.own(u), near.node, torch.cat(each))
        return state + self.out(F.relu(message))


class Encoder(GraphEncoder):
    """Nodes to vectors by residual layers over all relations."""

    def __init__(self, config: DirectedGraphConfig, features: int, statement: int) -> None:
        super().__init__()
        self.config = config
        self.kind = nn.Embedding(len(NodeKind), features)
        self.argument = nn.Embedding(ARGUMENTS, features)
        self.norm_in = nn.LayerNorm(features)
        self.enter = nn.Linear(features, config.hidden)
        if config.statements:
            self.norm_statement = nn.LayerNorm(statement)
            self.enter_statement = nn.Linear(statement, config.hidden, bias=False)
        self.layers = nn.ModuleList(_RelationLayer(config.hidden, config.bases) for _ in range(config.layers))
        self.norm_out = nn.LayerNorm(config.hidden)
        self.leave = nn.Linear(config.hidden, len(Flow) * config.out)
        for embedding in (self.kind, self.argument):
            nn.init.normal_(embedding.weight, std=0.02)
        # A node's product with itself is then 8: the auto-encoder starts neither far off nor at the saddle of zeros.
        nn.init.normal_(self.leave.weight, std=(8 / (config.hidden * config.out)) ** 0.5)
        nn.init.zeros_(self.leave.bias)

    def forward(self, data: IRData, features: Tensor, statements: Tensor | None = None) -> list[Tensor]:
        number, position = data.node_argument, data.edge_position
        if not self.config.positions:
            number, position = torch.zeros_like(number), torch.zeros_like(position)
        near = neighbours(data.edge_index, data.edge_flow, position, features.shape[0])
        argument = self.argument(number.clamp(max=ARGUMENTS - 1))
        state = self.enter(self.norm_in(features + self.kind(data.node_kind) + argument))
        if self.config.statements:
            assert statements is not None
            spoken = (data.node_kind == NodeKind.INSTRUCTION).unsqueeze(-1)
            state = state + self.enter_statement(self.norm_statement(statements)) * spoken
        for layer in self.layers:
            state = layer(state, near)
        return list(self.leave(self.norm_out(state)).chunk(len(Flow), dim=-1))
