"""``mirenc map``: a picture of an index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from mirenc.cli import common

_LEVEL = "What each point is. [default: the level of the vectors; function for a folder]"
_MOST = "Draw at most this number of points, a sample that is the same each time."


@common.reads
def map(
    index: common.Index,
    output: Annotated[Path, Option("--output", "-o", metavar="FILE.html", help="Write the page here.")],
    level: Annotated[common.LevelName | None, Option("--level", "-l", help=_LEVEL)] = None,
    most: Annotated[int, Option(help=_MOST, min=2)] = 5000,
    model: common.SearchModel = None,
    whitening_map: common.Map = None,
    hide_names: common.HideNames = False,
    form: common.FormName = "auto",
    *,
    options: common.Reading,
) -> None:
    """Draw INDEX as a page of HTML in which alike functions or files are near each other.

    Points are coloured by the first folder in which paths differ, or by file. The page needs no network. It shows a
    sample if there are more than 5,000 points (--most). The nearest neighbours of a point are searched in all of INDEX.

    mirenc map functions.npz -o map.html
    mirenc map src --level module -o map.html
    """
    from mirenc.base.writing import delivered
    from mirenc.search.map import draw_map

    if output.suffix != ".html":
        raise typer.BadParameter(f"{output}: unknown suffix; available: .html", param_hint="--output")
    common.check_output(output)
    index_options: Any = {"whitening_map": whitening_map, "hide_names": hide_names, "form": common.chosen_form(form)}
    encoder, table, failures = common.open_index(index, level, "function", model, options, **index_options)
    with common.progress("drawing", None):
        page = draw_map(table, index, most=most, sure=common.sureness(encoder, table.maker))
    with delivered(output) as part:
        part.write_text(page, encoding="utf-8", errors="backslashreplace")
    common.say_written(output)
    failures.finish()
