"""The convolutional text encoder by windows: the formula's vectors, with equal windows computed once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from random_model import random_weights

from mirenc.model import windows
from mirenc.model.config import ConvolutionConfig, ModelConfig
from mirenc.model.numpy_layers import NumpyLayers
from mirenc.model.numpy_runtime import encode_by_length
from mirenc.model.tokenizer import CLS, SEP
from mirenc.model.windows import encode_windows

Texts = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def layers(convolution_config: ModelConfig) -> NumpyLayers:
    return NumpyLayers(random_weights(convolution_config), "text")


def padded(*texts: list[int]) -> Texts:
    """Ids (U, L) and lengths (U,) of texts, which get [CLS] and [SEP]."""
    ids = np.zeros((len(texts), 64), dtype=np.uint16)
    for row, text in zip(ids, texts, strict=True):
        row[: len(text) + 2] = [CLS, *text, SEP]
    return ids, np.array([len(text) + 2 for text in texts], dtype=np.int32)


def vectors(encode: Any, config: ConvolutionConfig, layers: NumpyLayers, texts: Texts, threads: int = 1) -> np.ndarray:
    out = np.full((len(texts[0]), config.hidden), np.nan, dtype=np.float32)
    for rows, part in encode(config, layers, threads, *texts):
        out[rows] = part
    return out


@pytest.mark.parametrize("together", [1, 100, 1 << 16])
def test_windows_have_the_formula_s_vectors(
    convolution_config: ModelConfig, layers: NumpyLayers, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    monkeypatch.setattr(windows, "_GROUP_TOKENS", together)
    rng = np.random.default_rng(0)
    texts = padded(*(rng.integers(5, 12, size=size).tolist() for size in [0, 1, 2, 3, 62, 3, 30, 30, 1, 62]))
    config: Any = convolution_config.text
    expected = vectors(encode_by_length, config, layers, texts)
    np.testing.assert_allclose(vectors(encode_windows, config, layers, texts), expected, rtol=1e-5, atol=1e-5)
    assert np.abs(expected).max() > 0.1


def test_equal_windows_are_computed_once(
    convolution_config: ModelConfig, layers: NumpyLayers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of width 3, one layer: the windows of [CLS] 7 7 7 7 [SEP] are _C7, C77, 777 (twice), 77S and 7S_."""
    config = ConvolutionConfig(**{**convolution_config.text.model_dump(), "width": 3, "layers": 1})
    model = convolution_config.model_copy(update={"text": config})
    rows: list[int] = []
    next_states = ConvolutionConfig.next_states

    def counted(self: ConvolutionConfig, backend: Any, block: str, x: np.ndarray, near: np.ndarray) -> Any:
        rows.append(len(x))
        return next_states(self, backend, block, x, near)

    monkeypatch.setattr(ConvolutionConfig, "next_states", counted)
    ids, length = padded([7, 7, 7, 7], [7, 7, 7, 7], [7, 7, 7])
    vectors(encode_windows, config, NumpyLayers(random_weights(model), "text"), (ids, length))
    assert rows == [5]
