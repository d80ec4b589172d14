"""The matrices of a table's rows: which columns, in which order, and the same as a prediction would compute."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from same_vectors import assert_same_vectors

from mirenc.base.errors import TaskError
from mirenc.decide.context import Context
from mirenc.decide.features import feature_matrix as features
from mirenc.decide.features.code_features import CODE_ROWS, CodeReader, code_vector
from mirenc.decide.features.feature_matrix import LOOK_AHEAD, ROW_TITLES, TOLD, build_features, default_rows
from mirenc.decide.features.opcode_histogram import opcode_histogram
from mirenc.decide.settings import Space
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.encoder import Encoder
from mirenc.llvm import parse_ir
from mirenc.llvm.analysis.regions import regions_of

AHEAD = [row for row in ROW_TITLES if row.endswith(tuple(TOLD)) or row in LOOK_AHEAD]
OWN_ROWS = [row for row in ROW_TITLES if row not in ("ir2vec", "compiler", *AHEAD)]


@pytest.fixture(scope="module")
def few(toy: Task, toy_data: TaskData) -> TaskData:
    """Three kernels."""
    return TaskData(toy_data.samples[:12], toy.space)


@pytest.fixture(scope="module")
def built(toy: Task, few: TaskData, tiny: Encoder) -> dict[str, features.Features]:
    return {row.row: row for row in build_features(toy, few, OWN_ROWS, tiny)}


def test_context_features_come_first_in_every_row(built: dict[str, features.Features], few: TaskData) -> None:
    assert list(built) == OWN_ROWS
    for row in built.values():
        assert row.context_columns == 1
        assert row.matrix.dtype == np.float64
        assert row.matrix[:, 0].tolist() == [sample.context[0] for sample in few.samples]


def test_each_row_sees_its_own_columns_and_no_others(
    built: dict[str, features.Features], few: TaskData, tiny: Encoder
) -> None:
    code = {name: row.matrix[:, 1:] for name, row in built.items()}
    assert code["no_code"].shape == (12, 0)
    assert code["hand"].tolist() == [list(sample.hand_features) for sample in few.samples]
    np.testing.assert_array_equal(code["histogram"][5], opcode_histogram(parse_ir(few.samples[5].ir)))
    np.testing.assert_array_equal(code["both"], np.hstack([code["text"], code["graph"]]))
    np.testing.assert_array_equal(code["both_histogram"], np.hstack([code["both"], code["histogram"]]))
    np.testing.assert_array_equal(code["both_mlp"], code["both"])
    assert_same_vectors(code["both"], tiny.embed([sample.ir for sample in few.samples], form="plain"))


@pytest.mark.parametrize("row", [*CODE_ROWS, "histogram"])
def test_a_prediction_computes_the_same_code_features(
    row: str, built: dict[str, features.Features], few: TaskData, tiny: Encoder
) -> None:
    for index in (0, 4, 11):
        (parts,) = CodeReader(tiny)(tiny.read(few.samples[index].ir), [None])
        code = parts[row] if row == "histogram" else code_vector(row, parts)
        np.testing.assert_array_equal(code, built[row].matrix[index, 1:])


def test_ir_that_samples_share_is_embedded_once(toy: Task, few: TaskData, tiny: Encoder) -> None:
    seen: list[tuple[int, int]] = []

    def advance(done: int, *, total: int, note: str) -> None:
        seen.append((done, total))

    (row,) = build_features(toy, few, ["histogram"], tiny, advance=advance)
    assert seen == [(1, 3)] * 3
    assert len(np.unique(row.matrix[:, 1:], axis=0)) == 3


def test_without_code_no_code_is_read(toy: Task, toy_data: TaskData, tiny: Encoder) -> None:
    broken = TaskData([replace(sample, ir="no IR at all") for sample in toy_data.samples], toy.space)
    rows = build_features(toy, broken, ["no_code", "hand"], tiny)
    assert [row.matrix.shape for row in rows] == [(40, 1), (40, 2)]


# -- which rows there are ------------------------------------------------------------------------------
@pytest.mark.parametrize("there", [True, False])
def test_rows_that_cannot_be_computed_here_are_left_out(
    toy: Task, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Bare(type(toy)):  # type: ignore[misc]
        context = Context()
        hand_feature_names = ()

    monkeypatch.setattr(features, "ir2vec_available", lambda: there)
    optional = ["ir2vec"] if there else []
    usual = {*OWN_ROWS, *optional}
    assert set(default_rows(toy)) == usual
    assert set(default_rows(Bare())) == usual - {"no_code", "hand"}


def test_a_row_that_is_asked_for_and_cannot_be_had_says_why(
    toy: Task, few: TaskData, tiny: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Bare(type(toy)):  # type: ignore[misc]
        context = Context()
        hand_feature_names = ()

    monkeypatch.setattr(features, "ir2vec_available", lambda: False)
    with pytest.raises(TaskError, match="unknown row 'code'; available: no_code"):
        build_features(toy, few, ["both", "code"], tiny)
    with pytest.raises(TaskError, match=r"needs the IR2Vec wheel. Type: pip install"):
        build_features(toy, few, ["ir2vec"], tiny)
    with pytest.raises(TaskError, match=r"has no hand features\. Leave out row 'hand'"):
        build_features(Bare(), few, ["hand"], tiny)
    with pytest.raises(TaskError, match="Leave out row 'no_code'"):
        build_features(Bare(), few, ["no_code"], tiny)


# -- regions -------------------------------------------------------------------------------------------
PAIR = "\n".join(
    f"define i32 @{name}(i32 %x) {{\n  %y = {operation} i32 %x, 3\n  %z = {operation} i32 %y, %x\n  ret i32 %z\n}}"
    for name, operation in (("f", "add"), ("g", "mul"))
)


@pytest.fixture(scope="module")
def functions(few: TaskData) -> TaskData:
    """The two functions of one module, each under two lengths."""
    regions = regions_of(parse_ir(PAIR), "function").regions
    samples = [
        replace(few.samples[0], ir=PAIR, region=region, name=f"{region.name}/{length}", context=(length,))
        for region in regions
        for length in (1, 2)
    ]
    return TaskData(samples, few.space)


def test_a_region_has_features_of_its_own(toy: Task, functions: TaskData, tiny: Encoder) -> None:
    seen: list[int] = []
    rows = {
        row.row: row.matrix[:, 1:]
        for row in build_features(
            toy, functions, ["both", "histogram"], tiny, advance=lambda done, **_: seen.append(done)
        )
    }
    assert seen == [2]  # one module read, for two pieces
    for matrix in rows.values():
        np.testing.assert_array_equal(matrix[0], matrix[1])
        assert np.abs(matrix[0] - matrix[2]).max() > 0
    parts = tiny.embed_parts(PAIR, level="function", form="plain")
    np.testing.assert_array_equal(rows["both"][::2], np.hstack([parts.text, parts.graph]))
    one, other = (parse_ir(text) for text in (PAIR.split("\n}")[0] + "\n}", PAIR.split("\n}")[1] + "\n}"))
    np.testing.assert_array_equal(rows["histogram"][::2], [opcode_histogram(one), opcode_histogram(other)])


def test_a_region_that_the_module_has_not_is_named(toy: Task, functions: TaskData, tiny: Encoder) -> None:
    strange = replace(functions.samples[0], region=replace(functions.samples[0].region, name="h", symbol="h"))
    with pytest.raises(TaskError, match=r"sample f/1: .* has no function 'h'\. Give IR that has it"):
        build_features(toy, TaskData([strange], functions.space), ["both"], tiny)


def test_rows_that_these_data_cannot_have_are_left_out_and_refused(
    toy: Task, few: TaskData, tiny: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "ir2vec_available", lambda: True)
    # The toy task asks no compiler, and does not look ahead.
    assert set(default_rows(toy, few)) == set(ROW_TITLES) - {"compiler", *AHEAD}
    with pytest.raises(TaskError, match="does not look ahead"):
        build_features(toy, few, ["look_ahead"], tiny)
    with pytest.raises(TaskError, match="asks no compiler"):
        build_features(toy, few, ["compiler"], tiny)
    wide = Space(("number",), tuple((number,) for number in range(40)))
    many = TaskData([replace(sample, costs=(1.0,) * 40) for sample in few.samples], wide)
    numbers = TaskData([replace(sample, costs=(), value=1.0) for sample in few.samples])
    for data in (many, numbers):
        assert "both_mlp" not in default_rows(toy, data)
        with pytest.raises(TaskError, match=r"'both_mlp' is for a few settings and a few hundred samples"):
            build_features(toy, data, ["both_mlp"], tiny)


# -- bad samples ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"ir": "define void @f( {"}, "sample odd: "),
        ({"context": (1.0, 2.0)}, "sample odd: 2 context features were given, but toy has 1: length"),
        ({"context": ()}, "sample odd: 0 context features"),
        ({"context": (float("nan"),)}, "sample odd: context feature 'length' is nan; it must be a finite"),
        ({"context": ("many",)}, "sample odd: context feature 'length' is 'many'"),
    ],
    ids="ir long short nan text".split(),
)
def test_a_bad_sample_is_named(change: dict[str, Any], word: str, toy: Task, few: TaskData, tiny: Encoder) -> None:
    samples = [*few.samples[:3], replace(few.samples[3], name="odd", **change)]
    with pytest.raises(TaskError, match=word):
        build_features(toy, TaskData(samples, toy.space), ["histogram"], tiny)


# -- IR2Vec --------------------------------------------------------------------------------------------
def test_files_that_ir2vec_could_not_read_are_told(
    toy: Task, few: TaskData, tiny: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts_asked: list[str] = []

    def vectors(texts: list[str]) -> tuple[np.ndarray, int]:
        texts_asked.extend(texts)
        return np.arange(6, dtype=np.float32).reshape(3, 2), 2

    monkeypatch.setattr(features, "ir2vec_available", lambda: True)
    monkeypatch.setattr(features, "ir2vec_vectors", vectors)
    # The published IR is bytes, and IR2Vec reads what LLVM wrote, not mirenc's canonical text.
    published = TaskData([replace(sample, ir=sample.ir.encode()) for sample in few.samples], toy.space)
    rows = build_features(toy, published, ["no_code", "ir2vec"], tiny)
    assert texts_asked == [few.samples[index].ir for index in (0, 4, 8)]
    assert rows[1].matrix[:, 1:].tolist() == [[0, 1]] * 4 + [[2, 3]] * 4 + [[4, 5]] * 4
    assert (rows[0].note, rows[1].note) == ("", "IR2Vec gave no vector for 2 of 3 files: zeros")


def test_a_regions_row_is_of_its_function_and_says_so(
    toy: Task, functions: TaskData, tiny: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts_asked: list[str] = []

    def vectors(texts: list[str]) -> tuple[np.ndarray, int]:
        texts_asked.extend(texts)
        return np.arange(len(texts), dtype=np.float32)[:, None], 0

    monkeypatch.setattr(features, "ir2vec_available", lambda: True)
    monkeypatch.setattr(features, "ir2vec_vectors", vectors)
    (row,) = build_features(toy, functions, ["ir2vec"], tiny)
    symbols = [sample.region.symbol for sample in functions.samples]  # type: ignore[union-attr]
    # Each function once, and with it the body of no other.
    assert len(texts_asked) == len(set(symbols))
    for text in texts_asked:
        assert len(re.findall("^define ", text, re.MULTILINE)) == 1
    place = [
        next(number for number, text in enumerate(texts_asked) if re.search(rf"define .*@{name}\(", text))
        for name in symbols
    ]
    assert row.matrix[:, -1].tolist() == place
    assert row.note == "IR2Vec has no vectors of loops: its row is of the function around each region"


def test_a_loops_features_are_followed_by_those_of_its_function(tiny: Encoder) -> None:
    text = """
define void @f(ptr %p) {
  store i32 3, ptr %p
  br label %again
again:
  %x = load i32, ptr %p
  %c = icmp eq i32 %x, 0
  br i1 %c, label %out, label %again
out:
  ret void
}
define void @g() {
  ret void
}
"""
    module = parse_ir(text)
    (loop,) = regions_of(module, "loop").regions
    function = regions_of(module, "function").regions[0]
    of_loop, of_function = CodeReader(tiny)(module, [loop, function])
    for name, part in (("text", "text"), ("graph", "graph")):
        of_loop_alone = getattr(tiny.embed_parts(module, level="loop"), part)[0]
        assert_same_vectors(of_loop[name], np.concatenate([of_loop_alone, of_function[name]]))
    inside = opcode_histogram(module, np.array([2, 3, 4], dtype=np.int32))
    assert of_loop["histogram"].tolist() == [*inside.tolist(), *of_function["histogram"].tolist()]


def test_a_model_that_a_compiler_taught_gives_features(
    toy: Task, functions: TaskData, taught: Encoder, tiny: Encoder
) -> None:
    rows = {row.row: row.matrix[::2, 1:] for row in build_features(toy, functions, ["text", "graph", "both"], taught)}
    embedding = taught.embed_parts(PAIR, level="function", purpose="features")
    np.testing.assert_array_equal(rows["text"], embedding.part("text"))
    np.testing.assert_array_equal(rows["graph"], embedding.part("graph"))
    # All that features have, in another order.
    np.testing.assert_array_equal(rows["both"], np.hstack([rows["text"], rows["graph"], embedding.taught]))
    assert rows["both"].shape[1] == taught.width("features")
    # Others give what shipped heads were fitted on.
    (old,) = build_features(toy, functions, ["both"], tiny)
    np.testing.assert_array_equal(old.matrix[::2, 1:], tiny.embed_parts(PAIR, level="function", form="plain").vector)
