"""IR for published tables that come without any: the user's own, one file for each region or program of the table."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mirenc.errors import MirencError, TaskError
from mirenc.tasks.data import TaskData
from mirenc.tasks.grouping import join_same_code
from mirenc.tasks.task import Task

__all__ = ["load_data", "with_ir"]

_ENDINGS = (".ll", ".bc")
_NAMED = 8  # missing files that a message lists


def load_data(
    task: Task, data_dir: str | Path | None, variant: str = "", ir_dir: str | os.PathLike[str] | None = None
) -> TaskData:
    """The task's samples; what a task of somebody's own raises becomes an error that names it.

    Parameters
    ----------
    task, data_dir, variant
        As `Task.load`.
    ir_dir : path, optional
        Folder of IR for a table that comes without (`mirenc.tasks.with_ir`).

    Raises
    ------
    TaskError, OSError
        As `Task.load` and `with_ir`.
    """
    try:
        data = task.load(data_dir, task.check_variant(variant))
    except (MirencError, OSError):
        raise
    except Exception as error:
        raise TaskError(f"task {task.name}: load() fails: {type(error).__name__}: {error}. Mend it") from error
    return data if ir_dir is None else with_ir(data, ir_dir)


def with_ir(data: TaskData, folder: str | os.PathLike[str]) -> TaskData:
    """The samples with IR from a folder, found by `mirenc.tasks.Sample.code`; subfolders are looked through.

    Groups whose statements are the same become one (`mirenc.tasks.grouping`): the code decides, not its name.

    Parameters
    ----------
    data : TaskData
        Samples without IR.
    folder : path
        ``NAME.ll`` or ``NAME.bc`` for each name; others are left alone.

    Raises
    ------
    TaskError
        Samples that have their IR; no such folder; a name with two files, or without one (the names are listed);
        IR that cannot be read.
    """
    home = Path(folder)
    if not all(sample.code for sample in data.samples):
        raise TaskError("the data bring their own IR, or need none: --ir-dir is for tables without. Leave it out")
    if not home.is_dir():
        raise TaskError(f"--ir-dir {home}: no such folder. Name the folder that holds your IR")
    wanted = {sample.code for sample in data.samples}
    found: dict[str, Path] = {}
    for path in _files(home):
        if path.stem in found:
            raise TaskError(f"{found[path.stem]} and {path}: two files of one name. Keep one of them")
        if path.stem in wanted:
            found[path.stem] = path
    if missing := sorted(wanted - set(found)):
        named = ", ".join(f"{name}.ll" for name in missing[:_NAMED])
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        raise TaskError(
            f"{home}: no IR for {len(missing)} of {len(wanted)} names of the table: {named}{more}. Add the files (.ll "
            "or .bc, named so); for a part of the table, cut the table"
        )
    samples = [replace(sample, ir=found[sample.code]) for sample in data.samples]
    return replace(data, samples=join_same_code(samples))


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in _ENDINGS and path.is_file():
            yield path
