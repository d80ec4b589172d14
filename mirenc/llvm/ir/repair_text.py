"""Text that LLVM refuses for what no vector depends on: what is left out, and what is declared by its use."""

import re
from typing import NamedTuple

from mirenc.base.errors import IRParseError

_DEBUG_NODE = re.compile(r"^!\d+ = (?:distinct )?!(?:DI\w+|GenericDINode)\(")
_DEBUG_LINES = re.compile(rf"(?:{_DEBUG_NODE.pattern}|^!llvm\.dbg\.cu = |^\s*#dbg_\w+\().*$", re.MULTILINE)
_COMDAT = re.compile(r"\bcomdat(?:\(\$[^)]*\))?(?=[ ,]|$)", re.MULTILINE)
_UNDECLARED = re.compile(r"use of undefined (?:value '(@[^']*)'|metadata '(![^']*)')")
_ATTRIBUTE = re.compile(r'[\w.:-]+(?:\((?:[^()"]|\([^()]*\))*\))? ?')


class Repair(NamedTuple):
    """A text to try next, whether LLVM may declare what it lacks, and what was done, for the user."""

    text: str
    incomplete: bool
    what: str


def repair(text: str, refusal: IRParseError) -> Repair | None:
    """What may be read in place of a text that LLVM refused; None: the reason is none of these.

    An attribute in a group that LLVM does not know, and debug information that it does not read, are left out; a
    function or variable that is used and not declared is declared as it is used (LLVM's ``-allow-incomplete-ir``), and
    references to metadata that is not there are dropped. Lines stay where they are.
    """
    if undeclared := _UNDECLARED.search(refusal.diagnostic):
        name = undeclared[1] or undeclared[2]
        return Repair(text, True, f"it uses {name} without a declaration; what is missing is declared as it is used")
    if "use of undefined comdat" in refusal.diagnostic:
        return Repair(_COMDAT.sub("", text), False, "its comdats are not there and are left out")
    if refusal.line is None or refusal.column is None:
        return None
    lines = text.split("\n")
    line = lines[refusal.line - 1]
    if _DEBUG_NODE.match(line):
        return Repair(_DEBUG_LINES.sub("", text), True, f"its debug information is left out ({refusal})")
    if line.startswith("attributes #") and "unterminated attribute group" in refusal.diagnostic:
        start = refusal.column - 1
        attribute = _ATTRIBUTE.match(line, start)
        if attribute is None:
            return None
        lines[refusal.line - 1] = line[:start] + line[attribute.end() :]
        return Repair(
            "\n".join(lines), False, f"the attribute {attribute[0].strip()} is unknown to LLVM 22 and is left out"
        )
    return None
