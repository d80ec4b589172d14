"""What graph encoders have in common in torch, and the inner-product decoder of the graph auto-encoder.

Z = mean of Z_f over the flows,  graph vector = mean of Z over the nodes
P(edge i-j of flow f) = sigmoid(z_f,i . z_f,j)
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from mirenc.model.data import IRData

__all__ = ["GraphEncoder", "edge_scores"]


class GraphEncoder(nn.Module, ABC):
    """Nodes to vectors."""

    @abstractmethod
    def forward(self, data: IRData, features: Tensor, statements: Tensor | None = None) -> list[Tensor]:
        """Node vectors by flow, from features of the nodes' texts.

        ``statements`` are the vectors of instructions, where the model takes them; other rows are not read.

        Shapes: (N, F), (N, H) -> 3 x (N, d)
        """

    @staticmethod
    def combine(per_flow: list[Tensor]) -> Tensor:
        """One vector a node. Shapes: 3 x (N, d) -> (N, d)."""
        return torch.stack(per_flow).mean(0)


def edge_scores(z: Tensor, pairs: Tensor) -> Tensor:
    """Inner-product decoder: the logit of an edge between each pair. Shapes: (N, d), (2, P) -> (P,)."""
    return (z[pairs[0]] * z[pairs[1]]).sum(-1)
