"""What the functions of a module are: kernels, left alone by the optimiser, or one of several copies for a linker."""

import re
from collections.abc import Collection, Mapping

import numpy as np

from mirenc.base.errors import ForeignIRError
from mirenc.llvm.ir.lines import attribute_groups
from mirenc.llvm.ir.module import FunctionHeader, IRModule
from mirenc.llvm.ir.symbols import unescaped

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

# What is in quotes, or the name of something, is no attribute.
_NO_WORDS = re.compile(r'[@%$!]?"[^"]*"|[@%$!][-\w.$]+')

_ONE_OF_MANY = ("linkonce", "linkonce_odr", "weak", "weak_odr")  # inline functions and templates of C++, for one
_LINKAGE = "|".join((*_ONE_OF_MANY, "available_externally", "private", "internal"))
_DEFINITION = re.compile(rf'^define (?:({_LINKAGE}) )?[^\n]*?@("[^"]*"|[-\w$.]+)\(', re.MULTILINE)


def kernels_of(module: IRModule) -> list[str]:
    """Names of the OpenCL or CUDA kernels among a module's functions, in module order.

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
    kernels = [header.name for header in defined if header.name in marked] or _asking(module, defined)
    return [name.strip('"') for name in kernels]


def _asking(module: IRModule, defined: list[FunctionHeader]) -> list[str]:
    """Functions at the top of the call graph that ask for the number of their work item."""
    arrays = module.arrays
    symbols = [symbol[1:] for symbol in module.symbols]
    rows_of = {one.name: np.unique(arrays.callee[one.first : one.last]) for one in defined}
    calls = {name: {symbols[row] for row in rows if row >= 0} for name, rows in rows_of.items()}
    asking = {header.name for header in module.headers if header.is_declaration and _WORK_ITEM.fullmatch(header.name)}
    while more := {name for name, callees in calls.items() if callees & asking} - asking:
        asking |= more
    called = {callee for name, callees in calls.items() for callee in callees - {name}}
    return [one.name for one in defined if one.return_type == "void" and one.name in asking - called]


def check_kernels(module: IRModule) -> list[str]:
    """`kernels_of`, where there must be one: a head that chooses for kernels would answer for a `main` of C, too.

    Raises ForeignIRError: no kernel; the message names the functions that were found.
    """
    kernels = kernels_of(module)
    if not kernels:
        names = [function.name for function in module.defined_functions]
        listed = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
        none = f"{module.name}: no OpenCL or CUDA kernel among its {len(names)} functions ({listed})"
        raise ForeignIRError(f"{none}. Give a file with a `__kernel` or `__global__` function, or its IR")
    return kernels


def attributes_of(text: str) -> list[set[str]]:
    """The words in each definition and in its groups of attributes (minsize, optnone ...), in the order of the text."""
    groups = attribute_groups(text)
    attributes = []
    for line in re.findall(r"^define .*", text, re.MULTILINE):
        words = " ".join([_NO_WORDS.sub("", line), *(groups.get(group, "") for group in re.findall(r"#\d+", line))])
        attributes.append(set(re.findall(r"[a-z]+", _NO_WORDS.sub("", words))))
    return attributes


def is_left_alone(text: str) -> bool:
    """Whether every function is marked optnone, as clang -O0 does, so that no pass touches any."""
    functions = attributes_of(text)
    return bool(functions) and all("optnone" in words for words in functions)


def linkages_of(module: IRModule) -> dict[str, str]:
    """Linkage of each function with a body, by its name in an object file: ``linkonce_odr`` or so, or ``external``."""
    return {object_name(name): word or "external" for word, name in _DEFINITION.findall(module.text)}


def object_name(name: str) -> str:
    r"""A function's name as an object file of ELF has it: without LLVM's quotes, escapes, and the mark ``\01``."""
    return unescaped(name.strip('"')).removeprefix("\1")


class Linker:
    """Takes modules one after the other, as a linker does; ``copies`` counts functions that a module before had."""

    def __init__(self) -> None:
        self.copies = 0
        self._shared: set[str] = set()

    def add(self, linkages: Mapping[str, str], names: Collection[str]) -> list[str]:
        """Those of the next module's functions (``names`` in its object file) that are kept, by `linkages_of` it."""
        kept = [name for name in names if name not in self._shared or linkages.get(name) not in _ONE_OF_MANY]
        self.copies += len(names) - len(kept)
        self._shared |= {name for name in kept if linkages.get(name) in _ONE_OF_MANY}
        return kept
