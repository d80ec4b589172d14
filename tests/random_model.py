"""Random weights for a model of any architecture, so that tests need no trained one."""

from __future__ import annotations

import numpy as np

from mirenc.model.config import ModelConfig, weight_shapes


def random_weights(config: ModelConfig, seed: int = 0) -> dict[str, np.ndarray]:
    """Weights of a size at which every part matters: no bias is zero, no norm is the identity."""
    rng = np.random.default_rng(seed)
    weights = {}
    for name, shape in weight_shapes(config).items():
        if len(shape) == 1:
            centre = 1.0 if "norm" in name and name.endswith("weight") else 0.0
            drawn = rng.normal(centre, 0.3, shape)
        else:
            drawn = rng.normal(0.0, shape[-1] ** -0.5, shape)
        weights[name] = drawn.astype(np.float32)
    return weights
