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

from mirenc.graph import Flow, NodeKind
from mirenc.model.graph_encoder import edge_scores
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.pooling import item_weights
from mirenc.pretraining.corpus import CorpusModule
from mirenc.tokenizer import MASK, SPECIAL_TOKENS

_IGNORED = -100

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


def mlm_loss(model: MIREncoder, ids: Tensor, masked: Tensor, chosen: Tensor, *, total: int) -> Tensor:
    """Sum of the cross-entropies at the chosen positions over ``total``, the positions of the whole batch.

    The positions are padded to a multiple of 64: on a CPU every new shape of a product costs memory for good.

    Shapes: three (B, T) -> ()
    """
    at = chosen.flatten().nonzero().squeeze(-1)  # (M,)
    at = F.pad(at, (0, -len(at) % 64))
    truth = ids.flatten()[at].masked_fill(~chosen.flatten()[at], _IGNORED)
    truth[int(chosen.sum()) :] = _IGNORED
    tokens = model.text(masked).flatten(0, 1)[at]  # (M, H)
    scores = model.mlm(tokens, model.text.token.weight)  # (M, V)
    # A small batch may have no chosen position: its loss is zero, not 0 / 0.
    return F.cross_entropy(scores, truth, reduction="sum", ignore_index=_IGNORED) / max(total, 1)


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
    node_weight : (N,) float32
        Weight of each node in its graph's vector; they sum to 1 in each graph (`mirenc.model.pooling`).
    pairs : list of (positive, negative)
        Per flow: edges (2, P) int64 and as many pairs that are no edges of that flow, within the same graph.
    """

    features_row: Tensor
    node_kind: Tensor
    edge_index: Tensor
    edge_flow: Tensor
    graph_of: Tensor
    node_weight: Tensor
    pairs: list[tuple[Tensor, Tensor]]


def make_graph_batch(
    modules: Sequence[CorpusModule],
    rng: np.random.Generator,
    *,
    weighting: str = "count",
    share: slice = slice(None),
) -> GraphBatch:
    """Join some modules' graphs and draw negative pairs.

    Each module has a generator of its own, so that a process that takes a ``share`` of the modules draws for them what
    one process would have drawn.

    Negatives join two nodes that have edges of the flow in question, so that a pair cannot be told apart by its kinds
    alone (a control edge never touches a variable). Deviation: PyG draws them from all nodes, which is easier.
    """
    offset = 0
    rows, kinds, edges, flows, graph_of, weights = [], [], [], [], [], []
    positives: list[list[NDArray[np.int64]]] = [[] for _ in Flow]
    negatives: list[list[NDArray[np.int64]]] = [[] for _ in Flow]
    for number, (module, own) in enumerate(list(zip(modules, rng.spawn(len(modules)), strict=True))[share]):
        count = len(module.node_row)
        index = module.edge_index.astype(np.int64)
        for flow in Flow:
            positive = index[:, module.edge_flow == flow]
            if positive.shape[1] == 0:
                continue
            negative = _negatives(positive, count, own)
            # As many of one as of the other: a graph whose pairs are nearly all edges gives few negatives.
            take = min(positive.shape[1], negative.shape[1])
            if take < positive.shape[1]:
                positive = positive[:, own.permutation(positive.shape[1])[:take]]
            positives[flow].append(positive + offset)
            negatives[flow].append(negative[:, :take] + offset)
        rows.append(module.node_row)
        kinds.append(module.node_kind)
        edges.append(index + offset)
        flows.append(module.edge_flow)
        graph_of.append(np.full(count, number, dtype=np.int64))
        pair = module.node_row.astype(np.int64) * len(NodeKind) + module.node_kind
        weights.append(item_weights(pair, np.zeros(count, np.int64), 1, weighting))
        offset += count

    def join(parts: Sequence[NDArray[Any]], axis: int = 0) -> Tensor:
        return torch.from_numpy(np.concatenate(parts, axis=axis).astype(np.int64))

    none, empty = np.zeros(0, np.int64), [np.zeros((2, 0), np.int64)]
    return GraphBatch(
        join([none, *rows]),
        join([none, *kinds]),
        join([*empty, *edges], 1),
        join([none, *flows]),
        join([none, *graph_of]),
        torch.from_numpy(np.concatenate([none, *weights]).astype(np.float32)),
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


def gae_loss(
    per_flow: list[Tensor], pairs: list[tuple[Tensor, Tensor]], *, totals: Sequence[float] | None = None
) -> Tensor:
    """Reconstruction loss, summed over the flows that have edges (paper section 3.3).

    L = sum_f mean -log sigmoid(z_i . z_j) [edges] + mean -log(1 - sigmoid(z_i . z_j)) [no edges]

    ``totals`` are the edges of each flow in the whole batch, where these are the pairs of a share of it.
    """
    total = per_flow[0].new_zeros(())
    totals = [positive.shape[1] for positive, _ in pairs] if totals is None else totals
    for z, (positive, negative), count in zip(per_flow, pairs, totals, strict=True):
        if positive.shape[1]:
            losses = F.softplus(-edge_scores(z, positive)).sum() + F.softplus(edge_scores(z, negative)).sum()
            total = total + losses / count
    return total


def igm_loss(model: MIREncoder, text: Tensor, graph: Tensor, *, share: slice = slice(None)) -> Tensor:
    """Matching loss over all text-graph pairs of a batch; positives and negatives weigh one half each.

    Paper section 3.4 draws one negative (another IR's graph) for half of the samples; using every other graph of
    the batch as a negative has the same expectation and less noise. With a ``share`` of the texts, its part of the sum.

    Shapes: (B, H), (B, d) -> ()
    """
    batch = graph.shape[0]
    own = torch.eye(batch, dtype=torch.bool, device=graph.device)[share]  # (B', B)
    rows = text[share]
    logits = model.matching(rows.repeat_interleave(batch, 0), graph.repeat(len(rows), 1)).view(len(rows), batch)
    positive, negative = F.softplus(-logits[own]).sum(), F.softplus(logits[~own]).sum()
    return 0.5 * (positive / batch + negative / (batch * (batch - 1)))
