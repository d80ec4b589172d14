"""GAE and matching figures on graphs that can be worked out by hand."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from mirenc.model.graph import Flow
from mirenc.model.mirencoder import Encoded
from mirenc.model.tokenizer import CLS, SEP
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.evaluation import Baselines, NoFigureError, graphs as graph_figures
from mirenc.pretrain.graphs import join_graphs

TEXTS = [[CLS, 10, SEP]]


def clique(nodes: range, flow: Flow) -> list[tuple[int, int, Flow]]:
    return [(a, b, flow) for a in nodes for b in nodes if a < b]


@pytest.fixture(scope="module")
def corpus(make_corpus: Callable[..., Corpus]) -> Corpus:
    """Two cliques of five nodes in the data flow, a path of three in the control flow."""
    data = clique(range(5), Flow.DATA) + clique(range(5, 10), Flow.DATA)
    path = [(0, 1, Flow.CONTROL), (1, 2, Flow.CONTROL)]
    modules = [("p/a.ll", {0: 10}, 10, data + path), ("p/b.ll", {0: 10}, 10, path), ("p/c.ll", {0: 1}, 0, [])]
    return make_corpus(TEXTS, modules)


def test_neighbour_scores_by_hand(corpus: Corpus) -> None:
    graphs = join_graphs(corpus, np.array([1]), np.random.default_rng(0))
    pairs = np.array([[0, 0, 0], [1, 2, 3]])
    common, degree = graph_figures._neighbour_scores(graphs, Flow.CONTROL, pairs)
    # Path 0 - 1 - 2: 0 and 2 share 1; the degrees are 1, 2, 1, 0.
    assert common.tolist() == [0, 1, 0]
    assert degree.tolist() == [2, 1, 0]


def test_auc_of_known_vectors(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    separated = torch.zeros(10, 2)
    separated[:5, 0] = separated[5:, 1] = 1

    def score(vectors: Tensor) -> dict[Flow, list[list[float]]]:
        none = vectors[:0]
        monkeypatch.setattr(graph_figures, "encode_graphs", lambda *_: Encoded(none, none, [vectors] * 3, none))
        return graph_figures.gae_scores(nn.Module(), corpus, np.array([0, 1]))

    # Edges join a clique's nodes, other pairs do not: exactly the inner product of the cliques' vectors.
    scores = score(separated)
    assert {flow: len(rows) for flow, rows in scores.items()} == {Flow.CONTROL: 0, Flow.DATA: 1, Flow.CALL: 0}
    figures = graph_figures.flow_figures(scores[Flow.DATA])
    assert (figures["modules"], figures["auc"], figures["average_precision"]) == (1, 1, 1)
    assert figures["auc_common_neighbours"] == 1  # three for an edge, none for another pair
    assert figures["auc_degree_product"] == 0.5  # sixteen for all
    assert graph_figures.flow_figures(score(torch.ones(10, 2))[Flow.DATA])["auc"] == 0.5


def test_flow_figures_are_means(corpus: Corpus) -> None:
    figures = graph_figures.flow_figures([[1.0, 1, 0.5, 0.5, 0, 0], [0.5, 0, 0.5, 0.5, 1, 0]])
    assert (figures["modules"], figures["auc"], figures["average_precision"]) == (2, 0.75, 0.5)
    assert (figures["auc_degree_product"], figures["average_precision_degree_product"]) == (0.5, 0)
    with pytest.raises(NoFigureError, match="10 edges"):
        graph_figures.flow_figures([])


class Head(nn.Module):
    """A matching head that says yes to equal vectors, or with ``sign`` -1 to unequal ones."""

    def __init__(self, sign: float) -> None:
        super().__init__()
        self.sign = nn.Parameter(torch.tensor(sign))

    def matching(self, text: Tensor, graph: Tensor) -> Tensor:
        return self.sign * (0.5 - (text - graph).abs().sum(-1))


@pytest.mark.parametrize(("sign", "accuracy"), [(1.0, 1.0), (-1.0, 0.0)])
def test_matching_accuracy_of_known_heads(
    make_corpus: Callable[..., Corpus], monkeypatch: pytest.MonkeyPatch, sign: float, accuracy: float
) -> None:
    modules = [(f"p/{number}.ll", {0: 2 * size}, size, []) for number, size in enumerate([10, 100, 1000] * 4)]
    corpus = make_corpus(TEXTS, modules)
    vectors = torch.arange(12.0).unsqueeze(-1)
    monkeypatch.setattr(graph_figures, "text_vectors", lambda model, corpus, modules: vectors)
    monkeypatch.setattr(graph_figures, "graph_vectors", lambda model, corpus, modules: vectors)
    baselines = Baselines.fit(corpus, np.arange(12))
    figures = graph_figures.evaluate_matching(Head(sign), corpus, np.arange(12), baselines)
    assert figures["modules"] == 12
    assert (figures["accuracy_random"], figures["accuracy_near_size"]) == (accuracy, accuracy)
    # There is another graph of each size, so sizes say nothing about the nearest.
    assert figures["accuracy_near_size_size"] == 0.5
    assert figures["accuracy_random_size"] > 0.5


def test_matching_needs_two_files(corpus: Corpus) -> None:
    baselines = Baselines.fit(corpus, np.array([0]))
    assert baselines.sizes == {}
    with pytest.raises(NoFigureError, match="fewer than two source files"):
        graph_figures.evaluate_matching(nn.Module(), corpus, np.array([0, 2]), baselines)
