"""Pages of the site that are made of other sources, so that they cannot lag behind them (a hook of MkDocs)."""

from __future__ import annotations

import re
from pathlib import Path

import typer
from typer.cli import get_docs_for_click

from mirenc.cli import make_app

ROOT = Path(__file__).parents[1]
COMMANDS, README = "<!-- commands -->", "<!-- readme -->"


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put every verb's help, or the README from its title to "Where to read on", where the mark stands."""
    if COMMANDS in markdown:
        command = typer.main.get_command(make_app())
        context = typer.Context(command, info_name="mirenc")
        text = get_docs_for_click(obj=command, ctx=context, name="mirenc")
        return markdown.replace(COMMANDS, text.partition("\n")[2])  # the page has a title
    return markdown.replace(README, _readme()) if README in markdown else markdown


def on_page_content(html: str, **_: object) -> str:
    """Make pictures links to themselves, to see them in full size; options in headings do not break at their hyphen."""
    html = re.sub(r'<img [^>]*src="([^"]+)"[^>]*>', r'<a href="\1">\g<0></a>', html)
    return re.sub(r"<h[1-6].*?</h[1-6]>", lambda heading: re.sub(r"(?<=[ (>])-(?=\w)", "\u2011", heading[0]), html)


def _readme() -> str:
    """Links into docs/ are made relative to it; links to other files of the repository become their text."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n")[2]
    text = text[: text.index("\n## Where to read on")].replace("](docs/", "](")
    return re.sub(
        r"(?<!!)\[([^\]]*)\]\(([^)#]+)(?:#[^)]*)?\)",
        lambda found: found[0] if found[2].startswith("http") or (ROOT / "docs" / found[2]).exists() else found[1],
        text,
    )
