"""Search for inlining decisions that give fewer bytes; independent changes are tried in one compilation.

First all is decided by sizes: nothing is inlined, which tells what each function has alone, then what that says.
What a change does is read from the sizes of the functions that it can reach, so one compilation judges dozens. They add
up to what the module weighs but for constants and where LLVM decides anew, so the good ones are compiled together every
few times, and what weighs less as a whole is kept.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from mirenc.tools.inline.calls import Calls

Decisions = Mapping[int, bool]
"""Row of a call in `Calls` -> whether it is inlined; LLVM decides about the others."""

_UNWINDING = 20  # the least that a function has in the tables for unwinding
_CALL = 8  # about what a call itself has
_MARGINS = (0, 30)  # bytes that a call is thought to save beside itself; with others less on 60 files for training
_TOGETHER = 5  # compilations between two of all good changes together


class Weight(NamedTuple):
    """Loaded bytes of an object, and bytes of each of its functions."""

    loaded_bytes: int
    functions: Mapping[str, int]


@dataclass(frozen=True)
class Found:
    """The best decisions, and the bytes of the best so far: before the search, and after each compilation."""

    decisions: Decisions
    history: tuple[int, ...]


@dataclass(frozen=True)
class State:
    """The decisions, whether each call is inlined (as far as is known), and the last known size of each function.

    ``alone``: sizes of functions where nothing is inlined, as far as is known.
    """

    decisions: Decisions
    inlined: tuple[bool, ...]
    sizes: Mapping[str, int]
    alone: Mapping[str, int]


Promise = Callable[[Calls, State, Sequence[tuple[int, ...]]], Sequence[float]]
"""Bytes that each change of decisions, the rows of some calls, is thought to save."""


class _Move(NamedTuple):
    """Calls whose decisions change together, the functions whose size changes, and those that must not change."""

    rows: tuple[int, ...]
    changed: frozenset[str]
    read: frozenset[str]


def search(
    calls: Calls,
    inlined: Sequence[bool],
    before: Weight,
    weigh: Callable[[Decisions], Weight | None],
    builds: int,
    promise: Promise,
) -> Found:
    """Find decisions that give fewer bytes, in at most ``builds`` compilations.

    ``inlined``: of each call, whether LLVM inlines it by itself, which weighs ``before``. ``weigh`` compiles with some
    decisions; None where that fails. What promises most is tried first.
    """
    sure = State({}, tuple(inlined), before.functions, before.functions)
    least, since = before.loaded_bytes, 0
    history, tried = [least], set[object]()
    beginnings: list[Decisions] = [{}]
    for margin in (math.inf, *_MARGINS):
        decisions = _beginning(calls, inlined, sure.alone, margin)
        if decisions in beginnings or len(history) > builds:
            continue
        beginnings.append(decisions)
        if (compiled := weigh(decisions)) is not None:
            if margin == math.inf:
                sure = replace(sure, alone=compiled.functions)
            if compiled.loaded_bytes < least:
                least, now = compiled.loaded_bytes, [decisions.get(row, inline) for row, inline in enumerate(inlined)]
                sure = State(decisions, tuple(now), compiled.functions, sure.alone)
        history.append(least)
    state = sure
    while len(history) <= builds:
        keys = _changes(calls, state)
        untried = [rows for rows, key in keys.items() if key not in tried]
        promises = promise(calls, state, untried)
        order = [untried[row] for row in sorted(range(len(untried)), key=lambda row: -promises[row])]
        moves = _apart(calls, state, order)
        alone = since and (not moves or since > _TOGETHER or len(history) == builds)
        if not alone and (not moves or len(history) == builds):
            break
        moves = [] if alone else moves
        tried |= {keys[move.rows] for move in moves}
        changes = {row: not state.inlined[row] for move in moves for row in move.rows}
        compiled = weigh(decisions := {**state.decisions, **changes})
        if compiled is not None and compiled.loaded_bytes < least:
            inlined = [changes.get(row, inline) for row, inline in enumerate(state.inlined)]
            least, sure = compiled.loaded_bytes, State(decisions, tuple(inlined), compiled.functions, state.alone)
        history.append(least)
        if alone:
            state, since = sure, 0
        elif compiled is not None:
            after = _judged(calls, state, moves, compiled.functions)
            since += bool(since or after.decisions != state.decisions)
            state = after
    return Found(sure.decisions, tuple(history))


def _beginning(calls: Calls, inlined: Sequence[bool], alone: Mapping[str, int], margin: float) -> Decisions:
    """Decide alike about all calls of a function: inline if that saves bytes with ``margin`` a call; never if infinite.

    Only what differs from ``inlined``; ``alone``, bytes of each function with nothing inlined.
    """
    count = Counter(call.callee for call in calls.calls)
    decisions = {}
    for row, (call, inline) in enumerate(zip(calls.calls, inlined, strict=True)):
        size = alone.get(call.callee, math.inf)
        more = count[call.callee] * (size - _UNWINDING - _CALL - margin)
        decision = margin < math.inf and more < (size if call.callee in calls.local else 0)
        if decision != inline and (size < math.inf or margin == math.inf):
            decisions[row] = decision
    return decisions


def with_unwinding(sizes: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Bytes of each function, its part of the unwind tables included."""
    return {name: size + _UNWINDING for name, size in sizes}


def by_size(calls: Calls, state: State, changes: Sequence[tuple[int, ...]]) -> list[float]:
    """Promise by sizes: each inlined call adds the callee's body, and inlining the last call of it removes one."""
    called = Counter(call.callee for call, inline in zip(calls.calls, state.inlined, strict=True) if not inline)
    promises = []
    for rows in changes:
        callee = calls.calls[rows[0]].callee
        size = state.sizes.get(callee) or state.alone.get(callee, 0)
        copies = float(len(rows) * (size - _UNWINDING - _CALL))
        if state.inlined[rows[0]]:
            promises.append(copies - size * (callee not in state.sizes))
        else:
            goes = callee in calls.local and len(rows) == called[callee]
            promises.append(size * goes - copies)
    return promises


def _changes(calls: Calls, state: State) -> dict[tuple[int, ...], object]:
    """Candidate changes: single calls, all calls of a function that would then be deleted, all inlined calls of one.

    With each a key, which is equal for what needs no second try: the same change where its only caller is as it was.
    """
    changes: list[tuple[int, ...]] = [(row,) for row in range(len(state.inlined))]
    around: dict[str, tuple[bool, ...]] = defaultdict(tuple)
    of: dict[tuple[str, bool], tuple[int, ...]] = defaultdict(tuple)
    for row, (call, inlined) in enumerate(zip(calls.calls, state.inlined, strict=True)):
        around[call.caller] += (inlined,)
        if inlined or call.callee in calls.local:
            of[call.callee, inlined] += (row,)
    changes += [rows for rows in of.values() if len(rows) > 1]
    callers = [{calls.calls[row].caller for row in rows} for rows in changes]
    return {
        rows: (rows, state.inlined[rows[0]], around[min(names)] if len(names) == 1 else ())
        for rows, names in zip(changes, callers, strict=True)
    }


def _apart(calls: Calls, state: State, order: Iterable[tuple[int, ...]]) -> list[_Move]:
    """The first changes in order that are independent: none reaches a function that another one changes."""
    holders = _holders(calls, state)
    called = Counter(call.callee for call, inline in zip(calls.calls, state.inlined, strict=True) if not inline)
    read: set[str] = set()
    changed: set[str] = set()
    chosen = []
    for rows in order:
        callees = {calls.calls[row].callee for row in rows}
        mine = set[str]().union(*(holders[calls.calls[row].caller] for row in rows))
        inlined = sum(not state.inlined[row] for row in rows)
        # A callee is written anew, or goes with its last call.
        mine |= {callee for callee in callees if callee not in state.sizes or inlined >= called[callee]}
        if not (mine & (changed | read) or callees & changed):
            called.subtract(dict.fromkeys(callees, inlined))
            changed |= mine
            read |= callees
            chosen.append(_Move(rows, frozenset(mine), frozenset(callees)))
    return chosen


def _holders(calls: Calls, state: State) -> dict[str, set[str]]:
    """For each function, the functions that contain its code: itself, and those into which it is inlined."""
    into: dict[str, set[str]] = defaultdict(set)
    for call, inline in zip(calls.calls, state.inlined, strict=True):
        if inline:
            into[call.callee].add(call.caller)
    holders: dict[str, set[str]] = {}
    for name in {call.caller for call in calls.calls}:
        holders[name], waiting = {name}, [name]
        while waiting:
            new = into[waiting.pop()] - holders[name]
            holders[name] |= new
            waiting += new
    return holders


def _judged(calls: Calls, state: State, moves: Sequence[_Move], sizes: Mapping[str, int]) -> State:
    """The state with those moves that saved bytes; the others are taken back."""
    back: set[str] = set()
    decisions, inlined = dict(state.decisions), list(state.inlined)
    for move in moves:
        if sum(sizes.get(name, 0) - state.sizes.get(name, 0) for name in move.changed) < 0:
            for row in move.rows:
                decisions[row] = inlined[row] = not state.inlined[row]
        else:
            back |= move.changed | {name for name in move.read if name not in sizes}
    bytes_of = {name: size for name, size in sizes.items() if name not in back}
    bytes_of |= {name: size for name, size in state.sizes.items() if name in back}
    return State(decisions, tuple(inlined), bytes_of, state.alone)
