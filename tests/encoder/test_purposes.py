"""Vectors for search and features for heads: what stands in each, at every level, by either runtime."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from random_model import random_weights
from same_vectors import assert_same_vectors

from mirenc.base.errors import ConfigError
from mirenc.decide import IREmbedder
from mirenc.encoder import Encoder, load
from mirenc.encoder.weights import WhiteningMap, save_files
from mirenc.llvm import LEVELS, ReadOptions, parse_ir, regions_of, statements_of
from mirenc.model.config import LexicalConfig, ModelConfig, PoolingConfig, TaughtConfig
from mirenc.model.graph import NodeKind
from mirenc.model.lexical import Lexicon
from mirenc.model.pooling import Pools, make_pool
from mirenc.model.sample import make_sample
from mirenc.model.tokenizer import IRTokenizer

IR = Path(__file__).parents[1] / "fixtures" / "ir" / "clang-19" / "O2" / "numeric.ll"
TEXT, GRAPH, TAUGHT, LEXICAL, SIZES = 32, 16, 20, 64, 6
PLAIN = ReadOptions(form="plain")
LOOP = """
@limit = global i32 10
define i32 @count(ptr %p) {
  br label %again
again:
  %i = phi i32 [ 0, %0 ], [ %next, %again ]
  %at = getelementptr i32, ptr %p, i32 %i
  store i32 7, ptr %at
  store i32 7, ptr %at
  %next = add i32 %i, 1
  %c = icmp slt i32 %next, 99
  br i1 %c, label %again, label %done
done:
  ret i32 %i
}
"""


@pytest.fixture(scope="module")
def folder(model_config: ModelConfig, tokenizer: IRTokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with all that there is: maps, a trunk that a compiler taught, the lexical view."""
    more = {
        "pooling": PoolingConfig(weighting="sqrt", whiten=True),
        "taught": TaughtConfig(width=TAUGHT, hidden=28),
        "lexical": LexicalConfig(width=LEXICAL, buckets=4096, module_names=0.5),
    }
    config = model_config.model_copy(update=more)
    target = tmp_path_factory.mktemp("models") / "full"
    save_files(target, name="full", config=config, tokenizer=tokenizer, weights=random_weights(config))
    return target


@pytest.fixture(scope="module")
def full(folder: Path) -> Encoder:
    return load(folder, cache=False, options=PLAIN)


def test_widths(full: Encoder, encoder: Encoder) -> None:
    assert full.dimension == full.width() == TEXT + GRAPH + LEXICAL
    assert full.width("features") == TAUGHT + TEXT + GRAPH + SIZES
    assert [full.width("features", part) for part in ("text", "graph")] == [TEXT + 3, GRAPH + 3]
    assert [full.width("search", part) for part in ("text", "graph")] == [TEXT, GRAPH]
    assert (full.text_dimension, full.graph_dimension) == (TEXT, GRAPH)
    assert (encoder.dimension, encoder.width("features")) == (TEXT + GRAPH, TEXT + GRAPH + SIZES)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("purpose", ["search", "features"])
def test_every_level_and_part_has_its_width(full: Encoder, level: str, purpose: str) -> None:
    rows = {"module": 1, "function": 1, "loop": 1, "block": 3, "instruction": 9}[level]
    for part in ("both", "text", "graph"):
        one = full.embed(LOOP, level=level, purpose=purpose, part=part)
        assert one.shape == ((full.width(purpose, part),) if level == "module" else (rows, full.width(purpose, part)))
        assert one.dtype == np.float32
        assert np.isfinite(one).all()
        many = full.embed([LOOP, LOOP], level=level, purpose=purpose, part=part)
        assert_same_vectors(many[1], one)
        assert full.embed([], purpose=purpose, part=part).shape == (0, full.width(purpose, part))


@pytest.mark.parametrize("level", LEVELS)
def test_features_are_means_and_sizes_side_by_side(full: Encoder, level: str) -> None:
    features = full.embed_parts(LOOP, level=level, purpose="features")
    plain = full.embed_parts(LOOP, level=level, whiten=False)
    np.testing.assert_array_equal(features.text, plain.text)
    np.testing.assert_array_equal(features.graph, plain.graph)
    assert features.taught.shape == (len(features.regions), TAUGHT)
    sizes = np.log1p(features.sizes).astype(np.float32)
    np.testing.assert_array_equal(features.vector, np.hstack([features.taught, features.text, features.graph, sizes]))
    np.testing.assert_array_equal(features.part("text"), np.hstack([features.text, sizes[:, :3]]))
    np.testing.assert_array_equal(features.part("graph"), np.hstack([features.graph, sizes[:, 3:]]))


def test_whitening_is_for_search_alone(full: Encoder) -> None:
    features = [full.embed(LOOP, purpose="features", whiten=whiten) for whiten in (True, False)]
    np.testing.assert_array_equal(*features)
    white, plain = (full.embed_parts(LOOP, whiten=whiten) for whiten in (True, False))
    assert np.abs(white.text - plain.text).max() > 0.1
    np.testing.assert_array_equal(white.lexical, plain.lexical)


def test_sizes_by_hand(full: Encoder) -> None:
    # The module: @limit and nine instructions, of which two stores are one text. Nodes: [external] and the
    # instructions; uses of %i (3), %at (2), %next (2), %c, and %p; i32 0, 7, 1, 99.
    of = {level: full.embed_parts(LOOP, level=level).sizes for level in LEVELS}
    assert of["module"].tolist() == [[10, 9, 9, 10, 9, 4]]
    assert of["function"].tolist() == [[9, 8, 9, 9, 9, 0]]


@pytest.mark.parametrize("level", ["function", "loop", "block", "instruction"])
def test_sizes_are_the_regions_own(full: Encoder, level: str) -> None:
    module = parse_ir(IR.read_text(encoding="utf-8"))
    sample, statements = make_sample(module, full.tokenizer), statements_of(module)
    regions = regions_of(module, level)
    sizes = full.embed_parts(module, level=level).sizes
    for row in range(len(regions)):
        inside = regions.instruction[regions.region == row]
        texts = Counter(statements[statements.first_instruction + int(number)] for number in inside)
        assert sizes[row, :3].tolist() == [len(inside), len(texts), len(inside)]
        assert sizes[row, 3 + NodeKind.INSTRUCTION] == len({int(sample.instruction_node[number]) for number in inside})


@pytest.mark.parametrize("purpose", ["search", "features"])
@pytest.mark.parametrize("level", LEVELS)
def test_runtimes_agree(folder: Path, full: Encoder, level: str, purpose: str) -> None:
    other = load(folder, cache=False, backend="torch", options=PLAIN)
    one, two = (each.embed(IR, level=level, purpose=purpose) for each in (full, other))
    assert_same_vectors(one, two)


def test_the_cache_keeps_what_every_purpose_needs(folder: Path, full: Encoder, tmp_path: Path) -> None:
    warm = load(folder, cache=tmp_path, options=PLAIN)
    for level in ("module", "instruction"):
        for purpose in ("search", "features", "search"):
            expected = full.embed(LOOP, level=level, purpose=purpose)
            assert_same_vectors(warm.embed(LOOP, level=level, purpose=purpose), expected)


def test_the_lexical_block_is_that_of_the_texts(full: Encoder) -> None:
    module = full.read(LOOP)
    embedding = full.embed_parts(module, level="function")
    weights = full.files.weights["lexical_idf"]
    config = full.files.config.lexical
    assert config is not None
    texts = [statements_of(module)[number] for number in range(1, 10)]  # without @limit
    pool = make_pool(np.arange(9), np.zeros(9, np.int64), 1, "count")
    np.testing.assert_allclose(embedding.lexical, Lexicon(config, weights).vectors(texts, Pools(pool, pool)), atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(embedding.lexical, axis=1), config.weight, rtol=1e-5)
    np.testing.assert_array_equal(embedding.vector, np.hstack([embedding.text, embedding.graph, embedding.lexical]))


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_a_map_for_the_words(model_config: ModelConfig, tokenizer: IRTokenizer, tmp_path: Path, backend: str) -> None:
    """Applied to vectors for search, not to those as encoded, which a map of one's own takes."""
    config = model_config.model_copy(
        update={"lexical": LexicalConfig(width=LEXICAL, buckets=4096, whiten=True), "pooling": PoolingConfig()}
    )
    weights = random_weights(config)
    save_files(tmp_path, name="words", config=config, tokenizer=tokenizer, weights=weights)
    encoder = load(tmp_path, cache=False, backend=backend)
    plain, mapped = (encoder.embed_parts(IR, level="function", whiten=white) for white in (False, True))
    mean, matrix = (encoder.files.weights[f"whiten_lexical.{name}"] for name in ("mean", "matrix"))
    np.testing.assert_allclose(mapped.lexical, (plain.lexical - mean) @ matrix, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(mapped.text, plain.text)
    np.testing.assert_allclose(
        encoder.embed(IR, level="function", purpose="features"),
        load(tmp_path, cache=False).embed(IR, level="function", purpose="features"),
        atol=1e-4,
    )
    parts = {"text": mapped.text.shape[1], "graph": mapped.graph.shape[1], "lexical": LEXICAL}
    word_map = WhiteningMap(
        *("words", encoder.files.digest),
        {part: np.zeros(width, np.float32) for part, width in parts.items()},
        {part: np.eye(width, dtype=np.float32) for part, width in parts.items()},
        {"hide_names": False},
    )
    mine = encoder.with_map(word_map).embed_parts(IR, level="function")
    np.testing.assert_allclose(mine.lexical, plain.lexical, atol=1e-6)


@pytest.mark.parametrize("joined", [False, True])
def test_the_words_of_a_module_are_those_of_a_module(full: Encoder, joined: bool) -> None:
    config = full.files.config.lexical
    assert config is not None
    text = statements_of(full.read(LOOP))
    texts = [text[number] for number in range(10)]  # with @limit, a name
    pool = make_pool(np.arange(10), np.zeros(10, np.int64), 1, "count")
    lexicon = Lexicon(config, full.files.weights["lexical_idf"])
    expected = lexicon.vectors(texts, Pools(pool, pool), module=True)
    assert np.abs(expected - lexicon.vectors(texts, Pools(pool, pool))).max() > 1e-3
    outcomes = list(full.embed_stream([LOOP] * 3, batch_size=3 if joined else 1))
    for outcome in outcomes:
        assert outcome.embedding is not None
        np.testing.assert_allclose(outcome.embedding.lexical, expected, atol=1e-4)


def test_a_function_has_the_words_of_the_strings_it_reads(full: Encoder) -> None:
    ir = """
@.str = private constant [4 x i8] c"{0}\\00"
declare i32 @puts(ptr)
define i32 @reads() {{
  %r = call i32 @puts(ptr @.str)
  ret i32 %r
}}
define i32 @other() {{
  ret i32 7
}}
"""

    def lexical(word: str, level: str) -> np.ndarray:
        return full.embed_parts(ir.format(word), level=level).lexical

    one, other = lexical("one", "function"), lexical("two", "function")
    assert np.abs(one[0] - other[0]).max() > 0.1
    np.testing.assert_array_equal(one[1], other[1])
    # An instruction is itself and nothing else.
    np.testing.assert_array_equal(lexical("one", "instruction"), lexical("two", "instruction"))


def test_hidden_names_do_not_count(folder: Path, tmp_path: Path) -> None:
    call = "declare void @{0}(i32)\ndefine void @f() {{\n  call void @{0}(i32 77)\n  ret void\n}}\n"
    one, other = call.format("first"), call.format("second")
    seen, hidden = load(folder, cache=tmp_path), load(folder, cache=tmp_path, hide_names=True)

    def lexical(encoder: Encoder, ir: str) -> np.ndarray:
        return encoder.embed_parts(ir, level="function").lexical

    for _ in range(2):  # the second time from the cache, which keeps the two apart
        assert np.abs(lexical(seen, one) - lexical(seen, other)).max() > 0.1
        np.testing.assert_array_equal(lexical(hidden, one), lexical(hidden, other))
    assert np.abs(lexical(hidden, one) - lexical(hidden, one.replace("77", "78"))).max() > 0.1


def test_digests_and_caches_tell_vectors_without_names_from_others(
    folder: Path, model_folder: Path, tmp_path: Path
) -> None:
    for model in (folder, model_folder):  # with a lexical view and without
        plain, hidden = (load(model, cache=tmp_path, hide_names=hide) for hide in (False, True))
        assert plain.digest == plain.files.digest != hidden.digest
        assert plain.features_digest != hidden.features_digest
        assert hidden.digest[:12] in repr(hidden)
        assert plain.cache is not None
        assert hidden.cache is not None
        assert plain.cache.path != hidden.cache.path


def test_an_unknown_part_is_refused(full: Encoder) -> None:
    for purpose in ("search", "features"):
        with pytest.raises(ConfigError, match="unknown part 'grph'; available: both, text, graph"):
            full.embed_parts(LOOP, purpose=purpose).part("grph")


def test_unknown_purposes_are_refused(full: Encoder) -> None:
    for call in (full.embed, full.embed_parts, lambda ir, purpose: next(full.embed_stream([ir], purpose=purpose))):
        with pytest.raises(ConfigError, match="unknown purpose 'heads'; available: search, features"):
            call(LOOP, purpose="heads")
    with pytest.raises(ConfigError, match="unknown purpose"):
        full.width("heads")


def test_an_embedder_names_the_columns_of_features(folder: Path) -> None:
    embedder = IREmbedder(folder, purpose="features", cache=False)
    matrix = embedder.fit_transform([LOOP])
    names = embedder.get_feature_names_out().tolist()
    assert matrix.shape == (1, len(names)) == (1, TAUGHT + TEXT + GRAPH + SIZES)
    assert [names[0], names[TAUGHT], names[-SIZES]] == ["taught_0", "text_0", "log_statements"]
    assert names[-3:] == ["log_instruction_nodes", "log_variable_nodes", "log_constant_nodes"]
    assert matrix[0, names.index("log_distinct_statements")] == pytest.approx(np.log(10))
    searched = IREmbedder(folder, purpose="search", cache=False).fit([LOOP]).get_feature_names_out().tolist()
    assert searched[-1] == f"lexical_{LEXICAL - 1}"
