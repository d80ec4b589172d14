"""Options that the verbs about tasks share, and what they make of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from mirenc.errors import IRFileError

if TYPE_CHECKING:
    from mirenc.tasks import Task

TaskName = Annotated[str | None, Argument(metavar="TASK", help="Its name, such as device_mapping.")]
TaskFile = Annotated[Path | None, Option(help="A task of your own: a .py file that defines it. The file is executed.")]
Data = Annotated[
    Path | None, Option("--data", "-d", help="Folder of the data sets. [default: $MIRENC_DATA, then what was fetched]")
]
IRDir = Annotated[
    Path | None,
    Option("--ir-dir", help="Folder of your own IR, NAME.ll or .bc, for a published table that comes without."),
]
Variant = Annotated[str, Option(help="One of the task's tables. [default: its first]")]


def find_task(name: str | None, file: Path | None) -> Task:
    """The task that a name or a file says."""
    from mirenc.tasks import get_task, load_task_file

    if (name is None) == (file is None):
        raise typer.BadParameter("give the name of a task, or --task-file FILE.py", param_hint="TASK")
    return load_task_file(file) if file is not None else get_task(str(name))


def check_folders(*folders: Path | None) -> None:
    """Refuse folders that could not be written, before any work is done."""
    for folder in folders:
        if folder is None:
            continue
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise IRFileError(f"{folder} is a file, or is below one, and a folder is needed. Name another") from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise IRFileError(f"no permission to write into {folder}. Name another folder")
