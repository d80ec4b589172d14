"""Rows of pass tables that no model takes part in: opcodes, AutoPhase's counts and statements, of a module or a region.

Each function takes the module and, for a region, its instructions: (I,) int32, ascending; left out, all of them count.

- `opcode_histogram` of mirenc, which `mirenc evaluate` has, too.
- `autophase_features`: Haj-Ali et al., "AutoPhase: Juggling HLS Phase Orderings in Random Forests with Deep
  Reinforcement Learning", MLSys 2020 (arXiv 2003.00671), table 1. Written from that table's words.
- `statement_bag`: normalised statements (`mirenc.llvm.statements_of`) are hashed to a fixed number of columns
  (Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", ICML 2009), so that training and a later
  question have the same columns without a vocabulary. Deviation from tf-idf: no idf, since ridges scale columns by
  themselves.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection

import numpy as np

from mirenc.base.arrays import Bool, Float32, Int32, Int64
from mirenc.decide.features.opcode_histogram import opcode_histogram
from mirenc.llvm import IRModule, OperandKind, statements_of

COLUMNS = 1024


def statement_bag(module: IRModule, instructions: Int32 | None = None) -> Float32:
    """(1024,) float32: log(1 + count) of the statements in each column; of a whole module its types and globals too."""
    statements = statements_of(module)
    rows = statements.row if instructions is None else statements.row[statements.first_instruction + instructions]
    kinds, times = np.unique(rows, return_counts=True)
    column = [zlib.crc32(statements.texts[row].encode("utf-8", "surrogateescape")) % COLUMNS for row in kinds.tolist()]
    return np.log1p(np.bincount(np.array(column, dtype=np.int64), times, minlength=COLUMNS)).astype(np.float32)


# -- AutoPhase -----------------------------------------------------------------------------------------
# Opcodes that are counted by themselves, in the words of the table.
_WORDS = (
    "AShr Add Alloca And BitCast Br Call GetElementPtr ICmp LShr Load Mul Or PHI Ret SExt Select Shl Store Sub Trunc "
    "Xor ZExt".split()
)
_BINARY = frozenset("add fadd sub fsub mul fmul udiv sdiv fdiv urem srem frem shl lshr ashr and or xor".split())
# What has one operand, as the published tool counts it (LLVM's UnaryInstruction): casts, loads and allocas too.
_UNARY = frozenset(
    "fneg trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint inttoptr bitcast addrspacecast load "
    "alloca extractvalue va_arg freeze".split()
)
# As the tool: LLVM's own count of that name (InstCount), which calls belong to.
_MEMORY = frozenset("alloca load store getelementptr call invoke".split())


def autophase_features(module: IRModule, instructions: Int32 | None = None) -> Float32:
    """(56,) float32: log(1 + count) of each of `autophase_counts`; the paper's own first normalisation."""
    return np.log1p(list(autophase_counts(module, instructions).values())).astype(np.float32)


def autophase_counts(module: IRModule, instructions: Int32 | None = None) -> dict[str, float]:
    """The 56 counts by name. A block counts where its first instruction does, an edge where both of its blocks do."""
    arrays = module.arrays
    rows = np.arange(len(arrays.form)) if instructions is None else instructions.astype(np.int64)
    opcodes = [form.opcode for form in module.forms]

    def are(names: Collection[str]) -> Bool:
        return np.array([opcode in names for opcode in opcodes], dtype=bool)[arrays.form[rows]]  # (I,)

    phi, branch = are({"phi"}), are({"br"})
    operands = np.diff(arrays.operand_start)[rows]
    successors = np.diff(arrays.successor_start)[arrays.block[rows]]
    integer = np.array([_is_integer(form.signature.partition(" ")[0]) for form in module.forms], dtype=bool)
    constants, has_constant = _constants(module, rows)
    # Flow: of each block inside, and of each edge between two of them.
    count = module.block_count
    is_counted = np.zeros(count, dtype=bool)
    is_counted[arrays.block[rows]] = True
    source = np.repeat(np.arange(count), np.diff(arrays.successor_start))
    reachable = is_counted[source] & is_counted[arrays.successor]
    source, target = source[reachable], arrays.successor[reachable]
    outgoing, incoming = np.bincount(source, minlength=count), np.bincount(target, minlength=count)
    predecessors, successor_counts = incoming[is_counted], outgoing[is_counted]
    size = np.bincount(arrays.block[rows], minlength=count)[is_counted]
    phis = np.bincount(arrays.block[rows[phi]], minlength=count)[is_counted]
    arguments = np.bincount(arrays.block[rows[phi]], operands[phi], minlength=count)[is_counted]
    counts = {
        "blocks where the phis have more than 5 arguments": (arguments > 5).sum(),
        "blocks where the phis have 1 to 5 arguments": ((arguments >= 1) & (arguments <= 5)).sum(),
        "blocks with 1 predecessor": (predecessors == 1).sum(),
        "blocks with 1 predecessor and 1 successor": ((predecessors == 1) & (successor_counts == 1)).sum(),
        "blocks with 1 predecessor and 2 successors": ((predecessors == 1) & (successor_counts == 2)).sum(),
        "blocks with 1 successor": (successor_counts == 1).sum(),
        "blocks with 2 predecessors": (predecessors == 2).sum(),
        "blocks with 2 predecessors and 1 successor": ((predecessors == 2) & (successor_counts == 1)).sum(),
        "blocks with 2 predecessors and 2 successors": ((predecessors == 2) & (successor_counts == 2)).sum(),
        "blocks with 2 successors": (successor_counts == 2).sum(),
        "blocks with more than 2 predecessors": (predecessors > 2).sum(),
        "blocks with 1 to 3 phis": ((phis >= 1) & (phis <= 3)).sum(),
        "blocks with more than 3 phis": (phis > 3).sum(),
        "blocks without phis": (phis == 0).sum(),
        "blocks that begin with a phi": (phis > 0).sum(),  # they stand before all else
        "branches": branch.sum(),
        "calls that return an integer": (are({"call"}) & integer[arrays.form[rows]]).sum(),
        "critical edges": ((outgoing[source] > 1) & (incoming[target] > 1)).sum(),
        "edges": len(source),
        **constants,
        "unconditional branches": (branch & (successors == 1)).sum(),
        "binary operations with a constant operand": (are(_BINARY) & has_constant).sum(),
        "blocks of 15 to 500 instructions": ((size >= 15) & (size <= 500)).sum(),
        "blocks of fewer than 15 instructions": (size < 15).sum(),
        "basic blocks": is_counted.sum(),
        "instructions": len(rows),
        "memory instructions": are(_MEMORY).sum(),
        "functions with a body": len(np.unique(arrays.function[rows])),
        "arguments of phis": operands[phi].sum(),
        "unary operations": are(_UNARY).sum(),
        **{f"{name} instructions": are({name.lower()}).sum() for name in _WORDS},
    }
    return {name: float(value) for name, value in counts.items()}


def _constants(module: IRModule, rows: Int64) -> tuple[dict[str, int], Bool]:
    """Occurrences of constants among the operands, and which instructions have one (I,)."""
    arrays = module.arrays
    start, stop = arrays.operand_start[rows], arrays.operand_start[rows + 1]
    count = stop - start
    operand = np.repeat(start - (np.cumsum(count) - count), count) + np.arange(count.sum())
    constant = arrays.operand_kind[operand] == OperandKind.CONSTANT
    has = np.zeros(len(rows), dtype=bool)
    has[np.repeat(np.arange(len(rows)), count)[constant]] = True
    row = arrays.operand_ref[operand[constant]]
    small = {"0": 0, "false": 0, "1": 1, "true": 1}
    kinds = {
        "32-bit integer constants": [kind == "i32" for kind, _ in module.constants],
        "64-bit integer constants": [kind == "i64" for kind, _ in module.constants],
        "constants 0": [_is_integer(kind) and small.get(text) == 0 for kind, text in module.constants],
        "constants 1": [_is_integer(kind) and small.get(text) == 1 for kind, text in module.constants],
    }
    return {name: int(np.array(is_one, dtype=bool)[row].sum()) for name, is_one in kinds.items()}, has


def _is_integer(kind: str) -> bool:
    return kind[:1] == "i" and kind[1:].isdigit()


COUNTED: dict[str, Callable[..., Float32]] = {
    "histogram": opcode_histogram,
    "autophase": autophase_features,
    "statements": statement_bag,
}
