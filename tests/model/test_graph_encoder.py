"""The graph encoder and its decoder, against numbers worked out by hand."""

import math

import numpy as np
import torch

from mirenc.model.config import GraphEncoderConfig
from mirenc.model.data import IRData
from mirenc.model.graph import Flow
from mirenc.model.torch_layers import GraphEncoder, edge_scores

WIDTH = 8


@torch.inference_mode()
def test_gcn_on_three_nodes_worked_by_hand() -> None:
    """Z_f = N_f relu(N_f X W1 + b1) W2 + b2 with N_f = D^-1/2 (A + I) D^-1/2."""
    torch.manual_seed(0)
    config = GraphEncoderConfig(hidden=10, out=9)
    graph_encoder = GraphEncoder(config, config.declare(WIDTH, WIDTH)).eval()
    for parameter in graph_encoder.parameters():
        torch.nn.init.normal_(parameter)
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
    graph = IRData(node_kind=torch.from_numpy(kinds), edge_index=edge_index, edge_flow=edge_flow)
    flows = graph_encoder(graph, torch.from_numpy(features))
    assert [tuple(z.shape) for z in flows] == [(3, 9)] * 3
    expected = []
    for flow in Flow:
        n = normalised[flow]
        hidden = np.maximum(n @ x @ weight["conv1.lin.weight"].T + weight["conv1.bias"], 0)
        expected.append(n @ hidden @ weight["conv2.lin.weight"].T + weight["conv2.bias"])
        np.testing.assert_allclose(flows[flow], expected[-1], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(GraphEncoder.combine(flows), sum(expected) / 3, rtol=1e-4, atol=1e-4)


def test_the_decoder_is_the_inner_product() -> None:
    # z z^T, worked out by hand.
    z = torch.tensor([[1.0, -1.0], [1.0, 2.0], [2.0, 1.0]])
    gram = [[2.0, -1.0, 1.0], [-1.0, 5.0, 4.0], [1.0, 4.0, 5.0]]
    pairs = torch.cartesian_prod(torch.arange(3), torch.arange(3)).T
    assert edge_scores(z, pairs).view(3, 3).tolist() == gram
    assert edge_scores(z, torch.zeros((2, 0), dtype=torch.int64)).shape == (0,)
