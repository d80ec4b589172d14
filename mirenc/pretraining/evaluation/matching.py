"""IR-graph matching: is a module's own graph told from another source file's."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from mirenc.model.mirencoder import MIREncoder
from mirenc.pretraining.corpus import Corpus
from mirenc.pretraining.encoding import graph_vectors, text_vectors
from mirenc.pretraining.evaluation.baselines import Baselines
from mirenc.pretraining.evaluation.figures import Figures, NoFigureError
from mirenc.pretraining.evaluation.sizes import matching_modules, partners

__all__ = ["evaluate_matching"]

_SEED = 7


def evaluate_matching(
    model: MIREncoder,
    corpus: Corpus,
    modules: NDArray[np.integer],
    baselines: Baselines,
    *,
    limit: int = 1000,
    threads: int = 1,
) -> Figures:
    """Accuracy on each module's own graph and one negative, with random and with near-equal-size negatives.

    Raises
    ------
    NoFigureError
        Fewer than two source files with graphs.
    """
    rng = np.random.default_rng(_SEED)
    chosen = matching_modules(corpus, modules, limit, rng)
    found = partners(corpus, chosen, rng)
    if found is None:
        raise NoFigureError("fewer than two source files with graphs: there is no other graph to tell from")
    text = text_vectors(model, corpus, chosen, threads=threads)
    graph = graph_vectors(model, corpus, chosen)
    statements, nodes = corpus.statement_total[chosen], corpus.node_count[chosen]
    own = _logits(model, text, graph)
    figures: Figures = {"modules": len(chosen)}
    for name, partner in zip(("random", "near_size"), found, strict=True):
        other = _logits(model, text, graph[torch.from_numpy(partner)])
        figures[f"accuracy_{name}"] = float(((own > 0).mean() + (other <= 0).mean()) / 2)
        size = baselines.sizes.get(name)
        figures[f"accuracy_{name}_size"] = size.accuracy(statements, nodes, partner) if size else None
    return figures


@torch.inference_mode()
def _logits(model: MIREncoder, text: torch.Tensor, graph: torch.Tensor) -> NDArray[np.float32]:
    device = next(model.parameters()).device
    logits: NDArray[np.float32] = model.matching(text.to(device), graph.to(device)).float().cpu().numpy()
    return logits
