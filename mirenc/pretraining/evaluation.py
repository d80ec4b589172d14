"""Held-out figures of a model, each beside a trivial baseline.

MLM accuracy and perplexity (baselines: the most frequent piece; the most frequent piece between the same two
neighbours); GAE ROC AUC and average precision per flow (common neighbours; degree product); matching accuracy with
random and with
near-equal-size negatives (difference of statement and node counts).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

from mirenc.graph import Flow
from mirenc.model.graph_encoder import edge_scores
from mirenc.pretraining.objectives import make_graph_batch, mask_tokens
from mirenc.pretraining.trainer import Trainer

__all__ = ["evaluate_gae", "evaluate_matching", "evaluate_mlm", "evaluate_model"]

Figures = dict[str, Any]
_SEED = 7


def evaluate_model(trainer: Trainer) -> Figures:
    """All figures on the trainer's held-out projects."""
    trainer.model.eval()
    corpus, held = trainer.corpus, trainer.held_out
    return {
        "held_out": {
            "projects": sorted({corpus.projects[module] for module in held}),
            "modules": len(held),
        },
        "mlm": evaluate_mlm(trainer),
        "gae": evaluate_gae(trainer),
        "matching": evaluate_matching(trainer),
    }


def _held_out_texts(trainer: Trainer, limit: int) -> NDArray[np.int64]:
    """Texts of held-out modules that no training module has; a random ``limit`` of them."""
    corpus = trainer.corpus

    def rows_of(modules: NDArray[np.int64]) -> NDArray[np.int32]:
        return np.unique(np.concatenate([corpus[int(module)].statement_row for module in modules]))

    rows = np.setdiff1d(rows_of(trainer.held_out), rows_of(trainer.train_modules))
    rng = np.random.default_rng(_SEED)
    return rng.permutation(rows)[:limit].astype(np.int64)


def _neighbour_table(trainer: Trainer, limit: int) -> tuple[int, dict[tuple[int, int], int]]:
    """Most frequent piece, and most frequent piece between two neighbours, in training statements."""
    rng = np.random.default_rng(_SEED)
    rows = rng.permutation(trainer.statement_rows)[:limit]
    single: Counter[int] = Counter()
    between: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    start = trainer.corpus.text_start
    for row in rows:
        ids = trainer.corpus.text_ids[start[row] : start[row + 1]].tolist()
        single.update(ids[1:-1])
        for left, token, right in zip(ids, ids[1:-1], ids[2:], strict=False):
            between[left, right][token] += 1
    return single.most_common(1)[0][0], {key: c.most_common(1)[0][0] for key, c in between.items()}


def evaluate_mlm(trainer: Trainer, *, limit: int = 20000) -> Figures:
    """Accuracy and perplexity at masked positions of statements that training never saw.

    The baselines see the same masked positions; the neighbour baseline is even given the true neighbours.
    """
    corpus, config = trainer.corpus, trainer.config
    rows = _held_out_texts(trainer, limit)
    frequent, table = _neighbour_table(trainer, 200_000)
    rng = np.random.default_rng(_SEED)
    rows = rows[np.argsort(corpus.text_length[rows], kind="stable")]
    hits = total = frequent_hits = neighbour_hits = 0
    nats = 0.0
    for first in range(0, len(rows), 256):
        ids = corpus.padded_ids(rows[first : first + 256])
        masked, chosen = mask_tokens(
            ids, rng, vocab_size=trainer.model_config.tokenizer.vocab_size, share=config.mask_share
        )
        if not chosen.any():
            continue
        with torch.inference_mode():
            tokens = trainer.model.text(torch.from_numpy(masked))[torch.from_numpy(chosen)]
            scores = trainer.model.mlm(tokens, trainer.model.text.token.weight)
            truth = torch.from_numpy(ids[chosen])
            nats += float(F.cross_entropy(scores, truth, reduction="sum"))
            hits += int((scores.argmax(-1) == truth).sum())
        total += int(chosen.sum())
        frequent_hits += int((ids[chosen] == frequent).sum())
        for row, column in zip(*np.nonzero(chosen), strict=True):
            guess = table.get((int(ids[row, column - 1]), int(ids[row, column + 1])), frequent)
            neighbour_hits += guess == int(ids[row, column])
    return {
        "statements": len(rows),
        "positions": total,
        "accuracy": hits / total,
        "perplexity": float(np.exp(nats / total)),
        "accuracy_most_frequent": frequent_hits / total,
        "accuracy_neighbours": neighbour_hits / total,
    }


def evaluate_gae(trainer: Trainer, *, limit: int = 300) -> Figures:
    """AUC and average precision per flow, mean over held-out modules with at least ten edges of the flow."""
    corpus = trainer.corpus
    sizes = np.diff(corpus.node_start)
    modules = trainer.held_out[sizes[trainer.held_out] <= 20_000]
    modules = np.random.default_rng(_SEED).permutation(modules)[:limit]
    scores: dict[Flow, list[list[float]]] = {flow: [] for flow in Flow}
    for module in modules:
        graphs = make_graph_batch([corpus[module]], np.random.default_rng([_SEED, int(module)]))
        with torch.inference_mode():
            per_flow = trainer.encode_graphs(graphs)
        for flow in Flow:
            positive, negative = graphs.pairs[flow]
            if positive.shape[1] < 10:
                continue
            pairs = torch.cat([positive, negative], 1)
            truth = np.repeat([1, 0], [positive.shape[1], negative.shape[1]])
            model = edge_scores(per_flow[flow], pairs).numpy()
            common, degree = _graph_baselines(graphs, flow, pairs.numpy())
            scores[flow].append(
                [
                    roc_auc_score(truth, model),
                    average_precision_score(truth, model),
                    roc_auc_score(truth, common),
                    roc_auc_score(truth, degree),
                ]
            )
    names = ("auc", "average_precision", "auc_common_neighbours", "auc_degree_product")
    return {
        flow.name.lower(): {
            "modules": len(scores[flow]),
            **dict(zip(names, np.mean(scores[flow], 0).tolist(), strict=True)),
        }
        for flow in Flow
        if scores[flow]
    }


def _graph_baselines(graphs: Any, flow: Flow, pairs: NDArray[np.int64]) -> tuple[Any, Any]:
    """Common neighbours and degree product of each pair, in the flow's own graph."""
    import scipy.sparse as sp

    nodes = len(graphs.features_row)
    source, target = graphs.edge_index[:, graphs.edge_flow == flow].numpy()
    ones = np.ones(2 * len(source))
    adjacency = sp.csr_matrix((ones, (np.r_[source, target], np.r_[target, source])), shape=(nodes, nodes))
    adjacency.data[:] = 1.0
    degree = np.asarray(adjacency.sum(1)).ravel()
    common = np.asarray(adjacency[pairs[0]].multiply(adjacency[pairs[1]]).sum(1)).ravel()
    return common, degree[pairs[0]] * degree[pairs[1]]


def evaluate_matching(trainer: Trainer) -> Figures:
    """Accuracy on held-out modules, one positive and one negative each.

    Negatives are another source file's graph: a random one, or the one nearest in node count. The baseline is a
    logistic regression on the difference of log statement count and log node count, fitted on training modules.
    """
    corpus = trainer.corpus
    limit = trainer.config.max_nodes
    sizes = np.diff(corpus.node_start)
    statements = np.diff(corpus.statement_start)
    held = trainer.held_out[sizes[trainer.held_out] <= limit]
    graphs = _graph_vectors(trainer, held)
    text = trainer.text_vectors(held)
    rng = np.random.default_rng(_SEED)
    files = np.array([corpus.names[module].rsplit("/", 1)[-1] for module in held])
    random, near = _partners(sizes[held], files, rng)
    fit = trainer.train_modules[sizes[trainer.train_modules] <= limit]
    fit_files = np.array([corpus.names[module].rsplit("/", 1)[-1] for module in fit])
    fit_random, fit_near = _partners(sizes[fit], fit_files, rng)
    figures: Figures = {"modules": len(held)}
    for name, partner, fit_partner in (
        ("random", random, fit_random),
        ("near_size", near, fit_near),
    ):
        with torch.inference_mode():
            own = trainer.model.matching(text, graphs).numpy()
            other = trainer.model.matching(text, graphs[torch.from_numpy(partner)]).numpy()
        baseline = LogisticRegression().fit(*_size_features(statements[fit], sizes[fit], fit_partner))
        figures[f"accuracy_{name}"] = float(((own > 0).mean() + (other <= 0).mean()) / 2)
        figures[f"accuracy_{name}_baseline"] = float(
            baseline.score(*_size_features(statements[held], sizes[held], partner))
        )
    return figures


def _graph_vectors(trainer: Trainer, modules: NDArray[np.int64]) -> torch.Tensor:
    out = []
    for module in modules:
        graphs = make_graph_batch([trainer.corpus[module]], np.random.default_rng(0))
        with torch.inference_mode():
            per_flow = trainer.encode_graphs(graphs)
            out.append(trainer.model.graph.combine(per_flow).mean(0))
    return torch.stack(out)


def _partners(
    sizes: NDArray[np.int64], files: NDArray[Any], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each module another source file's module: a random one, and the nearest in size."""
    count = len(sizes)
    random = np.empty(count, dtype=np.int64)
    near = np.empty(count, dtype=np.int64)
    for module in range(count):
        others = np.flatnonzero(files != files[module])
        random[module] = rng.choice(others)
        near[module] = others[np.argmin(np.abs(sizes[others] - sizes[module]))]
    return random, near


def _size_features(
    statements: NDArray[np.int64], sizes: NDArray[np.int64], partner: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    own = np.log(statements) - np.log(sizes)
    other = np.log(statements) - np.log(sizes[partner])
    difference = np.concatenate([own, other])
    features = np.stack([difference, np.abs(difference - np.median(own)), difference**2], 1)
    return features, np.repeat([1, 0], len(own))
