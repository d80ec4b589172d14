"""Reading LLVM IR: files and text in, `IRModule` out. The only part of mirenc that touches LLVM."""

from mirenc.ir.dialect import OPENCL_X86, Dialect
from mirenc.ir.functions import check_kernels, kernels_of
from mirenc.ir.module import IRBlock, IRFunction, IRInstruction, IRModule, IROperand, OperandKind
from mirenc.ir.parser import IRArgument
from mirenc.ir.read import ReadOptions, parse_ir, read_ir, start_reader
from mirenc.ir.regions import LEVELS, Region, Regions, regions_of
from mirenc.ir.rewrite import bring
from mirenc.ir.statements import NORMALISATIONS, Statements, statements_of

__all__ = [
    "LEVELS",
    "NORMALISATIONS",
    "OPENCL_X86",
    "Dialect",
    "IRArgument",
    "IRBlock",
    "IRFunction",
    "IRInstruction",
    "IRModule",
    "IROperand",
    "OperandKind",
    "ReadOptions",
    "Region",
    "Regions",
    "Statements",
    "bring",
    "check_kernels",
    "kernels_of",
    "parse_ir",
    "read_ir",
    "regions_of",
    "start_reader",
    "statements_of",
]
