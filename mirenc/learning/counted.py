"""Rows of a table that no model takes part in: opcodes, AutoPhase's counts and statements, of a module or a region.

Each function takes the module and, for a region, its instructions: (I,) int32, ascending; left out, all of them count.

- `opcode_histogram`: what a code feature is worth that needs no model at all.
- `autophase_features`: hand-made features that many papers compare with. Haj-Ali, Huang, Moses, Xiang, Asanovic,
  Wawrzynek, Stoica, "AutoPhase: Juggling HLS Phase Orderings in Random Forests with Deep Reinforcement Learning", MLSys
  2020 (arXiv 2003.00671), table 1. Written from that table's words.
- `statement_bag`: what words alone are worth. Normalised statements (`mirenc.ir.statements_of`) are hashed to a fixed
  number of columns (Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", ICML 2009), so that
  training and a later question have the same columns without a vocabulary. Deviation from tf-idf: no idf, which scales
  a column by a constant: ridges scale columns by themselves.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from mirenc.ir import IRModule, statements_of
from mirenc.ir.module import OperandKind

__all__ = [
    "AUTOPHASE",
    "COLUMNS",
    "OPCODES",
    "autophase_counts",
    "autophase_features",
    "opcode_histogram",
    "statement_bag",
]

Int = NDArray[np.int64]
Float32 = NDArray[np.float32]

# Every instruction of LLVM 21's language reference (22 adds ptrtoaddr). Fixed, so that columns mean the same in
# training and later.
OPCODES = tuple(
    "add addrspacecast alloca and ashr atomicrmw bitcast br call callbr catchpad catchret catchswitch cleanuppad "
    "cleanupret cmpxchg extractelement extractvalue fadd fcmp fdiv fence fmul fneg fpext fptosi fptoui fptrunc freeze "
    "frem fsub getelementptr icmp indirectbr insertelement insertvalue inttoptr invoke landingpad load lshr mul or phi "
    "ptrtoint resume ret sdiv select sext shl shufflevector sitofp srem store sub switch trunc udiv uitofp unreachable "
    "urem va_arg xor zext".split()
)
_OPCODE_COLUMN = {opcode: column for column, opcode in enumerate(OPCODES)}
COLUMNS = 1024


def opcode_histogram(module: IRModule, instructions: NDArray[np.int32] | None = None) -> Float32:
    """(66,) float32: square roots of the opcodes' shares, and log(1 + instructions).

    Shares say what the code does whatever its size; the root keeps rare opcodes visible; the last column is the size.
    """
    counts = np.zeros(len(OPCODES))
    forms = module.arrays.form if instructions is None else module.arrays.form[instructions]
    used, times = np.unique(forms, return_counts=True)
    for form, count in zip(used.tolist(), times.tolist(), strict=True):
        column = _OPCODE_COLUMN.get(module.forms[form].opcode)
        if column is not None:  # an opcode newer than the list counts for the size only
            counts[column] += count
    return np.append(np.sqrt(counts / max(len(forms), 1)), np.log1p(len(forms))).astype(np.float32)


def statement_bag(module: IRModule, instructions: NDArray[np.int32] | None = None) -> Float32:
    """(1024,) float32: log(1 + count) of the statements in each column; of a whole module its types and globals too."""
    statements = statements_of(module)
    rows = statements.row if instructions is None else statements.row[statements.first_instruction + instructions]
    used, times = np.unique(rows, return_counts=True)
    column = [zlib.crc32(statements.texts[row].encode("utf-8", "surrogateescape")) % COLUMNS for row in used.tolist()]
    return np.log1p(np.bincount(np.array(column, dtype=np.int64), times, minlength=COLUMNS)).astype(np.float32)


# -- AutoPhase -----------------------------------------------------------------------------------------
# Opcodes that are counted by themselves, in the words of the table.
_WORDS = (
    "AShr Add Alloca And BitCast Br Call GetElementPtr ICmp LShr Load Mul Or PHI Ret SExt Select Shl Store Sub Trunc "
    "Xor ZExt".split()
)
AUTOPHASE = (
    "blocks where the phis have more than 5 arguments",
    "blocks where the phis have 1 to 5 arguments",
    "blocks with 1 predecessor",
    "blocks with 1 predecessor and 1 successor",
    "blocks with 1 predecessor and 2 successors",
    "blocks with 1 successor",
    "blocks with 2 predecessors",
    "blocks with 2 predecessors and 1 successor",
    "blocks with 2 predecessors and 2 successors",
    "blocks with 2 successors",
    "blocks with more than 2 predecessors",
    "blocks with 1 to 3 phis",
    "blocks with more than 3 phis",
    "blocks without phis",
    "blocks that begin with a phi",
    "branches",
    "calls that return an integer",
    "critical edges",
    "edges",
    "32-bit integer constants",
    "64-bit integer constants",
    "constants 0",
    "constants 1",
    "unconditional branches",
    "binary operations with a constant operand",
    "blocks of 15 to 500 instructions",
    "blocks of fewer than 15 instructions",
    "basic blocks",
    "instructions",
    "memory instructions",
    "functions with a body",
    "arguments of phis",
    "unary operations",
    *(f"{name} instructions" for name in _WORDS),
)
_BINARY = frozenset("add fadd sub fsub mul fmul udiv sdiv fdiv urem srem frem shl lshr ashr and or xor".split())
# What has one operand, as the published tool counts it (LLVM's UnaryInstruction): casts, loads and allocas too.
_UNARY = frozenset(
    "fneg trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint inttoptr bitcast addrspacecast load "
    "alloca extractvalue va_arg freeze".split()
)
# As the tool: LLVM's own count of that name (InstCount), which calls belong to.
_MEMORY = frozenset("alloca load store getelementptr call invoke".split())
_MOST_SMALL, _MOST_LARGE = 14, 500
_FEW_ARGUMENTS, _FEW_PHIS = 5, 3


def autophase_features(module: IRModule, instructions: NDArray[np.int32] | None = None) -> Float32:
    """(56,) float32: log(1 + count) of each of `AUTOPHASE`; the paper's own first normalisation."""
    return np.log1p(autophase_counts(module, instructions)).astype(np.float32)


def autophase_counts(module: IRModule, instructions: NDArray[np.int32] | None = None) -> NDArray[np.float64]:
    """(56,) float64 counts, in the order of `AUTOPHASE`.

    A block counts where its first instruction does, an edge where both of its blocks do.
    """
    arrays = module.arrays
    rows = np.arange(len(arrays.form)) if instructions is None else instructions.astype(np.int64)
    opcodes = [form.opcode for form in module.forms]

    def are(names: Collection[str]) -> NDArray[np.bool_]:
        """Which instructions have one of these opcodes. (I,)."""
        return np.array([opcode in names for opcode in opcodes], dtype=bool)[arrays.form[rows]]

    phi, branch = are({"phi"}), are({"br"})
    flow = _flow_counts(module, rows, phi)
    constants, constant_operand = _constants(module, rows)
    successors = np.diff(arrays.successor_start)[arrays.block[rows]]
    integer = np.array([_returns_integer(form.signature) for form in module.forms], dtype=bool)[arrays.form[rows]]
    found = [
        *flow[:15],
        branch.sum(),
        (are({"call"}) & integer).sum(),
        *flow[15:17],
        *constants,
        (branch & (successors == 1)).sum(),
        (are(_BINARY) & constant_operand).sum(),
        *flow[17:],
        len(rows),
        are(_MEMORY).sum(),
        len(np.unique(arrays.function[rows])),
        np.diff(arrays.operand_start)[rows][phi].sum(),
        are(_UNARY).sum(),
        *(are({name.lower()}).sum() for name in _WORDS),
    ]
    return np.array(found, dtype=np.float64)


def _flow_counts(module: IRModule, rows: Int, phi: NDArray[np.bool_]) -> list[int]:
    """Counts of blocks by phis, predecessors and successors; critical edges, edges; blocks by size, blocks."""
    arrays = module.arrays
    inside = np.zeros(module.block_count, dtype=bool)
    inside[arrays.block[rows]] = True
    source = np.repeat(np.arange(module.block_count), np.diff(arrays.successor_start))
    kept = inside[source] & inside[arrays.successor]
    source, target = source[kept], arrays.successor[kept]
    outgoing = np.bincount(source, minlength=module.block_count)
    incoming = np.bincount(target, minlength=module.block_count)
    critical = (outgoing[source] > 1) & (incoming[target] > 1)
    size = np.bincount(arrays.block[rows], minlength=module.block_count)[inside]
    phis = np.bincount(arrays.block[rows[phi]], minlength=module.block_count)[inside]
    arguments = np.bincount(
        arrays.block[rows[phi]], np.diff(arrays.operand_start)[rows[phi]], minlength=module.block_count
    )[inside]
    before, after = incoming[inside], outgoing[inside]
    counted = [
        arguments > _FEW_ARGUMENTS,
        (arguments >= 1) & (arguments <= _FEW_ARGUMENTS),
        before == 1,
        (before == 1) & (after == 1),
        (before == 1) & (after == 2),
        after == 1,
        before == 2,
        (before == 2) & (after == 1),
        (before == 2) & (after == 2),
        after == 2,
        before > 2,
        (phis >= 1) & (phis <= _FEW_PHIS),
        phis > _FEW_PHIS,
        phis == 0,
        phis > 0,  # they stand before all else
    ]
    sizes = [(size > _MOST_SMALL) & (size <= _MOST_LARGE), size <= _MOST_SMALL]
    return [
        *(int(one.sum()) for one in counted),
        int(critical.sum()),
        len(source),
        *(int(one.sum()) for one in sizes),
        int(inside.sum()),
    ]


def _constants(module: IRModule, rows: Int) -> tuple[list[int], NDArray[np.bool_]]:
    """Occurrences of 32-bit and of 64-bit integers, of 0 and of 1; which instructions have a constant operand (I,)."""
    arrays = module.arrays
    start, stop = arrays.operand_start[rows], arrays.operand_start[rows + 1]
    count = stop - start
    operand = np.repeat(start - (np.cumsum(count) - count), count) + np.arange(count.sum())
    constant = arrays.operand_kind[operand] == OperandKind.CONSTANT
    owner = np.repeat(np.arange(len(rows)), count)[constant]
    row = arrays.operand_ref[operand[constant]]
    bits = {"i32": 32, "i64": 64}
    width = np.array([bits.get(kind, 0) for kind, _ in module.constants], dtype=np.int64)
    integer = np.array([kind[:1] == "i" and kind[1:].isdigit() for kind, _ in module.constants], dtype=bool)
    value = np.array([_small_value(text) for _, text in module.constants], dtype=np.int64)
    has = np.zeros(len(rows), dtype=bool)
    has[owner] = True
    if not len(row):
        return [0, 0, 0, 0], has
    kinds = [width[row] == 32, width[row] == 64, integer[row] & (value[row] == 0), integer[row] & (value[row] == 1)]
    return [int(one.sum()) for one in kinds], has


def _small_value(text: str) -> int:
    """0 and 1 as they are (``false`` and ``true`` too), -1 for every other constant."""
    return {"0": 0, "false": 0, "1": 1, "true": 1}.get(text, -1)


def _returns_integer(signature: str) -> bool:
    kind = signature.partition(" ")[0]
    return kind[:1] == "i" and kind[1:].isdigit()
