"""The command-line page is written from the commands themselves, so that it cannot lag behind them."""

from __future__ import annotations

import typer
from typer.cli import get_docs_for_click

from mirenc.cli import make_app

MARK = "<!-- commands -->"


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put every verb's help where the mark stands (an event of MkDocs)."""
    if MARK not in markdown:
        return markdown
    command = typer.main.get_command(make_app())
    context = typer.Context(command, info_name="mirenc")
    text = get_docs_for_click(obj=command, ctx=context, name="mirenc")
    return markdown.replace(MARK, text.partition("\n")[2])  # the page has a title
