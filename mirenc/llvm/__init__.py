"""Read LLVM IR: from files and text to an `IRModule`. No other part of mirenc uses LLVM."""

from mirenc.base.lazy_names import lazy_names

_MODULES = {
    "mirenc.llvm.analysis.regions": "LEVELS Region Regions regions_of",
    "mirenc.llvm.inputs.dialect": "OPENCL_X86 Dialect",
    "mirenc.llvm.inputs.retarget": "bring",
    "mirenc.llvm.ir.functions": "check_kernels kernels_of",
    "mirenc.llvm.ir.module": "IRFunction IRModule OperandKind",
    "mirenc.llvm.ir.parser": "IRArgument",
    "mirenc.llvm.ir.read": "ReadOptions parse_ir read_ir start_reader",
    "mirenc.llvm.ir.statements": "NORMALISATIONS Statements statements_of",
}
__getattr__, _HOME = lazy_names(__name__, _MODULES)
__all__ = [*_HOME]
TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirenc.llvm.analysis.regions import (
        LEVELS as LEVELS,
        Region as Region,
        Regions as Regions,
        regions_of as regions_of,
    )
    from mirenc.llvm.inputs.dialect import OPENCL_X86 as OPENCL_X86, Dialect as Dialect
    from mirenc.llvm.inputs.retarget import bring as bring
    from mirenc.llvm.ir.functions import check_kernels as check_kernels, kernels_of as kernels_of
    from mirenc.llvm.ir.module import IRFunction as IRFunction, IRModule as IRModule, OperandKind as OperandKind
    from mirenc.llvm.ir.parser import IRArgument as IRArgument
    from mirenc.llvm.ir.read import (
        ReadOptions as ReadOptions,
        parse_ir as parse_ir,
        read_ir as read_ir,
        start_reader as start_reader,
    )
    from mirenc.llvm.ir.statements import (
        NORMALISATIONS as NORMALISATIONS,
        Statements as Statements,
        statements_of as statements_of,
    )
