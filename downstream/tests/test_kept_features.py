"""Features that were kept: what is read is what was written, by the hash of the IR, with rows of several models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from kept_features import KeptFeatures, features_of, known_rows, model_of, read_all, read_kept, taught_rows

from mirenc.base.errors import TaskError

HASHES = [f"{number:064x}" for number in range(5)]
CONTEXT = np.arange(6.0).reshape(3, 2)


def model(name: str, offset: float = 0.0, hashes: list[str] = HASHES) -> KeptFeatures:
    rows = np.arange(len(hashes), dtype=np.float32)[:, None] + np.float32(offset)
    parts = {"text": rows * np.ones(3, dtype=np.float32), "graph": -rows * np.ones(2, dtype=np.float32)}
    return KeptFeatures(name, name * 2, np.array(hashes), parts)


def counted() -> KeptFeatures:
    return KeptFeatures("counted", "", np.array(HASHES), {"autophase": np.eye(5, 4)}, "a note")


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    large = KeptFeatures("ir2vec", "", np.array(HASHES), {"ir2vec": np.full((5, 2), 1e6)}, "zeros")
    for one, kind in ((model("m", 0.5), np.float16), (large, np.float32)):
        one.save(tmp_path / "one.npz")
        stored = read_kept(tmp_path / "one.npz")
        assert (stored.source, stored.digest, stored.note) == (one.source, one.digest, one.note)
        assert stored.hashes.tolist() == HASHES
        assert list(stored.parts) == list(one.parts)
        for name, matrix in one.parts.items():
            assert stored.parts[name].dtype == kind
            np.testing.assert_array_equal(stored.parts[name], matrix)
    assert [path.name for path in tmp_path.iterdir()] == ["one.npz"]


def test_rows_of_the_first_model_have_plain_names(tmp_path: Path) -> None:
    for one in (model("a"), model("b", 10.0), counted()):
        one.save(tmp_path / f"{one.source}.npz")
    sources = read_all([tmp_path], "b")
    assert model_of(sources) == {"name": "b", "digest": "bb", "others": {"a": "aa"}}
    rows = ["text", "graph", "both"]
    assert sorted(known_rows(sources)) == sorted(["autophase", *rows, *(f"{row}:a" for row in rows)])
    row_names = ["no_code", "both", "both:a", "autophase"]
    features = features_of(sources, [HASHES[3], HASHES[0], HASHES[4]], CONTEXT, row_names)
    assert [one.row for one in features] == row_names
    code = np.array([[3.0] * 3 + [-3.0] * 2, [0.0] * 5, [4.0] * 3 + [-4.0] * 2])
    sign = np.array([10.0] * 3 + [-10.0] * 2)
    np.testing.assert_array_equal(features[0].matrix, CONTEXT)
    np.testing.assert_array_equal(features[1].matrix, np.concatenate([CONTEXT, code + sign], axis=1))
    np.testing.assert_array_equal(features[2].matrix, np.concatenate([CONTEXT, code], axis=1))
    assert [one.context_columns for one in features] == [2] * 4
    assert features[3].note == "a note"
    with pytest.raises(TaskError, match="features of a, b; wanted: c"):
        read_all([tmp_path], "c")


def test_two_files_of_one_source_are_refused(tmp_path: Path) -> None:
    for folder, offset in (("old", 0.0), ("new", 1.0)):
        (tmp_path / folder).mkdir()
        model("m", offset).save(tmp_path / folder / "m.npz")
    with pytest.raises(TaskError, match=r"old.m\.npz and .*new.m\.npz are both of m"):
        read_all([tmp_path / "old", tmp_path / "new"])
    assert model_of(read_all([tmp_path / "new"])) == {"name": "m", "digest": "mm"}


def test_rows_of_a_model_that_a_compiler_taught_are_told() -> None:
    taught = replace(model("t"), parts={**model("t").parts, "taught": np.eye(5)})
    rows = {"text", "graph", "both", "taught"}
    assert taught_rows([model("m"), counted(), taught]) == {f"{row}:t" for row in rows}
    assert taught_rows([model("m"), counted()]) == set()
    assert taught_rows([taught]) == rows


def test_pieces_that_come_later_are_put_behind() -> None:
    joined = model("m", hashes=HASHES[:2]).joined(model("m", 7.0, hashes=HASHES[2:]))
    assert joined.hashes.tolist() == HASHES
    assert joined.parts["text"][:, 0].tolist() == [0, 1, 7, 8, 9]


def test_what_no_source_has_is_refused() -> None:
    sources = [model("m", hashes=HASHES[:2])]
    with pytest.raises(
        TaskError, match="no file of features has row 'autophase'; available: no_code, text, graph, both"
    ):
        features_of(sources, HASHES[:2], CONTEXT[:2], ["autophase"])
    with pytest.raises(TaskError, match="features of m lack 1 of 3 pieces"):
        features_of(sources, HASHES[:3], CONTEXT, ["text"])


def test_files_that_are_no_features_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="no such file of features"):
        read_kept(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("no features")
    np.savez(tmp_path / "other.npz", some=np.zeros(3))
    part = KeptFeatures("m", "", np.array(HASHES), {"text": np.zeros((4, 2))})
    part.save(tmp_path / "short.npz")
    for name in ("text", "other", "short"):
        with pytest.raises(TaskError, match="damaged"):
            read_kept(tmp_path / f"{name}.npz")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TaskError, match="wanted: some"):
        read_all([tmp_path / "empty"])
