"""The paper's graph encoder: a GCN run on each of the three flows.

Paper section 3.3: "GCN encoder, inner-product decoder, reconstructs adjacency; one encoder run on each of the three
sub-graphs". With A_f the symmetric adjacency of flow f and its self-loops, D_f its degrees:

    X   = LN(mean of the token embeddings of a node's text + kind embedding)        (N, F)
    Z_f = N_f relu(N_f X W1 + b1) W2 + b2,   N_f = D_f^-1/2 A_f D_f^-1/2            (N, d)

Edges are taken without direction and without repetition: the inner product cannot tell a direction either.
Deviation: the paper calls the latent "two-dimensional"; it is read as an N x d matrix.
"""

from typing import Any, ClassVar, Literal

from mirenc.model.graph import Flow, NodeKind
from mirenc.model.kinds import Array, Backend, Embedding, GraphConvolution, GraphKind, Layers, Norm


class GraphEncoderConfig(GraphKind):
    """GCN over the three flows (paper section 3.3)."""

    positions: ClassVar[bool] = False
    statements: ClassVar[bool] = False
    order: ClassVar[str] = "the GCN takes edges without position or direction"
    kind: Literal["gcn"] = "gcn"

    def card(self, features: int) -> str:
        return f"GCN\n{features} -> {self.hidden} -> {self.out}"

    def declare(self, features: int, statement: int) -> Layers:
        return {
            "kind": Embedding(len(NodeKind), features),
            "norm_in": Norm(features),
            "conv1": GraphConvolution(features, self.hidden),
            "conv2": GraphConvolution(self.hidden, self.out),
        }

    def node_vectors(
        self, backend: Backend, graph: Any, features: Array, statements: Array | None = None
    ) -> list[Array]:
        x = backend.norm("norm_in", features + backend.embedding("kind", graph.node_kind))
        flows = []
        for flow in Flow:
            edges = graph.edge_index[:, graph.edge_flow == flow]
            hidden = backend.relu(backend.graph_convolution("conv1", x, edges))  # (N, hidden)
            flows.append(backend.graph_convolution("conv2", hidden, edges))  # (N, d)
        return flows
