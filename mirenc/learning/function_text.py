"""A module, or one function of it as a module of its own, in words that LLVM 16 knows: what IR2Vec gets.

IR2Vec has vectors of modules, and reads what LLVM up to 16 wrote. A function keeps its types, globals and
declarations. What later LLVMs say beside an instruction are hints to the optimiser; IR2Vec looks at opcodes, types and
operands, so leaving the hints out takes nothing from it.
"""

from __future__ import annotations

import re

from mirenc.errors import TaskError

__all__ = ["function_text", "in_older_words"]

_FUNCTION = re.compile(r"^define (?:[^\n]*\n)*?\}\n?", re.MULTILINE)
_NAME = re.compile(r'@("(?:[^"\\]|\\.)*"|[-a-zA-Z$._0-9]+)\(')
_ATTRIBUTE_GROUP = re.compile(r"^attributes #\d+ = .*\n?", re.MULTILINE)
_QUOTED = re.compile(r'("[^"]*")')
_GROUP_NAME = re.compile(r" #\d+")
# Nodes, and what refers to them.
_METADATA = re.compile(r"^!.*\n?|,? ![a-zA-Z_.]+ !\d+|^.*\(metadata !.*\n?", re.MULTILINE)
_NESTED = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_NEW_ATTRIBUTES = re.compile(
    rf" (?:captures|initializes|range|nofpclass|memory|dead_on_return)(?:{_NESTED})|"
    r" (?:dead_on_unwind|dead_on_return|writable|nocreateundeforpoison|noext)\b(?!\()"
)
_NEW_FLAGS = (
    (re.compile(r"\b(zext|uitofp) nneg "), r"\1 "),
    (re.compile(r"\bor disjoint "), "or "),
    (re.compile(r"\b(trunc)(?: nuw| nsw)+ "), r"\1 "),
    (re.compile(r"\b(icmp) samesign "), r"\1 "),
    (re.compile(r"\b(getelementptr)( inbounds)?(?: nusw| nuw)+(?= )"), r"\1\2"),
    (re.compile(r"\bgetelementptr( inbounds)? inrange\([^)]*\)"), r"getelementptr\1"),
)
# LLVM 22 dropped the size: the call says no more than where a variable lives.
_LIFETIME = re.compile(r"^.*@llvm\.lifetime\.(?:start|end)\..*\n?", re.MULTILINE)


def function_text(text: str, symbol: str) -> str:
    """The function and what it refers to; other functions with a body become declarations.

    Parameters
    ----------
    text : str
        Canonical text of a module (`IRModule.text`).
    symbol : str
        The function's name in it, without ``@`` and quotes.

    Raises
    ------
    TaskError
        No such function with a body.
    """
    found = False

    def keep(match: re.Match[str]) -> str:
        nonlocal found
        own = match[0]
        name = _NAME.search(own)
        if name is not None and name[1].strip('"') == symbol:
            found = True
            return own
        return "" if name is None else _declaration(own.partition("\n")[0])

    own = _FUNCTION.sub(keep, text)
    if not found:
        raise TaskError(f"no function {symbol!r} with a body. Give IR that has it")
    return in_older_words(own)


def _declaration(line: str) -> str:
    """The declaration of a function, from the line that begins its body."""
    end = _closing(line, line.index("(", _name_end(line)))
    head = re.sub(
        r"^define (?:(?:dso_local|internal|private|weak|weak_odr|linkonce|linkonce_odr|hidden) )*", "", line[:end]
    )
    # Names of arguments may stand; where there are none, types alone do.
    return f"declare {head}\n"


def _name_end(line: str) -> int:
    name = _NAME.search(line)
    assert name is not None
    return name.end() - 1


def _closing(line: str, start: int) -> int:
    """Just behind the bracket that closes the one at ``start``."""
    depth = 0
    for place in range(start, len(line)):
        depth += (line[place] == "(") - (line[place] == ")")
        if depth == 0:
            return place + 1
    return len(line)


def in_older_words(text: str) -> str:
    """Canonical text of a module (`IRModule.text`) without what LLVM 16 has no word for."""
    for pattern in (_ATTRIBUTE_GROUP, _METADATA, _LIFETIME):
        text = pattern.sub("", text)
    parts = _QUOTED.split(text)
    for place in range(0, len(parts), 2):  # the others are a program's own words, and a constant keeps its length
        for pattern in (_GROUP_NAME, _NEW_ATTRIBUTES):
            parts[place] = pattern.sub("", parts[place])
        for flag, plain in _NEW_FLAGS:
            parts[place] = flag.sub(plain, parts[place])
    return "".join(parts)
