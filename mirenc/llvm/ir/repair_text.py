"""Text that LLVM refuses for what no vector depends on: what is left out, and what is declared by its use."""

import re
from typing import NamedTuple

from mirenc.base.errors import IRParseError

_DEBUG_NODE = re.compile(r"(!\d+) = (?:distinct )?!(?:DI\w+|GenericDINode)\(")
_DEBUG_LINE = re.compile(rf"^(?:{_DEBUG_NODE.pattern}|!llvm\.dbg\.cu = ).*$", re.MULTILINE)
_RECORD = re.compile(r"^[ \t]*#dbg_\w+\(.*$", re.MULTILINE)
_NODE = re.compile(r"^!\d+ = .*$", re.MULTILINE)
_OF_GLOBAL = re.compile(r"^(@.*), !dbg !\d+", re.MULTILINE)
_REFERENCE = re.compile(r"!\d+\b")
_UNDEFINED = re.compile(r"use of undefined (value|metadata|comdat) '([@!$][^\n]*)'")
_ATTRIBUTE = re.compile(rb'[\w.:-]+(?:\((?:[^()"\n]|\([^()\n]*\))*\))? ?')
_EMPTY_GROUP = re.compile(rb"= \{ *\}")


class Repair(NamedTuple):
    """A text to try next, whether LLVM may declare what it lacks, and what was done, for the user."""

    text: str
    incomplete: bool
    what: str


def repair(text: str, refusal: IRParseError) -> Repair | None:
    """What may be read in place of a text that LLVM refused; None: the reason is none of these.

    An attribute in a group that LLVM does not know, and debug information that it does not read, are left out; a
    function or variable that is used and not declared is declared as it is used (LLVM's ``-allow-incomplete-ir``),
    references to metadata that is not there are dropped, and a comdat is defined. Lines stay where they are.
    """
    if undefined := _UNDEFINED.search(refusal.diagnostic):
        kind, name = undefined.groups()
        if kind == "comdat":
            return Repair(
                f"{text}\n{name} = comdat any\n", False, "it uses comdats without a definition; they are added"
            )
        if kind == "metadata":
            # LLVM drops references from instructions, not from debug records.
            return Repair(
                _RECORD.sub("", text), True, f"metadata that it refers to is not there and is left out ({name})"
            )
        return Repair(text, True, f"it uses {name} without a declaration; what is missing is declared as it is used")
    if refusal.line is None or refusal.column is None:
        return None
    lines = text.split("\n")
    line = lines[refusal.line - 1]
    if _DEBUG_NODE.match(line):
        return Repair(_without_debug_information(text), True, f"its debug information is left out ({refusal})")
    if line.startswith("attributes #") and "unterminated attribute group" in refusal.diagnostic:
        raw, start = line.encode("utf-8", "surrogateescape"), refusal.column - 1  # LLVM counts bytes
        attribute = _ATTRIBUTE.match(raw, start)
        if attribute is None:
            return None
        # LLVM refuses an empty group; this attribute has no meaning.
        kept = _EMPTY_GROUP.sub(b'= { "none" }', raw[:start] + raw[attribute.end() :])
        lines[refusal.line - 1] = kept.decode("utf-8", "surrogateescape")
        unknown = attribute[0].decode("utf-8", "surrogateescape").strip()
        return Repair("\n".join(lines), False, f"the attribute {unknown} is unknown to LLVM 22 and is left out")
    return None


def _without_debug_information(text: str) -> str:
    """Text without nodes and records of debug information, and without references to them from other nodes."""
    dropped = {match[1] for match in _DEBUG_LINE.finditer(text)}
    text = _OF_GLOBAL.sub(r"\1", _RECORD.sub("", _DEBUG_LINE.sub("", text)))

    def cleaned(node: re.Match[str]) -> str:
        name, content = node[0].split(" = ", 1)
        return f"{name} = " + _REFERENCE.sub(lambda other: "null" if other[0] in dropped else other[0], content)

    return _NODE.sub(cleaned, text)
