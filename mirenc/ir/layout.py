"""`Layout`: sizes of types and places of a struct's fields, from a module's type definitions.

Source: LLVM Language Reference, "Data Layout" and "Type System": natural alignment, as on x86-64, AArch64 and the GPUs
with 64-bit addresses. It is not read from the module, so a struct with pointers of a 32-bit target has other places
here; they are the same ones in all IR of that target.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Layout", "Struct", "is_type_definition"]

_DEFINITION = re.compile(r'(%(?:"[^"]*"|[-a-zA-Z$._0-9]+)) = type (.+)', re.DOTALL)
_INTEGER = re.compile(r"i(\d+)")
_REPEATED = re.compile(r"([\[<])(\d+) x (.+)[\]>]", re.DOTALL)
_WORD = re.compile(r'"[^"]*"|[\[{<(]|[\]}>)]|,|[^\[{<(\]}>),"]+')
_POINTER = 8
_SIZES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "x86_fp80": 16, "fp128": 16, "ppc_fp128": 16}
_LARGEST_ALIGNMENT = 16  # of an integer


class Struct(NamedTuple):
    """Where a struct's fields are: their types, their first bytes, and its own size and alignment, in bytes."""

    fields: list[str]
    offsets: list[int]
    size: int
    alignment: int


def is_type_definition(statement: str) -> bool:
    """Whether a statement is a type definition, and no instruction."""
    return statement.startswith("%") and not statement.startswith("% ")


class Layout:
    """Sizes of types.

    Parameters
    ----------
    definitions : iterable of str
        Statements; type definitions are taken, the first of a name, and others passed over.

    Examples
    --------
    >>> layout = Layout(["%struct.pair = type { i32, ptr }"])
    >>> layout.size("[2 x %struct.pair]"), layout.struct("%struct.pair").offsets
    (32, [0, 8])
    """

    def __init__(self, definitions: Iterable[str] = ()) -> None:
        self._definitions: dict[str, str] = {}
        self._known: dict[str, tuple[int, int] | None] = {}
        self._structs: dict[str, Struct | None] = {}
        for statement in definitions:
            if is_type_definition(statement) and (found := _DEFINITION.fullmatch(statement)) is not None:
                self._definitions.setdefault(found[1], found[2])

    def size(self, type_text: str) -> int | None:
        """Bytes from one element of an array to the next; None for a type whose size is not known here."""
        found = self._measure(type_text)
        return None if found is None else found[0]

    def element(self, type_text: str) -> str | None:
        """Type of an array's or vector's elements; None for any other type."""
        text = self._definitions.get(type_text, type_text)
        found = _REPEATED.fullmatch(text) if text.startswith(("[", "<")) and not text.startswith("<{") else None
        return None if found is None else found[3]

    def struct(self, type_text: str) -> Struct | None:
        """Fields of a struct; None for any other type, and where the size of a field is not known."""
        if type_text not in self._structs:
            self._structs[type_text] = None  # what contains itself has no size
            self._structs[type_text] = self._laid_out(self._definitions.get(type_text, type_text))
        return self._structs[type_text]

    def _measure(self, type_text: str) -> tuple[int, int] | None:
        """Size and alignment."""
        if type_text not in self._known:
            self._known[type_text] = None
            self._known[type_text] = self._measured(type_text)
        return self._known[type_text]

    def _measured(self, type_text: str) -> tuple[int, int] | None:
        if type_text == "ptr" or type_text.startswith("ptr addrspace("):
            return _POINTER, _POINTER
        if type_text in _SIZES:
            return _SIZES[type_text], _SIZES[type_text]
        integer = _INTEGER.fullmatch(type_text)
        if integer is not None:
            alignment = min(_power_of_two((int(integer[1]) + 7) // 8), _LARGEST_ALIGNMENT)
            return _up(-(-int(integer[1]) // 8), alignment), alignment
        text = self._definitions.get(type_text, type_text)
        repeated = _REPEATED.fullmatch(text) if self.element(text) is not None else None
        if repeated is not None:
            inner = self._measure(repeated[3])
            if inner is None:
                return None
            size = int(repeated[2]) * inner[0]
            return (size, inner[1]) if repeated[1] == "[" else (_power_of_two(size), _power_of_two(size))
        struct = self.struct(type_text)
        return None if struct is None else (struct.size, struct.alignment)

    def _laid_out(self, text: str) -> Struct | None:
        packed = text.startswith("<{")
        if not packed and not text.startswith("{"):
            return None
        fields = _split(text[2:-2] if packed else text[1:-1])
        offsets, at, largest = [], 0, 1
        for field in fields:
            found = self._measure(field)
            if found is None:
                return None
            size, alignment = found[0], 1 if packed else found[1]
            at, largest = _up(at, alignment), max(largest, alignment)
            offsets.append(at)
            at += size
        return Struct(fields, offsets, _up(at, largest), largest)


def _power_of_two(size: int) -> int:
    return 1 << max(size - 1, 0).bit_length()


def _up(at: int, alignment: int) -> int:
    return -(-at // alignment) * alignment


def _split(text: str) -> list[str]:
    """What commas part, but for those in brackets and quotes."""
    parts, depth = [""], 0
    for word in _WORD.findall(text):
        if word == "," and depth == 0:
            parts.append("")
            continue
        depth += (word in "[{<(") - (word in "]}>)")
        parts[-1] += word
    return [part.strip() for part in parts if part.strip()]
