"""Trip counts of loops, by constants or by a profile in the IR.

LLVM's scalar evolution (`print<scalar-evolution>`) knows more by constants, and agrees where there is an answer here.
By a profile these are the estimates of LLVM's passes (``getLoopEstimatedTripCount``, which nothing prints).
"""

import re
from typing import NamedTuple

from mirenc.llvm.analysis.loops import LoopForest, find_loops, ways_in
from mirenc.llvm.analysis.profile import attached_node, branch_weights, profiled_flow
from mirenc.llvm.analysis.regions import Region, block_name, find_loop
from mirenc.llvm.ir.lines import NAME
from mirenc.llvm.ir.metadata import metadata_nodes
from mirenc.llvm.ir.module import IRModule

_LARGEST = 2**32 - 1  # as LLVM's getSmallConstantTripCount and getLoopEstimatedTripCount
_ESTIMATE = "llvm.loop.estimated_trip_count"
_BRANCH = re.compile(rf"  br i1 (%{NAME}), label (%{NAME}), label (%{NAME})")
_COMPARE = re.compile(rf"  (%{NAME}) = icmp (?:samesign )?(\w+) i(\d+) (%{NAME}), (-?\d+)$")
# An or of numbers without a common bit is an add: `disjoint` since LLVM 18, before see `_or_adds`.
_OR = re.compile(rf"  (%{NAME}) = or i\d+ (%{NAME}), (\d+)$")
_STEP = re.compile(rf"  (%{NAME}) = (?:add (?:nuw )?(?:nsw )?|or disjoint )i\d+ (%{NAME}), (-?\d+)$")
_PHI = re.compile(rf"  (%{NAME}) = phi i\d+ (.*)$")
_INCOMING = re.compile(rf"\[ (%{NAME}|-?\d+), (%{NAME}) \]")
_PAIRS = (("eq", "ne"), ("slt", "sge"), ("sgt", "sle"), ("ult", "uge"), ("ugt", "ule"))
_OPPOSITE = dict(_PAIRS) | {second: first for first, second in _PAIRS}


class TripCount(NamedTuple):
    """Executions of the header of a loop each time it is entered, and where the number is from; 0 and "": unknown."""

    iterations: int
    source: str = ""  # ``constants``, ``llvm.loop.estimated_trip_count``, ``branch weights``, or those of a hint


def known_trip_count(module: IRModule, loop: Region) -> TripCount:
    """The trip count by constants, else by the profile in the IR (`estimated_trip_counts`)."""
    forest, row = find_loops(module), find_loop(module, loop)
    if row < 0:
        return TripCount(0)
    count = _constant_count(module, forest, row)
    return TripCount(count, "constants") if count else _estimated_count(module, forest, row)


def constant_trip_counts(module: IRModule) -> list[int]:
    """Executions of the header each time a loop is entered, by constants at its only exit; 0 if unknown.

    Of all loops of a module, in the order of `find_loops`.
    """
    forest = find_loops(module)
    return [_constant_count(module, forest, row) for row in range(len(forest))]


def estimated_trip_counts(module: IRModule) -> list[TripCount]:
    """LLVM 22's ``getLoopEstimatedTripCount`` of all loops of a module, in the order of `find_loops`.

    By the branch of the only latch, one successor of which must be outside of the loop: the number in ``!llvm.loop``,
    else, by branch weights, (back / out, rounded to the nearest) + 1. Other exits do not count.
    """
    forest = find_loops(module)
    return [_estimated_count(module, forest, row) for row in range(len(forest))]


def profiled_iterations(module: IRModule, loop: Region) -> float:
    """Iterations of a loop during the whole profiled run (``!prof``); 0 if unknown."""
    flow, forest = profiled_flow(module), find_loops(module)
    row = -1 if flow is None else find_loop(module, loop)
    if flow is None or row < 0:
        return 0.0
    header, starts = int(forest.header[row]), module.arrays.successor_start
    _, exiting, latches = _loop_blocks(module, forest, row)
    edges = [edge for latch in latches for edge in range(starts[latch], starts[latch + 1])]
    back_flow = sum(float(flow.edges[edge]) for edge in edges if module.arrays.successor[edge] == header)
    entry_flow = float(flow.blocks[header]) - back_flow
    if not flow.known[exiting].all() or entry_flow <= 0:
        return 0.0
    # If the exit is in the header, it runs once more than the body.
    return back_flow if set(exiting).isdisjoint(latches) else back_flow + entry_flow


def _estimated_count(module: IRModule, forest: LoopForest, row: int) -> TripCount:
    arrays, header = module.arrays, int(forest.header[row])
    (latch, *extra_latches), _ = ways_in(module, forest, row)
    if extra_latches:
        return TripCount(0)
    targets = arrays.successor[slice(*arrays.successor_start[latch : latch + 2])].tolist()
    is_branch = module.forms[arrays.form[arrays.block_start[latch + 1] - 1]].opcode == "br"
    if not is_branch or len(targets) != 2 or all(forest.contains(row, target) for target in targets):
        return TripCount(0)
    if (count := _loop_attribute(module, latch, _ESTIMATE)) is not None:
        return TripCount(count % 2**32, _ESTIMATE) if count else TripCount(0)  # 0: LLVM does not know either
    exit_weight, back_weight = branch_weights(module, latch)[:: 1 if targets[1] == header else -1] or (0, 0)
    if not exit_weight:
        return TripCount(0)
    source = "branch weights of a hint" if '!"expected"' in attached_node(module, latch, "prof") else "branch weights"
    return TripCount(min((back_weight + exit_weight // 2) // exit_weight + 1, _LARGEST), source)


def _loop_attribute(module: IRModule, latch: int, name: str) -> int | None:
    """Number of the first property of that name in the ``!llvm.loop`` node of a latch; None without one."""
    nodes = metadata_nodes(module.annotated)
    numbers = re.findall(r"!(\d+)", attached_node(module, latch, "llvm.loop"))[1:]  # the first is the loop's own
    matches = (re.fullmatch(rf'!{{!"{re.escape(name)}", i\d+ (-?\d+)}}', nodes.get(number, "")) for number in numbers)
    return next((int(match[1]) for match in matches if match), None)


def _loop_blocks(module: IRModule, forest: LoopForest, row: int) -> tuple[dict[int, str], list[int], list[int]]:
    """Blocks of a loop with their names, exiting blocks, and latches."""
    arrays, function = module.arrays, module.headers[int(forest.function[row])]
    blocks = range(function.first_block, function.last_block)
    names = {block: block_name(module, block) for block in blocks if forest.contains(row, block)}
    edges = arrays.successor_start
    successors = {block: arrays.successor[edges[block] : edges[block + 1]].tolist() for block in names}
    exiting = [block for block in names if not set(successors[block]) <= names.keys()]
    return names, exiting, ways_in(module, forest, row)[0]


def _constant_count(module: IRModule, forest: LoopForest, row: int) -> int:
    arrays, header = module.arrays, int(forest.header[row])
    names, exiting, latches = _loop_blocks(module, forest, row)
    # The exit must be decided once in each iteration.
    if len(exiting) != 1 or len(latches) != 1 or exiting[0] not in (header, latches[0]):
        return 0
    numbers = {block: arrays.line[slice(*arrays.block_start[block : block + 2])] for block in names}
    lines = {block: [module.lines[line] for line in rows] for block, rows in numbers.items()}
    all_lines = [line for block in names for line in lines[block]]
    branch = _BRANCH.match(lines[exiting[0]][-1])
    compares = {match[1]: match for line in all_lines if (match := _COMPARE.match(line))}
    if branch is None or branch[1] not in compares:
        return 0
    _, predicate, bits, operand, limit = compares[branch[1]].groups()
    if branch[2] not in names.values():  # the first successor is outside
        predicate = _OPPOSITE[predicate]
    counter = _counter(lines[header], all_lines, operand, names[latches[0]])
    count = 0 if counter is None else _iterations(*counter, predicate, int(limit), int(bits))
    return count if count <= _LARGEST else 0


def _counter(header: list[str], lines: list[str], operand: str, latch: str) -> tuple[int, int] | None:
    """Compared value in the first iteration and its step, if it is a counter plus a constant; None otherwise."""
    steps, ors = ({match[1]: match for line in lines if (match := form.match(line))} for form in (_STEP, _OR))
    for line in header:
        phi = _PHI.match(line)
        incoming = {block: value for value, block in _INCOMING.findall(phi[2])} if phi else {}
        next_value = incoming.pop(latch, "")
        step = steps.get(next_value)
        if phi is None or step is None or step[2] != phi[1]:
            continue
        # The counter, its next value, or either plus a constant, as in ``i + 3 < n``.
        distance = {phi[1]: 0, next_value: int(step[3])}
        starts = set(incoming.values())
        start = starts.pop() if len(starts) == 1 else "%"
        addend = steps.get(operand) or (ors.get(operand) if _or_adds(start, step[3], ors.get(operand)) else None)
        if operand not in distance and addend is not None and addend[2] in distance:
            distance[operand] = distance[addend[2]] + int(addend[3])
        if operand not in distance:
            continue
        return None if start.startswith("%") else (int(start) + distance[operand], int(step[3]))
    return None


def _or_adds(start: str, step: str, match: re.Match[str] | None) -> bool:
    """Whether an or with a counter is an add: its bits are below the lowest of the step, and not in the start."""
    if match is None or start.startswith("%"):
        return False
    bits, lowest = int(match[3]), int(step) & -int(step)
    return bits < lowest and not int(start) & bits


def _iterations(first: int, step: int, predicate: str, limit: int, bits: int) -> int:
    """Iterations of a loop that continues while ``first + (k - 1) * step PREDICATE limit`` in iteration k."""
    if predicate in ("eq", "ne"):
        gap = (limit - first if step > 0 else first - limit) % 2**bits
        if predicate == "eq":
            return 1 if gap else 2
        return 0 if gap % abs(step) else gap // abs(step) + 1
    first, limit = (_integer(value, bits, signed=predicate[0] == "s") for value in (first, limit))
    if predicate[1] == "g":  # counting down below is counting up above
        first, limit, step = -first, -limit, -step
    if predicate.endswith("e"):
        limit += 1
    if first >= limit:
        return 1
    return -((first - limit) // step) + 1 if step > 0 else 0


def _integer(value: int, bits: int, *, signed: bool) -> int:
    value %= 2**bits
    return value - 2**bits if signed and value >= 2 ** (bits - 1) else value
