"""OpenMP pragmas in a source text: where the parallel loops are, and how one is told its threads and its schedule.

It works on text alone: a pragma keeps its place, its lines and all clauses that are not decided about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mirenc.errors import TaskError

# What is no code: comments, words and single letters in quotes. A line that ends with a backslash goes on.
_NO_CODE = re.compile(r"//(?:\\\r?\n|[^\n])*|/\*.*?\*/|\"(?:\\.|[^\"\\n])*\"|'(?:\\.|[^'\\n])*'", re.DOTALL)
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b(?:\\\r?\n|[^\n])*", re.MULTILINE)
_LINE_BREAK = re.compile(r"\\\r?\n")
_LOOP = re.compile(r"omp\s+parallel\s+for\b")
_DECIDED = re.compile(r"(?:[ \t,]|\\\r?\n)*\b(?:num_threads|schedule)(?:\s|\\\r?\n)*\(")


@dataclass(frozen=True)
class Pragma:
    """A parallel loop's pragma."""

    line: int  # its first line, from 1
    start: int  # where its text is in the source; without the last line's end and what is commented there
    end: int
    text: str  # as it stands


def parallel_loops(source: str) -> list[Pragma]:
    r"""Pragmas ``omp parallel for`` of a C or C++ source, in its order.

    Examples
    --------
    >>> [pragma.line for pragma in parallel_loops("void f(void) {\n#pragma omp parallel for\n")]
    [2]
    """
    code = _blanked(source)
    found = []
    for match in _PRAGMA.finditer(code):
        if _LOOP.search(_LINE_BREAK.sub(" ", match[0])):
            end = match.start() + len(match[0].rstrip())
            text = source[match.start() : end]
            found.append(Pragma(code.count("\n", 0, match.start()) + 1, match.start(), end, text))
    return found


def function_span(source: str, name: str) -> tuple[int, int]:
    r"""First and last line of a function's definition, from 1; (0, 0) if the source has none.

    Examples
    --------
    >>> function_span("int f(int x);\nint f(int x)\n{\n    return x;\n}\n", "f")
    (2, 5)
    """
    code = _blanked(source)
    for match in re.finditer(rf"\b{re.escape(name)}\s*(?=\()", code):
        opening = re.match(r"[^{};]*\{", code[_after_brackets(code, match.end()) :])
        if opening:
            brace = _after_brackets(code, match.end()) + opening.end() - 1
            end = _after_brackets(code, brace, "{}")
            return code.count("\n", 0, match.start()) + 1, code.count("\n", 0, end) + 1
    return 0, 0


def clauses(threads: int, schedule: str, chunk: int) -> str:
    """Clauses that ask for a setting.

    Examples
    --------
    >>> clauses(2, "dynamic", 8), clauses(1, "static", 0)
    ('num_threads(2) schedule(dynamic, 8)', 'num_threads(1) schedule(static)')
    """
    return f"num_threads({threads}) schedule({schedule}{f', {chunk}' if chunk else ''})"


def with_clauses(source: str, line: int, asked: str) -> str:
    r"""The source with other clauses in the pragma of a line: ``num_threads`` and ``schedule`` go, ``asked`` comes.

    Lines keep their numbers. ``asked`` may be "".

    Raises
    ------
    TaskError
        No parallel loop's pragma begins on that line.

    Examples
    --------
    >>> with_clauses("#pragma omp parallel for schedule(static) collapse(2)\n", 1, "num_threads(4)")
    '#pragma omp parallel for collapse(2) num_threads(4)\n'
    """
    pragmas = parallel_loops(source)
    pragma = next((one for one in pragmas if one.line == line), None)
    if pragma is None:
        lines = ", ".join(str(one.line) for one in pragmas) or "no line"
        raise TaskError(f"line {line} is no `#pragma omp parallel for`; such stand on {lines}. Name one of them")
    # Commented words are blank in the code, at the same places.
    text, code = pragma.text, _blanked(source)[pragma.start : pragma.end]
    kept, at = "", 0
    while match := _DECIDED.search(code, at):
        end = _after_brackets(code, match.end() - 1)
        breaks = "".join(_LINE_BREAK.findall(code[match.start() : end]))
        # A clause may stand between two words with nothing else to part them.
        apart = " " if breaks or not code[end : end + 1].isspace() else ""
        kept += text[at : match.start()] + apart + breaks
        at = end
    kept = (kept + text[at:]).rstrip(" \t,")
    return source[: pragma.start] + " ".join(filter(None, (kept, asked))) + source[pragma.end :]


def _blanked(source: str) -> str:
    """The source with spaces for all that is no code; every other sign stays where it is."""
    return _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)


def _after_brackets(code: str, opening: int, kind: str = "()") -> int:
    """Behind the bracket that closes the one at ``opening``; the end where none does."""
    depth = 0
    for at in range(opening, len(code)):
        depth += {kind[0]: 1, kind[1]: -1}.get(code[at], 0)
        if depth == 0:
            return at + 1
    return len(code)
