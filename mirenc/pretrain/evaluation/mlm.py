"""Masked language modelling: how often the model and the baselines name the token that was masked.

Grammar is learnt from any code; the name of a function is learnt from its own project or not at all. So figures are
told apart by what a token is: grammar, part of a name or string, or part of a number.
"""

import re
from collections.abc import Iterable

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from mirenc.base.arrays import Bool, Int64
from mirenc.base.progress import progress
from mirenc.model.mirencoder import MIREncoder
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.evaluation.baselines import Baselines
from mirenc.pretrain.evaluation.figures import Figures, NoFigureError
from mirenc.pretrain.objectives import mask_tokens

_BATCH = 256
_SEED = 7
_MASK_SHARE = 0.15  # of the tokens, as in the paper
_NAME = re.compile(r"[-$._:a-z0-9]+", re.IGNORECASE)
# Keywords, opcodes, types, punctuation; what stands after @, % or !, or between quotes; and numbers.
_KINDS = _GRAMMAR, _NAME_PART, _NUMBER_PART = "grammar", "name", "number"


def token_kinds(pieces: Iterable[str]) -> list[str]:
    """Kind of each piece of one statement, as `IRTokenizer.pieces` gives them: one that begins a word with a space."""
    kinds: list[str] = []
    in_string = in_name = in_number = False
    brackets = 0  # open ones of C++ template arguments: names are demangled
    last = word = ""
    for piece in pieces:
        text = piece.strip()
        # No space in front: it may belong to what stands before. A letter or digit after another one surely does.
        continues_word = text == piece and bool(text)
        if '"' in text:
            kind, in_string, in_name, in_number = _GRAMMAR, not in_string, False, False
        elif in_string or brackets or (in_name and continues_word and _NAME.fullmatch(text)):
            kind = _NAME_PART
            if brackets:
                brackets += (text == "<") - (text == ">")
        elif in_name and text == "<" and word != "operator":
            kind, brackets = _NAME_PART, 1
        elif continues_word and text[0].isalnum() and last.isalnum():
            kind = kinds[-1]
        elif text[:1].isdigit() or (in_number and continues_word and text in (".", "+", "-")):  # 1.5e+03
            kind, in_name, in_number = _NUMBER_PART, False, True
        else:
            kind, in_name, in_number = _GRAMMAR, text[-1:] in ("@", "%", "!"), False
        kinds.append(kind)
        last, word = text[-1:], text
    return kinds


def choose_distinct(counts: Int64, limit: int) -> Int64:
    """Each statement once, at most ``limit`` of them. Shapes: (U,) -> (R,)."""
    return np.random.default_rng(_SEED).permutation(np.flatnonzero(counts))[:limit]


def choose_occurring(counts: Int64, limit: int) -> Int64:
    """Statements as they occur, each as often as it does, at most ``limit`` of them. Shapes: (U,) -> (R,)."""
    total = int(counts.sum())
    places = np.arange(total) if total <= limit else np.random.default_rng(_SEED).integers(total, size=limit)
    return np.searchsorted(np.cumsum(counts), places, side="right")


@torch.inference_mode()
def evaluate_mlm(model: MIREncoder, corpus: Corpus, rows: Int64, baselines: Baselines) -> Figures:
    """Accuracy and perplexity at the masked positions of some statements.

    Positions are masked as in training; the neighbours' baseline is given the true neighbours, also where the model
    sees [MASK]. ``errors_removed`` is the share of that baseline's errors that the model does not make on balance.
    ``kinds`` has the same for the tokens of each kind. Where nothing can be masked: a `NoFigureError`.
    """
    if not len(rows):
        raise NoFigureError("no statements")
    rng = np.random.default_rng(_SEED)
    rows = rows[np.argsort(corpus.text_length[rows], kind="stable")]
    hits: list[tuple[Bool, Bool, Bool, NDArray[np.str_]]] = []  # the model's, the baselines', and the tokens' kinds
    nats, device = 0.0, next(model.parameters()).device
    with progress("masked tokens", len(rows)) as advance:
        for first in range(0, len(rows), _BATCH):
            ids = corpus.padded_ids(rows[first : first + _BATCH])
            masked, chosen = mask_tokens(ids, rng, vocab_size=corpus.tokenizer.vocab_size, share=_MASK_SHARE)
            if len(truth := ids[chosen]):
                tokens = model.text(torch.from_numpy(masked).to(device))[torch.from_numpy(chosen).to(device)]
                scores = model.mlm(tokens, model.text.token.weight).float()
                answer = torch.from_numpy(truth).to(device)
                nats += float(F.cross_entropy(scores, answer, reduction="sum"))
                correct = (scores.argmax(-1) == answer).cpu().numpy()
                row, column = np.nonzero(chosen)
                neighbours = baselines.between(ids[row, column - 1], ids[row, column + 1]) == truth
                kinds = np.array([token_kinds(corpus.tokenizer.pieces(statement)) for statement in ids])
                hits.append((correct, neighbours, truth == baselines.frequent, kinds[chosen]))
            advance(len(ids))
    if not hits:
        raise NoFigureError(f"no token of {len(rows)} statements was masked")
    hit, neighbour_hit, frequent_hit, kind = map(np.concatenate, zip(*hits, strict=True))
    kind_masks = {name: kind == name for name in _KINDS if (kind == name).any()}
    return {
        "statements": len(rows),
        "perplexity": float(np.exp(nats / len(hit))),
        "accuracy_most_frequent": float(frequent_hit.mean()),
        **_accuracies(hit, neighbour_hit),
        "kinds": {name: _accuracies(hit[mask], neighbour_hit[mask]) for name, mask in kind_masks.items()},
    }


def _accuracies(hit: Bool, neighbour_hit: Bool) -> Figures:
    """Accuracy of the model and of the neighbours' baseline at some positions. Shapes: two (n,)."""
    hits, neighbour_hits = int(hit.sum()), int(neighbour_hit.sum())
    baseline_errors = len(hit) - neighbour_hits
    return {
        "positions": len(hit),
        "accuracy": hits / len(hit),
        "accuracy_neighbours": neighbour_hits / len(hit),
        "errors_removed": (hits - neighbour_hits) / baseline_errors if baseline_errors else None,
    }
