"""The shapes known without torch are those of the torch module, also of two kinds of encoders in one model."""

from typing import get_args

import numpy as np
import pytest
from random_model import random_weights

from mirenc.base.config import Config
from mirenc.model.config import (
    PRESETS,
    DirectedGraphConfig,
    GraphConfig,
    GraphEncoderConfig,
    ModelConfig,
    TextConfig,
    weight_shapes,
)
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.numpy_layers import NumpyLayers
from mirenc.model.numpy_runtime import NumpyRuntime, graph_pooling, pooled_by_formula
from mirenc.model.pooling import make_pool, module_pools
from mirenc.model.sample import IRSample
from mirenc.model.torch_runtime import TorchRuntime

UNIONS = {"text": TextConfig, "graph": GraphConfig}

# Of every registered kind, so that a new one is caught before it has tests of its own.
KINDS = [(part, get_args(kind)[0]) for part, union in UNIONS.items() for kind in get_args(get_args(union)[0])]


@pytest.mark.parametrize(("part", "kind"), KINDS)
def test_runtimes_agree_on_every_kind(
    convolution_config: ModelConfig, samples: dict[str, IRSample], part: str, kind: type[Config]
) -> None:
    config = convolution_config.model_copy(update={part: kind(hidden=24)})
    weights = random_weights(config, seed=6)
    one, other = NumpyRuntime(config, weights), TorchRuntime(config, weights)
    for sample in samples.values():
        outputs, expected = (runtime.forward(sample, module_pools(sample, "sqrt")) for runtime in (one, other))
        for mine, theirs in zip(outputs, expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4)
    assert config.text.card
    assert config.graph.card(config.text.token_width)
    assert config.graph.order


def test_the_faster_way_of_numpy_gives_what_the_formula_says(
    convolution_config: ModelConfig, samples: dict[str, IRSample]
) -> None:
    """Node by node: refinement of the directed encoder, sums by pairs of the GCN, and the formula as it is written."""
    for graph in (
        DirectedGraphConfig(hidden=24, out=10, statements=True),
        DirectedGraphConfig(hidden=24, out=10, positions=False),
        GraphEncoderConfig(hidden=24, out=10),
    ):
        config = convolution_config.model_copy(update={"graph": graph})
        layers = NumpyLayers(random_weights(config, seed=6), "graph")
        for sample in samples.values():
            rng, nodes = np.random.default_rng(0), np.arange(len(sample.node_row))
            features, statements = (rng.normal(size=(len(sample.texts), n)).astype(np.float32) for n in (20, 32))
            taken = statements if graph.statements else None
            pool = make_pool(nodes, nodes, len(nodes), "count")
            pooled = graph_pooling(graph, layers, 1)(sample, pool, features, taken)
            expected = pooled_by_formula(graph, layers, sample, pool, features, taken)
            assert np.ptp(expected) > 0.1
            np.testing.assert_allclose(pooled, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", PRESETS)
def test_shapes_are_the_modules(name: str) -> None:
    state = MIREncoder(PRESETS[name]).state_dict()
    assert weight_shapes(PRESETS[name]) == {key: tuple(value.shape) for key, value in state.items()}
