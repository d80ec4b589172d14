"""Rewriting IR in ways that must not matter: other local names, no metadata, no attribute groups.

Names are changed through LLVM's own objects, so uses follow their definition whatever a name looks like. Metadata and
groups are taken out of LLVM's print-out line by line, which is right for that dialect only.
"""

import re
from collections.abc import Callable

import llvmlite.binding as llvm

from mirenc.llvm.child.parsing_service import parse_module

_ATTACHMENTS = re.compile(r"(?:, ![-\w.$\\]+ ![^,]+)+$")
_HEADER_ATTACHMENTS = re.compile(r"(?: ![-\w.$\\]+ !\d+)+(?= \{$|$)")
_DECLARE_ATTACHMENTS = re.compile(r"^declare(?: ![-\w.$\\]+ !\d+)+")
_GROUP_OR_STRING = re.compile(r'("[^"]*")| #\d+')

# Names that LLVM must quote, and names that look like something else.
ODD_NAMES = (
    *("i32", "x y", "label", "7 up", "a%b", 'q"t', "}", "%x", "; c", "ptr", "to", "define", ", !dbg !0", "#0", "@g"),
    *("align 4", "unwind", "within none", "é", "0", "5", "back\\slash", "x, align 8", "[", "metadata"),
)


def odd_name(number: int) -> str:
    """An odd name that no other number has."""
    return f"{ODD_NAMES[number % len(ODD_NAMES)]}.{number}"


def llvm_reads(data: bytes) -> bool:
    """Whether LLVM 22 reads this as it is."""
    try:
        with parse_module(llvm, data) as module:
            module.verify()
            return True
    except RuntimeError:
        return False


def rename_locals(data: bytes, name_of: Callable[[int], str]) -> str:
    """Print-out of a module with new names for all arguments, blocks and results; "" for a name makes it a number."""
    with parse_module(llvm, data) as module:
        count = 0
        for function in module.functions:
            if function.is_declaration:
                continue
            values = list(function.arguments)
            for block in function.blocks:
                values += [block, *(each for each in block.instructions if str(each.type) != "void")]
            for value in values:
                value.name = name_of(count)
                count += 1
        return str(module)


def without_metadata(data: bytes) -> str:
    """Print-out of a module without debug records and metadata attachments; operands keep the nodes they name."""
    with parse_module(llvm, data) as module:
        lines = str(module).split("\n")
    remaining = []
    for line in lines:
        if line.lstrip().startswith("#dbg_") or line.startswith("!llvm.dbg"):
            continue
        if line.startswith(("define", "declare")):
            line = _DECLARE_ATTACHMENTS.sub("declare", _HEADER_ATTACHMENTS.sub("", line))
        elif not line.startswith("!"):
            line = _ATTACHMENTS.sub("", line)
        remaining.append(line)
    return "\n".join(remaining)


def without_groups(data: bytes) -> str:
    """Print-out of a module without attribute groups."""
    with parse_module(llvm, data) as module:
        lines = str(module).split("\n")
    remaining = (line for line in lines if not line.startswith("attributes #"))
    return "\n".join(_GROUP_OR_STRING.sub(lambda match: match[1] or "", line) for line in remaining)


def rename_globals(data: bytes, name_of: Callable[[int], str]) -> str:
    """Print-out of a module with new names for all functions, globals and named types; LLVM's own (``llvm.``) stay."""
    with parse_module(llvm, data) as module:
        for number, value in enumerate([*module.global_variables, *module.functions]):
            if not value.name.startswith("llvm."):
                value.name = name_of(number)
        text = str(module)
    types = re.findall(r'^%("[^"]*"|[-\w$.]+) = type ', text, flags=re.MULTILINE)
    for number, name in enumerate(sorted(types, key=len, reverse=True)):
        text = re.sub(rf"%{re.escape(name)}(?![-\w$.])", f'%"type {number}"', text)
    return text
