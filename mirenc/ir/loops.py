"""Natural loops of every function, as LLVM's LoopInfo finds them.

A back edge goes to a block that dominates its source. A loop is its header with every block that reaches one of the
header's back edges without passing the header; back edges to one header make one loop. Cycles with a second way in
(irreducible ones) have no back edge and are no loops, and unreachable blocks are ignored. Source of the rules: LLVM's
``GenericLoopInfo``; dominators as in Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm (2001).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirenc.ir.module import FunctionHeader, IRModule

__all__ = ["LoopForest", "find_loops"]

Int32 = NDArray[np.int32]
Graph = list[list[int]]


@dataclass(frozen=True, eq=False)
class LoopForest:
    """Loops of a module. N loops, B blocks.

    Functions stand in module order. Within a function a loop stands before the loops inside it, and loops side by
    side stand in the order of their headers.

    Attributes
    ----------
    function : (N,) int32
        Function of the module.
    header : (N,) int32
        Block of the module.
    parent : (N,) int32
        Loop that encloses it most closely; -1 for an outermost one.
    depth : (N,) int32
        1 for an outermost loop.
    innermost : (B,) int32
        Deepest loop that each block is in; -1 for none.
    """

    function: Int32
    header: Int32
    parent: Int32
    depth: Int32
    innermost: Int32

    def __len__(self) -> int:
        return len(self.header)

    def members(self) -> tuple[Int32, Int32]:
        """Every (block, loop) with the block inside the loop, sorted by loop, then block. Two (M,) int32."""
        block = np.flatnonzero(self.innermost >= 0)
        loop = self.innermost[block]
        blocks, loops = [block], [loop]
        while len(block):
            outer = self.parent[loop]
            block, loop = block[outer >= 0], outer[outer >= 0]
            blocks.append(block)
            loops.append(loop)
        block, loop = np.concatenate(blocks), np.concatenate(loops)
        order = np.lexsort((block, loop))
        return block[order].astype(np.int32), loop[order].astype(np.int32)

    def contains(self, loop: int, block: int) -> bool:
        """Whether the block is in the loop or in one inside it."""
        inner = int(self.innermost[block])
        while inner > loop:  # a loop stands before those inside it
            inner = int(self.parent[inner])
        return inner == loop


def find_loops(module: IRModule) -> LoopForest:
    """Find the natural loops of every function."""
    functions: list[int] = []
    headers: list[int] = []
    parents: list[int] = []
    depths: list[int] = []
    innermost = np.full(module.block_count, -1, dtype=np.int32)
    # Functions with an edge to the same or an earlier block: without one there is no cycle.
    arrays = module.arrays
    source = np.repeat(np.arange(module.block_count), np.diff(arrays.successor_start))
    function_of_block = arrays.function[arrays.block_start[:-1]]
    for number in np.unique(function_of_block[source[arrays.successor <= source]]).tolist():
        function = module.headers[number]
        own_headers, own_parents, own_innermost = _function_loops(_successors(module, function))
        base = len(headers)
        for header, parent in zip(own_headers, own_parents, strict=True):
            functions.append(number)
            headers.append(function.first_block + header)
            parents.append(parent if parent < 0 else base + parent)
            depths.append(1 if parent < 0 else depths[base + parent] + 1)
        loops = np.array(own_innermost, dtype=np.int32)
        innermost[function.first_block : function.last_block] = np.where(loops < 0, loops, loops + base)
    columns = np.array([functions, headers, parents, depths], dtype=np.int32)
    return LoopForest(columns[0], columns[1], columns[2], columns[3], innermost)


def _successors(module: IRModule, function: FunctionHeader) -> Graph:
    """Successors of each block of a function, blocks counted from its entry."""
    first, last = function.first_block, function.last_block
    starts = module.arrays.successor_start[first : last + 1].tolist()
    flat = (module.arrays.successor[starts[0] : starts[-1]] - first).tolist()
    base = starts[0]
    return [flat[starts[block] - base : starts[block + 1] - base] for block in range(last - first)]


def _function_loops(successors: Graph) -> tuple[list[int], list[int], list[int]]:
    """Loops of one function: header blocks, parents (-1 none), the innermost loop of each block. Block 0 is the entry.

    Blocks are worked on by their places in reverse postorder: a dominator comes first.
    """
    order = _reverse_postorder(successors)
    number = [-1] * len(successors)
    for place, block in enumerate(order):
        number[block] = place
    predecessors: Graph = [[] for _ in order]
    for place, block in enumerate(order):
        for target in successors[block]:
            predecessors[number[target]].append(place)
    above = _immediate_dominators(predecessors)

    def dominates(upper: int, lower: int) -> bool:
        while lower > upper:
            lower = above[lower]
        return lower == upper

    latches = {
        head: sources
        for head in range(len(order))
        if (sources := [place for place in predecessors[head] if place >= head and dominates(head, place)])
    }
    parent, innermost = _nest(latches, predecessors)
    return _in_order(order, list(latches), parent, innermost, len(successors))


def _reverse_postorder(successors: Graph) -> list[int]:
    """Reachable blocks, each before those that can be reached from it alone."""
    order: list[int] = []
    seen = [False] * len(successors)
    seen[0] = True
    stack = [(0, iter(successors[0]))]
    while stack:
        block, targets = stack[-1]
        for target in targets:
            if not seen[target]:
                seen[target] = True
                stack.append((target, iter(successors[target])))
                break
        else:
            order.append(block)
            stack.pop()
    return order[::-1]


def _immediate_dominators(predecessors: Graph) -> list[int]:
    """Immediate dominator of each place in reverse postorder; the entry's is itself."""
    above = [0] + [-1] * (len(predecessors) - 1)
    changed = True
    while changed:
        changed = False
        for place in range(1, len(predecessors)):
            meeting = -1
            for source in predecessors[place]:
                if above[source] < 0:
                    continue
                while meeting >= 0 and source != meeting:  # up to where both ways meet
                    if source > meeting:
                        source = above[source]
                    else:
                        meeting = above[meeting]
                meeting = source
            if above[place] != meeting:
                above[place] = meeting
                changed = True
    return above


def _nest(latches: dict[int, list[int]], predecessors: Graph) -> tuple[dict[int, int], list[int]]:
    """Parent loop of each inner loop, and the innermost loop of each place (-1 none); loops are named by header."""
    parent: dict[int, int] = {}
    innermost = [-1] * len(predecessors)
    # An outer header dominates the inner one, so it has a lower number: inner loops are complete first.
    for head in sorted(latches, reverse=True):
        work = list(latches[head])
        while work:
            place = work.pop()
            inner = innermost[place]
            if inner < 0:
                innermost[place] = head
                if place != head:
                    work += predecessors[place]
                continue
            while inner in parent:
                inner = parent[inner]
            if inner != head:  # a loop not met before: it is inside this one, and is left by its header
                parent[inner] = head
                work += predecessors[inner]
    return parent, innermost


def _in_order(
    order: list[int], heads: list[int], parent: dict[int, int], innermost: list[int], blocks: int
) -> tuple[list[int], list[int], list[int]]:
    """Loops as `LoopForest` orders them, with blocks numbered as in the function."""
    inside: dict[int, list[int]] = {}
    for head in sorted(heads, key=lambda head: -order[head]):
        inside.setdefault(parent.get(head, -1), []).append(head)
    row: dict[int, int] = {-1: -1}
    stack = list(inside.get(-1, []))
    while stack:
        head = stack.pop()
        row[head] = len(row) - 1
        stack += inside.get(head, [])
    of_block = [-1] * blocks
    for place, head in enumerate(innermost):
        of_block[order[place]] = row[head]
    del row[-1]
    return [order[head] for head in row], [row.get(parent.get(head, -1), -1) for head in row], of_block
