"""The paper's graph encoder: a GCN run on each of the three flows.

Paper section 3.3: "GCN encoder, inner-product decoder, reconstructs adjacency; one encoder run on each of the three
sub-graphs". With A_f the symmetric adjacency of flow f and its self-loops, D_f its degrees:

    X   = LN(mean of the token embeddings of a node's text + kind embedding)        (N, F)
    Z_f = N_f relu(N_f X W1 + b1) W2 + b2,   N_f = D_f^-1/2 A_f D_f^-1/2            (N, d)

Edges are taken without direction and without repetition: the inner product cannot tell a direction either.
Deviation: the paper calls the latent "two-dimensional"; it is read as an N x d matrix.
"""

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import to_undirected

from mirenc.model.data import IRData
from mirenc.model.gcn import GraphEncoderConfig
from mirenc.model.graph import Flow, NodeKind
from mirenc.model.torch_encoders import GraphEncoder


def flow_edges(edge_index: Tensor, edge_flow: Tensor, flow: Flow, nodes: int) -> Tensor:
    """Edges of one flow without direction, each pair once in both orders. Shapes: (2, E), (E,) -> (2, E_f)."""
    return to_undirected(edge_index[:, edge_flow == flow], num_nodes=nodes)


class Encoder(GraphEncoder):
    """Nodes to vectors by two convolutions a flow."""

    def __init__(self, config: GraphEncoderConfig, features: int, statement: int) -> None:
        super().__init__()
        self.kind = nn.Embedding(len(NodeKind), features)
        self.norm_in = nn.LayerNorm(features)
        self.conv1 = GCNConv(features, config.hidden)
        self.conv2 = GCNConv(config.hidden, config.out)
        nn.init.normal_(self.kind.weight, std=0.02)

    def forward(self, data: IRData, features: Tensor, statements: Tensor | None = None) -> list[Tensor]:
        x = self.norm_in(features + self.kind(data.node_kind))
        out = []
        for flow in Flow:
            edges = flow_edges(data.edge_index, data.edge_flow, flow, x.shape[0])
            hidden = F.relu(self.conv1(x, edges))  # (N, hidden)
            out.append(self.conv2(hidden, edges))  # (N, d)
        return out
