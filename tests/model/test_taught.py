"""The taught trunk: its formula by hand, counts by hand, both runtimes, and models that have none."""

import numpy as np
import pytest
import torch
from random_model import random_weights

from mirenc.model.config import (
    DirectedGraphConfig,
    GraphConfig,
    GraphEncoderConfig,
    ModelConfig,
    TaughtConfig,
)
from mirenc.model.graph import NodeKind
from mirenc.model.kinds import COUNTS
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.pooling import Pools, make_pool, module_pools, region_pools
from mirenc.model.sample import IRSample
from mirenc.model.torch_runtime import TorchRuntime

TAUGHT = TaughtConfig(width=12, hidden=20)
GRAPHS = [
    DirectedGraphConfig(hidden=24, out=10, readout="mean-max-sum"),
    DirectedGraphConfig(hidden=24, out=10, readout="mean-max-sum", statements=True),
    GraphEncoderConfig(hidden=24, out=10),
]


def with_trunk(config: ModelConfig, graph: GraphConfig) -> ModelConfig:
    return config.model_copy(update={"graph": graph, "taught": TAUGHT})


@pytest.mark.parametrize("graph", GRAPHS)
def test_both_runtimes_agree(convolution_config: ModelConfig, samples: dict[str, IRSample], graph: GraphConfig) -> None:
    config = with_trunk(convolution_config, graph)
    weights = random_weights(config, seed=6)
    one, other = NumpyRuntime(config, weights), TorchRuntime(config, weights)
    for sample in samples.values():
        instruction = np.arange(min(9, len(sample.instruction_node)))
        for pools in (
            module_pools(sample, "sqrt"),
            region_pools(sample, instruction, instruction % 3, 4, "sqrt"),  # the last group has nothing in it
        ):
            output, expected = (runtime.forward(sample, pools) for runtime in (one, other))
            assert output.taught.shape == (pools.text.groups, TAUGHT.width)
            assert output.taught.dtype == np.float32
            for mine, theirs in zip(output, expected, strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4)
            for runtime in (one, other):
                assert runtime.forward(sample, pools, "graph").taught.shape == (pools.text.groups, 0)


def test_the_trunk_worked_by_hand(model_config: ModelConfig) -> None:
    """Without learned scales: standardised parts side by side, then log(1 + counts); two linear maps, one past them."""
    config = with_trunk(model_config, GRAPHS[0])
    torch.manual_seed(0)
    trunk = MIREncoder(config).taught
    assert trunk is not None
    trunk.eval()
    rng = np.random.default_rng(0)
    text, graph = rng.normal(3, 2, size=(2, 32)), rng.normal(1, 4, size=(2, 30))
    counts = np.array([[3.0, 1, 0, 2], [0, 0, 0, 0]])
    parts = [text, *np.split(graph, 3, axis=1)]
    normed = [(part - part.mean(1, keepdims=True)) / part.std(1, keepdims=True) for part in parts]
    x = np.concatenate([*normed, np.log1p(counts)], axis=1)
    (w1, b1), (w2, b2) = (
        (layer.weight.detach().numpy().T, layer.bias.detach().numpy()) for layer in (trunk.linear1, trunk.linear2)
    )
    expected = np.maximum(x @ w1 + b1, 0) @ w2 + b2 + x @ trunk.skip.weight.detach().numpy().T
    inputs = [torch.from_numpy(each.astype(np.float32)) for each in (text, graph, counts)]
    np.testing.assert_allclose(trunk(*inputs).detach().numpy(), expected, rtol=1e-4, atol=1e-5)
    # In training some inputs of the hidden layer are missing, none of what goes past it.
    trunk.train()
    assert not torch.allclose(trunk(*inputs), trunk(*inputs))
    torch.nn.init.zeros_(trunk.linear1.weight)
    torch.testing.assert_close(trunk(*inputs), trunk(*inputs))


def test_counts_by_hand() -> None:
    kind = np.array([NodeKind.INSTRUCTION, NodeKind.INSTRUCTION, NodeKind.VARIABLE, NodeKind.CONSTANT])
    # Group 0 has nodes 0, 1 and 2 and two texts, group 1 nodes 1 and 3 and one, group 2 nothing.
    pools = Pools(
        make_pool(np.array([4, 7, 7]), np.array([0, 0, 1]), 3, "count", count=np.array([5, 1, 1])),
        make_pool(np.array([0, 1, 2, 1, 3]), np.array([0, 0, 0, 1, 1]), 3, "count"),
    )
    counts = pools.counts(kind)
    assert counts.tolist() == [[2, 1, 0, 2], [1, 0, 1, 1], [0, 0, 0, 0]]
    assert counts.shape[1] == COUNTS


def test_a_model_without_a_trunk_has_no_columns(model_config: ModelConfig, samples: dict[str, IRSample]) -> None:
    assert ModelConfig.from_dict({"graph": {"out": 16}}).taught is None
    weights = random_weights(model_config)
    assert not [name for name in weights if name.startswith("taught.")]
    for runtime in (NumpyRuntime(model_config, weights), TorchRuntime(model_config, weights)):
        for sample in samples.values():
            assert runtime.forward(sample, module_pools(sample, "sqrt")).taught.shape == (1, 0)
