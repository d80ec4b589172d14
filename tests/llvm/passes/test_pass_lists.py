"""Lists of passes: text and tree are one."""

import pytest

from mirenc.base.errors import PassError
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.pass_lists import LEVELS, PassNode, expanded, level, parse, render, steps

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
