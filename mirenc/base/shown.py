"""How large objects are shown: ``repr`` in a few lines, tables in notebooks."""

import html
import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

_FIELD, _WHOLE = 80, 400  # characters: five lines of a terminal


class _Short(reprlib.Repr):
    """As reprlib's, with arrays by their shape, and objects in one line."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = _FIELD
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
    """``text``, printable; of one wider than ``width`` cells of a terminal the middle is left out, with "..." there."""
    from rich.cells import cell_len, set_cell_size

    text = printable(text)
    if cell_len(text) <= width:
        return text
    start = set_cell_size(text, (width - 3) // 2)
    return f"{start}...{set_cell_size(text[::-1], width - 3 - cell_len(start))[::-1]}"


def short_repr(self: Any) -> str:
    """The ``__repr__`` of a dataclass or named tuple with large fields: they are cut, and so is the whole."""
    names = self._fields if hasattr(self, "_fields") else [field.name for field in fields(self) if field.repr]
    names = sorted(names, key=lambda name: name not in type(self).__annotations__)  # inherited fields last
    values = ", ".join(f"{name}={_SHORT.repr(getattr(self, name))}" for name in names)
    return f"{type(self).__name__}({values if len(values) < _WHOLE else f'{values[:_WHOLE]}...'})"


def html_table(rows: Iterable[Sequence[str]], note: str = "") -> str:
    """A table whose first row is its head, for ``_repr_html_``; everything is escaped."""
    lines: list[str] = []
    for row in rows:
        kind = "td" if lines else "th"
        lines.append(f"<tr>{''.join(f'<{kind}>{html.escape(cell)}</{kind}>' for cell in row)}</tr>")
    return f"<table>{''.join(lines)}</table><p>{html.escape(note)}</p>"
