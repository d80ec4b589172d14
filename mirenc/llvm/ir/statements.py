"""Statements of a module: the canonical lines that the text encoder reads (paper, section 3.1).

Type definitions and globals count as well as instructions: the paper's own sample is a type definition.
"""

import hashlib
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mirenc.base.arrays import Int32
from mirenc.base.errors import unknown
from mirenc.base.shown import short_repr
from mirenc.llvm.ir.module import IRModule, Rows, global_name

NORMALISATIONS = ("none", "locals")
# Text of the node of a declared function in ProGraML.
UNDEFINED_FUNCTION = "; undefined function"

_GROUP_REFERENCE = re.compile(r" #\d+")
_GLOBAL_NOISE = re.compile(
    r"\b(?:private|internal|available_externally|linkonce_odr|linkonce|weak_odr|weak|common|appending|extern_weak"
    r"|dso_local|dso_preemptable|hidden|protected|default|dllimport|dllexport|local_unnamed_addr|unnamed_addr"
    r"|externally_initialized) "
)
# Strings are masked as \0N\0 while a line is edited, so that their contents stay.
_GLOBAL_TAIL = re.compile(
    r",? (?:align \d+|comdat(?:\(\$[^)]*\))?|(?:section|partition|code_model) \0\d+\0"
    r"|no_sanitize_\w+|sanitize_\w+|#\d+|!\w+ !\d+)(?=,|$| )"
)
_STRING = re.compile(r'(?<![@%$])c?"[^"]*"')
_MASK = re.compile(r"\0(\d+)\0")
_SYMBOL = re.compile(r"@[-a-zA-Z$._0-9]+")
_BLOCK_ADDRESS = re.compile(r'(blockaddress\(@(?:[-a-zA-Z$._0-9]+|"[^"]*"), %)(?:[-a-zA-Z$._0-9]+|"[^"]*")')


def hide_block_names(text: str) -> str:
    """Text without the names of blocks inside ``blockaddress(@f, %b)``, which are local names."""
    return _BLOCK_ADDRESS.sub(r"\1", text) if "blockaddress" in text else text


def _outside_strings(line: str, edit: Callable[[str], str]) -> str:
    """A line with ``edit`` applied outside of its strings."""
    if '"' not in line:
        return edit(line)
    strings = _STRING.findall(line)
    number = itertools.count()
    edited_line = edit(_STRING.sub(lambda match: f"\0{next(number)}\0", line))
    return _MASK.sub(lambda match: strings[int(match[1])], edited_line)


@dataclass(frozen=True, eq=False)
class Statements:
    """The S statements of a module in one normalisation.

    ``texts`` are the distinct ones, and ``row`` (S,) int32 says which of them each statement is: type definitions, then
    globals from ``first_global`` on, then instructions in module order from ``first_instruction`` on.
    """

    normalisation: str
    texts: list[str]
    row: Int32
    first_global: int
    first_instruction: int

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.row)

    def __getitem__(self, index: int) -> str:
        return self.texts[self.row[index]]

    @cached_property
    def content_hash(self) -> bytes:
        """`digest` of all statements: the same whatever names, metadata and alignment a program has."""
        return self.digest(0, len(self))

    def digest(self, first: int, last: int) -> bytes:
        """BLAKE2b (16 bytes) of the statements ``first .. last - 1`` in order."""
        texts = "\n".join([self.texts[row] for row in self.row[first:last].tolist()])
        return hashlib.blake2b(texts.encode("utf-8", "surrogateescape"), digest_size=16).digest()


def statements_of(module: IRModule, normalisation: str = "locals") -> Statements:
    """Statements of a module in a normalisation, computed once and kept with the module.

    ``none`` is the paper's: the canonical line without metadata attachments and attribute groups. ``locals`` also
    replaces local names by ``%``, drops attributes, alignment, linkage and debug records, and demangles symbols, so
    that statements of different programs can be equal. Raises ValueError: unknown normalisation.
    """
    if normalisation in module.statements:
        return module.statements[normalisation]
    if normalisation not in NORMALISATIONS:
        raise ValueError(unknown("normalisation", normalisation, NORMALISATIONS))
    table = Rows[str]()
    leading_rows = [table[line] for line in module.type_lines]
    if normalisation == "locals":
        leading_rows += [table[_plain_global(line, module.display)] for line in module.global_lines]
        body = np.array([table[form.statement] for form in module.forms], dtype=np.int32)[module.arrays.form]
    else:
        leading_rows += [table[_without_groups(line)] for line in module.global_lines]
        body = np.array([table[_without_groups(module.lines[line])] for line in module.arrays.line], dtype=np.int32)
    row = np.concatenate([np.array(leading_rows, dtype=np.int32), body])
    statements = Statements(normalisation, list(table), row, len(module.type_lines), len(leading_rows))
    module.statements[normalisation] = statements
    return statements


def _without_groups(line: str) -> str:
    line = line.strip()
    return _outside_strings(line, lambda text: _GROUP_REFERENCE.sub("", text)) if " #" in line else line


def _plain_global(line: str, display: dict[str, str]) -> str:
    """The statement of a global in the normalisation ``locals``."""
    name = global_name(line)
    definition = line[len(name) + len(" = ") :]

    def normalise(text: str) -> str:
        # Only the words before the type are linkage and visibility; the initialiser may hold any text.
        prefix, keyword, tail = re.split(r"\b(global|constant|alias|ifunc)\b", text, maxsplit=1)
        text = f"{_GLOBAL_NOISE.sub('', prefix)}{keyword}{_GLOBAL_TAIL.sub('', tail)}"
        return _SYMBOL.sub(lambda match: display.get(match[0], match[0]), text) if display else text

    return f"{display.get(name, name)} = {_outside_strings(hide_block_names(definition), normalise)}"
