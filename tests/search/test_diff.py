"""What became of functions between two builds: names first, then vectors."""

import numpy as np
import pytest
from diff_functions import CODE, function

from mirenc.llvm.analysis.function_code import FunctionCode
from mirenc.search.builds import Build, Function
from mirenc.search.diff import Change, pair_builds
from mirenc.search.pairs import Side

E = np.eye(6, dtype=np.float32)


def build(functions: list[Function], vectors: list[np.ndarray]) -> Build:
    files = sorted({one.file for one in functions})
    row = {(one.file, one.symbol): at for at, one in enumerate(functions)}
    calls = [
        (at, row[one.file, name]) for at, one in enumerate(functions) for name in one.calls if (one.file, name) in row
    ]
    owner = np.array([files.index(one.file) for one in functions])
    return Build(functions, Side(np.stack(vectors), owner, np.array(calls, dtype=np.int64).reshape(-1, 2)))


def pairs(changes: list[Change]) -> list[tuple[str, str]]:
    return [tuple(f"{each.file[0]}.{each.symbol}" if each else "" for each in (one.old, one.new)) for one in changes]  # type: ignore[misc]


def test_names_pair_before_vectors_unless_they_are_hidden() -> None:
    old = build([function("f"), function("f", "b.ll"), function("g"), function("x17h1", name="x")], [*E[:4]])
    new = build([function("f", "b.ll"), function("f"), function("g", "c.ll"), function("x17h2", name="x")], [*E[:4]])
    assert pairs(pair_builds(old, new)) == [("a.f", "a.f"), ("b.f", "b.f"), ("a.g", "c.g"), ("a.x17h1", "a.x17h2")]
    hidden = pair_builds(old, new, hide_names=True)
    assert pairs(hidden) == [("a.f", "b.f"), ("b.f", "a.f"), ("a.g", "c.g"), ("a.x17h1", "a.x17h2")]
    assert [one.cosine for one in hidden] == pytest.approx([1] * 4)


def test_what_has_no_partner_appeared_or_vanished() -> None:
    changes = pair_builds(build([function("f"), function("g", size=7)], [*E[:2]]), build([function("h")], [E[0]]))
    assert pairs(changes) == [("a.f", "a.h"), ("a.g", "")]
    assert [(one.kind, one.bytes, one.cosine) for one in changes] == [("renamed", 0, 1.0), ("vanished", -7, None)]
    changes = pair_builds(build([function("f")], [E[0]]), build([function("f"), function("n", size=4)], [*E[:2]]))
    assert [(one.kind, one.bytes) for one in changes] == [("identical", 0), ("appeared", 4)]


def test_a_change_is_called_by_its_sizes() -> None:
    before, after = ("f", 10), ("f", 14)
    assert [
        (one.kind, one.bytes)
        for old, new in ((before, after), (after, before), (before, ("f", None)), (before, before))
        for one in [Change(function(old[0], size=old[1]), function(new[0], size=new[1]))]
    ] == [("grew", 4), ("shrank", -4), ("size unknown", None), ("changed", 0)]


@pytest.mark.parametrize(
    ("name", "size", "kind"),
    [("f", 10, "identical"), ("g", 10, "renamed"), ("f", None, "identical"), ("g", None, "renamed"), ("g", 11, "grew")],
)
def test_one_code_is_identical_or_renamed_unless_its_size_differs(name: str, size: int | None, kind: str) -> None:
    (change,) = pair_builds(build([function("f")], [E[0]]), build([function(name, size=size)], [E[0]]))
    assert (change.kind, change.same_code) == (kind, True)
    assert change.why == (() if size == 10 else ("the same IR",))


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (CODE._replace(signature="other"), "its type or attributes"),
        (CODE._replace(statements="other", operands="other"), "constants, types, flags or instructions"),
        (CODE._replace(operands="other"), "operands or branches"),
        (CODE._replace(functions=("h",)), "other functions are referred to"),
        (CODE._replace(globals={"@b": "2", "@a": "2", "@new": "1"}), "value of a"),
    ],
)
def test_other_code_of_the_same_size_changed(code: FunctionCode, why: str) -> None:
    first = function("f", code=CODE._replace(globals={"@a": "1", "@b": "2"}) if code.globals else CODE)
    for name in ("f", "g"):
        (change,) = pair_builds(build([first], [E[0]]), build([function(name, code=code)], [E[0]]))
        assert (change.kind, change.bytes, change.why) == ("changed", 0, (why,))


def test_reasons_of_a_change() -> None:
    old = build([function("f", "a.ll", 10, "g", "puts"), function("g")], [*E[:2]])
    facts = {"instructions": 9, "loops": 1, "vector_instructions": 4}
    new = build([function("f", "a.ll", 20, "puts", "exit", **facts), function("g")], [*E[:2]])
    changed = ("loops 0 -> 1", "vector instructions 0 -> 4", "instructions 5 -> 9")
    assert pair_builds(old, new)[0].why == ("no longer calls g", "now calls exit", *changed)
    # Of hidden names those of other files say nothing.
    assert pair_builds(old, new, hide_names=True)[0].why == ("no longer calls g", *changed)


def test_a_callee_with_another_name_is_the_same_callee() -> None:
    old = build([function("f", "a.ll", 10, "g"), function("g")], [*E[:2]])
    new = build([function("f", "a.ll", 10, "g2"), function("g2")], [*E[:2]])
    assert [(one.kind, one.why) for one in pair_builds(old, new)] == [("identical", ()), ("renamed", ())]


def test_inlined_is_said_where_both_have_debug_information() -> None:
    old, new = function("f", source="f.c"), function("f", source="f.c", inlined=frozenset("hg"))
    for first, second, why in ((old, new, ("now inlines g, h",)), (new, old, ("no longer inlines g, h",))):
        assert pair_builds(build([first], [E[0]]), build([second], [E[0]]))[0].why == why
    assert pair_builds(build([function("f")], [E[0]]), build([new], [E[0]]))[0].why == ()
