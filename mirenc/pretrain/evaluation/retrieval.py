"""Function retrieval: is a function at O0 found, by cosine, among all functions at O2; no model was trained for it."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction import DictVectorizer
from sklearn.preprocessing import normalize

from mirenc.base.arrays import Float32, Float64
from mirenc.base.errors import MirencError
from mirenc.base.progress import progress
from mirenc.encoder import Encoder
from mirenc.llvm import statements_of
from mirenc.llvm.inputs.input import IRInput
from mirenc.llvm.inputs.level_paths import level_pairs
from mirenc.pretrain.evaluation.figures import Figures, NoFigureError

QUERY, CANDIDATE = "O0", "O2"
MIN_INSTRUCTIONS = 5  # shorter functions (getters, wrappers) are alike in unrelated programs
POOL = 3000
_SEED = 7
_BLOCK = 1024
_MIN_PAIRS = 10


@dataclass(frozen=True, eq=False)
class FunctionView:
    """One function at one level."""

    text: Float32  # (H,)
    graph: Float32  # (D,)
    both: Float32  # (W,) the whole vector: text, graph, and the lexical view where the model has it
    opcodes: Counter[str]  # how often each stands in it
    statements: Counter[str]
    sequence: bytes  # hash of its statements in order


@dataclass(frozen=True, eq=False)
class FunctionPair:
    """One function at both levels."""

    files: tuple[Path, Path]  # of IR at O0 and at O2
    name: str
    query: FunctionView
    candidate: FunctionView


def find_level_pairs(root: Path, files: Iterable[Path]) -> list[tuple[Path, Path]]:
    """Pairs ``PROJECT/O0/x`` and ``PROJECT/O2/x`` among some files below ``root``."""
    relative_paths = [path.relative_to(root) for path in sorted(files)]
    pairs = [(relative_paths[first], relative_paths[second]) for first, second in level_pairs(relative_paths)]
    levels = ((QUERY,), (CANDIDATE,))
    return [(root / first, root / second) for first, second in pairs if (first.parts[1:2], second.parts[1:2]) == levels]


def function_views(encoder: Encoder, ir: IRInput) -> dict[str, FunctionView]:
    """A module's functions of at least `MIN_INSTRUCTIONS` instructions, by name."""
    module = encoder.read(ir)
    embedding = encoder.embed_parts(module, level="function", form="plain")
    statements = statements_of(module, encoder.tokenizer.config.normalisation)
    views = {}
    defined = [header for header in module.headers if not header.is_declaration]  # one row each, in this order
    for header, text, graph, vector in zip(defined, embedding.text, embedding.graph, embedding.vector, strict=True):
        if header.last - header.first >= MIN_INSTRUCTIONS:
            first, last = (statements.first_instruction + number for number in (header.first, header.last))
            opcodes = Counter(module.forms[form].opcode for form in module.arrays.form[header.first : header.last])
            words = Counter(statements[number] for number in range(first, last))
            views[header.name] = FunctionView(text, graph, vector, opcodes, words, statements.digest(first, last))
    return views


def collect_pairs(
    encoder: Encoder,
    files: Sequence[tuple[Path, Path]],
    *,
    limit: int = POOL,
    views: Callable[[Encoder, Path], dict[str, FunctionView]] = function_views,
) -> list[FunctionPair]:
    """Functions of one name at both levels, at most ``limit``, from files in an order drawn by a fixed seed.

    Of functions with equal statements at O2 the first is kept: no vector could tell them apart. Files that cannot be
    read are left out.
    """
    sequences: set[bytes] = set()
    pairs: list[FunctionPair] = []
    with progress("functions", len(files)) as advance:
        for paths in (files[number] for number in np.random.default_rng(_SEED).permutation(len(files))):
            if len(pairs) >= limit:
                break
            with suppress(MirencError):
                query, candidate = (views(encoder, path) for path in paths)
                for name in sorted(query.keys() & candidate.keys()):
                    if candidate[name].sequence not in sequences:
                        sequences.add(candidate[name].sequence)
                        pairs.append(FunctionPair(paths, name, query[name], candidate[name]))
            advance()
    return pairs[:limit]


def ranks(queries: Any, candidates: Any) -> Float64:
    """Rank of each query's own candidate by cosine, from 1; equals share the mean. Dense or sparse (n, D) -> (n,)."""
    queries, candidates = (normalize(rows.astype(np.float64)) for rows in (queries, candidates))
    rank = np.empty(queries.shape[0])
    for first in range(0, queries.shape[0], _BLOCK):
        scores = queries[first : first + _BLOCK] @ candidates.T
        scores = np.asarray(scores.toarray() if sp.issparse(scores) else scores)
        target = scores[np.arange(len(scores)), first + np.arange(len(scores))][:, None]
        nearer, ties = (scores > target).sum(1), (scores == target).sum(1) - 1
        rank[first : first + _BLOCK] = 1 + nearer + ties / 2
    return rank


def rank_figures(rank: Float64) -> Figures:
    """Recall at 1 and 10, mean reciprocal rank."""
    recall = {f"recall_at_{k}": float((rank <= k).mean()) for k in (1, 10)}
    return recall | {"mrr": float((1 / rank).mean())}


def bag_vectors(bags: Sequence[Mapping[str, int]]) -> sp.csr_matrix:
    """Counts of words as a (n, words) sparse matrix of float64."""
    return DictVectorizer(dtype=np.float64, sort=False).fit_transform(bags)


def retrieval_figures(pairs: Sequence[FunctionPair]) -> Figures:
    """Recall and reciprocal rank of text, graph, both and two baselines without model; a `NoFigureError`: too few."""
    if len(pairs) < _MIN_PAIRS:
        rule = f"have {MIN_INSTRUCTIONS} instructions or more at {QUERY} and at {CANDIDATE}"
        raise NoFigureError(f"only {len(pairs)} different functions {rule}; {_MIN_PAIRS} such functions are needed")
    figures: Figures = {"functions": len(pairs), "files": len({pair.files for pair in pairs})}
    queries, candidates = [pair.query for pair in pairs], [pair.candidate for pair in pairs]
    for part in ("text", "graph", "both"):
        query, candidate = (np.array([getattr(view, part) for view in views]) for views in (queries, candidates))
        figures[part] = rank_figures(ranks(query, candidate))
    views = queries + candidates
    opcodes, counts = bag_vectors([view.opcodes for view in views]), bag_vectors([view.statements for view in views])
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    # Of a statement log(1 + count) times log(functions / functions that have it).
    statements = sp.csr_matrix(counts.log1p() @ sp.diags(np.log(counts.shape[0] / np.maximum(frequency, 1))))
    bags = {"counts": opcodes, "log1p": opcodes.log1p(), "bag_of_statements": statements}
    scores = {name: rank_figures(ranks(bag[: len(pairs)], bag[len(pairs) :])) for name, bag in bags.items()}
    scale = max(("counts", "log1p"), key=lambda name: scores[name]["mrr"])  # the better of two histograms
    figures["opcode_histogram"] = {**scores[scale], "scale": scale}
    return figures | {"bag_of_statements": scores["bag_of_statements"]}


def evaluate_retrieval(encoder: Encoder, files: Sequence[tuple[Path, Path]]) -> Figures:
    """Function retrieval on pairs of files (`find_level_pairs`); without any, or with few, a `NoFigureError`."""
    if not files:
        raise NoFigureError(f"no pairs of files PROJECT/{QUERY}/x.ll and PROJECT/{CANDIDATE}/x.ll")
    return retrieval_figures(collect_pairs(encoder, files))
