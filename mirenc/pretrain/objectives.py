"""The three objectives: masked language modelling, graph auto-encoding, IR-graph matching (paper section 3)."""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mirenc.base.arrays import Bool, Int64
from mirenc.model.graph import Flow
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.tokenizer import MASK, SPECIAL_TOKENS
from mirenc.model.torch_layers import edge_scores
from mirenc.pretrain.corpus import CorpusModule

_IGNORED = -100
Pairs = list[tuple[Tensor, Tensor]]


def mask_tokens(ids: Int64, rng: np.random.Generator, *, vocab_size: int, share: float) -> tuple[Int64, Bool]:
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

    Shapes: three (B, T) -> (). The positions are padded to a multiple of 64: on a CPU every new shape of a product
    costs memory for good.
    """
    positions = chosen.flatten().nonzero().squeeze(-1)  # (M,)
    positions = F.pad(positions, (0, -len(positions) % 64))
    truth = ids.flatten()[positions].masked_fill(~chosen.flatten()[positions], _IGNORED)
    truth[int(chosen.sum()) :] = _IGNORED
    tokens = model.text(masked).flatten(0, 1)[positions]  # (M, H)
    scores = model.mlm(tokens, model.text.token.weight)  # (M, V)
    # A small batch may have no chosen position: its loss is zero, not 0 / 0.
    return F.cross_entropy(scores, truth, reduction="sum", ignore_index=_IGNORED) / max(total, 1)


def draw_pairs(module: CorpusModule, rng: np.random.Generator) -> list[tuple[Int64, Int64]]:
    """Pairs of a module's nodes to tell apart, by flow: edges (2, P), and as many pairs that are none (2, P).

    Negatives join two nodes that have edges of the flow in question, so that a pair cannot be told apart by its kinds
    alone (a control edge never touches a variable). Deviation: PyG draws them from all nodes, which is easier.
    """
    index, nodes = module.edge_index.astype(np.int64), len(module.node_row)
    flow_pairs = []
    for flow in Flow:
        positive = index.take(np.flatnonzero(module.edge_flow == int(flow)), 1)
        negative = _negatives(positive, nodes, rng) if positive.shape[1] else positive
        # As many of one as of the other: a graph whose pairs are nearly all edges gives few negatives.
        if (count := negative.shape[1]) < positive.shape[1]:
            positive = positive.take(rng.permutation(positive.shape[1])[:count], 1)
        flow_pairs.append((positive, negative))
    return flow_pairs


def _negatives(positive: Int64, nodes: int, rng: np.random.Generator) -> Int64:
    """Random pairs of the edges' endpoints that are no edge in either direction. Shapes: (2, P) -> (2, <= P)."""
    is_endpoint = np.zeros(nodes, dtype=bool)
    is_endpoint[positive] = True
    draw = rng.choice(np.flatnonzero(is_endpoint), size=(2, 2 * positive.shape[1]))
    # A number for each pair, the same in both directions; looked up among sorted ones, which is faster than np.isin.
    edges, key = (np.minimum(*pairs) * nodes + np.maximum(*pairs) for pairs in (positive, draw))
    edges.sort()
    places = np.minimum(np.searchsorted(edges, key), len(edges) - 1)
    non_edges = np.flatnonzero((edges[places] != key) & (draw[0] != draw[1]))
    return draw.take(non_edges[: positive.shape[1]], 1)


def gae_loss(per_flow: list[Tensor], pairs: Pairs, *, totals: Sequence[float] | None = None) -> Tensor:
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
    """Matching loss over all text-graph pairs of a batch, or of a ``share`` of its texts; (B, H), (B, d) -> ().

    Paper section 3.4 draws one negative (another IR's graph) for half of the samples; using every other graph of
    the batch as a negative has the same expectation and less noise.
    """
    batch = graph.shape[0]
    diagonal = torch.eye(batch, device=graph.device)[share]  # (B', B)
    rows = text[share]
    logits = model.matching(rows.repeat_interleave(batch, 0), graph.repeat(len(rows), 1)).view(len(rows), batch)
    positive, negative = (F.softplus(-logits) * diagonal).sum(), (F.softplus(logits) * (1 - diagonal)).sum()
    return 0.5 * (positive / batch + negative / (batch * (batch - 1)))
