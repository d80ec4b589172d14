"""``mirenc predict --apply``: copies of sources with the answers in them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mirenc.errors import ConfigError, TaskError
from mirenc.writing import delivered

if TYPE_CHECKING:
    from mirenc.tasks import Prediction, Task

__all__ = ["Copies", "directive_of"]

_SOURCES = {".c", ".cc", ".cpp", ".cxx", ".C", ".c++"}


def directive_of(task: Task, found: Prediction) -> str:
    """The line of source that an answer stands for; "" for the default, and where a task has no such lines."""
    return "" if found.choice == found.default or not found.setting else task.directive(found.setting)


class Copies:
    """Where copies go.

    Parameters
    ----------
    task : Task
    folder : Path
        Made if it is not there.
    files : sequence of str
        All sources of the run.

    Raises
    ------
    TaskError
        The task's answers are no lines of source.
    ConfigError
        A file that is no source, two of one name, or a copy that would replace something.
    """

    def __init__(self, task: Task, folder: Path, files: Sequence[str]) -> None:
        self.task, self.folder = task, folder
        if task.space is None or not any(map(task.directive, task.space.settings)):
            raise TaskError(f"answers of {task.name} are no lines of a source. Leave --apply out")
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{folder} is a file. Name a folder with --apply")
        names: set[str] = set()
        for file in files:
            path = Path(file)
            if path.suffix not in _SOURCES:
                raise ConfigError(
                    f"{file} is no C or C++ source, and --apply writes into sources. Leave one of them out"
                )
            if path.name in names:
                raise ConfigError(f"two sources are called {path.name}. Give each a folder of its own with --apply")
            if (folder / path.name).exists():
                raise ConfigError(f"{folder / path.name} is there already. Name an empty folder with --apply")
            names.add(path.name)

    def write(self, file: str, found: Sequence[Prediction]) -> None:
        """Write one copy; loops that are left alone are said on stderr."""
        from mirenc.ir.pragmas import with_pragmas

        wanted: dict[int, str] = {}
        differ: set[int] = set()
        doubts: dict[str, str] = {}
        for one in found:
            region, line = one.region, directive_of(self.task, one)
            if region is None or not region.line:
                doubts[file if region is None else region.name] = "its line is not known"
            elif Path(region.file).resolve() != Path(file).resolve():
                if line:
                    doubts[f"{region.file}:{region.line}"] = "it is in another file"
            elif wanted.setdefault(region.line, line) != line:
                differ.add(region.line)
                wanted[region.line] = wanted[region.line] or line
        # Bytes as they are, whatever their encoding.
        text = Path(file).read_bytes().decode("latin-1")
        wanted = {number: line for number, line in wanted.items() if line}
        # A pragma that is there already may be why a loop has copies: the place is looked at first.
        refused = dict.fromkeys(differ, "its copies (templates, inlining) want different settings")
        refused |= with_pragmas(text, wanted)[1]
        changed, _ = with_pragmas(text, {number: line for number, line in wanted.items() if number not in refused})
        doubts |= {f"{file}:{number}": refused[number] for number in sorted(refused)}
        self.folder.mkdir(parents=True, exist_ok=True)
        with delivered(self.folder / Path(file).name) as part:
            part.write_bytes(changed.encode("latin-1"))
        for place, reason in doubts.items():
            print(f"mirenc: {place}: left alone, {reason}", file=sys.stderr)
