"""`kernels_of`: which functions of a module are OpenCL or CUDA kernels.

Why: a head that chooses for kernels has an answer for everything it is asked, a `main` of C too. What is no kernel
must be refused before the question is put.
"""

from __future__ import annotations

import re

import numpy as np

from mirenc.errors import ForeignIRError
from mirenc.ir.module import FunctionHeader, IRModule

__all__ = ["check_kernels", "kernels_of"]

_NAME = r'@("[^"]*"|[-a-zA-Z$._0-9]+)'
# A mark that clang puts on kernels alone: the calling convention, or the arguments' OpenCL types.
_MARKED = re.compile(
    rf"^define (?:[^@\n]*?\b(?:spir|amdgpu|ptx)_kernel\b[^@\n]*{_NAME}|[^@\n]*{_NAME}\(.*!kernel_arg_)", re.MULTILINE
)
# Before LLVM 4 the module lists its OpenCL kernels.
_LISTED = re.compile(r"^!opencl\.kernels = !\{([^}]*)\}", re.MULTILINE)
# What asks for the number of the work item or thread; declared, since a simulator on a CPU defines it.
_WORK_ITEM = re.compile(
    r"(?:_Z\d+)?get_(?:(?:global|local|group)_(?:linear_)?id|(?:global|local|enqueued_local)_size|num_groups|work_dim"
    r"|global_offset)j?v?"
    r"|llvm\.nvvm\.read\.ptx\.sreg\.\w+\.[xyz]|llvm\.amdgcn\.work(?:item|group)\.id\.[xyz]|_Z\d+__spirv_BuiltIn\w+"
)


def kernels_of(module: IRModule) -> list[str]:
    """Names of the kernels among a module's functions, in module order.

    A kernel has a body and is marked as one (calling convention, argument metadata, ``!opencl.kernels``). Where no
    function is marked, as when a runtime has lowered the module for a CPU, it is a function of no result that nobody
    in the module calls and that asks, itself or through what it calls, for the number of its work item.
    """
    marked = {match[1] or match[2] for match in _MARKED.finditer(module.text)}
    listed = _LISTED.search(module.text)
    for node in re.findall(r"!\d+", listed[1]) if listed else []:
        entry = re.search(rf"^{node} = !\{{ptr {_NAME}", module.text, re.MULTILINE)
        marked |= {entry[1]} if entry else set()
    defined = [header for header in module.headers if not header.is_declaration]
    found = [header.name for header in defined if header.name in marked] or _asking(module, defined)
    return [name.strip('"') for name in found]


def _asking(module: IRModule, defined: list[FunctionHeader]) -> list[str]:
    """Functions at the top of the call graph that ask for the number of their work item."""
    arrays = module.arrays
    symbols = [symbol[1:] for symbol in module.symbols]
    calls = {
        header.name: {symbols[row] for row in np.unique(arrays.callee[header.first : header.last]) if row >= 0}
        for header in defined
    }
    asking = {header.name for header in module.headers if header.is_declaration and _WORK_ITEM.fullmatch(header.name)}
    known = -1
    while known != len(asking):
        known = len(asking)
        asking |= {name for name, callees in calls.items() if callees & asking}
    called = {callee for name, callees in calls.items() for callee in callees - {name}}
    return [
        header.name
        for header in defined
        if header.name in asking and header.name not in called and header.return_type == "void"
    ]


def check_kernels(module: IRModule) -> list[str]:
    """`kernels_of`, where there must be one.

    Raises
    ------
    ForeignIRError
        No kernel; the message names the functions that were found.
    """
    found = kernels_of(module)
    if not found:
        names = [header.name.strip('"') for header in module.headers if not header.is_declaration]
        listed = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
        raise ForeignIRError(
            f"{module.name}: no OpenCL or CUDA kernel among its {len(names)} functions ({listed}). "
            "Give a file with a `__kernel` or `__global__` function, or its IR"
        )
    return found
