"""`with_pragmas`: lines such as ``#pragma clang loop`` before loops of a source text."""

import re
from collections.abc import Mapping

# What is no code: comments, strings and characters. A line that ends with a backslash goes on.
_NO_CODE = re.compile(r"//(?:\\\r?\n|[^\n])*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_LOOP = re.compile(r"\b(?:for|while|do)\b")
_LOOP_START = re.compile(r"\s*(?:for|while|do)\b")
_LOOP_PRAGMA = re.compile(
    r"\s*#\s*pragma\s+(?:clang\s+loop|(?:GCC\s+)?(?:no)?unroll|GCC\s+ivdep|omp|unroll_and_jam)\b|.*\b_Pragma\b"
)
_MACRO_REASON = "no loop is written on it; it is in a macro, or a function that calls itself"
_LINE_DIRECTIVE = re.compile(r"^\s*#\s*(?:line\s+)?\d", re.MULTILINE)


def blanked(source: str) -> str:
    """A C or C++ source with spaces for all that is no code; every other sign stays where it is."""
    return _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)


def with_pragmas(text: str, pragmas: Mapping[int, str]) -> tuple[str, dict[int, str]]:
    """Write a line before some loops, indented as they are and with their line ends.

    ``pragmas`` is the line on which a loop begins, from 1 -> the line to write before it. Returns the text, and the
    reason for each loop that was left alone.
    """
    code, lines = blanked(text).split("\n"), text.split("\n")
    reasons: dict[int, str] = {}
    if _LINE_DIRECTIVE.search(text):
        return text, dict.fromkeys(pragmas, "the file has #line, so its lines are not those that the compiler names")
    for number in sorted(pragmas, reverse=True):
        reason = "the file has no such line" if not 1 <= number <= len(lines) else _obstacle(code, number - 1)
        if reason:
            reasons[number] = reason
            continue
        line = lines[number - 1]
        indent = line[: len(line) - len(line.lstrip())]
        end = "\r" if line.endswith("\r") else ""
        lines.insert(number - 1, f"{indent}{pragmas[number]}{end}")
    return "\n".join(lines), dict(sorted(reasons.items()))


def _obstacle(code: list[str], row: int) -> str:
    """The reason why no pragma can be written before a line; "" if one can."""
    line = code[row]
    if line.lstrip().startswith("#") or (row and code[row - 1].rstrip().endswith("\\")):
        return "it is in a macro"
    if len(_LOOP.findall(line)) > 1:
        return "several loops are on its line"
    previous_line = next((line for line in reversed(code[:row]) if line.strip()), "")
    if _LOOP_PRAGMA.match(previous_line) or "_Pragma" in line:
        return "it has a pragma already"
    if not _LOOP_START.match(line):
        return "something stands before it on its line" if _LOOP.search(line) else _MACRO_REASON
    return ""
