"""Small programs of two translation units each, in which inlining may go wrong: templates times variants, and csmith's.

A template is a file in ``templates``: a heading, ``kind | flags | how it is linked``, and two units with a line
``// ----`` between. A variant defines BODY(x), an expression; USES(f, x), a sum of some calls of f; and K, a number.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple


class Program(NamedTuple):
    """Sources of both units, and how a program becomes of them.

    ``link``: ``program`` (of both objects), ``archive`` (which has the second unit), ``library`` (a shared one, which
    has the first unit), ``preload`` (the same, and `LIBRARY` is preloaded).
    """

    kind: str
    name: str
    language: str  # c or c++
    flags: str
    link: str
    units: tuple[str, str]


TEMPLATES = Path(__file__).with_name("templates")
LIBRARY = "int hook(int x) { return 1000 - x; }\n"
"""What replaces ``hook`` where a program is run with LD_PRELOAD."""
BODIES = ("x", "(x ^ 7) * 5 + (x >> 3) * (x & 1)", "(x * 3 + 1) / 7 % 11 + ((x << 2) ^ (x * x)) + x % 13 * (x | 9)")
VARIANTS = ((BODIES[0], 3), (BODIES[1], 2), (BODIES[2], 4), (BODIES[1], 1))
"""A body, and how many calls."""


def template_programs() -> Iterator[Program]:
    """Every template in every variant."""
    for path in sorted(TEMPLATES.glob("*.c*")):
        heading, code = path.read_text(encoding="utf-8").split("\n", 1)
        kind, flags, link = (word.strip() for word in heading.removeprefix("//").split("|"))
        language = {".c": "c", ".cc": "c++"}[path.suffix]
        first, second = code.split("\n// ----\n")
        for number, (body, calls) in enumerate(VARIANTS):
            uses = " + ".join(f"f((x) + {call}) * {2 * call + 1}" for call in range(calls))
            defined = f"#define BODY(x) ({body.replace('x', '(x)')})\n#define USES(f, x) ({uses})\n"
            units = [f"{defined}#define K {number + 2}\n{unit}" for unit in (first, second)]
            yield Program(kind, f"{path.stem}-{number}", language, flags, link, (units[0], units[1]))


CSMITH_FLAGS = "-I/usr/include/csmith -w"
_SHORT = 2.0  # seconds
_OPTIONS = "--no-argc --max-funcs 8 --max-block-depth 2 --max-block-size 3 --max-expr-complexity 4"
_DEFINED = re.compile(r"^(?:inline )?static [^\n=;]*\b(func_\d+)\([^\n;]*\)\n\{.*?^\}\n", re.MULTILINE | re.DOTALL)
_FORWARD = re.compile(r"^(?:inline )?static ([^\n=]*\bfunc_\d+\([^\n]*\);)", re.MULTILINE)
_VARIABLE = re.compile(r"^static ([^\n=]*\bg_\d+[^\n=]*) = [^\n]*;", re.MULTILINE)


def csmith_programs(count: int) -> Iterator[Program]:
    """Programs of csmith with three functions or more, half of them in the second unit; every third has weak ones.

    What a unit alone uses stays static.
    """
    seed = yielded = 0
    while yielded < count:
        seed += 1
        words = ["csmith", "-s", str(seed), *_OPTIONS.split(), "--inline-function", *(["--float"] if seed % 2 else [])]
        with tempfile.TemporaryDirectory() as folder:  # for the file that it writes about the platform
            text = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60, cwd=folder).stdout
        if len(_DEFINED.findall(text)) > 2 and _ends(text):
            yielded += 1
            yield Program("csmith", f"csmith-{seed}", "c", CSMITH_FLAGS, "program", split(text, weak=not seed % 3))


def _ends(text: str) -> bool:
    """Whether the program comes to an end: not every one of csmith does."""
    with tempfile.TemporaryDirectory() as folder:
        executable = Path(folder, "program")
        words = ["clang-19", "-O1", *CSMITH_FLAGS.split(), "-x", "c", "-", "-o", executable]
        subprocess.run(words, input=text, text=True, check=True)
        try:
            return subprocess.run([executable], capture_output=True, timeout=_SHORT, check=False).returncode == 0
        except subprocess.TimeoutExpired:
            return False


def split(text: str, *, weak: bool = False) -> tuple[str, str]:
    """Two units of a program of csmith: every other function is in the second one."""
    functions = list(_DEFINED.finditer(text))
    second = {match[1] for match in functions[1::2]}
    remaining_text = _DEFINED.sub("", text)
    main = remaining_text[remaining_text.index("int main (void)") :]
    declarations = remaining_text[: remaining_text.index("int main (void)")]
    bodies = ["", ""]
    for match in functions:
        bodies[match[1] in second] += match[0]
    blocks = [
        "".join(re.findall(r"^\{.*?^\}", body, re.MULTILINE | re.DOTALL)) for body in (bodies[0] + main, bodies[1])
    ]
    used_functions = [set(re.findall(r"\bfunc_\d+\b", block)) for block in blocks]
    shared_functions = (used_functions[0] & second) | (used_functions[1] & ({match[1] for match in functions} - second))
    mark = "__attribute__((weak)) " if weak else ""

    def exported(words: str) -> str:
        """Without `static` where the other unit calls it."""
        line = words.split("\n", 1)[0]
        name = re.search(r"func_\d+", line)
        return re.sub(r"^(?:inline )?static ", mark, words) if name and name[0] in shared_functions else words

    def heading(unit: int) -> str:
        def forward(line: re.Match[str]) -> str:
            name = re.search(r"func_\d+", line[1])
            assert name is not None
            if name[0] in shared_functions:
                return line[1]
            return line[0] if (name[0] in second) == bool(unit) else ""

        words = _FORWARD.sub(forward, declarations)
        return _VARIABLE.sub(r"extern \1;" if unit else lambda line: line[0].removeprefix("static "), words)

    units = [heading(unit) + _DEFINED.sub(lambda match: exported(match[0]), bodies[unit]) for unit in (0, 1)]
    return units[0] + main, units[1]


def programs(csmith: int, kinds: Sequence[str] = ()) -> list[Program]:
    """All templates, and so many of csmith; with ``kinds`` only these."""
    candidates = [*template_programs(), *csmith_programs(csmith)]
    return [program for program in candidates if not kinds or program.kind in kinds]
