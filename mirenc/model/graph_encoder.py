"""The graph encoder: a GCN run on each of the three flows, and the inner-product decoder of the graph auto-encoder.

Paper section 3.3: "GCN encoder, inner-product decoder, reconstructs adjacency; one encoder run on each of the three
sub-graphs". With A_f the symmetric adjacency of flow f and its self-loops, D_f its degrees:

    X   = LN(mean of the token embeddings of a node's text + kind embedding)        (N, H)
    Z_f = N_f relu(N_f X W1 + b1) W2 + b2,   N_f = D_f^-1/2 A_f D_f^-1/2            (N, d)
    Z   = mean of Z_f over the flows,  graph vector = mean of Z over the nodes
    P(edge i-j of flow f) = sigmoid(z_f,i . z_f,j)

Edges are taken without direction and without repetition: the inner product cannot tell a direction either.
Deviation: the paper calls the latent "two-dimensional"; it is read as an N x d matrix.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import to_undirected

from mirenc.config import GraphEncoderConfig
from mirenc.graph import Flow, NodeKind

__all__ = ["GraphEncoder", "edge_scores", "flow_edges"]


def flow_edges(edge_index: Tensor, edge_flow: Tensor, flow: Flow, nodes: int) -> Tensor:
    """Edges of one flow without direction, each pair once in both orders.

    Shapes: (2, E), (E,) -> (2, E_f)
    """
    edges: Tensor = to_undirected(edge_index[:, edge_flow == flow], num_nodes=nodes)
    return edges


class GraphEncoder(nn.Module):
    """Nodes to vectors.

    Parameters
    ----------
    config : GraphEncoderConfig
    features : int
        Width of the node features, the text encoder's hidden size.
    """

    def __init__(self, config: GraphEncoderConfig, features: int) -> None:
        super().__init__()
        self.config = config
        self.kind = nn.Embedding(len(NodeKind), features)
        self.norm_in = nn.LayerNorm(features)
        self.conv1 = GCNConv(features, config.hidden)
        self.conv2 = GCNConv(config.hidden, config.out)
        nn.init.normal_(self.kind.weight, std=0.02)

    def forward(self, features: Tensor, node_kind: Tensor, edge_index: Tensor, edge_flow: Tensor) -> list[Tensor]:
        """Node vectors, one matrix a flow.

        Shapes: (N, H), (N,) int64, (2, E), (E,) -> 3 x (N, d)
        """
        x = self.norm_in(features + self.kind(node_kind))
        out = []
        for flow in Flow:
            edges = flow_edges(edge_index, edge_flow, flow, x.shape[0])
            hidden = F.relu(self.conv1(x, edges))  # (N, hidden)
            out.append(self.conv2(hidden, edges))  # (N, d)
        return out

    @staticmethod
    def combine(per_flow: list[Tensor]) -> Tensor:
        """One vector a node.

        Shapes: 3 x (N, d) -> (N, d)
        """
        return torch.stack(per_flow).mean(0)


def edge_scores(z: Tensor, pairs: Tensor) -> Tensor:
    """Inner-product decoder: the logit of an edge between each pair.

    Shapes: (N, d), (2, P) -> (P,)
    """
    return (z[pairs[0]] * z[pairs[1]]).sum(-1)
