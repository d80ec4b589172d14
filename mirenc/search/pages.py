"""What the pages for a browser share: `mirenc map` and the report of `mirenc diff`.

A page is one file, without requests to any network: a template of HTML beside this module, with ``page.css`` and what
the caller fills in.
"""

from pathlib import Path
from string import Template

_LONGEST = 60


def fill_page(template: str, **parts: str) -> str:
    """The text of ``template`` (a file beside this module) with the common style and the given parts of HTML."""
    folder = Path(__file__).parent
    style = (folder / "page.css").read_text(encoding="utf-8")
    return Template((folder / template).read_text(encoding="utf-8")).substitute(parts, style=style)


def printable(text: str) -> str:
    r"""``text`` on one line: a character that cannot be printed, such as a line break, is written as in Python (\n)."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shortened(text: str, longest: int = _LONGEST) -> str:
    """``text``, printable; of one that is longer than ``longest`` characters the middle is replaced by "…"."""
    text = printable(text)
    return text if len(text) <= longest else f"{text[: longest // 2]}…{text[len(text) - (longest - 1) // 2 :]}"
