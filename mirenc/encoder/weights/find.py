"""Names of models: shipped ones, those that other installed packages announce, and folders.

Shipped models are sub-folders of this package. A package announces one by an entry point of the group
``mirenc.models``: its name is the model's, its value the package whose folder is the model folder. None of its code is
run. Reading all entry points takes milliseconds (12 for 150 packages), so only those ask who must.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mirenc.base.errors import ModelError, unknown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

DEFAULT_MODEL = "mirenc-fast"
_FUNCTION_MODEL = "mirenc-search"
_HOME = Path(__file__).parent
# Models of this repository that are packages of their own, and where they lie in it.
_APART = {"mirenc-base": "models/mirenc-base"}
_GROUP = "mirenc.models"


def search_model(level: str, purpose: str = "search") -> str:
    """The model that the command line takes where none is named.

    To search parts of modules it is one trained to find them; that one finds whole programs no better than the default
    model does. Features are the default model's at every level, because heads are keyed by it.
    """
    return DEFAULT_MODEL if level == "module" or purpose == "features" else _FUNCTION_MODEL


def list_models(*, failed: Callable[[ModelError], None] | None = None) -> list[str]:
    """Names of the models at hand: those that ship with mirenc, and those that other installed packages announce.

    ``failed`` is called with the error of each announcement that gives no model; without it, each is a warning.
    """
    from importlib.metadata import entry_points

    names = set(_shipped_models())
    failed = failed or (lambda error: warnings.warn(str(error), stacklevel=3))
    points = entry_points(group=_GROUP)
    for name in sorted(points.names):
        try:
            _announced_folder(points.select(name=name))
            if name in names:
                problem = f"a package announces a model {name!r}, which is the name of a model of mirenc's own"
                raise ModelError(f"{problem}, so the package's model is left out. Rename the package's model")
            names.add(name)
        except ModelError as error:
            failed(error)
    return sorted(names)


def is_model_name(name: str) -> bool:
    """Whether this is the name of a model, which need not be installed. ModelError: its announcement gives no model."""
    return name in _shipped_models() or name in _APART or _find_announced(name) is not None


def find_model(name_or_dir: str | os.PathLike[str] | None) -> Path:
    """Folder of a model, by its name, the folder's path, or ``ORG/NAME`` on a hub; None is the default model.

    Raises ModelError: it is none of these, the name's announcement gives no model, or the hub gives none.
    """
    name = DEFAULT_MODEL if name_or_dir is None else os.fspath(name_or_dir)
    if name in _shipped_models():
        return _HOME / name
    if announced := _find_announced(name):
        return announced
    if os.path.isdir(name):
        return Path(name).absolute()  # it is read again in other processes, wherever they work
    if not os.path.exists(name):
        from mirenc.encoder.weights.hub import HubModel, hub_folder

        if model := HubModel.parse(name):
            return hub_folder(model)
    if name in _APART:
        raise ModelError(
            f"the model {name!r} is a package of its own, which is not installed. In a checkout of mirenc, type: "
            f"pip install ./{_APART[name]}; for another machine, make a wheel in the checkout with "
            f"`pip wheel --no-deps ./{_APART[name]}`, and install that"
        )
    model_names = list_models(failed=lambda error: None)
    if os.sep in name or os.path.exists(name):  # a path
        problem = "a file, and a model is a folder" if os.path.exists(name) else "no such folder"
        raise ModelError(f"{name}: {problem}. Give a model's folder, or a name: {', '.join(model_names)}")
    raise ModelError(unknown("model", name, model_names, "To load a folder, give its path"))


def _shipped_models() -> list[str]:
    return [path.parent.name for path in _HOME.glob("*/config.json")]


def _find_announced(name: str) -> Path | None:
    from importlib.metadata import entry_points

    # For a path nothing has to be read.
    points = None if os.sep in name else entry_points(group=_GROUP, name=name)
    return _announced_folder(points) if points else None


def _announced_folder(points: EntryPoints) -> Path:
    """Folder of the one model that entry points of one name announce."""
    point, *duplicates = points
    who = " and ".join(sorted({str(entry.dist.name) for entry in points if entry.dist is not None}))
    if duplicates:
        raise ModelError(f"the model {point.name!r} is announced {len(points)} times, by {who}. Uninstall all but one")
    found_name = None
    try:
        top, *subfolders = point.value.split(".")
        spec = find_spec(top)
        # A namespace package may have several folders, one of them a placeholder.
        homes = [Path(home, *subfolders) for home in (spec and spec.submodule_search_locations) or ()]
        folder = next(home for home in homes if (home / "config.json").is_file())
        found_name = json.loads((folder / "config.json").read_text(encoding="utf-8"))["name"]
    except (ImportError, OSError, StopIteration, ValueError, KeyError, TypeError):
        pass
    if found_name != point.name:
        target = "no model folder" if found_name is None else f"the folder of a model {found_name!r}"
        problem = f"{who} announces a model {point.name!r} in {point.value!r}, which is {target}"
        raise ModelError(f"{problem}. Install it again, or type: pip uninstall {who}")
    return folder
