"""Canonical text line by line: one line an instruction, split into its template and its local names."""

import itertools
import re
from collections.abc import Sequence

from mirenc.base.errors import IRParseError

NAME = r'(?:"[^"]*"|[-a-zA-Z$._0-9]+)'
"""Pattern of a name as LLVM prints it after ``@``, ``%`` or ``$``, quotes included."""
# Up to a function's name; names of types before it may have an @ in quotes.
DEFINED = re.compile(rf'^define (?:"[^"]*"|[^"@\n])*@({NAME})\(', re.MULTILINE)
_LOCAL = re.compile(r"%([-a-zA-Z$._0-9]+)")
# In a line with quotes, strings must be skipped: they may contain `%` and names.
_LOCAL_OR_STRING = re.compile(r'%([-a-zA-Z$._0-9]+|"[^"]*")|[@!c]?"[^"]*"')
_PLACEHOLDER_OR_STRING = re.compile(r'%|[@!c]?"[^"]*"')
_NODE = r"!(?:\d+|DI\w+\([^()]*\))"
_ATTACHMENTS = re.compile(rf", ![-\w.$\\]+ {_NODE}(?:, ![-\w.$\\]+ {_NODE})*$", re.MULTILINE)
_HEADER_PROFILE = re.compile(r"^(define [^\n]*) !prof !\d+(?=[^\n]*\{$)", re.MULTILINE)
_KEPT = re.compile(r", !(?:dbg|llvm\.preserve\.access\.index) !\d+")  # source places; needed by a pass of BPF
_DEBUG_RECORD = re.compile(r"\n    #dbg_[^\n]*")
# LLVM breaks lines only inside switch, invoke, callbr and landingpad, always with this indentation.
_CONTINUATION = re.compile(r"\n {4}(?: {6})?|\n  (?=\])")
OPENING, _CLOSING = "([{<", ")]}>"
_ATTRIBUTE_GROUP = re.compile(r"^attributes (#\d+) = \{([^\n]*)\}$", re.MULTILINE)
_LABEL = re.compile(rf"({NAME}):")


def join_lines(text: str) -> str:
    """Text with every instruction on one line, without debug records."""
    return _CONTINUATION.sub(" ", _DEBUG_RECORD.sub("", text))


def without_attachments(text: str) -> str:
    """Text without the metadata attachments of instructions."""
    return _ATTACHMENTS.sub("", text) if ", !" in text else text


def without_hints(text: str) -> str:
    """Text without hints for later passes: profiles, and attachments but for source places and BPF's."""
    text = _HEADER_PROFILE.sub(r"\1", _DEBUG_RECORD.sub("", text) if "#dbg_" in text else text)
    if _KEPT.search(text) is None:
        return without_attachments(text)
    return _ATTACHMENTS.sub(lambda match: "".join(_KEPT.findall(match[0])), text)


def split_locals(line: str) -> tuple[str, list[str]]:
    """The template of a line, with ``%`` for every local name, and the names in order, quoted ones with quotes."""
    if '"' not in line:
        parts = _LOCAL.split(line)
        return "%".join(parts[::2]), parts[1::2]
    names: list[str] = []

    def cut(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        names.append(match[1])
        return "%"

    return _LOCAL_OR_STRING.sub(cut, line), names


def split_all(lines: list[str]) -> tuple[list[str], list[str]]:
    """Template of each line, and the local names of all, in order."""
    text = "\n".join(lines)
    if '"' not in text:
        parts = _LOCAL.split(text)
        return "%".join(parts[::2]).split("\n"), parts[1::2]
    templates: list[str] = []
    names: list[str] = []
    for line in lines:
        template, locals_of = split_locals(line)
        templates.append(template)
        names += locals_of
    return templates, names


def fill(template: str, slots: Sequence[int], names: Sequence[str]) -> str:
    """A template with names put back into some of its placeholders; a ``%`` inside a string is not one."""
    count = itertools.count()

    def put(match: re.Match[str]) -> str:
        if match[0] != "%":
            return match[0]
        slot = next(count)
        return "%" + names[slot] if slot in slots else "%"

    return _PLACEHOLDER_OR_STRING.sub(put, template)


def attribute_groups(text: str) -> dict[str, str]:
    """Attributes of each attribute group of a module's text, by name of the group, such as ``#0``."""
    return {name: words.strip() for name, words in _ATTRIBUTE_GROUP.findall(text)}


def label_name(line: str) -> str:
    """Name of the block that a label line begins, as printed, with its quotes if it has some."""
    match = _LABEL.match(line)
    if match is None:
        raise IRParseError(f"not a label in canonical text (a bug of mirenc): {line!r}")
    return match[1]


def balanced(text: str, start: int) -> int:
    """Index behind the bracket that closes the one at ``start``."""
    depth, position = 0, start
    while True:
        if text[position] == '"':
            position = text.index('"', position + 1)
        elif text[position] in OPENING:
            depth += 1
        elif text[position] in _CLOSING:
            depth -= 1
        position += 1
        if not depth:
            return position
