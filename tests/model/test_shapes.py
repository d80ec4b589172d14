"""The shapes known without torch are those of the torch module, also of two kinds of encoders in one model."""

from __future__ import annotations

import numpy as np
import pytest
from random_model import random_weights

from mirenc.model.config import PRESETS, DirectedGraphConfig, ModelConfig
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.pooling import module_pools
from mirenc.model.sample import IRSample
from mirenc.model.shapes import weight_shapes
from mirenc.model.torch_runtime import TorchRuntime


@pytest.mark.parametrize("statements", [False, True])
def test_both_runtimes_agree(convolution_config: ModelConfig, samples: dict[str, IRSample], statements: bool) -> None:
    """Token embedding, token state and statement vector have three widths here."""
    graph = DirectedGraphConfig(hidden=24, out=10, statements=statements, readout="mean-max-sum")
    config = convolution_config.model_copy(update={"graph": graph})
    weights = random_weights(config, seed=6)
    state = MIREncoder(config).state_dict()
    assert weight_shapes(config) == {key: tuple(value.shape) for key, value in state.items()}
    one, other = NumpyRuntime(config, weights), TorchRuntime(config, weights)
    for sample in samples.values():
        found, expected = (runtime.forward(sample, module_pools(sample, "sqrt")) for runtime in (one, other))
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", PRESETS)
def test_shapes_are_the_modules(name: str) -> None:
    state = MIREncoder(PRESETS[name]).state_dict()
    assert weight_shapes(PRESETS[name]) == {key: tuple(value.shape) for key, value in state.items()}
