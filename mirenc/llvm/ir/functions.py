"""Properties of the functions of a module: kernels, attributes, linkage, names in an object file."""

import re
from collections.abc import Collection, Mapping

import numpy as np

from mirenc.base.errors import ForeignIRError
from mirenc.llvm.ir.lines import NAME, attribute_groups
from mirenc.llvm.ir.module import FunctionHeader, IRModule
from mirenc.llvm.ir.symbols import unescaped

# What clang writes for kernels alone: the calling convention, or metadata with the OpenCL types of arguments.
_KERNEL_MARK = re.compile(
    rf"^define (?:[^@\n]*?\b(?:spir|amdgpu|ptx)_kernel\b[^@\n]*@({NAME})|[^@\n]*@({NAME})\(.*!kernel_arg_)",
    re.MULTILINE,
)
# Before LLVM 4, modules list their OpenCL kernels.
_KERNEL_LIST = re.compile(r"^!opencl\.kernels = !\{([^}]*)\}", re.MULTILINE)
# Functions that return the number of the work item or thread; only declared ones: a simulator on a CPU defines them.
_WORK_ITEM = re.compile(
    r"(?:_Z\d+)?get_(?:(?:global|local|group)_(?:linear_)?id|(?:global|local|enqueued_local)_size|num_groups|work_dim"
    r"|global_offset)j?v?"
    r"|llvm\.nvvm\.read\.ptx\.sreg\.\w+\.[xyz]|llvm\.amdgcn\.work(?:item|group)\.id\.[xyz]|_Z\d+__spirv_BuiltIn\w+"
)

# Strings and names, which are no attributes.
_NAMES = re.compile(r'[@%$!]?"[^"]*"|[@%$!][-\w.$]+')

_MERGED_LINKAGES = ("linkonce", "linkonce_odr", "weak", "weak_odr")  # the linker keeps one copy, as of C++ templates
_LINKAGE = "|".join((*_MERGED_LINKAGES, "available_externally", "private", "internal"))
_DEFINITION = re.compile(rf"^define (?:({_LINKAGE}) )?[^\n]*?@({NAME})\(", re.MULTILINE)


def kernels_of(module: IRModule) -> list[str]:
    """Names of the OpenCL or CUDA kernels among a module's functions, in module order.

    A kernel has a body and is marked as one (calling convention, argument metadata, ``!opencl.kernels``). If none
    is marked, as after a runtime lowered the module for a CPU, kernels are the functions without a result that nothing
    in the module calls and that get the number of their work item, directly or through what they call.
    """
    names = {match[1] or match[2] for match in _KERNEL_MARK.finditer(module.text)}
    kernel_list = _KERNEL_LIST.search(module.text)
    for node in re.findall(r"!\d+", kernel_list[1]) if kernel_list else []:
        entry = re.search(rf"^{node} = !\{{ptr @({NAME})", module.text, re.MULTILINE)
        names |= {entry[1]} if entry else set()
    bodies = [header for header in module.headers if not header.is_declaration]
    kernels = [header.name for header in bodies if header.name in names] or _unmarked_kernels(module, bodies)
    return [name.strip('"') for name in kernels]


def _unmarked_kernels(module: IRModule, bodies: list[FunctionHeader]) -> list[str]:
    """Functions at the top of the call graph that get the number of their work item."""
    arrays = module.arrays
    symbols = [symbol[1:] for symbol in module.symbols]
    rows_of = {header.name: np.unique(arrays.callee[header.first : header.last]) for header in bodies}
    calls = {name: {symbols[row] for row in rows if row >= 0} for name, rows in rows_of.items()}
    item_users = {
        header.name for header in module.headers if header.is_declaration and _WORK_ITEM.fullmatch(header.name)
    }
    while callers := {name for name, callees in calls.items() if callees & item_users} - item_users:
        item_users |= callers
    called_names = {callee for name, callees in calls.items() for callee in callees - {name}}
    top_names = item_users - called_names
    return [header.name for header in bodies if header.return_type == "void" and header.name in top_names]


def check_kernels(module: IRModule) -> list[str]:
    """`kernels_of`. Raises ForeignIRError: there is none; the message names the functions that were found."""
    kernels = kernels_of(module)
    if not kernels:
        names = [function.name for function in module.defined_functions]
        examples = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
        problem = f"{module.name}: no OpenCL or CUDA kernel among its {len(names)} functions ({examples})"
        raise ForeignIRError(f"{problem}. Give a file with a `__kernel` or `__global__` function, or its IR")
    return kernels


def attributes_of(text: str) -> list[set[str]]:
    """Words of each definition and of its attribute groups (minsize, optnone ...), in the order of the text."""
    groups = attribute_groups(text)
    attributes = []
    for line in re.findall(r"^define .*", text, re.MULTILINE):
        words = " ".join([_NAMES.sub("", line), *(groups.get(group, "") for group in re.findall(r"#\d+", line))])
        attributes.append(set(re.findall(r"[a-z]+", _NAMES.sub("", words))))
    return attributes


def is_left_alone(text: str) -> bool:
    """Whether every function is marked optnone, as clang -O0 does, so that no pass changes any."""
    functions = attributes_of(text)
    return bool(functions) and all("optnone" in words for words in functions)


def linkages_of(module: IRModule) -> dict[str, str]:
    """Linkage of each function with a body, by its name in an object file: ``linkonce_odr`` or so, or ``external``."""
    return {object_name(name): word or "external" for word, name in _DEFINITION.findall(module.text)}


def object_name(name: str) -> str:
    r"""Name of a function in an ELF object file: without LLVM's quotes, escapes, and the prefix ``\01``."""
    return unescaped(name.strip('"')).removeprefix("\1")


class Linker:
    """Takes modules one after the other, as a linker does; ``copies`` counts functions of which one was kept before."""

    def __init__(self) -> None:
        self.copies = 0
        self._shared: set[str] = set()

    def add(self, linkages: Mapping[str, str], names: Collection[str]) -> list[str]:
        """Names of the next module's functions that are kept; ``linkages`` is `linkages_of` that module."""
        kept_names = [name for name in names if name not in self._shared or linkages.get(name) not in _MERGED_LINKAGES]
        self.copies += len(names) - len(kept_names)
        self._shared |= {name for name in kept_names if linkages.get(name) in _MERGED_LINKAGES}
        return kept_names
