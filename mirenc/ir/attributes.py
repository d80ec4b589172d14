"""What the functions of a module say of themselves to the optimiser: minsize, optsize, optnone."""

from __future__ import annotations

import re

__all__ = ["attributes_of", "is_left_alone"]

_DEFINITION = re.compile(r"^define [^\n]*", re.MULTILINE)
_GROUP = re.compile(r"^attributes (#\d+) = \{([^\n]*)\}", re.MULTILINE)
# What is in quotes, or the name of something, is no attribute.
_NO_WORDS = re.compile(r'[@%$!]?"[^"]*"|[@%$!][-\w.$]+')


def attributes_of(text: str) -> list[set[str]]:
    """The words in each definition and in its groups of attributes, in the order of the text."""
    groups = dict(_GROUP.findall(text))
    found = []
    for line in _DEFINITION.findall(text):
        own = " ".join([_NO_WORDS.sub("", line), *(groups.get(group, "") for group in re.findall(r"#\d+", line))])
        found.append(set(re.findall(r"[a-z]+", _NO_WORDS.sub("", own))))
    return found


def is_left_alone(text: str) -> bool:
    """Whether every function is marked optnone, as clang -O0 does, so that no pass touches any."""
    functions = attributes_of(text)
    return bool(functions) and all("optnone" in words for words in functions)
