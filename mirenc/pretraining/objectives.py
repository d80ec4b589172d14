"""The three objectives: masked language modelling, graph auto-encoding, IR-graph matching (paper section 3).

Every function is a pure function of tensors and of a numpy generator, so a step can be repeated to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from mirenc.graph import Flow
from mirenc.model.graph_encoder import edge_scores
from mirenc.model.mirencoder import MIREncoder
from mirenc.pretraining.corpus import CorpusModule
from mirenc.tokenizer import MASK, SPECIAL_TOKENS

__all__ = ["GraphBatch", "gae_loss", "igm_loss", "make_graph_batch", "mask_tokens", "mlm_loss"]


def mask_tokens(
    ids: NDArray[np.int64], rng: np.random.Generator, *, vocab_size: int, share: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Choose positions to predict: 80 % become [MASK], 10 % a random piece, 10 % stay (paper section 3.2, after BERT).

    Special tokens are never chosen. Shapes: (B, T) -> (B, T) ids, (B, T) chosen.
    """
    chosen = (rng.random(ids.shape) < share) & (ids >= len(SPECIAL_TOKENS))
    dice = rng.random(ids.shape)
    masked = ids.copy()
    masked[chosen & (dice < 0.8)] = MASK
    replace = chosen & (dice >= 0.9)
    masked[replace] = rng.integers(len(SPECIAL_TOKENS), vocab_size, size=int(replace.sum()))
    return masked, chosen


def mlm_loss(model: MIREncoder, ids: Tensor, masked: Tensor, chosen: Tensor) -> Tensor:
    """Cross-entropy at the chosen positions. Shapes: three (B, T) -> ()."""
    tokens = model.text(masked)[chosen]  # (M, H)
    scores = model.mlm(tokens, model.text.token.weight)  # (M, V)
    # A small batch may have no chosen position: its loss is zero, not 0 / 0.
    return F.cross_entropy(scores, ids[chosen], reduction="sum") / chosen.sum().clamp(min=1)


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Some graphs end to end. G graphs, N nodes, E edges.

    Attributes
    ----------
    features_row : (N,) int64
        Text of each node.
    node_kind : (N,) int64
    edge_index : (2, E) int64
    edge_flow : (E,) int64
    graph_of : (N,) int64
    pairs : list of (positive, negative)
        Per flow: edges (2, P) int64 and as many pairs that are no edges of that flow, within the same graph.
    """

    features_row: Tensor
    node_kind: Tensor
    edge_index: Tensor
    edge_flow: Tensor
    graph_of: Tensor
    pairs: list[tuple[Tensor, Tensor]]


def make_graph_batch(modules: list[CorpusModule], rng: np.random.Generator) -> GraphBatch:
    """Join some modules' graphs and draw negative pairs.

    Negatives join two nodes that have edges of the flow in question, so that a pair cannot be told apart by its kinds
    alone (a control edge never touches a variable). Deviation: PyG draws them from all nodes, which is easier.
    """
    offset = 0
    rows, kinds, edges, flows, graph_of = [], [], [], [], []
    positives: list[list[NDArray[np.int64]]] = [[] for _ in Flow]
    negatives: list[list[NDArray[np.int64]]] = [[] for _ in Flow]
    for number, module in enumerate(modules):
        count = len(module.node_row)
        index = module.edge_index.astype(np.int64)
        for flow in Flow:
            positive = index[:, module.edge_flow == flow]
            if positive.shape[1] == 0:
                continue
            negative = _negatives(positive, count, rng)
            # As many of one as of the other: a graph whose pairs are nearly all edges gives few negatives.
            take = min(positive.shape[1], negative.shape[1])
            if take < positive.shape[1]:
                positive = positive[:, rng.permutation(positive.shape[1])[:take]]
            positives[flow].append(positive + offset)
            negatives[flow].append(negative[:, :take] + offset)
        rows.append(module.node_row)
        kinds.append(module.node_kind)
        edges.append(index + offset)
        flows.append(module.edge_flow)
        graph_of.append(np.full(count, number, dtype=np.int64))
        offset += count

    def join(parts: Sequence[NDArray[Any]], axis: int = 0) -> Tensor:
        return torch.from_numpy(np.concatenate(parts, axis=axis).astype(np.int64))

    empty = [np.zeros((2, 0), np.int64)]
    return GraphBatch(
        join(rows),
        join(kinds),
        join(edges, 1),
        join(flows),
        join(graph_of),
        [(join(positives[flow] + empty, 1), join(negatives[flow] + empty, 1)) for flow in Flow],
    )


def _negatives(positive: NDArray[np.int64], nodes: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Random pairs of the edges' endpoints that are no edge in either direction. Shapes: (2, P) -> (2, <= P)."""
    ends = np.unique(positive)
    known = np.concatenate([positive[0] * nodes + positive[1], positive[1] * nodes + positive[0]])
    draw = rng.choice(ends, size=(2, 2 * positive.shape[1]))
    draw = draw[:, draw[0] != draw[1]]
    draw = draw[:, ~np.isin(draw[0] * nodes + draw[1], known)]
    return draw[:, : positive.shape[1]]


def gae_loss(per_flow: list[Tensor], pairs: list[tuple[Tensor, Tensor]]) -> Tensor:
    """Reconstruction loss, summed over the flows that have edges (paper section 3.3).

    L = sum_f mean -log sigmoid(z_i . z_j) [edges] + mean -log(1 - sigmoid(z_i . z_j)) [no edges]
    """
    total = per_flow[0].new_zeros(())
    for z, (positive, negative) in zip(per_flow, pairs, strict=True):
        if positive.shape[1]:
            total = total + F.softplus(-edge_scores(z, positive)).mean()
            total = total + F.softplus(edge_scores(z, negative)).mean()
    return total


def igm_loss(model: MIREncoder, text: Tensor, graph: Tensor) -> Tensor:
    """Matching loss over all text-graph pairs of a batch; positives and negatives weigh one half each.

    Paper section 3.4 draws one negative (another IR's graph) for half of the samples; using every other graph of
    the batch as a negative has the same expectation and less noise.

    Shapes: (B, H), (B, d) -> ()
    """
    batch = text.shape[0]
    logits = model.matching(text.repeat_interleave(batch, 0), graph.repeat(batch, 1)).view(batch, batch)
    own = torch.eye(batch, dtype=torch.bool)
    return 0.5 * (F.softplus(-logits[own]).mean() + F.softplus(logits[~own]).mean())
