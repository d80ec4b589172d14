"""`profiled_flow`: how often each block and edge of a module ran, where its IR has a profile (``!prof``).

Weights of one branch are relative to each other, but those of two branches need not have the same scale: passes that
join branches multiply them. So weights are used as probabilities, and the flow is solved for from them and the entry
counts of functions (Wu and Larus, MICRO 1994, without their heuristics: branches without weights are split evenly).
"""

import contextlib
import functools
import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mirenc.base.arrays import Bool, Float64
from mirenc.llvm.ir.metadata import annotated_lines, attached_number, metadata_nodes
from mirenc.llvm.ir.module import IRModule

PROFILED = '!"function_entry_count", '
"""Text in a module with a profile; weights alone may come from ``__builtin_expect``."""
_COUNTED_HEADER = re.compile(r"define .* !prof !(\d+) .*\{$")
_ENTRY_COUNTS = re.compile(r'^!(\d+) = !\{!"function_entry_count", i64 (\d+)', re.MULTILINE)  # -1: LLVM does not know
_WEIGHT = re.compile(r"\bi\d+ (-?\d+)")
_MIN_SHARE = 1e-9  # share of an edge that was never taken: with 0, flow might never leave a loop


class Flow(NamedTuple):
    """Execution counts of B blocks and C edges (as in ``arrays.successor``)."""

    blocks: Float64  # (B,) executions; 0 in a function without an entry count
    edges: Float64  # (C,)
    known: Bool  # (B,) whether weights say where a block continues, or it has one successor at most


@functools.lru_cache(maxsize=1)  # called for each loop of a module in turn
def profiled_flow(module: IRModule) -> Flow | None:
    """How often each block and edge was executed; None without a profile."""
    if PROFILED not in module.annotated:
        return None
    shares, known = profiled_shares(module)
    counts, lines = dict(_ENTRY_COUNTS.findall(module.annotated)), annotated_lines(module)
    lines_of = {function.index: lines[function.header.line] for function in module.defined_functions}
    matches = {number: _COUNTED_HEADER.match(line) for number, line in lines_of.items()}
    entry_counts = {number: int(counts.get(match[1], 0)) for number, match in matches.items() if match}
    return solve_flow(module, shares, known, entry_counts)


def attached_node(module: IRModule, block: int, kind: str) -> str:
    """Content of the node of one ``kind`` (``prof``) at the last instruction of a block; "" for none."""
    number = attached_number(module, int(module.arrays.block_start[block + 1]) - 1, kind)
    return metadata_nodes(module.annotated).get(number, "")


def branch_weights(module: IRModule, block: int) -> list[int]:
    """Weights (``!prof``) of the successors of a block, in order; [] for none.

    LLVM prints them signed, and reads them as unsigned 32 bits (``extractBranchWeights``); higher bits are lost.
    """
    node = attached_node(module, block, "prof")
    numbers = _WEIGHT.findall(node) if node.startswith('!{!"branch_weights"') else []
    count = module.arrays.successor_start[block + 1] - module.arrays.successor_start[block]
    return [int(number) % 2**32 for number in numbers] if len(numbers) == count else []


def profiled_shares(module: IRModule) -> tuple[Float64, Bool]:
    """Share of each edge in its block (C,), even without weights, and whether they are known for a block (B,)."""
    arrays = module.arrays
    fan_out = np.diff(arrays.successor_start)
    source = np.repeat(np.arange(module.block_count), fan_out)
    shares, known = 1.0 / fan_out[source], fan_out < 2
    # Exceptions are rare and not counted; LLVM, too, assumes the normal successor.
    invokes = np.array([form.opcode == "invoke" for form in module.forms])[arrays.form[arrays.block_start[1:] - 1]]
    unwind_edges = arrays.successor_start[1:][invokes] - 1
    shares[unwind_edges - 1], shares[unwind_edges], known[invokes] = 1 - _MIN_SHARE, _MIN_SHARE, True
    for block in np.flatnonzero(fan_out > 1).tolist() if module.annotated else ():
        weights = branch_weights(module, block)
        if sum(weights):
            block_shares = np.maximum(np.array(weights) / sum(weights), _MIN_SHARE)
            shares[slice(*arrays.successor_start[block : block + 2])] = block_shares / block_shares.sum()
            known[block] = True
    return shares, known


def solve_flow(module: IRModule, shares: Float64, known: Bool, counts: Mapping[int, float]) -> Flow:
    """The flow of functions with entry ``counts``, by number of the function, and ``shares`` of edges in their blocks.

    Shapes: ``shares`` (C,), above 0, with sum 1 for a block; ``known`` (B,) as in `Flow`.
    """
    from scipy.sparse import csc_matrix, identity
    from scipy.sparse.linalg import splu

    arrays = module.arrays
    source = np.repeat(np.arange(module.block_count), np.diff(arrays.successor_start))
    flow = Flow(np.zeros(module.block_count), np.zeros(len(source)), known)
    for number, count in counts.items():
        first, last = module.headers[number].first_block, module.headers[number].last_block
        edges = slice(*arrays.successor_start[[first, last]].tolist())
        inflow = np.zeros(last - first)
        inflow[0] = count
        # A block runs as often as the edges to it, taken together.
        places = arrays.successor[edges] - first, source[edges] - first
        moves = csc_matrix((shares[edges], places), shape=(last - first, last - first))
        with contextlib.suppress(RuntimeError):  # singular: a loop without an exit would run for ever, its flow stays 0
            flow.blocks[first:last] = splu((identity(last - first, format="csc") - moves).tocsc()).solve(inflow)
            flow.edges[edges] = flow.blocks[source[edges]] * shares[edges]
    return flow
