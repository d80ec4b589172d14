"""One function of a module as a module of its own, so that passes run on it and its size is known.

It works on text that any LLVM prints: a module is cut into its entries once, and each function takes those that it
reaches. The function becomes visible from outside, or the first pass would remove it; other functions are declared
only, so nothing is inlined. A constant keeps its value, since code depends on it. A variable is declared only: with the
functions that write it gone, a static one would look constant. Symbols of the module stay ``dso_local``, since code
reaches symbols of other modules through a table.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from mirenc.base.errors import IRParseError
from mirenc.llvm.ir.lines import NAME, OPENING, balanced

# What an entry may refer to; quoted text and remarks refer to nothing. LLVM spells a quote inside a string `\22`.
_REFERENCE = re.compile(rf'([@%#!]{NAME})|"[^"]*"|;[^\n]*')
_NAMED_ENTRY = re.compile(rf"(?:attributes )?([@%#!]{NAME}) = ")
_FUNCTION = re.compile(rf"(?:define|declare) [^\n]*?(@{NAME})\(")
_VARIABLE = re.compile(rf"@{NAME} = ((?:[\w()]+ )*?)(global|constant) ")
_ALIAS = re.compile(rf"@{NAME} = ((?:[\w()]+ )*?)(?:alias|ifunc) ")
_LINKAGES = "private|internal|available_externally|linkonce|weak|common|appending|linkonce_odr|weak_odr|external"
_LINKAGE = re.compile(rf"\b({_LINKAGES}) ")
_COMDAT = re.compile(rf'("[^"]*")|,? comdat(?:\(\${NAME}\)|(?=[ ,]|$))', re.MULTILINE)
# What may follow a declaration's attributes and belongs to definitions.
_DEFINITION = re.compile(r" (?:section|partition|comdat|align|gc|prefix|prologue|personality|!|\{)(?![\w=])| ![a-z]")
_ALIGNMENT = re.compile(r", align \d+(?=, |$)")
_BLOCK_ADDRESS = re.compile(rf"\bblockaddress\((@{NAME}), ")
_SUFFIX = re.compile(r"\*|(?: addrspace)?(?: ?\()")
_KEPT_METADATA = ("!llvm.module.flags", "!llvm.dbg.cu")  # the second is what the verifier asks of debug information

_GROUP = re.compile(r"^attributes (#\d+) = \{(.*)\}$", re.MULTILINE)
_SIZE_WORD = re.compile(r'("[^"]*")| (?:minsize|optsize)(?=[ \n]|$)')


@dataclass
class _Entry:
    """A top-level entry; ``number`` is its place in the text, ``text`` how it reads where it is kept."""

    number: int
    name: str
    text: str
    source: str

    @cached_property
    def references(self) -> list[str]:
        return list(dict.fromkeys(name for name in _REFERENCE.findall(self.text) if name))

    @cached_property
    def declaration(self) -> "_Entry":
        """The entry as a declaration, for modules in which only its existence counts."""
        return _Entry(self.number, self.name, _declaration(self.source), "")

    def entry_for(self, function: str) -> "_Entry":
        """The entry as the module of a function has it: itself, or its declaration."""
        if self.name[0] != "@" or self.name == function or self.source.startswith("declare"):
            return self
        variable = _VARIABLE.match(self.source)
        # The address of another function's block says nothing without that block.
        is_constant = variable and variable[2] == "constant" and set(_BLOCK_ADDRESS.findall(self.source)) <= {function}
        return self if is_constant else self.declaration


def extract_functions(text: str) -> Iterator[tuple[str, str]]:
    """Name and module of each function that a module defines, as a module of its own.

    ``text`` is a module as LLVM prints it (``clang -S -emit-llvm``, `mirenc.llvm.IRModule.text`). A name is the
    function's symbol without ``@`` and quotes; its module has the function, what it reaches, target and module flags.
    Attributes stay, linkage and comdats go. A function that takes the address of another one's block is left out.
    Raises IRParseError: a function has no end.
    """
    target_lines, entries = _entries(text)
    metadata_entries = [entries[name] for name in _KEPT_METADATA if name in entries]
    for entry in list(entries.values()):
        if entry.source.startswith("define") and set(_BLOCK_ADDRESS.findall(entry.text)) <= {entry.name}:
            texts = _needed_texts(entries, [entry, *metadata_entries], entry.name)
            yield entry.name[1:].strip('"'), "\n".join([*target_lines, *texts, ""])


def without_size_attributes(text: str) -> str:
    """The same module without ``minsize`` and ``optsize``: what a front end gives without -Oz or -Os."""
    empty_groups = set()

    def shrink(group: re.Match[str]) -> str:
        words = _without_size_words(group[2] + " ")
        if words.strip():
            return f"attributes {group[1]} = {{{words[:-1]}}}"
        empty_groups.add(group[1])
        return ""

    text = _GROUP.sub(shrink, text)
    text = re.sub(r"^(?:define|declare) [^\n]*", lambda line: _without_size_words(line[0]), text, flags=re.MULTILINE)
    # LLVM refuses a group without attributes, so what is empty goes with all that refers to it.
    return re.sub(r'("[^"]*")| (#\d+)\b', lambda match: "" if match[2] in empty_groups else match[0], text)


def _without_size_words(text: str) -> str:
    return _SIZE_WORD.sub(lambda match: match[1] or "", text)


def _needed_texts(entries: dict[str, _Entry], start: list[_Entry], function: str) -> list[str]:
    """Texts of all that a function's module needs, in the order of the original."""
    needed = {entry.name: entry for entry in start}
    stack = list(start)
    while stack:
        for name in stack.pop().references:
            if name not in needed and name in entries:
                needed[name] = entries[name].entry_for(function)
                stack.append(needed[name])
    return [entry.text for entry in sorted(needed.values(), key=lambda entry: entry.number)]


def _entries(text: str) -> tuple[list[str], dict[str, _Entry]]:
    """Lines about the target, and the entries that have names."""
    target_lines: list[str] = []
    entries: dict[str, _Entry] = {}
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("target "):
            target_lines.append(line)
            continue
        source = line
        if line.startswith("define "):
            body = [line]
            while body[-1] != "}":
                try:
                    body.append(next(lines))
                except StopIteration:
                    raise IRParseError(f"the function that begins with {line[:60]!r} has no end") from None
            source = "\n".join(body)
        if match := (_FUNCTION if source.startswith(("define ", "declare ")) else _NAMED_ENTRY).match(source):
            entries[match[1]] = _Entry(len(entries), match[1], _detach(source), source)
    return target_lines, entries


def _detach(source: str) -> str:
    """Text of an entry without linkage and comdat, which tie it to other modules."""
    line, *body = source.split("\n", 1)
    if source.startswith("define "):
        line = _without_linkage(line)
    if source.startswith(("define ", "@")):
        line = _COMDAT.sub(lambda match: match[1] or "", line)
    return "\n".join([line, *body])


def _without_linkage(words: str) -> str:
    return _LINKAGE.sub(lambda match: "dso_local " if match[1] in ("private", "internal") else "", words, count=1)


def _declaration(source: str) -> str:
    """A definition of a symbol as a declaration."""
    line = source.split("\n", 1)[0]
    if line.startswith("define "):
        symbol = _FUNCTION.match(line)
        assert symbol is not None
        end = balanced(line, symbol.end() - 1)
        tail = line[end:]
        cut = _DEFINITION.search(tail)
        return "declare " + _without_linkage(line[len("define ") : end]) + (tail[: cut.start()] if cut else tail)
    name = line.split(" = ")[0]
    if variable := _VARIABLE.match(line):
        kind = line[variable.end() : _type_end(line, variable.end())[0]]
        alignment = _ALIGNMENT.findall(re.sub(r'"[^"]*"', "", line))
        words = _without_linkage(variable[1])
        return f"{name} = external {words}{variable[2]} {kind}{alignment[-1] if alignment else ''}"
    alias = _ALIAS.match(line)
    assert alias is not None
    end, arguments = _type_end(line, alias.end())
    prefix = "dso_local " if re.search("dso_local|internal|private", alias[1]) else ""
    if not arguments:
        return f"{name} = external {prefix}global {line[alias.end() : end]}"
    return f"declare {prefix}{line[alias.end() : arguments].rstrip()} {name}{line[arguments:end]}"


def _type_end(text: str, start: int) -> tuple[int, int]:
    """Place after the type that begins at ``start``, and that of a function type's parameters, 0 for other types."""
    if text[start] in OPENING:
        end = balanced(text, start)
    else:
        word = re.compile(rf"%?{NAME}").match(text, start)
        assert word is not None
        end = word.end()
    parameters = 0
    while suffix := _SUFFIX.match(text, end):
        parameters = suffix.end() - 1 if suffix[0].endswith("(") else 0
        end = balanced(text, parameters) if parameters else suffix.end()
    return end, parameters
