"""Models that other installed packages announce, by an entry point of the group ``mirenc.models``.

The entry point's name is the model's, its value the package whose folder is the model folder. No code of that package
is run. To read what all packages announce takes milliseconds (12 for 150 of them), so only those ask who must.
"""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mirenc.errors import ModelError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

__all__ = ["find_announced", "list_announced"]

_GROUP = "mirenc.models"


def list_announced() -> tuple[list[str], list[ModelError]]:
    """Names of the announced models, and an error for each name that no model comes of."""
    from importlib.metadata import entry_points

    points = entry_points(group=_GROUP)
    found, failed = [], []
    for name in sorted(points.names):
        try:
            _folder(points.select(name=name))
            found.append(name)
        except ModelError as error:
            failed.append(error)
    return found, failed


def find_announced(name: str) -> Path | None:
    """Folder of an announced model; None where nobody announces the name.

    Raises
    ------
    ModelError
        Two packages announce it, or what is announced is not the folder of that model.
    """
    if os.sep in name:  # a path: nothing has to be read
        return None
    from importlib.metadata import entry_points

    points = entry_points(group=_GROUP, name=name)
    return _folder(points) if points else None


def _folder(points: EntryPoints) -> Path:
    """Folder of the one model that entry points of one name announce."""
    point, *others = points
    who = " and ".join(sorted({str(each.dist.name) for each in points if each.dist is not None}))
    if others:
        raise ModelError(f"the model {point.name!r} is announced {len(points)} times, by {who}. Uninstall all but one")
    named = None
    try:
        top, *below = point.value.split(".")
        spec = find_spec(top)
        # A namespace package may have several folders, one of them a placeholder.
        homes = [Path(home, *below) for home in (spec and spec.submodule_search_locations) or ()]
        folder = next(home for home in homes if (home / "config.json").is_file())
        named = json.loads((folder / "config.json").read_text(encoding="utf-8"))["name"]
    except (ImportError, OSError, StopIteration, ValueError, KeyError, TypeError):
        pass
    if named != point.name:
        found = "no model folder" if named is None else f"the folder of a model {named!r}"
        raise ModelError(
            f"{who} announces a model {point.name!r} in {point.value!r}, which is {found}. Install it again, or type: "
            f"pip uninstall {who}"
        )
    return folder
