"""`taken_branches`: how much of an innermost loop's conditional code an iteration runs, by weights of its branches.

Vectorized, such code runs in every iteration, under a mask; scalar, it is jumped over, and a branch may be foretold
wrongly. Which is cheaper is decided by the data.
"""

from collections.abc import Callable, Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple

import numpy as np

from mirenc.llvm.analysis.loops import find_loops
from mirenc.llvm.analysis.profile import branch_weights
from mirenc.llvm.analysis.regions import Region, find_loop
from mirenc.llvm.ir.module import IRModule

_ROUNDING = 1e-9


class Taken(NamedTuple):
    """What `taken_branches` says of a loop whose branches all have weights."""

    share: float  # of the instructions in conditional blocks, the part that a mean iteration runs
    rarer: float  # how often a mean iteration leaves a branch by another way than its most frequent one


def taken_branches(
    module: IRModule, loop: Region, weights: Callable[[IRModule, int], Sequence[int]] = branch_weights
) -> Taken | None:
    """Means over the iterations of a loop without loops inside it; None: no block is conditional, or weights lack.

    ``weights`` are those of the ways at the end of a block, [] for none. Ways out of the loop do not count: means are
    those of iterations that another one follows.
    """
    forest, row = find_loops(module), find_loop(module, loop)
    if row < 0 or (forest.parent == row).any():
        return None
    starts, header = module.arrays.successor_start, int(forest.header[row])
    blocks = np.flatnonzero(forest.innermost == row).tolist()
    successors = {block: module.arrays.successor[starts[block] : starts[block + 1]].tolist() for block in blocks}
    order = TopologicalSorter(dict.fromkeys(blocks, ()))
    for block, targets in successors.items():
        for target in {*targets} & successors.keys() - {header}:
            order.add(target, block)
    runs = dict.fromkeys(blocks, 0.0) | {header: 1.0}
    even_runs, rarer = dict(runs), 0.0  # split evenly, only what every path passes through runs once
    for block in order.static_order():
        weight_of = dict.fromkeys((target for target in successors[block] if target in successors), 0)
        block_weights = list(weights(module, block)) if len(weight_of) > 1 else [1] * len(successors[block])
        for target, weight in zip(successors[block], block_weights, strict=False):
            if target in weight_of:
                weight_of[target] += weight
        total = sum(weight_of.values())
        if weight_of and not total:
            if runs[block]:
                return None
            total = 1  # never reached, and so without weights
        for target, weight in weight_of.items():
            if target != header:
                runs[target] += runs[block] * weight / total
                even_runs[target] += even_runs[block] / len(weight_of)
        rarer += runs[block] * (1 - max(weight_of.values()) / total) if weight_of else 0.0
    size = np.diff(module.arrays.block_start)
    conditional = [block for block in blocks if even_runs[block] < 1 - _ROUNDING]
    size_sum = sum(int(size[block]) for block in conditional)
    return Taken(sum(runs[block] * int(size[block]) for block in conditional) / size_sum, rarer) if size_sum else None
