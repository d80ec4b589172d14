"""What the pages for a browser share: `mirenc map` and the report of `mirenc diff`.

A page is one file, without requests to any network: a template of HTML beside this module, with ``page.css`` and what
the caller fills in.
"""

from pathlib import Path
from string import Template

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
$style</style>
"""


def fill_page(template: str, **parts: str) -> str:
    """The text of ``template`` (a file beside this module) with the common style and the given parts of HTML."""
    folder = Path(__file__).parent
    style = (folder / "page.css").read_text(encoding="utf-8")
    return Template(_HEAD + (folder / template).read_text(encoding="utf-8")).substitute(parts, style=style)
