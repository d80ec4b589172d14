"""The opcode histogram: what a code feature is worth that needs no model at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mirenc.ir import IRModule

__all__ = ["OPCODES", "histogram_names", "opcode_histogram"]

# Every instruction of LLVM 21's language reference (22 adds ptrtoaddr). Fixed, so that columns mean the same in
# training and later.
OPCODES = tuple(
    "add addrspacecast alloca and ashr atomicrmw bitcast br call callbr catchpad catchret catchswitch cleanuppad "
    "cleanupret cmpxchg extractelement extractvalue fadd fcmp fdiv fence fmul fneg fpext fptosi fptoui fptrunc freeze "
    "frem fsub getelementptr icmp indirectbr insertelement insertvalue inttoptr invoke landingpad load lshr mul or phi "
    "ptrtoint resume ret sdiv select sext shl shufflevector sitofp srem store sub switch trunc udiv uitofp unreachable "
    "urem va_arg xor zext".split()
)
_COLUMN = {opcode: column for column, opcode in enumerate(OPCODES)}


def opcode_histogram(module: IRModule) -> NDArray[np.float32]:
    """(66,) float32: square roots of the opcodes' shares, and log(1 + instructions).

    Shares say what the code does whatever its size; the root keeps rare opcodes visible; the last column is the size.
    """
    counts = np.zeros(len(OPCODES))
    used, times = np.unique(module.arrays.form, return_counts=True)
    for form, count in zip(used.tolist(), times.tolist(), strict=True):
        column = _COLUMN.get(module.forms[form].opcode)
        if column is not None:  # an opcode newer than the list counts for the size only
            counts[column] += count
    total = module.instruction_count
    return np.append(np.sqrt(counts / max(total, 1)), np.log1p(total)).astype(np.float32)


def histogram_names() -> list[str]:
    """Names of the columns of `opcode_histogram`."""
    return [f"sqrt_share_{opcode}" for opcode in OPCODES] + ["log1p_instructions"]
