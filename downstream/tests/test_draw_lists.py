"""Drawn pass lists are like -Oz's own, LLVM can read them, and those of mirenc are such a draw."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from draw_lists import MOST_CHANGES, firing, make_lists, mutated, random_list

from mirenc.base.errors import PassError
from mirenc.decide.tables.compiled import read_compiled
from mirenc.llvm.passes.extract import extract_functions
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.pass_lists import Step, expanded, parse, render, steps
from mirenc.tools.measure.passes.run import pass_lists

DOWNSTREAM = Path(__file__).parents[1]


def _analyses(text: str) -> list[str]:
    return [part for part in text.replace("(", ",").replace(")", ",").split(",") if part.startswith(("requ", "inval"))]


def test_a_mutation_is_a_few_changes_of_the_same_passes() -> None:
    tree = parse(expanded("Oz"))
    before = Counter(steps(tree))
    sizes = []
    for seed in range(200):
        after = mutated(tree, random.Random(seed))
        assert after == mutated(tree, random.Random(seed))
        assert parse(render(after)) == after
        now = Counter(steps(after))
        assert now.keys() <= before.keys()
        assert sum((before - now).values()) <= MOST_CHANGES
        assert set(_analyses(render(after))) == set(_analyses(render(tree)))
        sizes.append(now.total() - before.total())
    assert min(sizes) < 0 < max(sizes)
    assert render(mutated(tree, random.Random(0))) != render(mutated(tree, random.Random(1)))


def test_a_small_list_can_become_these_and_no_others() -> None:
    seen = {render(mutated(parse("function(a,b),require<c>"), random.Random(seed))) for seed in range(3000)}
    assert {"function(a),require<c>", "function(b,a),require<c>", "function(a,b),function(a,b),require<c>"} <= seen
    assert "function(a,b,a),require<c>" in seen
    for text in seen:
        assert text.endswith("),require<c>")
        assert list(steps(parse(text)))


def test_a_list_without_passes_is_refused() -> None:
    with pytest.raises(PassError, match="without passes cannot be changed"):
        mutated(parse("require<globals-aa>"), random.Random(0))
    with pytest.raises(PassError, match="no passes to draw"):
        random_list([], random.Random(0))


def test_random_lists_share_adaptors() -> None:
    kinds = {"module": "m", "cgscc": "c", "function": "f<x>", "loop": "l", "loop-mssa": "s"}
    pool = [Step(kind, text) for kind, text in kinds.items()]
    seen = [random_list(pool, random.Random(seed)) for seed in range(300)]
    assert seen == [random_list(pool, random.Random(seed)) for seed in range(300)]
    for text in seen:
        parsed = list(steps(parse(text)))
        assert 1 <= len(parsed) <= 20
        assert set(parsed) <= set(pool)
        outer = parse(text)
        for group in [outer, *(node.passes for node in outer)]:
            adaptors = [(node.name if node.passes else "") for node in group]
            assert all(one != next_one or not one for one, next_one in pairwise(adaptors)), text
    assert any("function(f<x>,loop(l),loop-mssa(s)" in text for text in seen)


@pytest.mark.needs("libLLVM 19")
def test_every_new_list_can_be_read() -> None:
    with SharedEngine(19) as engine:  # levels are shipped for it
        tree = parse(expanded("Oz"))
        pool = sorted({*steps(tree), *steps(parse(expanded("O3")))}, key=str)
        for seed in range(100):
            chance = random.Random(seed)
            assert engine.knows(render(mutated(tree, chance)))
            assert engine.knows(random_list(pool, chance))


@pytest.mark.needs("libLLVM 19")
def test_lists_are_drawn_from_passes_that_fire() -> None:
    text = dict(extract_functions((DOWNSTREAM.parent / "examples" / "insertion_sort.ll").read_text()))
    pool = [Step("function", "sroa<modify-cfg>"), Step("module", "coro-early"), Step("function", "simplifycfg")]
    with SharedEngine(19) as engine:
        lists = make_lists(engine, text.values(), 12, 0)
        assert lists == make_lists(engine, text.values(), 12, 0)
        assert lists != make_lists(engine, text.values(), 12, 1)
        assert all(engine.knows(one.pipeline) for one in lists)
        assert Step("module", "coro-early") not in firing(engine, text.values(), pool)
    assert len({one.pipeline for one in lists}) == 12
    assert [one.kind for one in lists] == [
        *("default", "expanded"),
        *["mutation"] * 3,
        *["random"] * 4,
        *["long random"] * 3,
    ]
    assert not any("coro" in one.pipeline for one in lists if "random" in one.kind)


def test_the_lists_of_mirenc_are_those_of_the_published_table() -> None:
    table = read_compiled(DOWNSTREAM / "passes" / "table")
    assert pass_lists(100) == list(table.lists)
    assert [one.kind for one in pass_lists(5)] == ["default", "mutation", "random", "random", "long random"]
