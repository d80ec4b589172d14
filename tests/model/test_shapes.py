"""The shapes known without torch are those of the torch module."""

from __future__ import annotations

import pytest

from mirenc.model.config import PRESETS
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.shapes import weight_shapes


@pytest.mark.parametrize("name", PRESETS)
def test_shapes_are_the_modules(name: str) -> None:
    state = MIREncoder(PRESETS[name]).state_dict()
    assert weight_shapes(PRESETS[name]) == {key: tuple(value.shape) for key, value in state.items()}
