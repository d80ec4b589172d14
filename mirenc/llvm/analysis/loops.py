"""Natural loops of every function, as LLVM's LoopInfo finds them.

All back edges to one header make one loop; irreducible cycles are no loops, and unreachable blocks are ignored. The
rules are those of LLVM's ``GenericLoopInfo``. Dominators are computed by Semi-NCA (Georgiadis, Linear-Time Algorithms
for Dominators and Related Problems, 2005), as in LLVM.
"""

import functools
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mirenc.base.arrays import Int32, Int64
from mirenc.llvm.ir.module import IRModule

Graph = list[list[int]]


@dataclass(frozen=True, eq=False)
class LoopForest:
    """Loops of a module: outer before inner ones, otherwise in the order of their headers. N loops, B blocks."""

    function: Int32  # (N,) of the module
    header: Int32  # (N,) block of the module
    parent: Int32  # (N,) loop that encloses it most closely; -1 for an outermost one
    depth: Int32  # (N,) 1 for an outermost loop
    innermost: Int32  # (B,) deepest loop that each block is in; -1 for none

    def __len__(self) -> int:
        return len(self.header)

    def members(self) -> tuple[Int32, Int32]:
        """Every (block, loop) with the block inside the loop, sorted by loop, then block. Two (M,) int32."""
        loop, block = self.innermost, np.arange(len(self.innermost))
        pairs = [np.zeros((2, 0), dtype=np.int64)]
        while len(block):
            block, loop = block[loop >= 0], loop[loop >= 0]
            pairs.append(np.stack([block, loop]))
            loop = self.parent[loop]
        block, loop = np.concatenate(pairs, axis=1)
        order = np.lexsort((block, loop))
        return block[order].astype(np.int32), loop[order].astype(np.int32)

    def contains(self, loop: int, block: int) -> bool:
        """Whether a block is in a loop, perhaps in one nested in it."""
        inner = int(self.innermost[block])
        while inner > loop:  # a loop stands before those inside it
            inner = int(self.parent[inner])
        return inner == loop


@functools.lru_cache(maxsize=1)  # called for each loop of a module in turn
def find_loops(module: IRModule) -> LoopForest:
    """Find the natural loops of every function."""
    functions: list[int] = []
    loops: list[tuple[int, int, int]] = []  # header, parent, depth
    arrays, innermost = module.arrays, np.full(module.block_count, -1, dtype=np.int32)
    # Functions with an edge to the same or an earlier block: without one there is no cycle.
    source = np.repeat(np.arange(module.block_count), np.diff(arrays.successor_start))
    function_of_block = arrays.function[arrays.block_start[:-1]]
    for number in np.unique(function_of_block[source[arrays.successor <= source]]).tolist():
        first, last = module.headers[number].first_block, module.headers[number].last_block
        starts = arrays.successor_start[first : last + 1]
        flat = (arrays.successor[starts[0] : starts[-1]] - first).tolist()
        successors = [flat[begin:end] for begin, end in pairwise((starts - starts[0]).tolist())]
        base = len(loops)
        forest, loop_of_block = _function_loops(successors)
        loops += [(first + header, base + parent if parent >= 0 else -1, depth) for header, parent, depth in forest]
        functions += [number] * len(forest)
        innermost[first:last] = [base + loop if loop >= 0 else -1 for loop in loop_of_block]
    header, parent, depth = np.array(loops, dtype=np.int32).reshape(-1, 3).T
    return LoopForest(np.array(functions, dtype=np.int32), header, parent, depth, innermost)


@functools.lru_cache(maxsize=1)
def _sources(module: IRModule) -> tuple[Int64, Int64]:
    """Sources of all edges, sorted by target, and where each target's begin."""
    source = np.repeat(np.arange(module.block_count), np.diff(module.arrays.successor_start))
    order = np.argsort(module.arrays.successor, kind="stable")
    return source[order], np.searchsorted(module.arrays.successor[order], np.arange(module.block_count + 1))


def ways_in(module: IRModule, forest: LoopForest, loop: int) -> tuple[list[int], list[int]]:
    """Blocks with an edge to the header of a loop: its latches, which are in the loop, and those outside of it."""
    (sources, starts), header = _sources(module), int(forest.header[loop])
    predecessors = np.unique(sources[starts[header] : starts[header + 1]]).tolist()
    latches = [block for block in predecessors if forest.contains(loop, block)]
    return latches, [block for block in predecessors if block not in latches]


def _function_loops(successors: Graph) -> tuple[list[tuple[int, int, int]], list[int]]:
    """Header, parent (-1 none) and depth of each loop of a function, and each block's innermost loop (-1 none)."""
    order, tree_parent = _depth_first(successors)
    number = {block: place for place, block in enumerate(order)}
    predecessors: Graph = [[] for _ in order]
    for place, block in enumerate(order):
        for target in successors[block]:
            predecessors[number[target]].append(place)
    innermost, parent = _nest(predecessors, *_dominated_ranges(predecessors, tree_parent))
    # The headers from the outermost loop to each: so sorted, a loop stands before those inside it.
    path: dict[int, tuple[int, ...]] = {-1: ()}
    for header in sorted(set(innermost) - {-1}):
        path[header] = (*path[parent.get(header, -1)], order[header])
    row = {header: loop for loop, header in enumerate(sorted(path, key=path.__getitem__), -1)}
    loops = [(order[header], row[parent.get(header, -1)], len(path[header])) for header in row if header >= 0]
    loop_of_block = [-1] * len(successors)
    for block, header in zip(order, innermost, strict=True):
        loop_of_block[block] = row[header]
    return loops, loop_of_block


def _depth_first(successors: Graph) -> tuple[list[int], list[int]]:
    """Reachable blocks in depth-first preorder, and for each the number in that order of its parent in the tree."""
    order: list[int] = []
    parent: list[int] = []
    visited, stack = [False] * len(successors), [(0, 0)]
    while stack:
        block, parent_place = stack.pop()
        if visited[block]:
            continue
        visited[block] = True
        stack += [(target, len(order)) for target in successors[block] if not visited[target]]
        order.append(block)
        parent.append(parent_place)
    return order, parent


def _dominated_ranges(predecessors: Graph, parent: list[int]) -> tuple[list[int], list[int]]:
    """First and last number, in preorder of the dominator tree, of the blocks that each block dominates."""
    count = len(parent)
    semi, label, ancestor = list(range(count)), list(range(count)), list(parent)
    for place in range(count - 1, 0, -1):
        for vertex in predecessors[place]:
            # Least semidominator on the path up to the processed part, with path compression.
            path = []
            while vertex > place and ancestor[vertex] > place:
                path.append(vertex)
                vertex = ancestor[vertex]
            for lower in reversed(path):
                upper = ancestor[lower]
                label[lower] = min(label[lower], label[upper], key=semi.__getitem__)
                ancestor[lower] = ancestor[upper]
            semi[place] = min(semi[place], semi[label[path[0] if path else vertex]])
    dominator = list(parent)
    size = [1] * count
    for place in range(1, count):
        while dominator[place] > semi[place]:
            dominator[place] = dominator[dominator[place]]
    for place in range(count - 1, 0, -1):
        size[dominator[place]] += size[place]
    first, next_number = [0] * count, [1] * count
    for place in range(1, count):
        first[place] = next_number[dominator[place]]
        next_number[dominator[place]] += size[place]
        next_number[place] = first[place] + 1
    return first, [start + count - 1 for start, count in zip(first, size, strict=True)]


def _nest(predecessors: Graph, first: list[int], last: list[int]) -> tuple[list[int], dict[int, int]]:
    """Innermost loop of each block (-1 none), and the loop around each inner loop; a loop is known by its header."""
    innermost = [-1] * len(predecessors)
    parent: dict[int, int] = {}

    def outermost(place: int) -> int:
        """Header of the outermost loop found so far that contains a block; the block itself if none does."""
        header = innermost[place]
        while header in parent:
            header = parent[header]
        return place if header < 0 else header

    # Headers in reverse preorder: a header is visited after all that it dominates, so inner loops are complete.
    for header in range(len(predecessors) - 1, -1, -1):
        dominated = range(first[header], last[header] + 1)
        worklist = [outermost(place) for place in predecessors[header] if first[place] in dominated]
        if worklist:
            body = {header, *worklist}
            for place in worklist:  # grows while it is read
                new_members = {outermost(source) for source in predecessors[place] if place != header} - body
                body |= new_members
                worklist += new_members
            for place in body:
                if innermost[place] < 0:
                    innermost[place] = header
                elif place != header:
                    parent[place] = header
    return innermost, parent
