"""What a model was trained on, its ancestors included: ``provenance.json`` of a model folder.

A figure is held out only if neither the model nor any before it (the one a run went on from, a teacher) learned from
that project. Vocabularies are not training: a tokenizer's projects do not count.
"""

import json
import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath
from typing import Literal, get_args

from mirenc.base.errors import ModelError
from mirenc.llvm.inputs.level_paths import is_level

PROVENANCE_FILE = "provenance.json"
Kind = Literal["corpus", "distillation", "answers", "maps", "words", "pairs", "unknown"]


@dataclass(frozen=True, slots=True)
class Source:
    """Projects (ascending; () where unknown) that one model, this one or an ancestor, learned from in one way.

    The ``kind`` is ``corpus`` (masked tokens, edges, matching), ``distillation`` (statements whose vectors a teacher
    gave), ``answers`` (a compiler's), ``maps``, ``words``, ``pairs`` (forms of one function), or ``unknown`` for an
    ancestor that has no record. ``at_most`` says why the list is an upper bound; "" where it is exact.
    """

    model: str
    kind: Kind
    projects: tuple[str, ...]
    at_most: str = ""


def write_provenance(folder: Path, sources: Iterable[Source]) -> None:
    """Write a model folder's record, a source a line, each once; seal the folder afterwards."""
    lines = [json.dumps(asdict(source), ensure_ascii=False) for source in dict.fromkeys(sources)]
    (folder / PROVENANCE_FILE).write_text("[\n " + ",\n ".join(lines) + "\n]\n", encoding="utf-8")


def read_provenance(folder: str | os.PathLike[str]) -> tuple[Source, ...] | None:
    """A model folder's record; None where it has none. Raises ModelError: it is damaged."""
    path = Path(folder) / PROVENANCE_FILE
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        sources = tuple(Source(**{**value, "projects": tuple(value["projects"])}) for value in values)
        if any(source.kind not in get_args(Kind) for source in sources):
            raise ValueError(f"a kind is unknown; allowed: {', '.join(get_args(Kind))}")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelError(f"{path}: damaged ({error}). Install the model again") from None
    return sources


def ancestry(name: str, folder: Path) -> tuple[Source, ...]:
    """The record of a model that another one is made from; without a record, a warning and a source ``unknown``."""
    sources = read_provenance(folder)
    if sources is None:
        warnings.warn(
            f"{folder}: has no {PROVENANCE_FILE}, so what {name} was trained on is not known. Figures on its training "
            "code would be too good. Hold out projects that it was not trained on (held_out = [...] in the TOML file)",
            stacklevel=2,
        )
        return (Source(name, "unknown", ()),)
    return sources


def seen_by(sources: Sequence[Source]) -> dict[str, str]:
    """Project -> the model that learned from it first."""
    return {project: source.model for source in reversed(sources) for project in source.projects}


def ir_projects(files: Iterable[str | os.PathLike[str]], root: str | os.PathLike[str]) -> list[str]:
    """Project of each file of a folder of IR: the folder above that of its level, or the first one below the root.

    Examples
    --------
    >>> ir_projects(["ir/zlib/O0/inflate.ll", "ir/clang-19/zlib/O2/x/inflate.ll", "ir/lua/lapi.ll"], "ir")
    ['zlib', 'zlib', 'lua']
    """
    top = PurePath(os.path.abspath(root))
    projects = []
    for file in files:
        folders = PurePath(os.path.abspath(file)).parts[:-1]
        levels = [place for place, folder in enumerate(folders) if place and is_level(folder)]
        subfolders = folders[len(top.parts) :]
        projects.append(folders[levels[-1] - 1] if levels else subfolders[0] if subfolders else top.name)
    return projects
