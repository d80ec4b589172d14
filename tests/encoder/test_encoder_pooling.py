"""Vectors of a model that weighs texts by the square root of their counts and whitens: worked out from the parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from random_model import random_weights

from mirenc.encoder import Encoder, load
from mirenc.encoder.weights import load_files, save_files
from mirenc.llvm import ReadOptions
from mirenc.model.config import ModelConfig, PoolingConfig
from mirenc.model.pooling import Pools, make_pool
from mirenc.model.sample import IRSample, make_sample
from mirenc.model.tokenizer import IRTokenizer

IR = Path(__file__).parents[1] / "fixtures" / "ir" / "clang-19" / "O2" / "numeric.ll"


@pytest.fixture(scope="module")
def folder(model_config: ModelConfig, tokenizer: IRTokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = model_config.model_copy(update={"pooling": PoolingConfig(weighting="sqrt", whiten=True)})
    target = tmp_path_factory.mktemp("models") / "white"
    save_files(target, name="white", config=config, tokenizer=tokenizer, weights=random_weights(config))
    return target


@pytest.fixture(scope="module")
def white(folder: Path) -> Encoder:
    return load(folder, cache=False, options=ReadOptions(form="plain"))


def node_vectors(encoder: Encoder, sample: IRSample) -> np.ndarray:
    node, none = np.arange(len(sample.node_row)), np.zeros(0, np.int64)
    pools = Pools(make_pool(none, none, len(node), "count"), make_pool(node, node, len(node), "count"))
    return encoder.runtime.forward(sample, pools, "graph").graph


def test_a_text_weighs_the_root_of_its_count(white: Encoder) -> None:
    sample = make_sample(white.read(IR), white.tokenizer)
    rows, counts = np.unique(sample.statement_row, return_counts=True)
    assert counts.max() > 3
    vectors = white.runtime.encode_texts(sample.text_ids[rows], sample.text_length[rows])
    weights = np.sqrt(counts) / np.sqrt(counts).sum()
    np.testing.assert_allclose(white.embed(IR, part="text", whiten=False), weights @ vectors, atol=1e-5)
    pairs = np.unique(np.stack([sample.node_row, sample.node_kind]), axis=1, return_inverse=True, return_counts=True)
    share = 1 / np.sqrt(pairs[2][pairs[1].ravel()])
    nodes = node_vectors(white, sample)
    np.testing.assert_allclose(white.embed(IR, part="graph", whiten=False), share @ nodes / share.sum(), atol=1e-5)


@pytest.mark.parametrize("level", ["module", "function", "instruction"])
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_whitening_is_the_stored_map(folder: Path, level: str, backend: str) -> None:
    encoder = load(folder, cache=False, backend=backend)
    weights = load_files(folder).weights
    for part in ("text", "graph"):
        plain = np.atleast_2d(encoder.embed(IR, level=level, part=part, whiten=False))
        mapped = (plain - weights[f"whiten_{part}.mean"]) @ weights[f"whiten_{part}.matrix"]
        np.testing.assert_allclose(np.atleast_2d(encoder.embed(IR, level=level, part=part)), mapped, atol=1e-5)


def test_whitening_maps_are_stored_as_float32(folder: Path) -> None:
    weights = load_files(folder).weights
    initial = random_weights(load_files(folder).config)
    assert np.array_equal(weights["whiten_text.matrix"], initial["whiten_text.matrix"])
    assert not np.array_equal(weights["text.token.weight"], initial["text.token.weight"])


def test_plain_and_white_share_a_cache(folder: Path, tmp_path: Path) -> None:
    cold = load(folder, cache=False)
    warm = load(folder, cache=tmp_path)
    for whiten in (True, False, True):
        assert np.array_equal(warm.embed(IR, whiten=whiten), cold.embed(IR, whiten=whiten))
    assert not np.array_equal(cold.embed(IR), cold.embed(IR, whiten=False))


def test_matching_takes_the_plain_means(white: Encoder, folder: Path) -> None:
    sample = make_sample(white.read(IR), white.tokenizer)
    text = white.runtime.encode_texts(sample.text_ids, sample.text_length)[sample.statement_row].mean(0)
    graph = node_vectors(white, sample).mean(0)
    expected = white.runtime.match(text[None], graph[None])[0]
    assert white.match(IR, IR) == pytest.approx(float(expected), abs=1e-5)
