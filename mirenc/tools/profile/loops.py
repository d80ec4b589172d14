"""`describe_loops`: features of a module's loops, from which the number of iterations is predicted."""

from typing import NamedTuple

import numpy as np

from mirenc.base.arrays import Bool, Float64, Int64
from mirenc.llvm.analysis.loops import find_loops
from mirenc.llvm.analysis.profile import profiled_flow
from mirenc.llvm.analysis.trip_counts import constant_trip_counts
from mirenc.llvm.ir.module import IRModule
from mirenc.tools.profile.branches import FEATURES, WAY, Branches

_COUNTED = ("call", "load", "store", "phi")
OWN = ("depth", "exits", "inner", "loops", "trip_count", "pointers", *_COUNTED, *(f"header_{op}" for op in _COUNTED))
LOOP_FEATURES = (*OWN, *FEATURES)
"""Names of the columns: of the loop, and of the branch that leaves it, whose first way is the one out."""


class Loops(NamedTuple):
    """The N loops of a module, in the order of `mirenc.llvm.analysis.loops.find_loops`."""

    constant: Int64  # (N,) executions of the header each time, where constants say it; else 0
    exit: Int64  # (N,) row of the branch that leaves it: at its end, at its head, or anywhere else; -1 for none
    out: Bool  # (N,) whether that branch's first way is the one out
    features: Float64  # (N, len(LOOP_FEATURES))


def describe_loops(module: IRModule, branches: Branches) -> Loops:
    """Features of all loops, from the IR alone."""
    arrays, forest = module.arrays, find_loops(module)
    size = len(forest)
    exit_, rank, exits = np.full(size, -1), np.full(size, 3), np.zeros(size)
    out = np.zeros(size, dtype=bool)
    for number, (block, edge) in enumerate(zip(branches.block.tolist(), branches.edge.tolist(), strict=True)):
        successors, loop = arrays.successor[edge : edge + 2].tolist(), int(forest.innermost[block])
        while loop >= 0 and any(leaves := [not forest.contains(loop, successor) for successor in successors]):
            exits[loop] += 1
            header = int(forest.header[loop])
            if (exit_rank := 0 if header in successors else 1 if block == header else 2) < rank[loop]:
                exit_[loop], rank[loop], out[loop] = number, exit_rank, leaves[0]
            loop = int(forest.parent[loop])
    constant = np.array(constant_trip_counts(module), dtype=np.int64)
    opcodes = np.array([form.opcode for form in module.forms])[arrays.form]
    pointer = np.array([" phi ptr " in form.statement for form in module.forms])[arrays.form]
    member, owner = forest.members()
    blocks = [np.bincount(arrays.block, opcodes == opcode, module.block_count) for opcode in _COUNTED]
    loop_counts = [np.bincount(owner, counts[member], size) for counts in blocks]
    columns = [
        *(forest.depth, exits, np.bincount(forest.parent[forest.parent >= 0], minlength=size)),
        *(np.bincount(forest.function, minlength=1)[forest.function], np.log1p(constant)),
        np.bincount(arrays.block, pointer, module.block_count)[forest.header],
        *np.log1p(loop_counts),
        *(counts[forest.header] for counts in blocks),
    ]
    width = len(WAY)
    exit_features = np.zeros((size, len(FEATURES)))
    exit_features[exit_ >= 0] = branches.features[exit_[exit_ >= 0]]
    exit_features[~out, : 2 * width] = np.roll(exit_features[~out, : 2 * width], width, axis=1)
    features = np.concatenate([np.stack(columns, axis=1), exit_features], axis=1)
    return Loops(constant, exit_, out, features)


def of_loops(module: IRModule, block: Int64) -> Bool:
    """Whether the branch at the end of each block decides how often a loop runs: goes to its header, or out of it."""
    forest, arrays = find_loops(module), module.arrays
    decides = np.zeros(len(block), dtype=np.bool_)
    for row, number in enumerate(block.tolist()):
        loop, start = int(forest.innermost[number]), arrays.successor_start[number]
        ways = arrays.successor[start : start + 2].tolist()
        decides[row] = loop >= 0 and any(way == forest.header[loop] or not forest.contains(loop, way) for way in ways)
    return decides


def mean_executions(module: IRModule) -> Float64:
    """Executions of each loop's header (N,) each time it is entered, by the module's ``!prof``; 0: it does not say."""
    flow, forest, arrays = profiled_flow(module), find_loops(module), module.arrays
    means = np.zeros(len(forest))
    source = np.repeat(np.arange(module.block_count), np.diff(arrays.successor_start))
    for loop, header in enumerate(forest.header.tolist() if flow is not None else ()):
        edges = np.flatnonzero(arrays.successor == header)
        entry_edges = [edge for edge in edges.tolist() if not forest.contains(loop, int(source[edge]))]
        entries = 0.0 if flow is None else float(flow.edges[entry_edges].sum())
        if flow is not None and entries > 0:
            means[loop] = flow.blocks[header] / entries
    return means
