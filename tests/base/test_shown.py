"""What people see of large objects: five lines in a terminal, escaped tables in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mirenc
from mirenc.base.shown import html_table, short_repr, shorten, shorten_all
from mirenc.decide.task_head import TaskHead, ready_heads
from mirenc.search import index

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "insertion_sort.ll"


@dataclass
class Large:
    numbers: Any
    words: list[str]

    __repr__ = short_repr


@dataclass(repr=False)
class Larger(Large):
    extra: int


def objects() -> Iterator[Any]:
    """One of every public class, and what their methods return."""
    encoder = mirenc.load("mirenc-tiny")
    module = mirenc.read_ir(EXAMPLE)
    task = mirenc.get_task("vectorization")
    head = TaskHead.load(next(iter(ready_heads(task).values())), task)
    yield from (encoder, encoder.files, encoder.files.config, encoder.options, encoder.tokenizer)
    yield from (module, mirenc.statements_of(module), mirenc.build_graph(module))
    yield from (mirenc.make_sample(module, encoder.tokenizer), encoder.embed_parts(EXAMPLE, level="block"))
    yield from (index(encoder, [EXAMPLE], level="block"), next(iter(encoder.embed_stream([EXAMPLE]))))
    yield from (
        task,
        head,
        head.evidence,
        head.reach,
        *replace(head, encoder=mirenc.load(head.model)).predict(EXAMPLE, {"vector_bits": "256"}),
    )


def test_arrays_are_shown_by_shape_and_a_class_s_own_fields_first() -> None:
    large = Larger(np.zeros((3, 4)), ["x" * 1000] * 1000, 7)
    assert repr(large).startswith("Larger(extra=7, numbers=float64[3, 4], words=['xxx")
    assert len(repr(large)) < 400


@pytest.mark.filterwarnings("ignore::mirenc.base.errors.SearchModelWarning")
def test_every_public_object_fits_in_five_lines() -> None:
    for shown in map(repr, objects()):
        assert len(shown) <= 450, shown
        assert shown.count("\n") < 5
        assert " object at 0x" not in shown


@pytest.mark.filterwarnings("ignore::mirenc.base.errors.SearchModelWarning")
def test_notebooks_get_escaped_tables(tmp_path: Path) -> None:
    assert html_table([["a<b"], ["&"]], "<i>") == (
        "<table><tr><th>a&lt;b</th></tr><tr><td>&amp;</td></tr></table><p>&lt;i&gt;</p>"
    )
    file = tmp_path / "<b>.ll"
    file.write_text('define void @"<script>"() {\n  ret void\n}\n', encoding="utf-8")
    encoder = mirenc.load("mirenc-tiny")
    parts, table = encoder.embed_parts(file, level="function"), index(encoder, [file], level="function")
    for page in (parts._repr_html_(), table._repr_html_()):
        assert "&lt;script&gt;" in page
        assert "<script>" not in page
        assert "<b>" not in page
    assert table._repr_html_().startswith("<table><tr><th>file</th><th>name</th><th>symbol</th></tr>")


TREE = "std::_Rb_tree<std::pair<std::string const, int>, std::less<std::string>>::"
VECTOR = "<alloc::vec::Vec<alloc::string::String> as core::iter::traits::collect::Extend<alloc::string::String>>::"


@pytest.mark.parametrize(
    ("name", "component"),
    [
        (
            TREE + "_M_emplace_hint_unique<std::piecewise_construct_t const&, std::tuple<>>(int)",
            "_M_emplace_hint_unique<",
        ),
        (
            TREE + "operator()(std::vector<std::vector<int>> const&, unsigned long, unsigned long) const",
            "::operator()(",
        ),
        ("a.cpp: " + TREE + "operator<<(std::ostream&, " + "char, " * 20 + "int)", "::operator<<("),
        (VECTOR + "extend_from_within_the_vector", "::extend_from_within_the_vector"),
        ("core::" * 20 + "a_function_with_a_name_of_its_own", "...::a_function_with_a_name_of_its_own"),
    ],
)
def test_a_shortened_name_keeps_its_last_component(name: str, component: str) -> None:
    assert component in shorten(name)
    assert len(shorten(name)) <= 60


def test_different_names_stay_different() -> None:
    names = [f"{'a' * 40}{middle}{'b' * 40}" for middle in ("", *"xyz")]
    short = shorten_all([*names, *names, "short", f"{'a' * 28}...{'b' * 29}"])
    assert list(short) == [*names, "short", f"{'a' * 28}...{'b' * 29}"]
    assert len(set(short.values())) == 6
    assert short[names[2]] == f"{'a' * 27}...{'b' * 27} #3"
    assert max(map(len, short.values())) == 60
