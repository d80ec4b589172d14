"""The form that vectors are of: the usual one, rows of functions that passes delete, and what the cache knows of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from same_vectors import assert_same_vectors
from unoptimised_ir import GROWS, SUM

from mirenc.encoder import Encoder, load
from mirenc.llvm import ReadOptions, read_ir

_FIRST, _SECOND, _ATTRIBUTES = SUM.split("\n\n")
DELETED_FIRST = "\n\n".join([_SECOND, _FIRST, _ATTRIBUTES])
"""@square, which is inlined into @sum and deleted, above @sum."""
SQUARE = "define i32 @square(i32 %x) {\n  %1 = mul i32 %x, %x\n  ret i32 %1\n}\n"


@pytest.fixture(scope="module")
def usual(model_folder: Path) -> Encoder:
    """An encoder that is asked for no form; it keeps no cache."""
    return load(model_folder, cache=False)


@pytest.mark.parametrize(
    ("level", "purpose", "form"),
    [
        ("module", "search", "O2"),
        ("function", "search", "O2"),
        ("module", "features", "plain"),
        ("function", "features", "plain"),
        ("loop", "search", "plain"),
        ("block", "search", "plain"),
        ("instruction", "search", "plain"),
    ],
)
def test_the_form_where_none_is_asked_for(usual: Encoder, level: str, purpose: str, form: str) -> None:
    embedding = usual.embed_parts(SUM, level=level, purpose=purpose)
    of = {each: usual.embed_parts(SUM, level=level, purpose=purpose, form=each) for each in ("plain", "O2")}
    assert embedding.form == form
    assert {each: parts.form for each, parts in of.items()} == {"plain": "plain", "O2": "O2"}
    np.testing.assert_array_equal(embedding.vector, of.pop(form).vector)
    (other,) = of.values()
    assert not np.array_equal(embedding.vector, other.vector)


def test_rows_of_functions_that_passes_delete_come_last(usual: Encoder) -> None:
    plain, formed = (usual.embed_parts(DELETED_FIRST, level="function", form=form) for form in ("plain", None))
    assert [region.symbol for region in plain.regions] == ["square", "sum"]
    assert [region.symbol for region in formed.regions] == ["sum", "square"]
    assert formed.vector.shape == plain.vector.shape
    by_hand = usual.embed(SQUARE, level="function", part="text", form="plain")
    assert_same_vectors(formed.part("text")[1:], by_hand)
    assert np.abs(plain.part("text")[:1] - by_hand).max() > 1e-3


@pytest.mark.parametrize("form", ["O2", "Oz"])
@pytest.mark.parametrize("level", ["module", "function"])
def test_a_module_is_brought_to_the_form_of_its_file(usual: Encoder, tmp_path: Path, level: str, form: str) -> None:
    path = tmp_path / "sum.ll"
    path.write_text(DELETED_FIRST, encoding="utf-8")
    module = read_ir(path)
    assert module.form == "plain"
    of_file, of_module = (usual.embed_parts(source, level=level, form=form) for source in (path, module))
    np.testing.assert_array_equal(of_module.vector, of_file.vector)
    assert of_module.regions == of_file.regions
    assert (of_module.form, of_module.content_hash) == (form, of_file.content_hash)


@pytest.mark.parametrize("level", ["module", "function"])
def test_each_form_has_an_entry_in_the_cache(usual: Encoder, model_folder: Path, tmp_path: Path, level: str) -> None:
    forms = ("O2", "plain", "light")
    expected = {form: usual.embed(SUM, level=level, form=form) for form in forms}
    for one, other in (("O2", "plain"), ("O2", "light"), ("plain", "light")):
        assert np.abs(expected[one] - expected[other]).max() > 1e-3
    for _ in range(2):  # the second time from the cache
        for form in forms:
            embedding = load(model_folder, cache=tmp_path).embed_parts(SUM, level=level, form=form)
            assert_same_vectors(embedding.vector, np.atleast_2d(expected[form]))
            assert embedding.form == form


def test_a_function_that_passes_delete_can_be_asked_for(usual: Encoder) -> None:
    every = usual.embed_parts(SUM, level="function")
    alone = usual.embed_parts(SUM, level="function", function="^square$")
    assert (alone.form, alone.functions) == ("O2", ["square"])
    assert alone.regions == every.regions[1:]
    assert_same_vectors(alone.vector, every.vector[1:])
    # Of one function, the text of its module is its own.
    assert_same_vectors(usual.embed(SUM, function="^square$", part="text"), every.part("text")[1])


def test_what_passes_could_not_take_is_tried_again(model_folder: Path, tmp_path: Path) -> None:
    def form_of(**limits: int) -> str:
        options = ReadOptions(**limits)  # type: ignore[arg-type]  # max_bytes
        return load(model_folder, cache=tmp_path, options=options).embed_parts(GROWS).form

    assert form_of(max_bytes=2000) == "plain"
    assert form_of() == "O2"
