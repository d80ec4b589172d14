"""Search for inlining decisions that give fewer bytes; independent changes are tried in one compilation.

The search starts with nothing inlined, which gives each function's own size, and then inlines where these sizes favour
it. The effect of a change is read from the sizes of the functions that it can reach, so one compilation judges dozens.
These sizes leave out constants and calls about which LLVM decides anew, so every few compilations the good changes are
compiled together, and are kept if the whole module has fewer bytes.
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
_CHECK_INTERVAL = 5  # compilations between two of all good changes together


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
    unchanged: frozenset[str]


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
    best = State({}, tuple(inlined), before.functions, before.functions)
    fewest, since_check = before.loaded_bytes, 0
    history, tried_keys = [fewest], set[object]()
    starts: list[Decisions] = [{}]
    for margin in (math.inf, *_MARGINS):
        decisions = _start_decisions(calls, inlined, best.alone, margin)
        if decisions in starts or len(history) > builds:
            continue
        starts.append(decisions)
        if (result := weigh(decisions)) is not None:
            if margin == math.inf:
                best = replace(best, alone=result.functions)
            if result.loaded_bytes < fewest:
                fewest, flags = result.loaded_bytes, [decisions.get(row, inline) for row, inline in enumerate(inlined)]
                best = State(decisions, tuple(flags), result.functions, best.alone)
        history.append(fewest)
    state = best
    while len(history) <= builds:
        keys = _changes(calls, state)
        candidates = [rows for rows, key in keys.items() if key not in tried_keys]
        promises = promise(calls, state, candidates)
        order = [candidates[row] for row in sorted(range(len(candidates)), key=lambda row: -promises[row])]
        moves = _independent_moves(calls, state, order)
        is_check = since_check and (not moves or since_check > _CHECK_INTERVAL or len(history) == builds)
        if not is_check and (not moves or len(history) == builds):
            break
        moves = [] if is_check else moves
        tried_keys |= {keys[move.rows] for move in moves}
        changes = {row: not state.inlined[row] for move in moves for row in move.rows}
        result = weigh(decisions := {**state.decisions, **changes})
        if result is not None and result.loaded_bytes < fewest:
            inlined = [changes.get(row, inline) for row, inline in enumerate(state.inlined)]
            fewest, best = result.loaded_bytes, State(decisions, tuple(inlined), result.functions, state.alone)
        history.append(fewest)
        if is_check:
            state, since_check = best, 0
        elif result is not None:
            next_state = _state_after(calls, state, moves, result.functions)
            since_check += bool(since_check or next_state.decisions != state.decisions)
            state = next_state
    return Found(best.decisions, tuple(history))


def _start_decisions(calls: Calls, inlined: Sequence[bool], sizes_alone: Mapping[str, int], margin: float) -> Decisions:
    """Decide the same for all calls of a function: inline if that saves bytes, ``margin`` a call counted as saved, too.

    Return what differs from ``inlined``. ``sizes_alone``: bytes without inlining. Infinite ``margin``: inline nothing.
    """
    count = Counter(call.callee for call in calls.calls)
    decisions = {}
    for row, (call, inline) in enumerate(zip(calls.calls, inlined, strict=True)):
        size = sizes_alone.get(call.callee, math.inf)
        growth = count[call.callee] * (size - _UNWINDING - _CALL - margin)
        decision = margin < math.inf and growth < (size if call.callee in calls.local else 0)
        if decision != inline and (size < math.inf or margin == math.inf):
            decisions[row] = decision
    return decisions


def with_unwinding(sizes: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Bytes of each function, its part of the unwind tables included."""
    return {name: size + _UNWINDING for name, size in sizes}


def by_size(calls: Calls, state: State, changes: Sequence[tuple[int, ...]]) -> list[float]:
    """Promise by sizes: each inlined call adds the callee's body, and inlining the last call of it removes one."""
    calls_left = Counter(call.callee for call, inline in zip(calls.calls, state.inlined, strict=True) if not inline)
    promises = []
    for rows in changes:
        callee = calls.calls[rows[0]].callee
        size = state.sizes.get(callee) or state.alone.get(callee, 0)
        copies = float(len(rows) * (size - _UNWINDING - _CALL))
        if state.inlined[rows[0]]:
            promises.append(copies - size * (callee not in state.sizes))
        else:
            is_deleted = callee in calls.local and len(rows) == calls_left[callee]
            promises.append(size * is_deleted - copies)
    return promises


def _changes(calls: Calls, state: State) -> dict[tuple[int, ...], object]:
    """Candidate changes: single calls, all calls of a function that would then be deleted, all inlined calls of one.

    Each has a key, equal for changes that need no second try: the same change, with its only caller unchanged.
    """
    changes: list[tuple[int, ...]] = [(row,) for row in range(len(state.inlined))]
    caller_decisions: dict[str, tuple[bool, ...]] = defaultdict(tuple)
    rows_by_callee: dict[tuple[str, bool], tuple[int, ...]] = defaultdict(tuple)
    for row, (call, inlined) in enumerate(zip(calls.calls, state.inlined, strict=True)):
        caller_decisions[call.caller] += (inlined,)
        if inlined or call.callee in calls.local:
            rows_by_callee[call.callee, inlined] += (row,)
    changes += [rows for rows in rows_by_callee.values() if len(rows) > 1]
    callers = [{calls.calls[row].caller for row in rows} for rows in changes]
    return {
        rows: (rows, state.inlined[rows[0]], caller_decisions[min(names)] if len(names) == 1 else ())
        for rows, names in zip(changes, callers, strict=True)
    }


def _independent_moves(calls: Calls, state: State, order: Iterable[tuple[int, ...]]) -> list[_Move]:
    """The first changes in order that are independent: none reaches a function that another one changes."""
    holders = _holders(calls, state)
    calls_left = Counter(call.callee for call, inline in zip(calls.calls, state.inlined, strict=True) if not inline)
    unchanged: set[str] = set()
    changed: set[str] = set()
    chosen = []
    for rows in order:
        callees = {calls.calls[row].callee for row in rows}
        reached = set[str]().union(*(holders[calls.calls[row].caller] for row in rows))
        inlined = sum(not state.inlined[row] for row in rows)
        # A callee is written anew, or goes with its last call.
        reached |= {callee for callee in callees if callee not in state.sizes or inlined >= calls_left[callee]}
        if not (reached & (changed | unchanged) or callees & changed):
            calls_left.subtract(dict.fromkeys(callees, inlined))
            changed |= reached
            unchanged |= callees
            chosen.append(_Move(rows, frozenset(reached), frozenset(callees)))
    return chosen


def _holders(calls: Calls, state: State) -> dict[str, set[str]]:
    """For each function, the functions that contain its code: itself, and those into which it is inlined."""
    inlined_into: dict[str, set[str]] = defaultdict(set)
    for call, inline in zip(calls.calls, state.inlined, strict=True):
        if inline:
            inlined_into[call.callee].add(call.caller)
    holders: dict[str, set[str]] = {}
    for name in {call.caller for call in calls.calls}:
        holders[name], queue = {name}, [name]
        while queue:
            new = inlined_into[queue.pop()] - holders[name]
            holders[name] |= new
            queue += new
    return holders


def _state_after(calls: Calls, state: State, moves: Sequence[_Move], sizes: Mapping[str, int]) -> State:
    """The state after those moves that saved bytes; the others are undone."""
    reverted: set[str] = set()
    decisions, inlined = dict(state.decisions), list(state.inlined)
    for move in moves:
        if sum(sizes.get(name, 0) - state.sizes.get(name, 0) for name in move.changed) < 0:
            for row in move.rows:
                decisions[row] = inlined[row] = not state.inlined[row]
        else:
            reverted |= move.changed | {name for name in move.unchanged if name not in sizes}
    new_sizes = {name: size for name, size in sizes.items() if name not in reverted}
    new_sizes |= {name: size for name, size in state.sizes.items() if name in reverted}
    return State(decisions, tuple(inlined), new_sizes, state.alone)
