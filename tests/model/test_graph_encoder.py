"""The graph encoder and its decoder, against numbers worked out by hand."""

import math

import numpy as np
import pytest
import torch

from mirenc.model.config import GraphEncoderConfig
from mirenc.model.data import IRData
from mirenc.model.graph import Flow
from mirenc.model.torch_layers import GraphEncoder, edge_scores

WIDTH = 8


def encoded(
    encoder: GraphEncoder, features: torch.Tensor, kinds: torch.Tensor, edges: torch.Tensor, flows: torch.Tensor
) -> list[torch.Tensor]:
    return encoder(IRData(node_kind=kinds, edge_index=edges, edge_flow=flows), features)


@pytest.fixture
def graph_encoder() -> GraphEncoder:
    torch.manual_seed(0)
    config = GraphEncoderConfig(hidden=10, out=9)
    encoder = GraphEncoder(config, config.declare(WIDTH, WIDTH))
    for parameter in encoder.parameters():
        torch.nn.init.normal_(parameter)
    return encoder.eval()


@torch.inference_mode()
def test_gcn_on_three_nodes_worked_by_hand(graph_encoder: GraphEncoder) -> None:
    """Z_f = N_f relu(N_f X W1 + b1) W2 + b2 with N_f = D^-1/2 (A + I) D^-1/2."""
    rng = np.random.default_rng(1)
    features = rng.normal(size=(3, WIDTH)).astype(np.float32)
    kinds = np.array([0, 1, 2])
    # Control: the path 0 -> 1 -> 2, one edge twice. Data: 2 -> 0 only. Call: nothing.
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 2, 2, 0]])
    edge_flow = torch.tensor([0, 0, 0, 1])
    # With self-loops the degrees of the path are 2, 3, 2; those of the data graph 2, 1, 2.
    sixth = 1 / math.sqrt(6)
    normalised = {
        Flow.CONTROL: np.array([[1 / 2, sixth, 0], [sixth, 1 / 3, sixth], [0, sixth, 1 / 2]]),
        Flow.DATA: np.array([[1 / 2, 0, 1 / 2], [0, 1, 0], [1 / 2, 0, 1 / 2]]),
        Flow.CALL: np.eye(3),
    }
    weight = {name: value.numpy().astype(np.float64) for name, value in graph_encoder.state_dict().items()}
    x = features + weight["kind.weight"][kinds]
    centred = x - x.mean(axis=1, keepdims=True)
    x = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    x = x * weight["norm_in.weight"] + weight["norm_in.bias"]
    found = encoded(graph_encoder, torch.from_numpy(features), torch.from_numpy(kinds), edge_index, edge_flow)
    assert [tuple(z.shape) for z in found] == [(3, 9)] * 3
    expected = []
    for flow in Flow:
        n = normalised[flow]
        hidden = np.maximum(n @ x @ weight["conv1.lin.weight"].T + weight["conv1.bias"], 0)
        expected.append(n @ hidden @ weight["conv2.lin.weight"].T + weight["conv2.bias"])
        np.testing.assert_allclose(found[flow], expected[-1], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(GraphEncoder.combine(found), sum(expected) / 3, rtol=1e-4, atol=1e-4)


@torch.inference_mode()
def test_the_direction_of_edges_does_not_matter_but_their_flow_does(graph_encoder: GraphEncoder) -> None:
    features, kinds = torch.randn(4, WIDTH), torch.tensor([0, 0, 1, 2])
    edges, flows = torch.tensor([[0, 1, 2], [1, 2, 3]]), torch.tensor([0, 1, 1])

    def z(edge_index: torch.Tensor, edge_flow: torch.Tensor) -> torch.Tensor:
        return GraphEncoder.combine(encoded(graph_encoder, features, kinds, edge_index, edge_flow))

    torch.testing.assert_close(z(edges.flip(0), flows), z(edges, flows))
    assert (z(edges, torch.tensor([1, 1, 1])) - z(edges, flows)).abs().max() > 0.01


@torch.inference_mode()
def test_a_permutation_of_the_nodes_permutes_the_vectors(graph_encoder: GraphEncoder) -> None:
    torch.manual_seed(2)
    features, kinds = torch.randn(20, WIDTH), torch.randint(0, 3, (20,))
    edges, flows = torch.randint(0, 20, (2, 60)), torch.randint(0, 3, (60,))
    order = torch.randperm(20)
    place = torch.argsort(order)
    before = GraphEncoder.combine(encoded(graph_encoder, features, kinds, edges, flows))
    after = GraphEncoder.combine(encoded(graph_encoder, features[order], kinds[order], place[edges], flows))
    torch.testing.assert_close(after, before[order], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(after.mean(0), before.mean(0), rtol=1e-5, atol=1e-5)


@torch.inference_mode()
def test_the_kind_of_a_node_matters(graph_encoder: GraphEncoder) -> None:
    features, edges, flows = torch.zeros(2, WIDTH), torch.tensor([[0], [1]]), torch.tensor([1])
    one = encoded(graph_encoder, features, torch.tensor([0, 1]), edges, flows)[Flow.DATA]
    other = encoded(graph_encoder, features, torch.tensor([0, 2]), edges, flows)[Flow.DATA]
    assert (one - other).abs().max() > 0.01


def test_the_decoder_is_the_inner_product() -> None:
    # z z^T, worked out by hand.
    z = torch.tensor([[1.0, -1.0], [1.0, 2.0], [2.0, 1.0]])
    gram = [[2.0, -1.0, 1.0], [-1.0, 5.0, 4.0], [1.0, 4.0, 5.0]]
    pairs = torch.cartesian_prod(torch.arange(3), torch.arange(3)).T
    assert edge_scores(z, pairs).view(3, 3).tolist() == gram
    assert edge_scores(z, torch.zeros((2, 0), dtype=torch.int64)).shape == (0,)


def test_the_decoder_gives_an_exact_adjacency_back() -> None:
    # Nodes 0 and 1 point one way, 2 and 3 the other: edges within, none across.
    z = torch.tensor([[3.0, 0.0], [3.0, 0.0], [-3.0, 0.0], [-3.0, 0.0]])
    pairs = torch.cartesian_prod(torch.arange(4), torch.arange(4)).T
    probability = torch.sigmoid(edge_scores(z, pairs)).view(4, 4)
    exact = torch.tensor([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    torch.testing.assert_close(probability, exact, rtol=0, atol=1 / (1 + math.exp(9)) + 1e-6)
