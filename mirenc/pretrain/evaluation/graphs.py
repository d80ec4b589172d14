"""Graph auto-encoding: are edges told from other pairs. Matching: is a module's own graph told from another's."""

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.metrics import average_precision_score, roc_auc_score

from mirenc.base.arrays import Float64, Int64, Integer
from mirenc.base.progress import progress
from mirenc.model.graph import Flow
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.torch_layers import edge_scores
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.encoding import encode_graphs, graph_vectors, text_vectors
from mirenc.pretrain.evaluation.baselines import Baselines, draw_modules, partners, size_accuracy
from mirenc.pretrain.evaluation.figures import Figures, NoFigureError
from mirenc.pretrain.graphs import Graphs, flow_pairs, join_graphs

_SEED = 7
_MIN_EDGES = 10  # an AUC over fewer is a matter of chance
_SCORERS = ("", "_common_neighbours", "_degree_product")


def gae_scores(
    model: MIREncoder, corpus: Corpus, modules: Integer, *, limit: int = 300
) -> dict[Flow, list[list[float]]]:
    """Six numbers a flow of each module with at least ten of its edges, of at most ``limit`` modules with a graph.

    ROC AUC and average precision of the model, of common neighbours and of the degree product. As many pairs that are
    no edges as edges, drawn as in training: both ends have edges of the flow.
    """
    chosen = draw_modules(corpus, modules, limit, np.random.default_rng(_SEED))
    scores: dict[Flow, list[list[float]]] = {flow: [] for flow in Flow}
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    with progress("graph auto-encoding", len(chosen)) as advance:
        for module in chosen.tolist():
            graph = join_graphs(corpus, np.array([module]), np.random.default_rng([_SEED, module]))
            data = graph.data(device, corpus)
            with torch.inference_mode():
                flow_vectors = [vectors.cpu() for vectors in encode_graphs(model, data).flows]
            for flow, (positive, negative) in zip(Flow, flow_pairs(data.cpu()), strict=True):
                if positive.shape[1] >= _MIN_EDGES:
                    pairs = torch.cat([positive, negative], 1)
                    truth = np.repeat([1, 0], [positive.shape[1], negative.shape[1]])
                    guesses = (
                        edge_scores(flow_vectors[flow], pairs).numpy(),
                        *_neighbour_scores(graph, flow, pairs.numpy()),
                    )
                    areas = [(roc_auc_score(truth, guess), average_precision_score(truth, guess)) for guess in guesses]
                    scores[flow].append(np.ravel(areas).tolist())
            advance()
    return scores


def flow_figures(rows: list[list[float]]) -> Figures:
    """Means over the modules of one flow; a `NoFigureError` without any."""
    if not rows:
        raise NoFigureError(f"no module with at least {_MIN_EDGES} edges of this flow")
    means = np.mean(rows, 0).tolist()
    names = [f"{metric}{scorer}" for scorer in _SCORERS for metric in ("auc", "average_precision")]
    return {"modules": len(rows), **dict(zip(names, means, strict=True))}


def _neighbour_scores(graph: Graphs, flow: Flow, pairs: Int64) -> tuple[Float64, Float64]:
    """Common neighbours and degree product of each pair, in the flow's own graph. Shapes: (2, P) -> two (P,)."""
    nodes = len(graph.node_row)
    source, target = graph.edge_index[:, graph.edge_flow == flow]
    ones = np.ones(2 * len(source))
    adjacency = sp.csr_matrix((ones, (np.r_[source, target], np.r_[target, source])), shape=(nodes, nodes))
    adjacency.data[:] = 1.0  # parallel edges count once
    degree = np.asarray(adjacency.sum(1)).ravel()
    common = np.asarray(adjacency[pairs[0]].multiply(adjacency[pairs[1]]).sum(1)).ravel()
    return common, degree[pairs[0]] * degree[pairs[1]]


def evaluate_matching(
    model: MIREncoder, corpus: Corpus, modules: Integer, baselines: Baselines, *, limit: int = 600
) -> Figures:
    """Accuracy on each module's own graph and one negative, random or of near size; a `NoFigureError`: no other."""
    rng = np.random.default_rng(_SEED)
    chosen = draw_modules(corpus, modules, limit, rng)
    partner_sets = partners(corpus, chosen, rng)
    if not partner_sets:
        raise NoFigureError("fewer than two source files with graphs: there is no other graph to tell from")
    text = text_vectors(model, corpus, chosen)
    graph = graph_vectors(model, corpus, chosen)
    statements, nodes = corpus.statement_total[chosen], corpus.node_count[chosen]
    device = next(model.parameters()).device
    figures: Figures = {"modules": len(chosen)}
    for name, partner in partner_sets.items():
        rows = (slice(None), torch.from_numpy(partner))
        with torch.inference_mode():
            scores, partner_scores = (model.matching(text.to(device), graph[i].to(device)).float().cpu() for i in rows)
        figures[f"accuracy_{name}"] = float(((scores > 0).numpy().mean() + (partner_scores <= 0).numpy().mean()) / 2)
        size = baselines.sizes.get(name)
        figures[f"accuracy_{name}_size"] = None if size is None else size_accuracy(size, statements, nodes, partner)
    return figures
