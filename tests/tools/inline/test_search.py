"""The search for smaller inlining, on sizes that are known, and on a module through LLVM."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pytest

from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.tools.inline import Call, Calls, calls_of, try_inlining
from mirenc.tools.inline.search_decisions import Found, State, Weight, by_size, search

# Bytes of a body, and of a call of it; what is inlined has the body's bytes without its entry.
SIZES = {"tiny": 12, "big": 90, "twice": 28, "main": 100, "other": 50}
ENTRY, CALL, TABLES = 10, 9, 20
CALLS = (
    Call("main", "tiny", 0),
    Call("main", "big", 0),
    Call("other", "big", 0),
    Call("main", "twice", 0),
    Call("other", "twice", 0),
)
INLINED = (False, True, False, False, False)


def weight(decisions: Mapping[int, bool]) -> Weight:
    inlined = {**dict(enumerate(INLINED)), **decisions}
    sizes = {name: size + TABLES for name, size in SIZES.items()}
    for row, call in enumerate(CALLS):
        sizes[call.caller] += SIZES[call.callee] - ENTRY if inlined[row] else CALL
    for name in ("tiny", "twice", "big"):
        if all(inlined[row] for row, call in enumerate(CALLS) if call.callee == name):
            del sizes[name]
    return Weight(sum(sizes.values()), sizes)


def found_in(builds: int) -> tuple[Found, list[Mapping[int, bool]]]:
    tried: list[Mapping[int, bool]] = []

    def weigh(decisions: Mapping[int, bool]) -> Weight:
        tried.append(dict(decisions))
        return weight(decisions)

    calls = Calls("", CALLS, (), frozenset({"tiny", "twice", "big"}))
    return search(calls, INLINED, weight({}), weigh, builds, by_size), tried


def test_the_best_of_all_decisions_is_found() -> None:
    result, tried = found_in(30)
    everything = [weight(dict(enumerate(one))).loaded_bytes for one in product((False, True), repeat=len(CALLS))]
    assert weight(result.decisions).loaded_bytes == min(everything) < weight({}).loaded_bytes
    assert result.history[0] == weight({}).loaded_bytes
    assert result.history[-1] == min(everything)
    assert list(result.history) == sorted(result.history, reverse=True)
    assert len(result.history) == len(tried) + 1 < 30


def test_no_more_compilations_than_asked_for() -> None:
    for builds in range(6):
        result, tried = found_in(builds)
        assert len(tried) <= builds
        assert weight(result.decisions).loaded_bytes == result.history[-1]


def test_decisions_that_do_not_compile_are_left() -> None:
    calls = Calls("", CALLS, (), frozenset({"tiny", "twice", "big"}))
    result = search(calls, INLINED, weight({}), lambda decisions: None, 9, by_size)
    assert result.decisions == {}
    assert set(result.history) == {weight({}).loaded_bytes}


def test_a_promise_reckons_with_bodies_and_with_last_calls() -> None:
    calls = Calls("", CALLS, (), frozenset({"tiny", "twice"}))
    state = State({}, INLINED, weight({}).functions, weight({1: False}).functions)
    tiny, big, twice = (SIZES[name] for name in ("tiny", "big", "twice"))
    promises = by_size(calls, state, [(0,), (1,), (2,), (3,), (3, 4)])
    expected = [tiny + TABLES - (tiny - 8), big - 8, -(big - 8), -(twice - 8), twice + TABLES - 2 * (twice - 8)]
    assert promises == pytest.approx(expected)
    gone = State({2: True}, (False, True, True, False, False), weight({2: True}).functions, state.alone)
    assert by_size(calls, gone, [(1, 2)]) == pytest.approx([2 * (big - 8) - (big + TABLES)])


def test_it_begins_with_nothing_inlined_and_with_what_sizes_say() -> None:
    _, tried = found_in(3)
    small = {row: row in (0, 3, 4) for row in range(5)}  # the only call of tiny, and two of what is small
    assert [{**dict(enumerate(INLINED)), **one} for one in tried] == [
        dict.fromkeys(range(5), False),
        small,
        dict.fromkeys(range(5), True),  # 30 bytes a call are what `big` has too much
    ]


MODULE = """define internal i32 @work(i32 %x) minsize optsize {{
{body}  ret i32 %v3
}}
define i32 @first(i32 %x) minsize optsize {{
  %y = call i32 @work(i32 %x)
  ret i32 %y
}}
define i32 @second(i32 %x) minsize optsize {{
  %z = add i32 %x, 3
  %y = call i32 @work(i32 %z)
  ret i32 %y
}}
""".format(
    body="".join(
        f"  %v{at} = {op} i32 {f'%v{at - 1}' if at else '%x'}, {at + 7}\n" for at, op in enumerate(["xor", "add"] * 2)
    )
)


@pytest.mark.needs("clang-19")
def test_a_module_becomes_smaller() -> None:
    with SharedEngine(19) as engine:
        result = try_inlining(engine, MODULE.encode(), "default<Oz>", 8)
        calls = calls_of(engine.text(MODULE.encode()))
        decided = calls.decided({calls.calls.index(call): inline for call, inline in result.decisions})
        assert engine.run(decided.encode(), "default<Oz>").loaded_bytes == result.after.loaded_bytes
    assert result.decisions
    assert result.saved == result.before.loaded_bytes - result.after.loaded_bytes > 0
    assert result.history[-1] < result.history[0]
