"""What LLVM or a compiler showed of the place it refuses: the line and the caret below it, fit for a terminal."""

from __future__ import annotations

import re

from mirenc.errors import MirencError

__all__ = ["IN_A_BATCH", "shown"]

IN_A_BATCH = 2  # lines: the one that is wrong, and its caret
_ALONE = 12
_WIDTH = 160
_INDENT = "    "
_HEADLINE = re.compile(r"(?:^|: )(?:fatal )?error: ")
_CARET = re.compile(r"[ |~^]*\^[ ~^]*")


def shown(error: MirencError, most: int = _ALONE) -> str:
    """Lines to print after an error's own, each with its line break; "" if there is nothing to show.

    The headline, which the error repeats, is left out. A caret stays below its place: both lines are cut alike.
    """
    words: str = getattr(error, "diagnostic", "")
    lines = [_printable(line) for line in words.splitlines()]
    headline = next((number for number, line in enumerate(lines) if _HEADLINE.search(line)), 0)
    rest = lines[headline + 1 :]
    out = []
    for number, line in enumerate(rest[:most]):
        caret = line if _CARET.fullmatch(line) else "".join(rest[number + 1 : number + 2])
        start = max(0, caret.index("^") - _WIDTH // 2) if _CARET.fullmatch(caret) else 0
        out.append(line[start : start + _WIDTH].rstrip())
    if len(rest) > most > IN_A_BATCH:
        out.append(f"... {len(rest) - most} more lines")
    return "".join(f"{_INDENT}{line}\n" for line in out)


def _printable(line: str) -> str:
    """A line without tabs and without what would steer a terminal: a stranger wrote it."""
    return "".join(char if char.isprintable() else "?" for char in line.expandtabs(8))
