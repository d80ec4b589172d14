"""`profiled_flow`: how often each block and edge of a module ran, where its IR has a profile (``!prof``).

The weights of one branch are true to each other, those of two need not be on one scale: passes that join branches
multiply them. So weights are taken for probabilities, and the flow that they and the functions' entry counts give is
solved for (Wu and Larus, MICRO 1994, here without their heuristics: what no weight tells is split evenly).
"""

import functools
import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mirenc.base.arrays import Bool, Float64, Int64
from mirenc.llvm.ir.module import IRModule

PROFILED = '!"function_entry_count", '
"""What a module with a profile has; weights alone may be a programmer's ``__builtin_expect``."""
_COUNTED = re.compile(r"define .* !prof !(\d+) .*\{$")
_ENTRY_COUNTS = re.compile(r'^!(\d+) = !\{!"function_entry_count", i64 (\d+)', re.MULTILINE)  # -1: LLVM does not know
_NODE = re.compile(r"^!(\d+) = (?:distinct )?!\{(.*)\}$", re.MULTILINE)
_WEIGHT = re.compile(r"\bi\d+ (-?\d+)")
_LEAST = 1e-9  # share of a way that the profile never took: else nothing would leave a loop that ran to the end


class Flow(NamedTuple):
    """What a profile tells of B blocks and C edges, those of ``arrays.successor``."""

    blocks: Float64  # (B,) executions; 0 in a function without an entry count
    edges: Float64  # (C,)
    told: Bool  # (B,) whether weights say where a block goes on, or there is one way only


@functools.lru_cache(maxsize=1)  # asked for each loop of a module in turn
def profiled_flow(module: IRModule) -> Flow | None:
    """How often each block and edge ran; None without a profile."""
    if PROFILED not in module.annotated:
        return None
    shares, told = profiled_shares(module)
    counts, lines = dict(_ENTRY_COUNTS.findall(module.annotated)), annotated_lines(module)
    lines_of = {function.index: lines[function.header.line] for function in module.defined_functions}
    counted = {number: _COUNTED.match(line) for number, line in lines_of.items()}
    entered = {number: int(counts.get(found[1], 0)) for number, found in counted.items() if found}
    return solve_flow(module, shares, told, entered)


@functools.lru_cache(maxsize=1)
def annotated_lines(module: IRModule) -> list[str]:
    """Lines of ``annotated``, with the numbers that they have in ``lines``."""
    return module.annotated.split("\n")


@functools.lru_cache(maxsize=1)
def metadata_nodes(module: IRModule) -> dict[str, str]:
    """What stands in each of the module's metadata nodes, by its number; nodes with field names are left out."""
    return dict(_NODE.findall(module.annotated))


def attached_node(module: IRModule, block: int, kind: str) -> str:
    """What stands in the node of one ``kind`` (``prof``) that the last instruction of a block has; "" for none."""
    if not module.annotated:
        return ""
    line = annotated_lines(module)[module.arrays.line[module.arrays.block_start[block + 1] - 1]]
    number = re.search(rf", !{re.escape(kind)} !(\d+)\b", line)
    return metadata_nodes(module).get(number[1], "") if number else ""


def branch_weights(module: IRModule, block: int) -> list[int]:
    """Weights (``!prof``) of the ways out of a block, a number each; [] where it has none.

    LLVM prints them signed and reads them as unsigned numbers of 32 bits (``extractBranchWeights``): what a longer
    number has above those is lost.
    """
    node = attached_node(module, block, "prof")
    numbers = _WEIGHT.findall(node) if node.startswith('!"branch_weights"') else []
    ways = module.arrays.successor_start[block + 1] - module.arrays.successor_start[block]
    return [int(number) % 2**32 for number in numbers] if len(numbers) == ways else []


def profiled_shares(module: IRModule) -> tuple[Float64, Bool]:
    """What share of its block each edge has by the weights (C,), and whether they tell a block's (B,); else evenly."""
    arrays = module.arrays
    ways = np.diff(arrays.successor_start)
    source = np.repeat(np.arange(module.block_count), ways)
    shares, told = 1.0 / ways[source], ways < 2
    # An exception is rare, and nobody counts it: LLVM takes the other way, too.
    invokes = np.array([form.opcode == "invoke" for form in module.forms])[arrays.form[arrays.block_start[1:] - 1]]
    unwound = arrays.successor_start[1:][invokes] - 1
    shares[unwound - 1], shares[unwound], told[invokes] = 1 - _LEAST, _LEAST, True
    for block in np.flatnonzero(ways > 1).tolist() if module.annotated else ():
        weights = branch_weights(module, block)
        if sum(weights):
            own = np.maximum(np.array(weights) / sum(weights), _LEAST)
            shares[slice(*arrays.successor_start[block : block + 2])] = own / own.sum()
            told[block] = True
    return shares, told


def solve_flow(module: IRModule, shares: Float64, told: Bool, counts: Mapping[int, float]) -> Flow:
    """The flow of functions that are entered so often, by their number, where edges take such shares of their block.

    Shapes: ``shares`` (C,), more than 0 each and 1 a block; ``told`` (B,) as in `Flow`.
    """
    source = np.repeat(np.arange(module.block_count), np.diff(module.arrays.successor_start))
    flow = Flow(np.zeros(module.block_count), np.zeros(len(source)), told)
    for number, count in counts.items():
        header = module.headers[number]
        _solve(flow, shares, source, module, slice(header.first_block, header.last_block), count)
    return flow


def _solve(flow: Flow, shares: Float64, source: Int64, module: IRModule, inside: slice, count: float) -> None:
    """Fill in one function's blocks and edges: each block runs as often as what leads to it.

    Nothing is filled in where a loop has no way out, and would run for ever.
    """
    from scipy.sparse import csc_matrix, identity
    from scipy.sparse.linalg import splu

    edges = slice(*module.arrays.successor_start[[inside.start, inside.stop]].tolist())
    begin, end = source[edges] - inside.start, module.arrays.successor[edges] - inside.start
    size = inside.stop - inside.start
    entered = np.zeros(size)
    entered[0] = count
    back = csc_matrix((shares[edges], (end, begin)), shape=(size, size))
    try:
        flow.blocks[inside] = splu((identity(size, format="csc") - back).tocsc()).solve(entered)
    except RuntimeError:  # exactly singular
        return
    flow.edges[edges] = flow.blocks[source[edges]] * shares[edges]
