"""`plain_statement`: one spelling of what clangs of different years, and their optimisers, write in different ways.

Clang 19 at -O2 says ``getelementptr i8, ptr %, i64 24`` where clang 16, and any clang at -O0, names a struct and a
field; optimisers add what they proved (``nuw``, ``nneg``, ``inbounds``) as flags. Which address is taken, and which
number is added, is the same. The encoders learned statements as they are written; the lexical view, which compares
words, reads this spelling (measured in pretrain/README.md).
"""

from __future__ import annotations

import re

from mirenc.ir.layout import Layout

__all__ = ["plain_statement"]

_FLAGGED = re.compile(
    r"(?<== )(add|sub|mul|shl|udiv|sdiv|lshr|ashr|or|zext|uitofp|trunc|icmp)"
    r" (?:nuw |nsw |exact |disjoint |nneg |samesign )+"
)
_POISON = re.compile(r"(?<=[ \[])poison(?=[ ,>\])]|$)")  # LLVM 12 and later; before, all was undef
# Without vectors of addresses. A demangled name may have commas, so the indices are found from the end.
_ADDRESS = re.compile(
    r"% = getelementptr (?:(?:inbounds|nuw|nusw|inrange\([^)]*\)) )*"
    r'((?:%"[^"]*"|[^,"{])+|\{[^{}]*\}), (ptr .*?)((?:, i\d+ (?:-?\d+|%))+)'
)
_INDEX = re.compile(r", i\d+ (-?\d+|%)")


def plain_statement(statement: str, layout: Layout) -> str:
    """A statement of normalisation ``locals`` in one spelling.

    Flags that only say what is never the case are left out, and ``poison`` is ``undef``. An address at a fixed distance
    is one in bytes; one with a single index that is not fixed says what type it counts, and leaves out what is fixed.
    Any other address stays as it is, and so does one of a type that ``layout`` cannot measure.

    Examples
    --------
    >>> pair = Layout(["%struct.pair = type { i32, [4 x ptr] }"])
    >>> plain_statement("% = getelementptr inbounds %struct.pair, ptr %, i32 0, i32 1", pair)
    '% = getelementptr i8, ptr %, i64 8'
    >>> plain_statement("% = getelementptr inbounds %struct.pair, ptr %, i64 0, i32 1, i64 %", pair)
    '% = getelementptr ptr, ptr %, i64 %'
    >>> plain_statement("% = add nuw nsw i32 %, 1", pair)
    '% = add i32 %, 1'
    """
    if statement.startswith("% = getelementptr "):
        found = _ADDRESS.fullmatch(statement)
        return statement if found is None else _in_bytes(found, layout) or statement
    plain = _FLAGGED.sub(r"\1 ", statement)
    return _POISON.sub("undef", plain) if "poison" in plain else plain


def _in_bytes(address: re.Match[str], layout: Layout) -> str | None:
    kind, base = address[1], address[2]
    offset, counted = 0, ""
    for number, index in enumerate(_INDEX.findall(address[3])):
        if number and (struct := layout.struct(kind)) is not None:
            if not index.isdigit() or int(index) >= len(struct.fields):
                return None
            offset += struct.offsets[int(index)]
            kind = struct.fields[int(index)]
            continue
        if number:
            element = layout.element(kind)
            if element is None:
                return None
            kind = element
        if index == "%":
            if counted:
                return None
            counted = kind
        elif index != "0":
            size = layout.size(kind)
            if size is None:
                return None
            offset += int(index) * size
    return f"% = getelementptr {counted}, {base}, i64 %" if counted else f"% = getelementptr i8, {base}, i64 {offset}"
