"""`constant_trip_count`: how often a loop runs each time it is entered, where the IR says so with constants.

It knows the loop that counts: one exit, decided by comparing a counter that starts and steps by constants with a
constant. LLVM's scalar evolution knows more (`print<scalar-evolution>`), and agrees where this has an answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mirenc.ir.loops import LoopForest, find_loops
from mirenc.ir.module import IRModule
from mirenc.ir.regions import Region, block_name

__all__ = ["constant_trip_count"]

_LARGEST = 2**32 - 1  # as LLVM's getSmallConstantTripCount
_NAME = r'%(?:"[^"]*"|[-\w$.]+)'
_BRANCH = re.compile(rf"  br i1 ({_NAME}), label ({_NAME}), label ({_NAME})")
_COMPARE = re.compile(rf"  ({_NAME}) = icmp (?:samesign )?(\w+) i(\d+) ({_NAME}), (-?\d+)$")
# With no bit in common, which LLVM says since 18, an or is an add.
_STEP = re.compile(rf"  ({_NAME}) = (?:add (?:nuw )?(?:nsw )?|or disjoint )i\d+ ({_NAME}), (-?\d+)$")
_PHI = re.compile(rf"  ({_NAME}) = phi i\d+ (.*)$")
_INCOMING = re.compile(rf"\[ ({_NAME}|-?\d+), ({_NAME}) \]")
_OPPOSITE = {
    "eq": "ne",
    "ne": "eq",
    "slt": "sge",
    "sge": "slt",
    "sgt": "sle",
    "sle": "sgt",
    "ult": "uge",
    "uge": "ult",
    "ugt": "ule",
    "ule": "ugt",
}


def constant_trip_count(module: IRModule, loop: Region) -> int:
    """Iterations of a loop (executions of its header) each time it is entered; 0 where they are not known."""
    forest = find_loops(module)
    for row, header in enumerate(forest.header.tolist()):
        function = module.headers[int(forest.function[row])]
        if function.name == loop.symbol and block_name(module, header) == loop.header:
            return _count(_Loop(module, forest, row))
    return 0


class _Loop:
    """The lines of one loop."""

    def __init__(self, module: IRModule, forest: LoopForest, row: int) -> None:
        arrays = module.arrays
        self.header = int(forest.header[row])
        self.blocks = [block for block in range(module.block_count) if forest.contains(row, block)]
        self.names = {block: block_name(module, block) for block in self.blocks}
        starts = arrays.successor_start
        self.successors = {block: arrays.successor[starts[block] : starts[block + 1]].tolist() for block in self.blocks}
        self.lines = {
            block: [
                module.lines[line]
                for line in arrays.line[arrays.block_start[block] : arrays.block_start[block + 1]].tolist()
            ]
            for block in self.blocks
        }


@dataclass(frozen=True)
class _Counter:
    """The loop goes on while ``first + (k - 1) * step PREDICATE limit`` in iteration k."""

    first: int
    step: int
    predicate: str
    limit: int
    bits: int

    def iterations(self) -> int:
        first, limit, step, predicate = self.first, self.limit, self.step, self.predicate
        if predicate in ("eq", "ne"):
            gap = (limit - first if step > 0 else first - limit) % 2**self.bits
            if predicate == "eq":
                return 1 if gap else 2
            return 0 if gap % abs(step) else gap // abs(step) + 1
        first, limit = (self._read(value, signed=predicate[0] == "s") for value in (first, limit))
        if predicate[1] == "g":  # counting down below is counting up above
            first, limit, step = -first, -limit, -step
        if predicate.endswith("e"):
            limit += 1
        if first >= limit:
            return 1
        return -((first - limit) // step) + 1 if step > 0 else 0

    def _read(self, value: int, *, signed: bool) -> int:
        value %= 2**self.bits
        return value - 2**self.bits if signed and value >= 2 ** (self.bits - 1) else value


def _count(loop: _Loop) -> int:
    leaving = [block for block in loop.blocks if not set(loop.successors[block]) <= loop.names.keys()]
    latches = [block for block in loop.blocks if loop.header in loop.successors[block]]
    # The exit must be decided once in each iteration.
    if len(leaving) != 1 or len(latches) != 1 or leaving[0] not in (loop.header, latches[0]):
        return 0
    counter = _counter(loop, leaving[0], loop.names[latches[0]])
    count = 0 if counter is None else counter.iterations()
    return count if count <= _LARGEST else 0


def _counter(loop: _Loop, leaving: int, latch: str) -> _Counter | None:
    branch = _BRANCH.match(loop.lines[leaving][-1])
    lines = [line for block in loop.blocks for line in loop.lines[block]]
    compares = {match[1]: match for line in lines if (match := _COMPARE.match(line))}
    if branch is None or branch[1] not in compares:
        return None
    _, predicate, bits, compared, limit = compares[branch[1]].groups()
    if branch[2] not in loop.names.values():  # the first target is the way out
        predicate = _OPPOSITE[predicate]
    steps = {match[1]: match for line in lines if (match := _STEP.match(line))}
    for line in loop.lines[loop.header]:
        phi = _PHI.match(line)
        incoming = {block: value for value, block in _INCOMING.findall(phi[2])} if phi else {}
        after = incoming.pop(latch, "")
        step = steps.get(after)
        if phi is None or step is None or step[2] != phi[1]:
            continue
        moved = _distance(compared, {phi[1]: 0, after: int(step[3])}, steps)
        if moved is None:
            continue
        starts = set(incoming.values())
        start = starts.pop() if len(starts) == 1 else "%"
        if start.startswith("%"):
            return None
        return _Counter(int(start) + moved, int(step[3]), predicate, int(limit), int(bits))
    return None


def _distance(compared: str, known: dict[str, int], steps: dict[str, re.Match[str]]) -> int | None:
    """How far what is compared is from the counter: the counter itself, the next one, or either with a constant added.

    ``i + 3 < n`` compares the third from it.
    """
    if compared in known:
        return known[compared]
    beside = steps.get(compared)
    return known[beside[2]] + int(beside[3]) if beside is not None and beside[2] in known else None
