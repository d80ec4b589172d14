"""Vectors of a model that was trained on pairs: plain spelling, definitions among the texts, blocks of length 1."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from random_model import random_weights

from mirenc.encoder import Encoder, load
from mirenc.encoder.pipeline import _scaled_to_length
from mirenc.encoder.weights import save_files
from mirenc.llvm import ReadOptions, regions_of
from mirenc.llvm.ir.plain_statement import hide_types, spelled
from mirenc.model.config import LexicalConfig, ModelConfig, PairedConfig, PoolingConfig
from mirenc.model.pooling import region_pools
from mirenc.model.sample import make_sample
from mirenc.model.tokenizer import IRTokenizer

SOURCE = """%struct.pair = type { i32, i32 }
@word = private constant [3 x i8] c"@a\\00"
@table = internal constant [2 x i32] [i32 7, i32 9]
declare i32 @callee(ptr)
define i32 @first(ptr %p) {
  %a = getelementptr inbounds %struct.pair, ptr %p, i32 0, i32 1
  %b = load i32, ptr %a
  %c = add nsw i32 %b, 7
  %d = call i32 @callee(ptr @word)
  %e = add i32 %c, %d
  ret i32 %e
}
define i32 @second(ptr %p) {
  %a = load i32, ptr @table
  ret i32 %a
}
"""
OTHER_NAMES = re.sub(r"@(?=\w)(?!a)", "@renamed_", SOURCE).replace("struct.pair", "struct.other")
OTHER_SPELLING = SOURCE.replace("inbounds %struct.pair, ptr %p, i32 0, i32 1", "i8, ptr %p, i64 4").replace("nsw ", "")


@pytest.fixture(scope="module")
def folder(model_config: ModelConfig, tokenizer: IRTokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pooling = PoolingConfig(weighting="sqrt", whiten=True)
    lexical = LexicalConfig(width=64, buckets=4096, statements=True, whiten=True)
    config = model_config.model_copy(update={"pooling": pooling, "lexical": lexical, "paired": PairedConfig()})
    target = tmp_path_factory.mktemp("models") / "paired"
    save_files(target, name="paired", config=config, tokenizer=tokenizer, weights=random_weights(config))
    return target


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    return load(folder, cache=False)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_a_part_has_the_definitions_that_it_takes(folder: Path, backend: str) -> None:
    encoder = load(folder, cache=False, backend=backend, options=ReadOptions(form="plain"))
    module = encoder.read(SOURCE)
    sample = make_sample(module, encoder.tokenizer, spelling="plain")
    regions = regions_of(module, "function")
    pools = region_pools(sample, regions.instruction, regions.region, len(regions), "count")
    vectors = encoder.runtime.encode_texts(sample.text_ids, sample.text_length)
    embedded = encoder.embed(SOURCE, level="function", part="text", whiten=False)
    words = ('@word = constant [3 x i8] c"@a\\00"', "@table = constant [2 x i32] [i32 7, i32 9]")
    for group, taken in enumerate(words):
        inside = pools.text.group == group
        rows = [*pools.text.item[inside], sample.texts.index(taken)]
        weight = np.sqrt([*pools.text.count[inside], 1])
        np.testing.assert_allclose(embedded[group], weight @ vectors[rows] / weight.sum(), atol=1e-5)


def test_blocks_have_their_lengths(encoder: Encoder) -> None:
    text, graph = encoder.text_dimension, encoder.graph_dimension
    for level in ("module", "function"):
        vector = np.atleast_2d(encoder.embed(SOURCE, level=level))
        for block, length in (
            (vector[:, :text], 0.7),
            (vector[:, text : text + graph], 1),
            (vector[:, text + graph :], 0.7),
        ):
            np.testing.assert_allclose(np.linalg.norm(block, axis=1), length, rtol=1e-5)


def test_a_vector_of_any_length_but_zero_gets_the_length_of_its_block() -> None:
    vectors = np.array([[0.3, 0.4], [30, 40], [0, 0]], dtype=np.float32)
    np.testing.assert_allclose(_scaled_to_length(vectors, 2), [[1.2, 1.6], [1.2, 1.6], [0, 0]], rtol=1e-6)


def test_the_spelling_is_plain(encoder: Encoder) -> None:
    assert SOURCE != OTHER_SPELLING
    np.testing.assert_allclose(
        encoder.embed(SOURCE, level="function", part="text"),
        encoder.embed(OTHER_SPELLING, level="function", part="text"),
        atol=1e-6,
    )


def test_hidden_names_are_not_seen(folder: Path, encoder: Encoder) -> None:
    hidden = load(folder, cache=False, hide_names=True)
    assert hidden.digest != encoder.digest
    for level in ("module", "function"):
        one, other = (hidden.embed(source, level=level) for source in (SOURCE, OTHER_NAMES))
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert np.abs(encoder.embed(SOURCE) - encoder.embed(OTHER_NAMES)).max() > 1e-3


def test_cache_and_batches_change_nothing(folder: Path, encoder: Encoder, tmp_path: Path) -> None:
    for hide_names in (False, True):
        warm, cold = (load(folder, cache=cache, hide_names=hide_names) for cache in (tmp_path, False))
        expected = [cold.embed(source, level="function") for source in (SOURCE, OTHER_SPELLING)]
        for _ in range(2):
            cached = warm.embed([SOURCE, OTHER_SPELLING], level="function")
            np.testing.assert_allclose(cached, np.stack(expected), atol=1e-6)


def test_names_are_left_out_and_nothing_else() -> None:
    texts = [
        "%struct.pair = type { i32, i32 }",
        "% = getelementptr %struct.pair, ptr %, i32 0, i32 1",
        "call void @llvm.memcpy.p0(ptr %, ptr @word, i64 3)",
        "% = call ptr @std::vector<int, std::allocator<int>>::begin(ptr %)",
        '% = call i32 @"\\01name"(ptr @.str.7)',
        '@word = constant [3 x i8] c"@a%b"',
    ]
    assert spelled(texts, "written") == texts
    assert spelled(texts, "hidden")[2:5] == [
        "call void @llvm.memcpy.p0(ptr %, ptr @f, i64 3)",
        "% = call ptr @f(ptr %)",
        "% = call i32 @f(ptr @f)",
    ]
    assert hide_types(spelled(texts, "hidden"))[:2] == [
        "%struct.s = type { i32, i32 }",
        "% = getelementptr %struct.s, ptr %, i32 0, i32 1",
    ]
    assert spelled(texts, "plain")[1:3] == ["% = getelementptr i8, ptr %, i64 4", texts[2]]
    assert spelled(texts, "unnamed") == [
        "% = type { i32, i32 }",
        "% = getelementptr i8, ptr %, i64 4",
        "call void @llvm.memcpy.p0(ptr %, ptr @, i64 3)",
        "% = call ptr @(ptr %)",
        "% = call i32 @(ptr @)",
        '@ = constant [3 x i8] c"@a%b"',
    ]


def test_demangled_names_are_left_out_whole() -> None:
    shown = [
        "@vtable for Matrix<3, 3>",
        "@operator new",
        "@f::{lambda(int)#2}::operator()",
        "%",
        "@.str",
        "@std::max<int>",
    ]
    texts = [f"% = call ptr {name}(i64 3)" for name in shown if name != "%"]
    assert spelled(texts, "hidden", shown) == ["% = call ptr @f(i64 3)"] * len(texts)
    assert spelled(texts, "unnamed", shown) == ["% = call ptr @(i64 3)"] * len(texts)


def test_the_longest_of_names_that_begin_alike_is_left_out() -> None:
    shown = ["@operator new", "@operator new[]", "@f(int)::x", "@f(int)::x::y", "@f(int)::z", "@f(long)", "@f"]
    texts = [f"% = call ptr {name}(ptr {other}, i64 3)" for name in shown for other in shown]
    assert spelled(texts, "unnamed", shown) == ["% = call ptr @(ptr @, i64 3)"] * len(texts)
    # What none of them begins is left out as far as a symbol goes; a sign alone and a string stay.
    other = ['% = call ptr @f(int, ptr @operator) c"@f(int)::x" @']
    assert spelled(other, "hidden", shown) == ['% = call ptr @f(int, ptr @f) c"@f(int)::x" @']


def test_a_name_of_many_templates_is_read_once() -> None:
    name = "@" + "A<x>::" * 64 + "f (int)"
    assert spelled([f"call void {name}(ptr %)"], "hidden", [name]) == ["call void @f(ptr %)"]
