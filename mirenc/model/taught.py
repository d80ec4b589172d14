"""The taught trunk: one vector of a module or function that a compiler's answers can be read from by a linear map.

The objective "compiler" (`mirenc.pretraining.compiler`) trains it together with the graph encoder, under linear heads
that are thrown away. Beside the pooled vectors it takes counts: means say nothing about size, and a compiler's answers
depend on it.

    x = [LN(text mean); LN(graph mean) [; LN(graph maximum); LN(graph log-sum)]; log(1 + counts)]
    z = W2 relu(W1 x + b1) + b2 + W3 x

W3 is there because much of an answer is linear in the logarithms of the counts, which the hidden layer learns slowly.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mirenc.config import ModelConfig, TaughtConfig
from mirenc.model.pooling import COUNTS

__all__ = ["Trunk"]


class Trunk(nn.Module):
    """Pooled vectors and counts to the taught vector.

    Parameters
    ----------
    config : TaughtConfig
    model : ModelConfig
        Whose vectors it takes.
    """

    def __init__(self, config: TaughtConfig, model: ModelConfig) -> None:
        super().__init__()
        parts = model.graph.width // model.graph.out
        self.norm_text = nn.LayerNorm(model.text.hidden)
        self.norm_graph = nn.ModuleList(nn.LayerNorm(model.graph.out) for _ in range(parts))
        self.linear1 = nn.Linear(model.text.hidden + model.graph.width + COUNTS, config.hidden)
        self.linear2 = nn.Linear(config.hidden, config.width)
        self.skip = nn.Linear(self.linear1.in_features, config.width, bias=False)
        self.dropout = config.dropout

    def forward(self, text: Tensor, graph: Tensor, counts: Tensor) -> Tensor:
        """Taught vectors; ``counts`` are `mirenc.model.pooling.Pools.counts`.

        Shapes: (G, H), (G, D), (G, COUNTS) -> (G, width)
        """
        parts = graph.chunk(len(self.norm_graph), -1)
        normed = [norm(part) for norm, part in zip(self.norm_graph, parts, strict=True)]
        x = torch.cat([self.norm_text(text), *normed, torch.log1p(counts)], -1)
        z: Tensor = self.linear2(F.relu(self.linear1(F.dropout(x, self.dropout, self.training)))) + self.skip(x)
        return z
