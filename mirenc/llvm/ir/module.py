"""`IRModule`: one LLVM module as arrays, for graphs and statements, with a view of each function."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any, TypeVar

from mirenc.base.arrays import Int8, Int32
from mirenc.llvm.ir.grammar import Form
from mirenc.llvm.ir.lines import attribute_groups, split_locals
from mirenc.llvm.ir.parser import IRArgument
from mirenc.llvm.ir.rust_names import rust_name
from mirenc.llvm.ir.symbols import unescaped

Key = TypeVar("Key")

_REFERENCE = re.compile(r" (#\d+)")
_STRING_OR_REFERENCE = re.compile(r'"[^"]*"| (#\d+)')
# In `memory(...)`: LLVM 22 adds it when it reads older bitcode, but not text.
ADDED_MEMORY = re.compile(r", target_mem\d: none")


class OperandKind(IntEnum):
    """Kind of an operand."""

    INSTRUCTION = 0
    ARGUMENT = 1
    CONSTANT = 2
    GLOBAL = 3
    FUNCTION = 4
    BLOCK = 5
    METADATA = 6
    ASM = 7


def global_name(line: str) -> str:
    """Name (with ``@`` and quotes) that a global's line defines."""
    end = line.index('"', 2) + 1 if line.startswith('@"') else line.index(" ")
    return line[:end]


def _without_comments(text: str) -> str:
    """Text without LLVM's comments on attributes and predecessors (these in the order of use lists)."""
    for comment in ("; preds = ", "\n; Function Attrs:"):  # six times as fast as a regular expression
        text, *parts = text.split(comment)
        text = "\n".join(piece.rstrip(" \t") for piece in (text, *(piece.partition("\n")[2] for piece in parts)))
    return text


def _common_text(text: str) -> str:
    """Text that is the same whether LLVM read a program as text or as bitcode.

    Left out are comments, empty lines, declarations of intrinsics (an upgrade leaves some that nothing calls) and the
    data layout (upgraded in bitcode only). Attribute groups are written out where they are used, as their numbers vary.
    """
    groups = {name: ADDED_MEMORY.sub("", words) for name, words in attribute_groups(text).items()}

    def expand(match: re.Match[str]) -> str:
        return match[0] if match[1] is None else f" {{ {groups.get(match[1], '')} }}"

    lines = []
    for line in _without_comments(text).split("\n"):
        if " #" in line:
            if line.startswith("attributes #"):
                continue
            line = (_STRING_OR_REFERENCE if '"' in line else _REFERENCE).sub(expand, line)
        if line and not line.startswith("target datalayout") and not (line.startswith("declare ") and "@llvm." in line):
            lines.append(line)
    return "\n".join(lines)


class Rows(dict[Key, int]):
    """Numbers of distinct keys in order of first appearance; looking up a new key adds it."""

    def __missing__(self, key: Key) -> int:
        self[key] = row = len(self)
        return row


@dataclass(frozen=True, slots=True)
class FunctionHeader:
    """Content of a ``define`` or ``declare`` line (the name with quotes), and ranges of instructions and blocks."""

    name: str
    return_type: str
    arguments: tuple[IRArgument, ...]
    is_variadic: bool
    is_declaration: bool
    first: int
    last: int
    first_block: int
    last_block: int
    line: int  # of `IRModule.lines`

    @property
    def signature(self) -> str:
        """Function type in the format of `Form.signature`: ``i32 (ptr, ...)``."""
        types = [argument.type for argument in self.arguments] + ["..."] * self.is_variadic
        return f"{self.return_type} ({', '.join(types)})"


@dataclass(frozen=True, slots=True)
class ModuleArrays:
    """The module as columns. I instructions, B blocks, P operands, C successors."""

    form: Int32  # (I,) row of `IRModule.forms`
    block: Int32  # (I,) of the module
    function: Int32  # (I,) of the module
    line: Int32  # (I,) of `IRModule.lines`
    block_start: Int32  # (B + 1,) first instruction
    operand_start: Int32  # (I + 1,) first operand
    operand_kind: Int8  # (P,) `OperandKind`
    operand_ref: Int32  # (P,) instruction, number of argument, row of `constants` or `symbols`, block, else -1
    operand_type: Int32  # (P,) row of `types`
    successor_start: Int32  # (B + 1,) first successor
    successor: Int32  # (C,) block of the module, in successor order
    callee: Int32  # (I,) row of `symbols` called directly; -1 otherwise


@dataclass(frozen=True, eq=False)
class IRModule:
    """One LLVM module, read from canonical text.

    - ``name``: name of the input, for messages; ``source_name``: its ``source_filename``.
    - ``text``: canonical text, one instruction a line, without debug records and metadata attachments; ``annotated``:
      with attachments, if the IR has debug information or a profile, else "". No vector may depend on these.
    - ``headers``: functions in module order, declared ones too.
    - ``type_lines``, ``global_lines``: type definitions, and globals (aliases and ifuncs too), as printed.
    - ``forms``: distinct instruction texts.
    - ``symbols``, ``constants``, ``types``: distinct values of operands: names of globals and functions with ``@``;
      (type, value); types.
    - ``display``: symbol -> symbol as statements show it, for those that differ (demangled, numbered strings).
    - ``form``: one of `mirenc.llvm.passes.optimise.FORMS`; ``built``: levels before the passes of the form
      (`mirenc.llvm.analysis.detect_level.levels_by_symbol`); ``deleted``: the functions that these passes deleted, as a
      module of their own in that form, or None.
    - ``mended``: whether the IR was repaired before it was read, or read by another LLVM, which a warning said.
    - ``statements``: normalisation -> `mirenc.llvm.statements_of`.
    """

    name: str
    source_name: str
    text: str
    headers: list[FunctionHeader]
    type_lines: list[str]
    global_lines: list[str]
    forms: list[Form]
    symbols: list[str]
    constants: list[tuple[str, str]]
    types: list[str]
    display: dict[str, str] = field(repr=False)
    arrays: ModuleArrays = field(repr=False)
    annotated: str = field(repr=False, default="")
    built: dict[str, str] = field(repr=False, default_factory=dict)
    form: str = "plain"
    mended: bool = False
    deleted: IRModule | None = field(repr=False, default=None)
    statements: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __repr__(self) -> str:
        functions = f"functions={len(self.headers)}, defined={len(self.defined_functions)}"
        counts = f"{functions}, blocks={self.block_count}, instructions={self.instruction_count}"
        return f"IRModule({self.name!r}, {counts})"

    @property
    def instruction_count(self) -> int:
        return len(self.arrays.form)

    @property
    def block_count(self) -> int:
        return len(self.arrays.block_start) - 1

    @cached_property
    def content_hash(self) -> str:
        """SHA-256, as hexadecimal, of the canonical text: the same for a module's text and its bitcode.

        Left out are the source file's name, comments, the data layout, and declarations of intrinsics.
        """
        name, _, body = self.text.partition("\n")
        text = _common_text(body if name.startswith("source_filename") else self.text)
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

    @cached_property
    def lines(self) -> list[str]:
        """Lines of ``text``."""
        return self.text.split("\n")

    @property
    def functions(self) -> list[IRFunction]:
        """Functions in module order, declared ones too."""
        # Not cached: a cycle of references would keep the module alive.
        return [IRFunction(self, index) for index in range(len(self.headers))]

    def function(self, name: str) -> IRFunction:
        """The function of that name. Raises KeyError: no such function; the message names some that exist."""
        for function in self.functions:
            if function.name == name:
                return function
        examples = ", ".join(header.name for header in self.headers[:8])
        raise KeyError(f"no function {name!r} in {self.name}; it has: {examples}")

    @property
    def defined_functions(self) -> list[IRFunction]:
        """Functions with a body."""
        return [function for function in self.functions if not function.header.is_declaration]

    def local_names(self, instruction: int) -> list[str]:
        """Local names in the text of an instruction, in order of the placeholders of its form."""
        return split_locals(self.lines[self.arrays.line[instruction]].strip())[1]


@dataclass(frozen=True, slots=True)
class IRFunction:
    """View of one function."""

    module: IRModule = field(repr=False)
    index: int

    @property
    def header(self) -> FunctionHeader:
        return self.module.headers[self.index]

    @property
    def name(self) -> str:
        """Name without ``@`` and quotes."""
        return self.header.name.strip('"')

    @property
    def display_name(self) -> str:
        """Readable name: C++ and Rust names demangled, without parameters."""
        name = unescaped(self.name)
        return self.module.display.get("@" + self.header.name, "")[1:] or rust_name(name) or name
