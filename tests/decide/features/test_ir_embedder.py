"""`IREmbedder`: the encoder's own rows from inputs of every kind, and a good citizen of scikit-learn."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from same_vectors import assert_same_vectors
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks, get_tags

from mirenc.base.errors import ConfigError, IRFileError, ModelError, TaskError, UnreadableIRWarning
from mirenc.decide.estimators.mlp import MLPHead
from mirenc.decide.features.ir_embedder import IREmbedder
from mirenc.encoder import Encoder, load
from mirenc.encoder.weights import save_files
from mirenc.llvm import read_ir

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
FILES = [EXAMPLES / name for name in ("dot_product.ll", "insertion_sort.ll", "saxpy.ll", "vector_add.ll")]
MODEL = "mirenc-tiny"
BAD = "define void @f() {\n  not an instruction\n}\n"


@pytest.fixture(scope="module")
def tiny() -> Encoder:
    return load(MODEL, cache=False)


@pytest.fixture(scope="module")
def rows(tiny: Encoder) -> np.ndarray:
    """(4, D) what the encoder makes of the examples."""
    return tiny.embed(FILES)


def embedder(**parameters: object) -> IREmbedder:
    return IREmbedder(**{"model": MODEL, "purpose": "search", "cache": False} | parameters)


def test_features_are_the_default() -> None:
    expected = load(MODEL, cache=False).embed(FILES, purpose="features")
    np.testing.assert_array_equal(IREmbedder(MODEL, cache=False).transform(FILES), expected)


# -- inputs --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "inputs",
    [
        FILES,
        tuple(map(str, FILES)),
        np.array(list(map(str, FILES))),
        np.array(list(map(str, FILES)))[:, None],
        np.array(FILES, dtype=object)[:, None],
        [[path] for path in FILES],
        [path.read_text() for path in FILES],
        [path.read_bytes() for path in FILES],
        [read_ir(path) for path in FILES],
        [FILES[0], str(FILES[1]), FILES[2].read_text(), read_ir(FILES[3])],
    ],
    ids="paths strings array column objects rows texts bytes modules mixed".split(),
)
def test_inputs_of_every_kind_give_the_encoders_rows(inputs: object, rows: np.ndarray) -> None:
    out = embedder().fit(inputs).transform(inputs)
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, rows)


@pytest.mark.parametrize("part", ["text", "graph", "both"])
@pytest.mark.parametrize("whiten", [True, False])
def test_part_and_whiten_are_the_encoders(part: str, whiten: bool, tiny: Encoder) -> None:
    out = embedder(part=part, whiten=whiten).fit_transform(FILES)
    np.testing.assert_array_equal(out, tiny.embed(FILES, part=part, whiten=whiten))


def test_equal_inputs_are_embedded_once_and_keep_their_places(
    rows: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded: list[object] = []
    original = Encoder.embed_stream
    monkeypatch.setattr(
        Encoder, "embed_stream", lambda self, inputs, **rest: embedded.extend(inputs) or original(self, inputs, **rest)
    )
    out = embedder().transform([FILES[1], FILES[0], FILES[1], FILES[1]])
    assert_same_vectors(out, rows[[1, 0, 1, 1]])
    np.testing.assert_array_equal(out[2:], out[[0, 0]])
    assert [module.name for module in embedded] == [str(FILES[1]), str(FILES[0])]


@pytest.mark.parametrize("single", [str(FILES[0]), FILES[0], b"BC", BAD])
def test_one_input_is_not_a_list(single: object) -> None:
    with pytest.raises(ConfigError, match=r"is not a list of inputs\. Type: transform\(\[x\]\)"):
        embedder().transform(single)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (np.full((2, 3), "a.ll"), r"shape \(2, 3\); allowed: \(n,\) or \(n, 1\)"),
        (np.array("a.ll"), r"shape \(\)"),
        ([FILES[0], 5], r"input 1 is of type int; allowed: a path"),
        ([[FILES[0], FILES[1]]], r"input 0 is of type list"),
        (np.array([None], dtype=object), r"input 0 is of type NoneType"),
    ],
)
def test_what_is_no_list_of_inputs_is_refused(inputs: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        embedder(on_error="skip").transform(inputs)


# -- functions -----------------------------------------------------------------------------------------
PAIRS = [(FILES[1], "shift_right"), (FILES[0], "dot_product"), (FILES[1], "insertion_sort")]


@pytest.mark.parametrize(
    "inputs",
    [PAIRS, [list(pair) for pair in PAIRS], np.array(PAIRS, dtype=object), np.array([(str(a), b) for a, b in PAIRS])],
    ids="pairs lists objects strings".split(),
)
def test_functions_are_the_encoders_rows_in_the_order_of_the_pairs(inputs: object, tiny: Encoder) -> None:
    out = embedder(level="function").fit(inputs).transform(inputs)
    sort = tiny.embed_parts(FILES[1], level="function", form="O2")
    expected = [sort.part("both")[sort.functions.index("shift_right")], tiny.embed(FILES[0], level="function")[0]]
    assert_same_vectors(out, np.stack([*expected, sort.part("both")[sort.functions.index("insertion_sort")]]))


def test_a_function_that_is_not_there_is_an_error_or_a_row_of_nan() -> None:
    inputs = [PAIRS[1], (FILES[0], "dot_prodct")]
    with pytest.raises(
        TaskError, match=r"dot_product\.ll: no function 'dot_prodct' with a body; did you mean 'dot_pro"
    ):
        embedder(level="function").transform(inputs)
    with pytest.warns(UnreadableIRWarning, match="1 inputs cannot be embedded"):
        out = embedder(level="function", on_error="skip").transform(inputs)
    assert np.isnan(out).all(axis=1).tolist() == [False, True]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (FILES, r"input 0 is .*; allowed at level function: a pair of input and function"),
        ([(FILES[0], "")], "input 0 has the function ''"),
        (np.array([str(FILES[0])]), r"shape \(1,\); allowed: \(n, 2\)"),
    ],
)
def test_what_is_no_list_of_pairs_is_refused(inputs: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        embedder(level="function").transform(inputs)


# -- inputs that cannot be read ------------------------------------------------------------------------
def test_an_unreadable_file_ends_the_work_and_is_counted() -> None:
    with pytest.raises(IRFileError, match=r"nowhere\.ll") as caught:
        embedder().transform([FILES[0], "nowhere.ll"])
    assert caught.value.__notes__ == ["IREmbedder: input 1 of 2"]


def test_skipped_inputs_are_rows_of_nan_named_in_one_warning(rows: np.ndarray) -> None:
    inputs = ["nowhere.ll", FILES[0], BAD, FILES[1], "nowhere.ll"]
    with pytest.warns(UnreadableIRWarning) as caught:
        out = embedder(on_error="skip").transform(inputs)
    assert_same_vectors(out[[1, 3]], rows[:2])
    assert np.isnan(out[[0, 2, 4]]).all()
    (warning,) = caught
    message = str(warning.message)
    assert message.startswith("2 inputs cannot be embedded, their rows are NaN: nowhere.ll: no such file")
    assert "input 2: " in message
    assert "expected instruction opcode" in message
    assert message.count("nowhere.ll") == 1
    assert warning.filename == __file__


# -- parameters ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "allowed"), [("part", "both, text, graph"), ("on_error", "raise, skip")])
def test_unknown_words_are_refused_by_fit_and_by_transform(name: str, allowed: str) -> None:
    for act in (IREmbedder.fit, IREmbedder.transform):
        with pytest.raises(ConfigError, match=f"unknown {name} 'neither'; available: {allowed}"):
            act(embedder(**{name: "neither"}), FILES)


def test_an_unknown_model_is_refused_when_it_is_needed_and_not_before() -> None:
    wrong = IREmbedder(model="mirenc-typo")
    with pytest.raises(ModelError, match="unknown model 'mirenc-typo'; available: "):
        wrong.fit(FILES)


def test_a_folder_whose_model_changed_is_loaded_again(tiny: Encoder, rows: np.ndarray, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny.files.folder, folder)
    here = embedder(model=folder)
    np.testing.assert_array_equal(here.transform(FILES), rows)
    weights = {name: array * 0.5 for name, array in tiny.files.weights.items()}
    save_files(folder, name="half", config=tiny.files.config, tokenizer=tiny.tokenizer, weights=weights)
    np.testing.assert_array_equal(here.transform(FILES), load(folder, cache=False).embed(FILES))
    assert not np.allclose(here.transform(FILES), rows)


def test_the_cache_can_have_a_folder(rows: np.ndarray, tmp_path: Path) -> None:
    for _ in range(2):  # written, then read
        out = embedder(cache=tmp_path / "kept").transform(FILES)
        assert_same_vectors(out, rows)
    assert list((tmp_path / "kept").glob("*.sqlite"))


# -- scikit-learn --------------------------------------------------------------------------------------
def test_it_is_stateless_and_says_so(rows: np.ndarray) -> None:
    tags = get_tags(embedder())
    assert not tags.requires_fit
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert not tags.target_tags.required
    np.testing.assert_array_equal(embedder().transform(FILES), rows)


@pytest.mark.parametrize(
    "name",
    [
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_get_params_invariance",
        "check_no_attributes_set_in_init",
        "check_set_params",
        "check_valid_tag_types",
    ],
)
def test_the_checks_of_scikit_learn_that_need_no_matrix_of_numbers(name: str) -> None:
    getattr(estimator_checks, name)("IREmbedder", embedder())


def test_columns_have_names(tiny: Encoder) -> None:
    names = embedder().get_feature_names_out()
    assert (len(names), names[0], names[-1]) == (tiny.dimension, "text_0", f"graph_{tiny.graph_dimension - 1}")
    assert names[tiny.text_dimension] == "graph_0"
    assert embedder(part="graph").get_feature_names_out(["file"])[0] == "graph_0"
    for part in ("text", "graph", "both"):
        assert embedder(part=part).fit(FILES).n_features_out_ == len(embedder(part=part).get_feature_names_out())


def test_clones_and_pickles_carry_parameters_and_no_weights() -> None:
    used = embedder(part="text", on_error="skip")
    used.fit_transform(FILES)
    assert clone(used).get_params() == used.get_params()
    assert not hasattr(clone(used), "n_features_out_")
    data = pickle.dumps(used)
    assert len(data) < 500
    np.testing.assert_array_equal(pickle.loads(data).transform(FILES), used.transform(FILES))  # noqa: S301 - our own


def test_a_pipeline_from_files_to_choices() -> None:
    inputs, labels = FILES * 3, ["CPU", "GPU", "GPU", "CPU"] * 3
    pipeline = make_pipeline(embedder(), MLPHead(hidden=(8,), epochs=60, random_state=0))
    assert pipeline.fit(inputs, labels).predict(FILES).tolist() == labels[:4]
