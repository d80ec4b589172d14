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
_ASKING = ("call", "phi", "and", "icmp")
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
_HERE = (
    *("depth", "is_header", "loop_blocks", "loop_exits", "loop_calls", "blocks", "place", "predecessors", "arguments"),
    *("callers", "instructions", "expected"),
)
_ASKED = (
    *("pointer", "width", "floating", "constant", "zero", "one", "negative", "large", "size", "two_values", "counter"),
    *_PREDICATES,
    *(
        f"{which}_{operand}"
        for which, all_of in (("is", _ASKING), ("first", _FIRST), ("second", _SECOND))
        for operand in all_of
    ),
    *(f"of_{one}" for one in _NAMES),
)
FEATURES = (*(f"{side}_{name}" for side in ("first", "second") for name in WAY), *_HERE, *_ASKED)
"""Names of the columns: of each way, of where the branch stands, and of what it asks."""


class Branches(NamedTuple):
    """The n conditional branches of a module, in its order."""

    block: Int64  # (n,) of the module: the one that ends with it
    edge: Int64  # (n,) row of ``arrays.successor`` that is the first way; the second follows it
    features: Float32  # (n, len(FEATURES))


class _Blocks(NamedTuple):
    """What is known of each of B blocks."""

    counts: Float64  # (B, len(_COUNTS))
    rare: Float64  # (B,) one over the calls in the module of the callee that has the fewest
    end: list[str]  # opcode of the last instruction
    fan_out: Integer  # (B,) successors
    into: Integer  # (B,) predecessors
    depth: Integer  # (B,) of loops
    dead: Float64  # (B,) whether all ways end where nothing returns
    far: Floating  # (B,) blocks to the nearest return
    next: Integer  # (B,) the only successor, if it stands further down; else itself


def branches_of(module: IRModule) -> Branches:
    """Find all branches of two different ways, and describe them by numbers that follow from the IR alone."""
    arrays, forest = module.arrays, find_loops(module)
    end = [module.forms[form].opcode for form in arrays.form[arrays.block_start[1:] - 1].tolist()]
    blocks = np.flatnonzero((np.diff(arrays.successor_start) == 2) & (np.array(end) == "br"))
    edges = arrays.successor_start[blocks].astype(np.int64)
    differ = arrays.successor[edges] != arrays.successor[edges + 1]
    blocks, edges = blocks[differ], edges[differ]
    if not len(blocks):
        return Branches(blocks, edges, np.zeros((0, len(FEATURES)), np.float32))
    known = _describe(module, forest, end)
    first, second = (arrays.successor[edges + side].astype(np.int64) for side in (0, 1))
    columns = [_ways(module, forest, known, blocks, to, other) for to, other in ((first, second), (second, first))]
    columns += [_places(module, forest, known, blocks), _asked(module, forest, blocks)]
    return Branches(blocks, edges, np.concatenate(columns, axis=1, dtype=np.float32, casting="same_kind"))


def _describe(module: IRModule, forest: LoopForest, end: list[str]) -> _Blocks:
    arrays, size = module.arrays, module.block_count
    successors = np.diff(arrays.successor_start).astype(np.int64)
    opcodes = np.array([form.opcode for form in module.forms])[arrays.form]
    direct = arrays.callee >= 0
    silent = np.array([name.startswith("@llvm.") for name in module.symbols], dtype=bool)
    called = np.isin(opcodes, ("call", "invoke"))
    called[direct] &= ~silent[arrays.callee[direct]]
    direct &= called
    callee, place = arrays.callee[direct], arrays.block[direct]
    hits = np.array([[bool(test.search(name)) for test in (*_SYMBOLS, _ENDS)] for name in module.symbols], dtype=bool)
    named = np.zeros((len(opcodes), len(_NAMES) + 1))
    named[direct] = hits.reshape(-1, len(_NAMES) + 1)[callee]
    texts = np.array([name.startswith(("@.str", "@str")) for name in module.symbols], dtype=bool)
    operand = arrays.operand_kind == OperandKind.GLOBAL
    operand[operand] = texts[arrays.operand_ref[operand]]
    strings = np.diff(np.append(0, np.cumsum(operand))[arrays.operand_start]) * called
    each = [called, opcodes == "store", opcodes == "load", strings, np.ones(len(opcodes)), *named.T]
    *counts, ends = (np.bincount(arrays.block, weights, size) for weights in each)
    rare = np.zeros(size)
    np.maximum.at(rare, place, 1 / np.bincount(callee, minlength=len(module.symbols))[callee])
    last = np.array(end)
    dead = (last == "unreachable") | (ends > 0)
    far, forks = np.where(last == "ret", 0.0, _FAR), np.flatnonzero(successors)
    starts = arrays.successor_start[forks]
    for _ in range(_FAR if len(forks) else 0):
        dead[forks] |= np.logical_and.reduceat(dead[arrays.successor], starts)
        far[forks] = np.minimum(far[forks], 1.0 + np.minimum.reduceat(far[arrays.successor], starts))
    here, only = np.arange(size), np.full(size, -1)
    only[successors == 1] = arrays.successor[arrays.successor_start[:-1][successors == 1]]
    depth = np.where(forest.innermost >= 0, np.append(forest.depth, 0)[forest.innermost], 0)
    into = np.bincount(arrays.successor, minlength=size)
    only = np.where(only > here, only, here)
    return _Blocks(np.stack(counts, axis=1), rare, end, successors, into, depth, dead.astype(np.float64), far, only)


def _inside(forest: LoopForest, loop: Integer, block: Integer) -> Bool:
    """Whether each block is in each loop, or in one inside it; -1 is no loop. (n,), (n,) -> (n,)."""
    parent, inner = np.append(forest.parent, -1), forest.innermost[block]
    for _ in range(int(forest.depth.max(initial=0))):
        inner = np.where(inner > loop, parent[inner], inner)
    return (inner == loop) & (loop >= 0)


def _ways(module: IRModule, forest: LoopForest, known: _Blocks, block: Int64, to: Int64, other: Int64) -> Float64:
    """Features of one way of each branch and of the blocks that only follow it: (n, len(WAY))."""
    loop = forest.innermost[block]
    header = np.append(forest.header, -1)[loop]
    counts, at, latch, joins = known.counts[to].copy(), to, to == header, np.zeros(len(to), dtype=bool)
    leaves = (loop >= 0) & ~_inside(forest, loop, to)
    successor = np.append(module.arrays.successor, -1)
    for _ in range(_STEPS):
        single = known.fan_out[at] == 1
        follow = np.where(single, successor[module.arrays.successor_start[:-1][at]], -1)
        latch |= (follow == header) & (loop >= 0)
        joins |= follow == other
        after = known.next[at]
        moved = (after != at) & ~joins
        counts[moved & (known.into[after] == 1)] += known.counts[after][moved & (known.into[after] == 1)]
        at = np.where(moved, after, at)
    phis = {row: "".join(_given(module, row)) for row in np.unique(at).tolist()}
    columns = [
        *(latch, leaves, known.depth[to] - known.depth[block], known.dead[to]),
        *(np.array(known.end)[at] == "ret", known.far[to], known.into[to], known.fan_out[to], joins, known.rare[to]),
        *([bool(phis[row]) for row in at.tolist()], ["-" in phis[row] for row in at.tolist()], *np.log1p(counts.T)),
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def _given(module: IRModule, block: int) -> Iterator[str]:
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


def _places(module: IRModule, forest: LoopForest, known: _Blocks, block: Int64) -> Float64:
    """Features of each branch's place: (n, len(_HERE))."""
    arrays, loops = module.arrays, len(forest)
    loop = forest.innermost[block]
    member, owner = forest.members()
    size = np.append(np.bincount(owner, minlength=loops), 0)
    calls = np.append(np.bincount(owner, known.counts[member, 0], loops), 0)
    inner, way_out = forest.innermost[np.repeat(np.arange(module.block_count), known.fan_out)], np.zeros(loops + 1)
    while (inner >= 0).any():
        out = (inner >= 0) & ~_inside(forest, inner, arrays.successor)
        way_out += np.bincount(inner[out], minlength=loops + 1)
        inner = np.append(forest.parent, -1)[inner]
    heads = [module.headers[number] for number in arrays.function[arrays.block_start[block]].tolist()]
    first = np.array([head.first_block for head in heads])
    many = np.array([head.last_block for head in heads]) - first
    called = dict(zip(*np.unique(arrays.callee, return_counts=True), strict=True))
    row = {name: number for number, name in enumerate(module.symbols)}
    callers = [called.get(row.get(f"@{head.name}", -2), 0) for head in heads]
    hints = np.array(["llvm.expect" in name for name in [*module.symbols, ""]])[arrays.callee]
    expected = np.bincount(arrays.block, hints, module.block_count)[block]
    header = (np.append(forest.header, -1)[loop] == block) & (loop >= 0)
    instructions = known.counts[block, _COUNTS.index("instructions")]
    columns = [
        *(known.depth[block], header, np.log1p(size[loop]), way_out[loop], np.log1p(calls[loop]), np.log1p(many)),
        *((block - first) / many, known.into[block], [len(head.arguments) for head in heads], np.log1p(callers)),
        *(np.log1p(instructions), expected),
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def _asked(module: IRModule, forest: LoopForest, block: Int64) -> Float64:
    """Features of each branch's condition: (n, len(_ASKED))."""
    features = np.zeros((len(block), len(_ASKED)))
    place = {name: number for number, name in enumerate(_ASKED)}
    for number, row in enumerate(block.tolist()):
        for name, value in _question(module, forest, row).items():
            if name in place:
                features[number, place[name]] = value
    return features


def _question(module: IRModule, forest: LoopForest, block: int) -> dict[str, float]:
    """Features of a branch's condition: what is compared with what, and where the first value comes from."""
    arrays = module.arrays

    def operands(row: int) -> list[tuple[int, int]]:
        span = slice(*arrays.operand_start[row : row + 2])
        return list(zip(arrays.operand_kind[span].tolist(), arrays.operand_ref[span].tolist(), strict=True))

    def maker(kind: int, ref: int) -> str:
        opcode = module.forms[arrays.form[ref]].opcode if kind == OperandKind.INSTRUCTION else ""
        return "call" if opcode == "invoke" else "argument" if kind == OperandKind.ARGUMENT else opcode

    terminator = operands(int(arrays.block_start[block + 1]) - 1)
    condition = next((ref for kind, ref in terminator if kind == OperandKind.INSTRUCTION), None)
    if condition is None:
        return {}
    answers = {f"is_{maker(OperandKind.INSTRUCTION, condition)}": 1.0}
    compared = _COMPARED.search(module.forms[arrays.form[condition]].statement)
    if compared is not None:
        predicate, kind_of, width = compared.groups()
        answers |= {predicate or "floating": 1.0, "pointer": float(kind_of == "ptr"), "width": float(width or 0)}
    values = operands(condition)
    makers = [maker(kind, ref) for kind, ref in values]
    answers |= {f"{side}_{name}": 1.0 for side, name in zip(("first", "second"), makers, strict=False)}
    answers["two_values"] = float(len(makers) == 2 and all(makers))
    for kind, ref in values:
        if kind == OperandKind.CONSTANT and compared is not None:
            answers |= _constant(module.constants[ref][1])
    if not values or values[0][0] != OperandKind.INSTRUCTION:
        return answers
    row = values[0][1]
    for _ in range(3):  # behind what only widens or masks it
        before = [ref for kind, ref in operands(row) if kind == OperandKind.INSTRUCTION]
        if not before or module.forms[arrays.form[row]].opcode not in ("zext", "sext", "trunc", "and"):
            break
        row = before[0]
    source, loop = maker(OperandKind.INSTRUCTION, row), int(forest.innermost[block])
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
