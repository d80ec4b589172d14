"""The encoder: shapes, inputs of every kind, and which changes of the IR move a vector and which do not."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from rewrite_ir import odd_name, rename_locals
from same_vectors import assert_same_vectors

import mirenc
from mirenc.base.errors import ConfigError, IRFileError, IRParseError, ModelError, NoFunctionBodyError
from mirenc.encoder import Encoder, load
from mirenc.llvm import LEVELS, IRModule, ReadOptions, parse_ir, read_ir

IR = Path(__file__).resolve().parents[1] / "fixtures" / "ir"
FILE = IR / "clang-19" / "O2" / "numeric.ll"
OTHER = IR / "clang-19" / "O0" / "exceptions.ll"
TEXT, GRAPH, BOTH = 32, 16, 48
PLAIN = ReadOptions(form="plain")

SOURCE = """
%pair = type { i32, i32 }
@limit = global i32 10
declare i32 @twice(i32)
define i32 @first(i32 %x) {
  %y = call i32 @twice(i32 %x)
  %c = icmp slt i32 %y, 10
  br i1 %c, label %small, label %large
small:
  %a = add i32 %y, 1
  ret i32 %a
large:
  %at = getelementptr %pair, ptr @limit, i64 0, i32 1
  store i32 %y, ptr %at
  ret i32 0
}
define void @second() {
  ret void
}
"""


# -- shapes --------------------------------------------------------------------------------------------
def test_dimensions(encoder: Encoder) -> None:
    assert (encoder.text_dimension, encoder.graph_dimension, encoder.dimension) == (TEXT, GRAPH, BOTH)
    assert encoder.name == "random"
    assert repr(encoder).startswith("Encoder('random', dimension=48, runtime='numpy', digest='")


@pytest.mark.parametrize(("part", "width"), [("both", BOTH), ("text", TEXT), ("graph", GRAPH)])
def test_one_module_is_a_vector_and_many_a_matrix(encoder: Encoder, part: str, width: int) -> None:
    one = encoder.embed(FILE, part=part)
    assert (one.shape, one.dtype) == ((width,), np.float32)
    many = encoder.embed([FILE, OTHER, SOURCE], part=part)
    assert (many.shape, many.dtype) == ((3, width), np.float32)
    assert_same_vectors(many[0], one)
    assert encoder.embed([FILE], part=part).shape == (1, width)
    assert encoder.embed([], part=part).shape == (0, width)
    assert np.isfinite(many).all()


@pytest.mark.parametrize("level", ["function", "loop", "block", "instruction"])
def test_other_levels_give_a_matrix_for_each_input(encoder: Encoder, level: str) -> None:
    one = encoder.embed(SOURCE, level=level)
    assert one.shape == ({"function": 2, "loop": 0, "block": 4, "instruction": 9}[level], BOTH)
    many = encoder.embed([SOURCE, FILE], level=level)
    assert isinstance(many, list)
    assert_same_vectors(many[0], one)
    assert many[1].shape[1] == BOTH
    assert encoder.embed([], level=level) == []


@pytest.mark.parametrize("level", LEVELS)
def test_parts_stand_side_by_side(encoder: Encoder, level: str) -> None:
    joined = encoder.embed(SOURCE, level=level)
    text, graph = (encoder.embed(SOURCE, level=level, part=part) for part in ("text", "graph"))
    np.testing.assert_array_equal(np.concatenate([text, graph], axis=-1), joined)


def test_any_iterable_will_do(encoder: Encoder) -> None:
    expected = encoder.embed([FILE, SOURCE])
    np.testing.assert_array_equal(encoder.embed(each for each in (FILE, SOURCE)), expected)
    np.testing.assert_array_equal(encoder.embed((FILE, SOURCE)), expected)
    assert encoder.embed(iter(())).shape == (0, BOTH)
    np.testing.assert_array_equal(encoder.embed(np.array([str(FILE), SOURCE])), expected)


# -- inputs --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("level", LEVELS)
def test_path_text_bytes_and_module_are_one_input(encoder: Encoder, level: str) -> None:
    expected = encoder.embed(FILE, level=level)
    text = FILE.read_text(encoding="utf-8")
    for same in (str(FILE), text, text.encode(), parse_ir(text), read_ir(FILE)):
        np.testing.assert_array_equal(encoder.embed(same, level=level), expected)


def test_bitcode_and_compressed_text_are_the_module_too(encoder: Encoder) -> None:
    packed = IR / "packed"
    functions = encoder.embed(IR / "clang-19" / "O2" / "functions.ll")
    for same in (packed / "functions.clang-19.bc", (packed / "functions.clang-19.bc").read_bytes()):
        np.testing.assert_array_equal(encoder.embed(same), functions)
    one, other = (encoder.embed(packed / f"sorting.ll.{suffix}") for suffix in ("gz", "xz"))
    np.testing.assert_array_equal(one, other)


def test_an_embedding_describes_itself(encoder: Encoder) -> None:
    module = parse_ir(SOURCE)
    embedding = encoder.embed_parts(SOURCE)
    assert (embedding.level, embedding.names, embedding.functions) == ("module", ["<string>"], [""])
    assert embedding.counts == {
        "functions": 3,
        "defined": 2,
        "blocks": 4,
        "instructions": 9,
        "statements": 11,
        "distinct_statements": 11,
        # [external], twice, the instructions; the uses of %y (3), %c, %a and %at; %x; constants and @limit
        "nodes": 1 + 1 + 9 + 6 + 1 + len({"i32 10", "i32 1", "i64 0", "i32 0", "ptr @limit"}),
        "edges": len(found_edges(module)),
        "call_edges_left_out": 0,
    }
    assert embedding.content_hash == module.content_hash
    np.testing.assert_array_equal(embedding.vector, np.concatenate([embedding.text, embedding.graph], axis=1))


def found_edges(module: IRModule) -> np.ndarray:
    return mirenc.build_graph(module).edge_flow


# -- levels --------------------------------------------------------------------------------------------
def test_equal_statements_have_equal_text_vectors_and_their_own_graph_vectors(encoder: Encoder) -> None:
    rows = encoder.embed_parts(SOURCE, level="instruction")
    names = [name.split(" = ")[-1] for name in rows.names]
    one, other = (index for index, name in enumerate(names) if name.startswith("ret i32"))
    assert (rows.text[one] != rows.text[other]).any()  # ret i32 % and ret i32 0
    repeated = encoder.embed_parts(SOURCE.replace("ret i32 0", "ret i32 %y"), level="instruction")
    np.testing.assert_array_equal(repeated.text[one], repeated.text[other])
    assert (repeated.graph[one] != repeated.graph[other]).any()


def test_the_levels_are_means_of_one_another(encoder: Encoder) -> None:
    """Worked out from the instruction rows: text of `first`, and of the module with its type and global."""
    rows = encoder.embed(SOURCE, level="instruction", part="text")
    by_function = encoder.embed(SOURCE, level="function", part="text")
    np.testing.assert_allclose(by_function, [rows[:8].mean(0), rows[8]], rtol=1e-5, atol=1e-6)
    ids, length = encoder.tokenizer.encode_batch(["%pair = type { i32, i32 }", "@limit = global i32 10"])
    head = encoder.runtime.encode_texts(ids, length)
    module_vector = encoder.embed(SOURCE, part="text")
    np.testing.assert_allclose(module_vector, np.concatenate([head, rows]).mean(0), rtol=1e-5, atol=1e-6)


# -- invariants ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("path", [FILE, OTHER, IR / "clang-14" / "O2" / "reduce.ll"], ids=lambda path: path.stem)
def test_renaming_locals_leaves_the_vector_alone(encoder: Encoder, path: Path) -> None:
    renamed = rename_locals(path.read_bytes(), odd_name)
    assert '"i32.0"' in renamed or "%i32.0" in renamed
    for level in LEVELS:
        np.testing.assert_array_equal(encoder.embed(renamed, level=level), encoder.embed(path, level=level))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("icmp slt i32 %y, 10", "icmp slt i32 %y, 11"),  # constant
        ("add i32 %y, 1", "add i32 %y, 2"),
        ("i64 0, i32 1", "i64 0, i32 0"),
        ("icmp slt", "icmp ult"),  # predicate
        ("icmp slt", "icmp sle"),
        ("add i32", "sub i32"),  # opcode
        ("add i32", "add nsw i32"),
        ("@twice", "@thrice"),  # callee
        ("store i32 %y, ptr %at", "store i64 7, ptr %at"),  # type
        ("global i32 10", "global i32 11"),
    ],
)
def test_meaning_moves_the_vector(encoder: Encoder, old: str, new: str) -> None:
    changed = SOURCE.replace(old, new)
    assert changed != SOURCE
    moved = np.abs(encoder.embed(changed) - encoder.embed(SOURCE))
    assert moved[:TEXT].max() > 1e-4
    assert moved[TEXT:].max() > 1e-4


def test_a_type_definition_moves_the_text_vector(encoder: Encoder) -> None:
    # Types are statements but no nodes.
    changed, original = (encoder.embed(text) for text in (SOURCE.replace("{ i32, i32 }", "{ i64, i32 }"), SOURCE))
    assert np.abs(changed - original)[:TEXT].max() > 1e-4
    np.testing.assert_array_equal(changed[TEXT:], original[TEXT:])


def test_the_shape_of_the_control_flow_moves_the_graph_vector_alone(encoder: Encoder) -> None:
    # The same statements, in the same number: only the edges differ.
    before = "define void @f(i1 %c) {\na:\n  br i1 %c, label %b, label %d\nb:\n  br label %d\nd:\n  ret void\n}"
    after = before.replace("br label %d", "br label %b").replace("label %b, label %d", "label %d, label %b")
    one, other = encoder.embed(before), encoder.embed(after)
    np.testing.assert_array_equal(one[:TEXT], other[:TEXT])
    assert np.abs(one - other)[TEXT:].max() > 1e-4


def test_the_order_of_functions_leaves_the_vector_alone(encoder: Encoder) -> None:
    head, first, second = SOURCE.partition("define i32 @first")
    first, middle, second = (first + second).partition("define void @second")
    swapped = head + middle + second + first
    assert swapped.index("@second()") < swapped.index("@first(")
    assert_same_vectors(encoder.embed(swapped), encoder.embed(SOURCE))


# -- cache ---------------------------------------------------------------------------------------------
def test_several_levels_at_once_are_kept(model_folder: Path, tmp_path: Path) -> None:
    levels = ("function", "loop", "block")
    first, again = (load(model_folder, cache=tmp_path).embed_parts(FILE, level=levels) for _ in range(2))
    np.testing.assert_array_equal(first.vector, again.vector)
    one_level = load(model_folder, cache=tmp_path).embed_parts(FILE, level="function")
    assert len(one_level.vector) < len(first.vector)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("source", [FILE, FILE.read_text(encoding="utf-8")], ids=["file", "text"])
def test_warm_is_cold_to_the_bit(
    encoder: Encoder, model_folder: Path, tmp_path: Path, level: str, source: object
) -> None:
    def embed_again() -> mirenc.Embedding:
        return load(model_folder, cache=tmp_path, options=PLAIN).embed_parts(source, level=level)

    never = encoder.embed_parts(source, level=level)
    cold, warm = embed_again(), embed_again()
    assert list(tmp_path.iterdir())
    for embedding in (cold, warm):
        np.testing.assert_array_equal(embedding.text, never.text)
        np.testing.assert_array_equal(embedding.graph, never.graph)
        assert embedding.text.dtype == embedding.graph.dtype == np.float32
        for name in ("level", "names", "functions", "counts", "content_hash"):
            assert getattr(embedding, name) == getattr(never, name), name


def test_a_renamed_file_is_the_same_content_under_its_new_name(model_folder: Path, tmp_path: Path) -> None:
    cached = load(model_folder, cache=tmp_path / "cache")
    copy = tmp_path / "copy.ll"
    copy.write_bytes(FILE.read_bytes())
    first, second = cached.embed_parts(FILE), cached.embed_parts(copy)
    assert (first.names, second.names) == ([str(FILE)], [str(copy)])
    np.testing.assert_array_equal(first.vector, second.vector)


def test_a_cached_answer_has_the_hash_of_the_input_asked_for(model_folder: Path, tmp_path: Path) -> None:
    """One IR may come from a text, from a file, or from two sources that compile to it: the hash is each one's own."""
    cached = load(model_folder, cache=tmp_path / "cache")
    path = tmp_path / "f.ll"
    path.write_text(SOURCE, encoding="utf-8")
    inputs = [SOURCE, path, SOURCE]  # the first fills the cache, the others are answered from it
    file_hash = hashlib.sha256(path.read_bytes()).hexdigest()
    assert [cached.embed_parts(each).file_hash for each in inputs] == ["", file_hash, ""]


def test_a_cached_answer_names_sources_as_its_own_input_was_given(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = load(model_folder, cache=tmp_path / "cache")
    monkeypatch.chdir(tmp_path)
    text = (FILE.parents[3] / "loops" / "places.ll").read_text(encoding="utf-8")
    Path("places.ll").write_text(text.replace('directory: ""', f'directory: "{tmp_path}"'), encoding="utf-8")
    absolute = str(tmp_path / "places.ll")
    for place, source_name in (("places.ll", "café/other.h"), (absolute, f"{tmp_path}/café/other.h")):
        for _ in range(2):  # made, then from the cache
            regions = cached.embed_parts(place, level="function").regions
            assert {region.name: region.file for region in regions}["no_preheader"] == source_name


def test_a_changed_file_is_read_again(model_folder: Path, tmp_path: Path) -> None:
    cached = load(model_folder, cache=tmp_path / "cache")
    path = tmp_path / "f.ll"
    path.write_text(SOURCE, encoding="utf-8")
    before = cached.embed(path)
    path.write_text(SOURCE.replace("add i32 %y, 1", "add i32 %y, 2"), encoding="utf-8")
    assert (cached.embed(path) != before).any()


def test_the_default_cache_is_in_mirenc_cache(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRENC_CACHE", str(tmp_path / "here"))
    load(model_folder).embed(SOURCE)
    assert [path.suffix for path in (tmp_path / "here").iterdir()] == [".sqlite"]


def test_backends_keep_caches_of_their_own(model_folder: Path, tmp_path: Path) -> None:
    for backend in ("numpy", "torch"):
        load(model_folder, cache=tmp_path, backend=backend).embed(SOURCE)
    assert len(list(tmp_path.glob("*.sqlite"))) == 2


def test_a_saved_encoder_is_the_same_model_in_a_new_folder(encoder: Encoder, tmp_path: Path) -> None:
    assert load(encoder.save(tmp_path / "new"), cache=False).digest == encoder.digest
    with pytest.raises(ConfigError, match="new is not empty"):
        encoder.save(tmp_path / "new")


# -- match ---------------------------------------------------------------------------------------------
def test_match_is_the_probability_of_the_matching_head(encoder: Encoder) -> None:
    text, graph = encoder.embed(FILE, part="text"), encoder.embed(OTHER, part="graph")
    probability = encoder.match(FILE, OTHER)
    assert isinstance(probability, float)
    assert 0 <= probability <= 1
    assert probability == pytest.approx(float(encoder.runtime.match(text[None], graph[None])[0]))
    assert encoder.match(OTHER, FILE) != probability


# -- errors --------------------------------------------------------------------------------------------
def test_unknown_level_and_part(encoder: Encoder) -> None:
    with pytest.raises(
        ConfigError, match="unknown level 'nest'; available: module, function, loop, block, instruction"
    ):
        encoder.embed(FILE, level="nest")
    with pytest.raises(ConfigError, match="unknown level 'nest'"):
        encoder.embed_parts(FILE, level="nest")
    with pytest.raises(ConfigError, match="unknown part 'texts'; available: both, text, graph"):
        encoder.embed([], part="texts")


def test_unknown_backend(model_folder: Path) -> None:
    with pytest.raises(ConfigError, match="unknown backend 'jax'; available: numpy, torch"):
        load(model_folder, backend="jax")


def test_numpy_on_another_device(model_folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"runs on the CPU only, not on 'cuda'. Use backend='torch'"):
        load(model_folder, backend="numpy", device="cuda")


def test_a_device_that_does_not_exist(model_folder: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot run random on device 'nonsense': .*Use the device 'cpu'"):
        load(model_folder, device="nonsense")


@pytest.mark.parametrize("cached", [False, True])
def test_unreadable_inputs_are_refused(model_folder: Path, tmp_path: Path, cached: bool) -> None:
    encoder = load(model_folder, cache=tmp_path / "cache" if cached else False)
    with pytest.raises(IRFileError, match=r"none\.ll: no such file"):
        encoder.embed(tmp_path / "none.ll")
    bad = tmp_path / "bad.ll"
    bad.write_text("define i32 @f() {\n  ret i32 %none\n}\n", encoding="utf-8")
    with pytest.raises(IRParseError, match=r"bad\.ll: line 2"):
        encoder.embed([FILE, bad])
    with pytest.raises(NoFunctionBodyError, match="no function body"):
        encoder.embed("declare void @f()\n")
    with pytest.raises(TypeError):
        encoder.embed(3)


def test_progress_counts_the_statements(encoder: Encoder) -> None:
    reported: list[tuple[int, int | None, str]] = []
    encoder.embed([FILE, FILE], batch_size=1, progress=lambda *state: reported.append(state))
    count = encoder.embed_parts(FILE).counts["distinct_statements"]
    notes = [note for done, _, note in reported if done == 0]
    assert notes[-1] == f"{count}/{count} statements"
    assert [state for state in reported if "statements" not in state[2]] == [
        (1, 2, str(FILE)[-40:]),
        (2, 2, str(FILE)[-40:]),
    ]


def test_several_levels_in_one_pass_are_those_of_each() -> None:
    encoder = load("mirenc-tiny", cache=False)
    several = encoder.embed_parts(FILE, level=("loop", "function"), purpose="features")
    first, second = (encoder.embed_parts(FILE, level=level, purpose="features") for level in ("loop", "function"))
    assert several.regions == first.regions + second.regions
    assert len(first.regions) > 0
    assert_same_vectors(several.vector, np.concatenate([first.vector, second.vector]))
    with pytest.raises(
        ConfigError, match=r"levels module, loop cannot be combined; several at once may be: function, loop, block"
    ):
        encoder.embed_parts(FILE, level=("module", "loop"))
