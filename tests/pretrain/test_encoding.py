"""Graphs of a corpus through a model: the same however many are encoded at once, and whoever encodes their texts."""

import numpy as np
import pytest
import torch
from same_vectors import assert_same_vectors

from mirenc.model.config import ConvolutionConfig, DirectedGraphConfig, ModelConfig
from mirenc.model.mirencoder import MIREncoder
from mirenc.pretrain import encoding
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.encoding import FrozenTexts, encode_graphs, graph_vectors, text_vectors
from mirenc.pretrain.graphs import join_graphs
from mirenc.pretrain.parallel import Processes

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> MIREncoder:
    torch.manual_seed(0)
    return MIREncoder(
        ModelConfig(
            tokenizer=corpus.tokenizer.config.model_copy(update={"vocab_size": corpus.tokenizer.vocab_size}),
            text=ConvolutionConfig(embedding=12, channels=16, layers=1, feed_forward=24, hidden=20),
            graph=DirectedGraphConfig(hidden=16, out=10, readout="mean-max-sum", statements=True),
        )
    ).eval()


@pytest.fixture(scope="module")
def modules(corpus: Corpus) -> np.ndarray:
    return np.flatnonzero(corpus.node_count)[:7]


@pytest.mark.parametrize("nodes", [1, 600])
def test_graph_vectors_do_not_depend_on_how_many_are_encoded_at_once(
    model: MIREncoder, corpus: Corpus, modules: np.ndarray, monkeypatch: pytest.MonkeyPatch, nodes: int
) -> None:
    assert corpus.node_count[modules].sum() > 1200
    together = graph_vectors(model, corpus, modules, weighting="sqrt")
    monkeypatch.setattr(encoding, "_NODES", nodes)
    torch.testing.assert_close(graph_vectors(model, corpus, modules, weighting="sqrt"), together, rtol=1e-4, atol=1e-4)


def test_frozen_texts_give_the_vectors_of_encoding(model: MIREncoder, corpus: Corpus, modules: np.ndarray) -> None:
    known = FrozenTexts(model, corpus, modules, processes=Processes(CPU), weighting="sqrt")
    graphs = join_graphs(corpus, modules, np.random.default_rng(0))
    with torch.no_grad():
        encoded = encode_graphs(model, graphs.data(CPU), known)
        expected = encode_graphs(model, graphs.data(CPU, corpus))
    torch.testing.assert_close(encoded.graph, expected.graph, rtol=1e-4, atol=1e-4)
    for mine, theirs in zip(encoded.flows, expected.flows, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-4)
    assert_same_vectors(known.means.numpy(), text_vectors(model, corpus, modules, weighting="sqrt").numpy())
