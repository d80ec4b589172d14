"""`opcode_histogram`: a code feature that needs no model, as a baseline."""

import numpy as np

from mirenc.base.arrays import Float32, Int32
from mirenc.llvm import IRModule

# Every instruction of LLVM 21's language reference (22 adds ptrtoaddr). Fixed, so that columns keep their meaning.
OPCODES = tuple(
    "add addrspacecast alloca and ashr atomicrmw bitcast br call callbr catchpad catchret catchswitch cleanuppad "
    "cleanupret cmpxchg extractelement extractvalue fadd fcmp fdiv fence fmul fneg fpext fptosi fptoui fptrunc freeze "
    "frem fsub getelementptr icmp indirectbr insertelement insertvalue inttoptr invoke landingpad load lshr mul or phi "
    "ptrtoint resume ret sdiv select sext shl shufflevector sitofp srem store sub switch trunc udiv uitofp unreachable "
    "urem va_arg xor zext".split()
)
_OPCODE_COLUMN = {opcode: column for column, opcode in enumerate(OPCODES)}


def opcode_histogram(module: IRModule, instructions: Int32 | None = None) -> Float32:
    """(66,) float32: square roots of the opcodes' shares, and log(1 + instructions).

    Of a module, or of a region's ``instructions`` (I,), ascending. Roots of shares keep rare opcodes visible.
    """
    counts = np.zeros(len(OPCODES))
    forms = module.arrays.form if instructions is None else module.arrays.form[instructions]
    form_numbers, form_counts = np.unique(forms, return_counts=True)
    for form, count in zip(form_numbers.tolist(), form_counts.tolist(), strict=True):
        column = _OPCODE_COLUMN.get(module.forms[form].opcode)
        if column is not None:  # an opcode newer than the list counts for the size only
            counts[column] += count
    return np.append(np.sqrt(counts / max(len(forms), 1)), np.log1p(len(forms))).astype(np.float32)
