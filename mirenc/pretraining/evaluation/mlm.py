"""Masked language modelling: how often the model and the baselines name the token that was masked."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from mirenc.model.mirencoder import MIREncoder
from mirenc.pretraining.corpus import Corpus
from mirenc.pretraining.evaluation.baselines import Baselines
from mirenc.pretraining.evaluation.figures import Advance, Figures, NoFigureError
from mirenc.pretraining.evaluation.kinds import TokenKind, token_kinds
from mirenc.pretraining.objectives import mask_tokens

__all__ = ["choose_distinct", "choose_occurring", "evaluate_mlm"]

_BATCH = 256
_SEED = 7
_MASK_SHARE = 0.15  # of the tokens, as in the paper


def choose_distinct(counts: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """Each statement once, at most ``limit`` of them. Shapes: (U,) -> (R,)."""
    rows: NDArray[np.int64] = np.flatnonzero(counts)
    return np.random.default_rng(_SEED).permutation(rows)[:limit]


def choose_occurring(counts: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """Statements as they occur, each as often as it does, at most ``limit`` of them. Shapes: (U,) -> (R,)."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    rng = np.random.default_rng(_SEED)
    places = np.arange(total) if total <= limit else rng.integers(total, size=limit)
    rows: NDArray[np.int64] = np.searchsorted(ends, places, side="right")
    return rows


def evaluate_mlm(
    model: MIREncoder,
    corpus: Corpus,
    rows: NDArray[np.int64],
    baselines: Baselines,
    *,
    advance: Advance | None = None,
) -> Figures:
    """Accuracy and perplexity at the masked positions of some statements.

    Positions are masked as in training. The baselines are asked for the same positions; the neighbours' baseline is
    given the true neighbours, also where the model sees [MASK]. ``errors_removed`` is the share of that baseline's
    errors that the model does not make on balance; below 0 the model makes more. ``kinds`` has the same for the tokens
    of each kind (`mirenc.pretraining.evaluation.kinds`), where there are any.

    Raises
    ------
    NoFigureError
        No statement, or none with a maskable token.
    """
    if not len(rows):
        raise NoFigureError("no statements")
    rng = np.random.default_rng(_SEED)
    device = next(model.parameters()).device
    rows = rows[np.argsort(corpus.text_length[rows], kind="stable")]
    hits: list[NDArray[np.bool_]] = []
    neighbour_hits: list[NDArray[np.bool_]] = []
    kinds: list[NDArray[np.int64]] = []
    frequent_hits = 0
    nats = 0.0
    for first in range(0, len(rows), _BATCH):
        ids = corpus.padded_ids(rows[first : first + _BATCH])
        masked, chosen = mask_tokens(ids, rng, vocab_size=corpus.tokenizer.vocab_size, share=_MASK_SHARE)
        truth = ids[chosen]
        if len(truth):
            with torch.inference_mode():
                tokens = model.text(torch.from_numpy(masked).to(device))[torch.from_numpy(chosen).to(device)]
                scores = model.mlm(tokens, model.text.token.weight).float()
                answer = torch.from_numpy(truth).to(device)
                nats += float(F.cross_entropy(scores, answer, reduction="sum"))
                hits.append((scores.argmax(-1) == answer).cpu().numpy())
            row, column = np.nonzero(chosen)
            neighbour_hits.append(baselines.between(ids[row, column - 1], ids[row, column + 1]) == truth)
            frequent_hits += int((truth == baselines.frequent).sum())
            of_each = [token_kinds(corpus.tokenizer.pieces(statement)) for statement in ids]
            kinds.append(np.array(of_each, dtype=np.int64)[chosen])
        if advance is not None:
            advance(len(ids))
    if not hits:
        raise NoFigureError(f"no token of {len(rows)} statements was masked")
    hit, neighbour_hit, kind = np.concatenate(hits), np.concatenate(neighbour_hits), np.concatenate(kinds)
    return {
        "statements": len(rows),
        "perplexity": float(np.exp(nats / len(hit))),
        "accuracy_most_frequent": frequent_hits / len(hit),
        **_accuracies(hit, neighbour_hit),
        "kinds": {
            one.name.lower(): _accuracies(hit[kind == one], neighbour_hit[kind == one])
            for one in TokenKind
            if (kind == one).any()
        },
    }


def _accuracies(hit: NDArray[np.bool_], neighbour_hit: NDArray[np.bool_]) -> Figures:
    """Accuracy at some positions, and what it is of the neighbours' baseline. Shapes: two (n,)."""
    hits, neighbour_hits = int(hit.sum()), int(neighbour_hit.sum())
    missed = len(hit) - neighbour_hits
    return {
        "positions": len(hit),
        "accuracy": hits / len(hit),
        "accuracy_neighbours": neighbour_hits / len(hit),
        "errors_removed": (hits - neighbour_hits) / missed if missed else None,
    }
