"""Lists of passes: text and tree are one, and new lists are like the old ones."""

import random
from collections import Counter
from itertools import pairwise

import pytest

from mirenc.base.errors import PassError
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.pass_lists import (
    LEVELS,
    MOST_CHANGES,
    PassNode,
    Step,
    expanded,
    level,
    mutated,
    parse,
    random_list,
    render,
    steps,
)

TEXT = "globaldce,function<eager-inv>(sroa<modify-cfg>,loop-mssa(licm<allowspeculation>,licm),early-cse<>),require<x>"


def test_a_list_is_a_tree() -> None:
    assert parse(TEXT) == (
        PassNode("globaldce"),
        PassNode(
            "function",
            "<eager-inv>",
            (
                PassNode("sroa", "<modify-cfg>"),
                PassNode("loop-mssa", "", (PassNode("licm", "<allowspeculation>"), PassNode("licm"))),
                PassNode("early-cse", "<>"),
            ),
        ),
        PassNode("require", "<x>"),
    )
    assert render(parse(TEXT)) == TEXT


def test_steps_have_the_kind_of_their_adaptor() -> None:
    text = "a,cgscc(devirt<4>(inline<x>,function(b,loop(c),loop-mssa(d)))),function(require<e>,f)"
    parsed = list(steps(parse(text)))
    assert [(each.kind, each.name) for each in parsed] == [
        ("module", "a"),
        ("cgscc", "inline"),
        ("function", "b"),
        ("loop", "c"),
        ("loop-mssa", "d"),
        ("function", "f"),
    ]
    assert parsed[1].text == "inline<x>"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "its end"),
        ("function(sroa", "its end"),
        ("function(sroa,)", "'\\)' at character 15"),
        ("sroa)", "'\\)' at character 5"),
        ("sroa, licm", "' licm' at character 6"),
        ("sroa<x", "'<x' at character 5"),
        ("function()", "'\\)' at character 10"),
    ],
)
def test_a_malformed_list_names_the_place(text: str, place: str) -> None:
    with pytest.raises(PassError, match=f"wrong at {place}. Write it as in"):
        parse(text)


@pytest.mark.parametrize("name", ["O2", "O3", "Os", "Oz"])
def test_levels_are_lists(name: str) -> None:
    text = expanded(name)
    assert render(parse(text)) == text
    assert {"sroa", "instcombine", "simplifycfg", "licm", "inline"} <= {each.name for each in steps(parse(text))}


def test_levels_that_are_not_known_are_told() -> None:
    assert [level(name) for name in LEVELS][-1] == "default<Oz>"
    with pytest.raises(PassError, match="unknown level 'O4'; available: O0, O1"):
        level("O4")
    with pytest.raises(PassError, match=r"passes of LLVM 3\.9\.1's levels are not recorded; available: 19"):
        expanded("Oz", "3.9.1")
    with pytest.raises(PassError, match="passes of level 'O0' are not recorded; available: O2"):
        expanded("O0", "19.1.7")


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
def test_a_level_pass_by_pass_gives_what_the_level_gives() -> None:
    ir = b"""\
define i32 @f(i32 %n) minsize optsize {
  %slot = alloca i32
  store i32 %n, ptr %slot
  %a = load i32, ptr %slot
  %b = mul i32 %a, 8
  %c = sdiv i32 %b, 8
  ret i32 %c
}
"""
    with SharedEngine(19) as engine:  # levels are shipped for it
        for name in ("O2", "O3", "Os", "Oz"):
            by_level, by_pass = engine.run_all(ir, [level(name), expanded(name)])
            assert by_level == by_pass
