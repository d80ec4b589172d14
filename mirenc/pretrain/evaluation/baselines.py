"""What a model must beat, fitted once on the training modules and kept beside the model.

One fitted on the folder that is evaluated would change from folder to folder and know the answers.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError
from sklearn.linear_model import LogisticRegression

from mirenc.base.arrays import Float64, Int64, Integer, UInt16, UInt32, UInt64
from mirenc.base.errors import ModelError
from mirenc.encoder.weights.checksums import BASELINES_FILE
from mirenc.model.tokenizer import SPECIAL_TOKENS
from mirenc.pretrain.corpus import Corpus

MAX_NODES = 20_000
_SEED = 7
_STATEMENTS = 1_000_000  # statements counted: bounds the memory of fitting
_CONTEXTS = 240_000  # 6 bytes each
_MODULES = 2000
_TOKEN_MASK = np.uint64(0xFFFF)


def draw_modules(corpus: Corpus, modules: Integer, limit: int, rng: np.random.Generator) -> Int64:
    """At most ``limit`` of the modules, drawn among those that have a graph of at most `MAX_NODES` nodes."""
    nodes = corpus.node_count[modules]
    candidates = np.asarray(modules, dtype=np.int64)[(nodes > 0) & (nodes <= MAX_NODES)]
    return np.sort(rng.permutation(candidates)[:limit])


def partners(corpus: Corpus, modules: Int64, rng: np.random.Generator) -> dict[str, Int64]:
    """For each module one of another source file, as place in ``modules``: a ``random`` one and one of ``near_size``.

    Source files are told apart by their last name: two levels of one program, or one file in two packages, are no
    negatives. Empty where some module has no partner. Shapes: (M,) -> two (M,)
    """
    names = corpus.names
    file = np.array([names[module].rsplit("/", 1)[-1] for module in modules])
    if len(set(file)) < 2:
        return {}
    nodes = corpus.node_count[modules]
    random, nearest_size = np.empty((2, len(modules)), dtype=np.int64)
    for module in range(len(modules)):
        candidates = np.flatnonzero(file != file[module])
        random[module] = rng.choice(candidates)
        nearest_size[module] = candidates[np.argmin(np.abs(nodes[candidates] - nodes[module]))]
    return {"random": random, "near_size": nearest_size}


def fit_size(statements: Int64, nodes: Int64, partner: Int64) -> Float64:
    """Logistic regression on the differences of log statement and log node counts of own and of partners' pairs.

    Returned are the median difference of own pairs, three weights, and the intercept. Shapes: three (M,) -> (5,)
    """
    difference = _differences(statements, nodes, partner)
    median = float(np.median(difference[0]))
    model = LogisticRegression().fit(_features(difference, median).reshape(-1, 3), np.repeat([1, 0], len(nodes)))
    return np.array([median, *model.coef_[0], model.intercept_[0]], dtype=np.float64)


def size_accuracy(fitted: Float64, statements: Int64, nodes: Int64, partner: Int64) -> float:
    """Share of own pairs and partners' pairs that `fit_size` tells apart. Shapes: (5,), three (M,)."""
    median, *weights, intercept = fitted
    matching, negative = _features(_differences(statements, nodes, partner), median) @ weights + intercept
    return float(((matching > 0).mean() + (negative <= 0).mean()) / 2)


def _differences(statements: Int64, nodes: Int64, partner: Int64) -> Float64:
    """Log statements less log nodes, of own pairs and of partners' pairs. Shapes: three (M,) -> (2, M)."""
    log_nodes = np.log(np.maximum(nodes, 1))
    return np.log(np.maximum(statements, 1)) - np.stack([log_nodes, log_nodes[partner]])


def _features(difference: Float64, median: float) -> Float64:
    return np.stack([difference, np.abs(difference - median), difference**2], -1)


@dataclass(frozen=True, eq=False)
class Baselines:
    """Most frequent tokens, and the size baseline of matching. V pieces, K contexts."""

    source: str
    """What they were fitted on: ``training modules`` or ``this folder``."""
    frequent: int
    """The most frequent token."""
    after: UInt16
    """(V,) most frequent token after each token; ``frequent`` after one that was not seen."""
    between_key: UInt32
    """(K,) pairs of neighbours, ``left << 16 | right``, ascending."""
    between_token: UInt16
    """(K,) most frequent token between them."""
    sizes: dict[str, Float64]
    """(5,) each, `fit_size` of ``random`` and ``near_size`` negatives; empty where modules were too few."""

    @classmethod
    def fit(cls, corpus: Corpus, modules: Integer, *, source: str = "training modules") -> Self:
        """Fit on some modules of a corpus.

        A distinct statement weighs the square root of its count: between the figure over distinct statements and that
        over statements as they occur, both of which it has to serve. The most frequent contexts are kept.
        """
        counts = corpus.text_counts(modules.tolist())
        rng = np.random.default_rng(_SEED)
        rows = np.sort(rng.permutation(np.flatnonzero(counts))[:_STATEMENTS])
        triples, weights = _triples(corpus, rows, np.sqrt(counts[rows]))
        left, token, right = triples >> np.uint64(32), (triples >> np.uint64(16)) & _TOKEN_MASK, triples & _TOKEN_MASK
        vocabulary = corpus.tokenizer.vocab_size
        frequent = int(np.bincount(token.astype(np.int64), weights, minlength=vocabulary).argmax())
        after = np.full(vocabulary, frequent, dtype=np.uint16)
        left_tokens, best, _ = _most_frequent(left, token, weights)
        after[left_tokens.astype(np.int64)] = best
        key, best, context_sums = _most_frequent((left << np.uint64(16)) | right, token, weights)
        contexts = np.sort(np.argsort(-context_sums, kind="stable")[:_CONTEXTS])
        chosen = draw_modules(corpus, modules, _MODULES, rng)
        statements, nodes = corpus.statement_total[chosen], corpus.node_count[chosen]
        sizes = {name: fit_size(statements, nodes, partner) for name, partner in partners(corpus, chosen, rng).items()}
        return cls(source, frequent, after, key[contexts].astype(np.uint32), best[contexts], sizes)

    def between(self, left: Integer, right: Integer) -> UInt16:
        """Token guessed between two neighbours; where the pair was not seen, the one after the left. Shapes: (P,)."""
        guess: UInt16 = self.after[left]
        if len(self.between_key):
            key = ((left.astype(np.uint64) << np.uint64(16)) | right.astype(np.uint64)).astype(np.uint32)
            position = np.minimum(np.searchsorted(self.between_key, key), len(self.between_key) - 1)
            guess = np.where(self.between_key[position] == key, self.between_token[position], guess)
        return guess

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write ``baselines.safetensors`` into a model folder; seal the folder afterwards."""
        arrays = {name: getattr(self, name) for name in ("after", "between_key", "between_token")}
        arrays |= {f"size.{name}": values for name, values in self.sizes.items()}
        arrays["frequent"] = np.array([self.frequent], dtype=np.uint16)
        path = Path(folder) / BASELINES_FILE
        path.write_bytes(safetensors.numpy.save({name: np.ascontiguousarray(value) for name, value in arrays.items()}))
        return path

    @classmethod
    def load(cls, folder: str | os.PathLike[str], vocabulary: int) -> Self | None:
        """Read a model folder's baselines, of a tokenizer of ``vocabulary`` pieces; None where it has none.

        Raises ModelError: damaged, or of another tokenizer.
        """
        path = Path(folder) / BASELINES_FILE
        if not path.is_file():
            return None
        try:
            arrays = safetensors.numpy.load(path.read_bytes())
            sizes = {name.removeprefix("size."): arrays[name] for name in arrays if name.startswith("size.")}
            tables = (arrays["after"], arrays["between_key"], arrays["between_token"])
            baselines = cls("training modules", int(arrays["frequent"][0]), *tables, sizes)
        except (OSError, SafetensorError, KeyError, IndexError) as error:
            raise ModelError(f"{path}: damaged ({error}). Check it with `mirenc models verify {folder}`") from None
        if len(baselines.after) != vocabulary or len(baselines.between_key) != len(baselines.between_token):
            cause = f"{path}: made with a tokenizer of {len(baselines.after)} tokens, and the model's has {vocabulary}"
            raise ModelError(f"{cause}: they do not belong together. Install the model again")
        return baselines


def _triples(corpus: Corpus, rows: Int64, row_weight: Float64) -> tuple[UInt64, Float64]:
    """Distinct ``left << 32 | token << 16 | right`` of some texts and their weights; no ``token`` is a special one."""
    places = corpus.token_places(rows, inner=True)  # tokens with a neighbour on both sides
    weights = np.repeat(row_weight, np.maximum(corpus.text_length[rows] - 2, 0))
    is_piece = corpus.text_ids[places] >= len(SPECIAL_TOKENS)
    left, token, right = (corpus.text_ids[places[is_piece] + shift].astype(np.uint64) for shift in (-1, 0, 1))
    triples, inverse = np.unique((left << np.uint64(32)) | (token << np.uint64(16)) | right, return_inverse=True)
    return triples, np.bincount(inverse, weights[is_piece], minlength=len(triples)).astype(np.float64)


def _most_frequent(context: UInt64, token: UInt64, weights: Float64) -> tuple[UInt64, UInt16, Float64]:
    """Contexts, ascending; the heaviest token of each, the smaller of two equal ones; the contexts' weights."""
    pairs, inverse = np.unique((context << np.uint64(16)) | token, return_inverse=True)
    total = np.bincount(inverse, weights, minlength=len(pairs))
    order = np.lexsort((pairs, -total, owner := pairs >> np.uint64(16)))
    contexts, first = np.unique(owner[order], return_index=True)
    best = (pairs[order[first]] & _TOKEN_MASK).astype(np.uint16)
    context_sums = np.bincount(np.searchsorted(contexts, context), weights, minlength=len(contexts)).astype(np.float64)
    return contexts, best, context_sums
