"""How large objects are shown: ``repr`` in a few lines, tables in notebooks."""

import html
import re
import reprlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any

_FIELD_WIDTH, _REPR_WIDTH = 80, 400  # characters: five lines of a terminal
_BRACKET = re.compile(r"operator *(?:\(\)|[-<=>]+)|->|[<>()]")  # operators and arrows open and close nothing


class _Short(reprlib.Repr):
    """As reprlib's, with arrays by their shape, and objects in one line."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = _FIELD_WIDTH
        self.maxlist = self.maxtuple = self.maxdict = 3
        self.maxlevel = 2

    def repr_instance(self, x: Any, level: int) -> str:
        if hasattr(x, "dtype"):
            return f"{x.dtype}{list(x.shape)}"
        return " ".join(super().repr_instance(x, level).split())


_SHORT = _Short()


def printable(text: str) -> str:
    r"""Text with what a terminal would not print as Python escapes it: ``\n``, ``\x1b``, ``\udcff`` for a raw byte."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shorten(text: str, width: int = 60) -> str:
    """``text``, printable, with "..." for parts of one that is wider than ``width`` cells of a terminal.

    Parameters of templates and functions are shortened first, the longest first, then what stands before the last
    component of a C++ or Rust name, then the middle.
    """
    from rich.cells import cell_len

    parts = _split_brackets(printable(text))
    for place in sorted(range(1, len(parts), 2), key=lambda place: -len(parts[place])):
        size, excess = cell_len(parts[place]), cell_len("".join(parts)) - width
        if excess > 0 and size > 3:
            parts[place] = _cut_middle(parts[place], max(3, size - excess))
    return _cut_middle("".join(parts), width)


def _cut_middle(text: str, width: int) -> str:
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width:
        return text
    last_width = cell_len(text.rpartition("::")[2]) + 2 if "::" in text else 0
    half, room = (width - 3) // 2, width - 3 - last_width
    start = set_cell_size(text, min(half, room) if room >= 0 else half)
    return f"{start}...{set_cell_size(text[::-1], width - 3 - cell_len(start))[::-1]}"


def _split_brackets(text: str) -> list[str]:
    """Parts of ``text``: those at odd places stand in the outermost angle brackets and parentheses."""
    cuts, depth = [0], 0
    for token in _BRACKET.finditer(text):
        if token[0] in "<(":
            depth += 1
            cuts += [token.end()] * (depth == 1)
        elif token[0] in ">)" and depth:
            depth -= 1
            cuts += [token.start()] * (depth == 0)
    return [text[start:end] for start, end in pairwise([*cuts, len(text)])]


def shorten_all(texts: Iterable[str], width: int = 60) -> dict[str, str]:
    """Each text and its `shorten`; of different texts that it makes equal, the second ends in " #2", and so on."""
    shortened: dict[str, str] = {}
    counts, used_names = Counter[str](), set[str]()
    for text in dict.fromkeys(texts):
        name = base = shorten(text, width)
        while name in used_names:
            counts[base] += 1
            mark = f" #{counts[base] + 1}"
            name = shorten(text, width - len(mark)) + mark
        used_names.add(name)
        shortened[text] = name
    return shortened


def short_repr(self: Any) -> str:
    """The ``__repr__`` of a dataclass or named tuple with large fields: they are cut, and so is the whole."""
    names = self._fields if hasattr(self, "_fields") else [field.name for field in fields(self) if field.repr]
    names = sorted(names, key=lambda name: name not in type(self).__annotations__)  # inherited fields last
    values = ", ".join(f"{name}={_SHORT.repr(getattr(self, name))}" for name in names)
    return f"{type(self).__name__}({values if len(values) < _REPR_WIDTH else f'{values[:_REPR_WIDTH]}...'})"


def html_table(rows: Iterable[Sequence[str]], note: str = "") -> str:
    """A table whose first row is its head, for ``_repr_html_``; everything is escaped."""
    lines: list[str] = []
    for row in rows:
        kind = "td" if lines else "th"
        lines.append(f"<tr>{''.join(f'<{kind}>{html.escape(cell)}</{kind}>' for cell in row)}</tr>")
    return f"<table>{''.join(lines)}</table><p>{html.escape(note)}</p>"
