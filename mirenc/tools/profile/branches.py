"""`branches_of`: the conditional branches of a module, and what is written about each that tells where it mostly goes.

The numbers are those that static prediction is made of: loops, ways that end, what is compared with what, and what is
called (Ball and Larus, "Branch Prediction for Free", PLDI 1993; Wu and Larus, "Static Branch Frequency and Program
Profile Analysis", MICRO 1994; Calder et al., "Evidence-Based Static Branch Prediction", TOPLAS 1997).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mirenc.base.arrays import Bool, Float32, Float64, Floating, Int64, Integer
from mirenc.llvm.analysis.loops import LoopForest, find_loops
from mirenc.llvm.ir.module import IRModule, OperandKind

_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "ult", "ule", "ugt", "uge")
_OPCODES = ("call", "phi", "and", "icmp")
_FIRST = ("load", "call", "phi", "and", "sub", "sext", "icmp", "argument", "alloca")
_SECOND = ("load", "phi", "argument")
# What a callee does, as far as its name says.
_NAMES = {
    "error": r"err|fail|abort|exit|die|warn|panic|assert|throw|fatal|invalid|bad|usage|overflow|corrupt",
    "output": r"print|puts|fputc|fwrite|putc|log|message",
    "compare": r"cmp|equal|strchr|strstr|match|find|compare",
    "ask": r"^@(?:is|has|can|should)|is_|_is|has_",
    "input": r"read|getc|gets|next|peek|scan|input",
}
_SYMBOLS = tuple(re.compile(words, re.IGNORECASE) for words in _NAMES.values())
_ENDS = re.compile(r"__assert_fail|abort|^@exit$|__cxa_throw|longjmp|__stack_chk_fail|_Unwind_Resume|terminate")
_COMPARED = re.compile(r"icmp (?:samesign )?(\w+) (ptr|i(\d+))|fcmp ")
_COUNTS = ("calls", "stores", "loads", "strings", "instructions", *_NAMES)
_STEPS, _FAR = 6, 30

WAY = (
    *("to_latch", "leaves", "deeper", "dead", "way_returns", "far_from_return", "predecessors", "successors"),
    *("way_joins", "rare_callee", "gives_constant", "gives_negative", *_COUNTS),
)
_PLACE = (
    *("depth", "is_header", "loop_blocks", "loop_exits", "loop_calls", "blocks", "place", "predecessors", "arguments"),
    *("callers", "instructions", "expected"),
)
_CONDITION = (
    *("pointer", "width", "floating", "constant", "zero", "one", "negative", "large", "size", "two_values", "counter"),
    *_PREDICATES,
    *(
        f"{prefix}_{operand}"
        for prefix, opcodes in (("is", _OPCODES), ("first", _FIRST), ("second", _SECOND))
        for operand in opcodes
    ),
    *(f"of_{kind}" for kind in _NAMES),
)
FEATURES = (*(f"{side}_{name}" for side in ("first", "second") for name in WAY), *_PLACE, *_CONDITION)
"""Names of the columns: of each way, of where the branch stands, and of what it asks."""


class Branches(NamedTuple):
    """The n conditional branches of a module, in its order."""

    block: Int64  # (n,) of the module: the one that ends with it
    edge: Int64  # (n,) row of ``arrays.successor`` that is the first way; the second follows it
    features: Float32  # (n, len(FEATURES))


class _Blocks(NamedTuple):
    """What is known of each of B blocks."""

    counts: Float64  # (B, len(_COUNTS))
    rarity: Float64  # (B,) one over the calls in the module of the callee that has the fewest
    end: list[str]  # opcode of the last instruction
    fan_out: Integer  # (B,) successors
    fan_in: Integer  # (B,) predecessors
    depth: Integer  # (B,) of loops
    dead: Float64  # (B,) whether all ways end where nothing returns
    steps: Floating  # (B,) blocks to the nearest return
    next: Integer  # (B,) the only successor, if it stands further down; else itself


def branches_of(module: IRModule) -> Branches:
    """Find all branches of two different ways, and describe them by numbers that follow from the IR alone."""
    arrays, forest = module.arrays, find_loops(module)
    end = [module.forms[form].opcode for form in arrays.form[arrays.block_start[1:] - 1].tolist()]
    blocks = np.flatnonzero((np.diff(arrays.successor_start) == 2) & (np.array(end) == "br"))
    edges = arrays.successor_start[blocks].astype(np.int64)
    different = arrays.successor[edges] != arrays.successor[edges + 1]
    blocks, edges = blocks[different], edges[different]
    if not len(blocks):
        return Branches(blocks, edges, np.zeros((0, len(FEATURES)), np.float32))
    cfg = _describe(module, forest, end)
    first, second = (arrays.successor[edges + side].astype(np.int64) for side in (0, 1))
    columns = [_ways(module, forest, cfg, blocks, way, sibling) for way, sibling in ((first, second), (second, first))]
    columns += [_places(module, forest, cfg, blocks), _conditions(module, forest, blocks)]
    return Branches(blocks, edges, np.concatenate(columns, axis=1, dtype=np.float32, casting="same_kind"))


def _describe(module: IRModule, forest: LoopForest, end: list[str]) -> _Blocks:
    arrays, size = module.arrays, module.block_count
    fan_out = np.diff(arrays.successor_start).astype(np.int64)
    opcodes = np.array([form.opcode for form in module.forms])[arrays.form]
    direct = arrays.callee >= 0
    is_intrinsic = np.array([name.startswith("@llvm.") for name in module.symbols], dtype=bool)
    is_call = np.isin(opcodes, ("call", "invoke"))
    is_call[direct] &= ~is_intrinsic[arrays.callee[direct]]
    direct &= is_call
    callee, place = arrays.callee[direct], arrays.block[direct]
    hits = np.array([[bool(test.search(name)) for test in (*_SYMBOLS, _ENDS)] for name in module.symbols], dtype=bool)
    name_counts = np.zeros((len(opcodes), len(_NAMES) + 1))
    name_counts[direct] = hits.reshape(-1, len(_NAMES) + 1)[callee]
    is_string = np.array([name.startswith(("@.str", "@str")) for name in module.symbols], dtype=bool)
    operand_mask = arrays.operand_kind == OperandKind.GLOBAL
    operand_mask[operand_mask] = is_string[arrays.operand_ref[operand_mask]]
    strings = np.diff(np.append(0, np.cumsum(operand_mask))[arrays.operand_start]) * is_call
    columns = [is_call, opcodes == "store", opcodes == "load", strings, np.ones(len(opcodes)), *name_counts.T]
    *counts, end_counts = (np.bincount(arrays.block, weights, size) for weights in columns)
    rarity = np.zeros(size)
    np.maximum.at(rarity, place, 1 / np.bincount(callee, minlength=len(module.symbols))[callee])
    last = np.array(end)
    dead = (last == "unreachable") | (end_counts > 0)
    steps, forks = np.where(last == "ret", 0.0, _FAR), np.flatnonzero(fan_out)
    starts = arrays.successor_start[forks]
    for _ in range(_FAR if len(forks) else 0):
        dead[forks] |= np.logical_and.reduceat(dead[arrays.successor], starts)
        steps[forks] = np.minimum(steps[forks], 1.0 + np.minimum.reduceat(steps[arrays.successor], starts))
    rows, jump = np.arange(size), np.full(size, -1)
    jump[fan_out == 1] = arrays.successor[arrays.successor_start[:-1][fan_out == 1]]
    depth = np.where(forest.innermost >= 0, np.append(forest.depth, 0)[forest.innermost], 0)
    fan_in = np.bincount(arrays.successor, minlength=size)
    jump = np.where(jump > rows, jump, rows)
    return _Blocks(np.stack(counts, axis=1), rarity, end, fan_out, fan_in, depth, dead.astype(np.float64), steps, jump)


def _is_inside(forest: LoopForest, loop: Integer, block: Integer) -> Bool:
    """Whether each block is in each loop, or in one inside it; -1 is no loop. (n,), (n,) -> (n,)."""
    parent, inner = np.append(forest.parent, -1), forest.innermost[block]
    for _ in range(int(forest.depth.max(initial=0))):
        inner = np.where(inner > loop, parent[inner], inner)
    return (inner == loop) & (loop >= 0)


def _ways(module: IRModule, forest: LoopForest, cfg: _Blocks, block: Int64, way: Int64, sibling: Int64) -> Float64:
    """Features of one way of each branch and of the blocks that only follow it: (n, len(WAY))."""
    loop = forest.innermost[block]
    header = np.append(forest.header, -1)[loop]
    counts, end, latch, joins = cfg.counts[way].copy(), way, way == header, np.zeros(len(way), dtype=bool)
    leaves = (loop >= 0) & ~_is_inside(forest, loop, way)
    successor = np.append(module.arrays.successor, -1)
    for _ in range(_STEPS):
        single = cfg.fan_out[end] == 1
        follow = np.where(single, successor[module.arrays.successor_start[:-1][end]], -1)
        latch |= (follow == header) & (loop >= 0)
        joins |= follow == sibling
        following = cfg.next[end]
        moved = (following != end) & ~joins
        counts[moved & (cfg.fan_in[following] == 1)] += cfg.counts[following][moved & (cfg.fan_in[following] == 1)]
        end = np.where(moved, following, end)
    phis = {row: "".join(_phi_constants(module, row)) for row in np.unique(end).tolist()}
    columns = [
        *(latch, leaves, cfg.depth[way] - cfg.depth[block], cfg.dead[way]),
        *(np.array(cfg.end)[end] == "ret", cfg.steps[way], cfg.fan_in[way], cfg.fan_out[way], joins, cfg.rarity[way]),
        *([bool(phis[row]) for row in end.tolist()], ["-" in phis[row] for row in end.tolist()], *np.log1p(counts.T)),
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def _phi_constants(module: IRModule, block: int) -> Iterator[str]:
    """Constants in the phis of a block's only successor, or in its own phis if it has several."""
    arrays = module.arrays
    successors = arrays.successor[slice(*arrays.successor_start[block : block + 2])].tolist()
    target = successors[0] if len(successors) == 1 else block
    for row in range(arrays.block_start[target], arrays.block_start[target + 1]):
        if module.forms[arrays.form[row]].opcode != "phi":
            return
        span = slice(*arrays.operand_start[row : row + 2])
        constants = arrays.operand_ref[span][arrays.operand_kind[span] == OperandKind.CONSTANT]
        yield from (module.constants[ref][1] for ref in constants.tolist())


def _places(module: IRModule, forest: LoopForest, cfg: _Blocks, block: Int64) -> Float64:
    """Features of each branch's place: (n, len(_HERE))."""
    arrays, loops = module.arrays, len(forest)
    loop = forest.innermost[block]
    member, owner = forest.members()
    size = np.append(np.bincount(owner, minlength=loops), 0)
    calls = np.append(np.bincount(owner, cfg.counts[member, 0], loops), 0)
    inner, exits = forest.innermost[np.repeat(np.arange(module.block_count), cfg.fan_out)], np.zeros(loops + 1)
    while (inner >= 0).any():
        is_exit = (inner >= 0) & ~_is_inside(forest, inner, arrays.successor)
        exits += np.bincount(inner[is_exit], minlength=loops + 1)
        inner = np.append(forest.parent, -1)[inner]
    headers = [module.headers[number] for number in arrays.function[arrays.block_start[block]].tolist()]
    first = np.array([item.first_block for item in headers])
    sizes = np.array([item.last_block for item in headers]) - first
    call_counts = dict(zip(*np.unique(arrays.callee, return_counts=True), strict=True))
    row = {name: number for number, name in enumerate(module.symbols)}
    callers = [call_counts.get(row.get(f"@{item.name}", -2), 0) for item in headers]
    hints = np.array(["llvm.expect" in name for name in [*module.symbols, ""]])[arrays.callee]
    expected = np.bincount(arrays.block, hints, module.block_count)[block]
    header = (np.append(forest.header, -1)[loop] == block) & (loop >= 0)
    instructions = cfg.counts[block, _COUNTS.index("instructions")]
    columns = [
        *(cfg.depth[block], header, np.log1p(size[loop]), exits[loop], np.log1p(calls[loop]), np.log1p(sizes)),
        *((block - first) / sizes, cfg.fan_in[block], [len(item.arguments) for item in headers], np.log1p(callers)),
        *(np.log1p(instructions), expected),
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def _conditions(module: IRModule, forest: LoopForest, block: Int64) -> Float64:
    """Features of each branch's condition: (n, len(_ASKED))."""
    features = np.zeros((len(block), len(_CONDITION)))
    column_of = {name: number for number, name in enumerate(_CONDITION)}
    for number, row in enumerate(block.tolist()):
        for name, value in _question(module, forest, row).items():
            if name in column_of:
                features[number, column_of[name]] = value
    return features


def _question(module: IRModule, forest: LoopForest, block: int) -> dict[str, float]:
    """Features of a branch's condition: what is compared with what, and where the first value comes from."""
    arrays = module.arrays

    def operands(row: int) -> list[tuple[int, int]]:
        span = slice(*arrays.operand_start[row : row + 2])
        return list(zip(arrays.operand_kind[span].tolist(), arrays.operand_ref[span].tolist(), strict=True))

    def producer(kind: int, ref: int) -> str:
        opcode = module.forms[arrays.form[ref]].opcode if kind == OperandKind.INSTRUCTION else ""
        return "call" if opcode == "invoke" else "argument" if kind == OperandKind.ARGUMENT else opcode

    terminator = operands(int(arrays.block_start[block + 1]) - 1)
    condition = next((ref for kind, ref in terminator if kind == OperandKind.INSTRUCTION), None)
    if condition is None:
        return {}
    answers = {f"is_{producer(OperandKind.INSTRUCTION, condition)}": 1.0}
    comparison = _COMPARED.search(module.forms[arrays.form[condition]].statement)
    if comparison is not None:
        predicate, type_name, width = comparison.groups()
        answers |= {predicate or "floating": 1.0, "pointer": float(type_name == "ptr"), "width": float(width or 0)}
    values = operands(condition)
    producers = [producer(kind, ref) for kind, ref in values]
    answers |= {f"{side}_{name}": 1.0 for side, name in zip(("first", "second"), producers, strict=False)}
    answers["two_values"] = float(len(producers) == 2 and all(producers))
    for kind, ref in values:
        if kind == OperandKind.CONSTANT and comparison is not None:
            answers |= _constant(module.constants[ref][1])
    if not values or values[0][0] != OperandKind.INSTRUCTION:
        return answers
    row = values[0][1]
    for _ in range(3):  # behind what only widens or masks it
        sources = [ref for kind, ref in operands(row) if kind == OperandKind.INSTRUCTION]
        if not sources or module.forms[arrays.form[row]].opcode not in ("zext", "sext", "trunc", "and"):
            break
        row = sources[0]
    source, loop = producer(OperandKind.INSTRUCTION, row), int(forest.innermost[block])
    if source == "call":
        name = module.symbols[arrays.callee[row]] if arrays.callee[row] >= 0 else ""
        answers |= {f"of_{word}": float(bool(test.search(name))) for word, test in zip(_NAMES, _SYMBOLS, strict=True)}
        answers["first_call"] = 1.0
    answers["counter"] = float(source == "phi" and loop >= 0 and arrays.block[row] == forest.header[loop])
    return answers


def _constant(text: str) -> dict[str, float]:
    """Features of a comparison's constant."""
    answers = {"constant": 1.0, "zero": float(text in ("0", "null", "0.000000e+00", "false"))}
    answers |= {"one": float(text in ("1", "true")), "negative": float(text.startswith("-"))}
    if text.lstrip("-").isdigit():
        value = abs(int(text))
        answers |= {"large": float(value > 255), "size": float(np.log1p(min(value, 1e12)))}
    return answers
