"""The calls of a module that LLVM may inline, and the module with inlining decisions written at some of them.

A decision is an attribute of the call, which copies of the call have too: ``noinline``, or the cost that LLVM's inliner
is to take for its own estimate, ``"function-inline-cost"="0"``, less than any threshold. Only the estimate is replaced.
Whether a call may be inlined at all stays LLVM's answer, given where the call stands when the inliner comes to it: not
where the linker may replace the callee (weak, or any that LLVM calls interposable), where target features or other
attributes do not fit, not a second return of ``setjmp``. ``alwaysinline`` at a call would overrule these checks.
Modules with decisions run in `mirenc.llvm.passes.find_llvm.SharedEngine.deciding`.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from mirenc.llvm.ir.functions import attributes_of, object_name
from mirenc.llvm.ir.lines import attribute_groups, balanced

_WORD = r'@("[^"]*"|[-a-zA-Z$._0-9]+)'
_DEFINITION = re.compile(rf"^define ([^@\n]*){_WORD}\(")
_INSTRUCTION = r' +(?:%(?:"[^"]*"|[^ "]+) = )?(?:(?:tail|musttail|notail) )?(?:call|invoke) '
_CALL = re.compile(rf'{_INSTRUCTION}(?:"[^"]*"|[^"@])*?{_WORD}\(')
_NO_WORDS = re.compile(r'"[^"]*"|,')
_DECISION_WORDS = {"noinline", "alwaysinline", "optnone"}
_NO_COST = '"function-inline-cost"="0"'
_LOCAL = {"internal", "private", "linkonce", "linkonce_odr", "available_externally"}


class Call(NamedTuple):
    """A direct call of a function that the module defines. ``number``: which of the caller's calls of it, from 0."""

    caller: str
    callee: str
    number: int


@dataclass(frozen=True)
class Calls:
    """All calls about which LLVM decides; ``local`` are functions that LLVM deletes when no call of them is left."""

    text: str
    calls: tuple[Call, ...]
    places: tuple[int, ...]  # where in the text a word may follow
    local: frozenset[str]

    def decided(self, decisions: Mapping[int, bool]) -> str:
        """The module's text with decisions about some calls, by row: True to inline it if LLVM may, False not to."""
        parts, start = [], 0
        for row in sorted(decisions):
            parts += [self.text[start : self.places[row]], f" {_NO_COST if decisions[row] else 'noinline'}"]
            start = self.places[row]
        return "".join([*parts, self.text[start:]])

    def kept(self, optimised: str) -> list[bool]:
        """For each call, whether ``optimised``, the text after passes, still has it; equal calls are counted."""
        counts = Counter((call.caller, call.callee) for call in calls_of(optimised).calls)
        return [counts[call.caller, call.callee] > call.number for call in self.calls]


def calls_of(text: str) -> Calls:
    """Read a module as LLVM prints it; names are those of the object file.

    Left out are calls of a function by itself, and those about which a word at the call, the caller or the callee
    decides already: noinline, alwaysinline, optnone.
    """
    lines = text.split("\n")
    headers = [header for line in lines if (header := _DEFINITION.match(line))]
    functions = [object_name(header[2]) for header in headers]
    attributes = dict(zip(functions, attributes_of(text), strict=True))
    local = frozenset(name for name, header in zip(functions, headers, strict=True) if _LOCAL & set(header[1].split()))
    groups = {name for name, words in attribute_groups(text).items() if _DECISION_WORDS & set(words.split())}
    names, caller, start = iter(functions), "", 0
    calls, places = [], []
    numbers: Counter[tuple[str, str]] = Counter()
    for line in lines:
        if line.startswith("define "):
            caller = next(names)
        elif "(" in line and (call := _CALL.match(line)):
            callee = object_name(call[1])
            end = balanced(line, call.end() - 1)
            words = {*_NO_WORDS.sub("", line[end:]).split(), *attributes.get(callee, _DECISION_WORDS)}
            is_decided = words & (_DECISION_WORDS | groups) or "optnone" in attributes[caller]
            if callee != caller and not is_decided:
                calls.append(Call(caller, callee, numbers[caller, callee]))
                places.append(start + end)
                numbers[caller, callee] += 1
        start += len(line) + 1
    return Calls(text, tuple(calls), tuple(places), local)
