"""Text that LLVM refuses for what no vector depends on: what is left out, and what is declared by its use."""

import re
from typing import NamedTuple

from mirenc.base.errors import IRParseError

_DEBUG_NODE = re.compile(r"(!\d+) = (?:distinct )?!(?:DI\w+|GenericDINode)\(")
_DEBUG_LINE = re.compile(rf"^(?:{_DEBUG_NODE.pattern}|!llvm\.dbg\.cu = ).*$", re.MULTILINE)
_RECORD = re.compile(r"^[ \t]*#dbg_\w+\(.*$", re.MULTILINE)
_NODE = re.compile(r"^!\d+ = .*$", re.MULTILINE)
_GLOBAL_ATTACHMENT = re.compile(r"^(@.*), !dbg !\d+", re.MULTILINE)
_REFERENCE = re.compile(r"!\d+\b")
_UNDEFINED = re.compile(r"use of undefined (value|metadata|comdat) '([@!$][^\n]*)'")
_NAMED_NODE = re.compile(r"^(![a-zA-Z][\w.]*) = !\{(.*)\}$", re.MULTILINE)
_EMPTY_GROUP = re.compile(r"= \{ *\}")
_ARGUMENT = r'\((?:[^()"\n]|"[^"\n]*"|\([^()\n]*\))*\)'
_MODIFIER = re.compile(rf"([a-z][\w.:-]*)(?:{_ARGUMENT})?")
_SIGNATURE = re.compile(r"^(?:define|declare)\b.*|^.*[ \t](?:call|invoke|callbr)[ \t].*", re.MULTILINE)
_GROUP = re.compile(r"^attributes #.*", re.MULTILINE)
_OPCODE = re.compile(r"[ \t]*(?:%\S+ = )?([a-z]+)")
_BEFORE_TYPE = re.compile(r"[(,{\[<] *$|\b(?:to|x) $")
_OWNER = re.compile(r"(?<![\w.%@])[a-z]\w*_\w+$")  # an attribute that has an argument in a newer LLVM; no type
_ASM_ARGUMENT = re.compile(rf"^module asm{_ARGUMENT}", re.MULTILINE)
_STRING_OF_ASM = re.compile(r'^[ \t]+(?="[^"\n]*"$)', re.MULTILINE)


CHANGED_INTRINSIC = re.compile(
    r"^(?:Intrinsic has incorrect (?:argument|return) type!\nptr |The splice index exceeds .*\n.*)@llvm\.([\w.-]+)",
    re.MULTILINE,
)
_BLOCK_ARGUMENT = re.compile(r'\blabel (%(?:"[^"\n]*"|[-\w$.]+))')
_FUNCTION_NAME = re.compile(r'^define [^@\n]*(@(?:"[^"\n]*"|[-\w$.]+))')
# What the verifiers of LLVM 20 to 22 refuse and LLVM 19's does not: words of the refusal, what is replaced in the text
# and by what, and the warning.
_NEW_RULES = (
    (
        "calling convention does not permit calls",
        re.compile(r"\b(call|invoke) (?:amdgpu|spir|ptx)_(?:kernel|cs\w*|gfx\w*) "),
        r"\1 ",
        "it calls kernels; their calls are read without the calling convention",
    ),
    (
        "target-features attribute should not contain an empty string",
        re.compile(r'(?<="target-features"="),+'),
        "",
        "empty features of the target are left out",
    ),
    ("!memprof MemInfoBlock", re.compile(r", !memprof !\d+"), "", "its memory profile is left out"),
    (
        "cannot use argument of naked function",
        re.compile(r"\bnaked (?=[^\n\"]*[{}]$)", re.MULTILINE),
        '"none" ',
        "it uses arguments of naked functions, which are read without that attribute",
    ),
)
NEWEST_READ = 22  # LLVM of the oldest llvmlite that mirenc installs with


class Repair(NamedTuple):
    """A text to try next, whether LLVM may declare what it lacks, and what was done, for the user."""

    text: str
    incomplete: bool
    description: str


def repair(text: str, refusal: IRParseError) -> Repair | None:
    """What may be read in place of a text that LLVM refused; None: the reason is none of these.

    Attributes and flags that LLVM does not know, and debug information that it does not read, are left out; a
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
    if names := set(CHANGED_INTRINSIC.findall(refusal.diagnostic)):
        for name in names:
            text = re.sub(rf"@llvm\.{re.escape(name)}(?![\w.-])", f"@llvm.old.{name}", text)
        change = f"intrinsics that LLVM {NEWEST_READ} has in another form are read as functions (@llvm.{min(names)})"
        return Repair(text, False, change)
    for words, pattern, replacement, change in _NEW_RULES:
        if words in refusal.diagnostic:
            return Repair(pattern.sub(replacement, text), False, change)
    if refusal.line is None or refusal.column is None:
        return None
    line, start = place_of(text, refusal.line, refusal.column)
    if _BLOCK_ARGUMENT.match(line, start):
        return Repair(_with_block_addresses(text), False, "blocks that it passes to assembly are passed as addresses")
    if _DEBUG_NODE.match(line) or _RECORD.match(line):
        return Repair(without_debug_information(text), True, f"its debug information is left out ({refusal})")
    return _without_modifier(text, line, start)


def _with_block_addresses(text: str) -> str:
    """Text in which assembly gets ``ptr blockaddress(@f, %b)`` for ``label %b``, as LLVM 20 and later want it."""
    function = ""

    def block_address(argument: re.Match[str]) -> str:
        return f"ptr blockaddress({function}, {argument[1]})"

    lines = text.split("\n")
    for row, line in enumerate(lines):
        if match := _FUNCTION_NAME.match(line):
            function = match[1]
        elif " asm " in line:
            lines[row] = _BLOCK_ARGUMENT.sub(block_address, line)
    return "\n".join(lines)


def place_of(text: str, number: int, column: int) -> tuple[str, int]:
    """A line of text, and the index in it that a column of LLVM means, which counts bytes."""
    line = text.split("\n")[number - 1]
    prefix = line.encode("utf-8", "surrogateescape")[: column - 1]
    return line, len(prefix.decode("utf-8", "surrogateescape"))


def _without_modifier(text: str, line: str, start: int) -> Repair | None:
    """Text without the attribute, flag, or argument of one that begins at ``start`` in ``line``; None if it is none.

    It goes from all lines of the kind: groups of attributes, signatures and calls, or instructions of one opcode.
    """
    opcode, modifier = _OPCODE.match(line), _MODIFIER.match(line, start)
    if line.startswith("module asm("):
        text, subject = _STRING_OF_ASM.sub("module asm ", _ASM_ARGUMENT.sub("", text)), "what `module asm` is for"
    elif line[start : start + 1] == "(" and (owner := _OWNER.search(line[:start])):
        text, subject = re.sub(rf"\b{owner[0]}{_ARGUMENT}", owner[0], text), f"the argument of {owner[0]}"
    elif modifier is None or opcode is None or start <= opcode.start(1):
        return None  # an instruction
    else:
        kind, subject = re.compile(rf"^[ \t]*(?:%\S+ = )?{opcode[1]} .*", re.MULTILINE), f"the flag {modifier[0]}"
        for lines in (_GROUP, _SIGNATURE):
            if lines.match(line):
                kind, subject = lines, f"the attribute {modifier[0]}"
        if kind is not _GROUP and _BEFORE_TYPE.search(line[:start]):
            return None
        word = re.compile(rf'"[^"\n]*"|(?<![\w.%@!$#-]){re.escape(modifier[1])}(?![\w.:-])(?:{_ARGUMENT})? ?')
        text = kind.sub(lambda match: word.sub(lambda part: part[0] if part[0][0] == '"' else "", match[0]), text)
        text = _EMPTY_GROUP.sub('= { "none" }', text)  # LLVM refuses an empty one
    return Repair(text, False, f"{subject} is unknown to LLVM {NEWEST_READ} and is left out")


def without_debug_information(text: str) -> str:
    """Text without nodes and records of debug information, and without references to them from other nodes."""
    debug_nodes = {match[1] for match in _DEBUG_LINE.finditer(text)}
    text = _GLOBAL_ATTACHMENT.sub(r"\1", _RECORD.sub("", _DEBUG_LINE.sub("", text)))

    def clean_node(node: re.Match[str]) -> str:
        name, content = node[0].split(" = ", 1)
        return f"{name} = " + _REFERENCE.sub(lambda match: "null" if match[0] in debug_nodes else match[0], content)

    def clean_list(node: re.Match[str]) -> str:
        return f"{node[1]} = !{{{', '.join(name for name in node[2].split(', ') if name not in debug_nodes)}}}"

    return _NAMED_NODE.sub(clean_list, _NODE.sub(clean_node, text))
