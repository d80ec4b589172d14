"""The registry of tasks: the shipped ones by name, and those of your own by the file that defines one."""

import difflib
import importlib
import importlib.util
import os
import sys
from pathlib import Path

from mirenc.base.errors import TaskError
from mirenc.decide.settings import Space
from mirenc.decide.task import Task

# name -> module and class. A new task of the package is one file and one line here.
_REGISTRY = {
    "block_size": "mirenc.decide.tasks.block_size:BlockSize",
    "device_mapping": "mirenc.decide.tasks.device_mapping:DeviceMapping",
    "numa_prefetch": "mirenc.decide.tasks.numa_prefetch:NumaPrefetch",
    "openmp": "mirenc.decide.tasks.openmp:OpenMP",
    "oz_benefit": "mirenc.decide.tasks.pass_tasks:OzBenefit",
    "pass_fires": "mirenc.decide.tasks.pass_tasks:PassFires",
    "pass_list": "mirenc.decide.tasks.pass_tasks:PassListChoice",
    "size_after": "mirenc.decide.tasks.pass_tasks:SizeAfter",
    "thread_coarsening": "mirenc.decide.tasks.thread_coarsening:ThreadCoarsening",
    "vectorization": "mirenc.decide.tasks.vectorization:Vectorization",
}
_ALLOWED = {
    "cost_unit": ("seconds", "bytes"),
    "select": ("accuracy", "speedup"),
    "target": ("costs", "number", "labels"),
    "level": ("module", "function", "loop"),
}


def _check_task(task: Task, where: str) -> None:
    """Refuse a task whose names do not fit together, before it meets any data."""

    def refuse(name: str, must: str) -> TaskError:
        return TaskError(f"{where}: {name} is {getattr(task, name)!r}; {must}")

    for name in ("variants", "protocols"):
        if not isinstance(getattr(task, name), tuple) or not getattr(task, name):
            raise refuse(name, "it must be a tuple of one or more")
    for name in ("context_names", "hand_names", "ir_context", "compiler_context"):
        if not isinstance(getattr(task, name), tuple):
            raise refuse(name, "it must be a tuple of names")
    for name, allowed in _ALLOWED.items():
        if getattr(task, name) not in allowed:
            raise refuse(name, f"available: {', '.join(allowed)}")
    if task.space is not None and not isinstance(task.space, Space):
        raise refuse("space", "it must be a mirenc.decide.Space")
    if strange := [name for name in task.ir_context if name not in task.context_names]:
        raise TaskError(f"{where}: ir_context names {strange[0]!r}, which context_names does not")
    count = 0 if task.space is None else len(task.space)
    for name, choice in task.baselines.items():
        if choice not in range(count):
            raise TaskError(f"{where}: {name!r} is setting {choice!r}; indices go from 0 to {count - 1}")


def list_tasks() -> list[str]:
    """Names that `get_task` knows."""
    return sorted(_REGISTRY)


def get_task(name: str | os.PathLike[str]) -> Task:
    """A shipped task by its name, or a task of your own by a `Path` of its file, which is executed: `load_task_file`.

    A string is a name and nothing else, because names come from anywhere, a head's folder for one. Raises TaskError:
    unknown name; a file without exactly one task.
    """
    if isinstance(name, os.PathLike):
        return load_task_file(name)
    if name not in _REGISTRY:
        close = difflib.get_close_matches(name, _REGISTRY, n=1)
        meant = f" Did you mean {close[0]!r}?" if close else ""
        raise TaskError(
            f"unknown task {name!r}; available: {', '.join(list_tasks())}.{meant} "
            "A task of your own is a file, which is executed: --task-file FILE.py "
            "(Python: mirenc.decide.load_task_file)"
        )
    module, _, attribute = _REGISTRY[name].partition(":")
    return getattr(importlib.import_module(module), attribute)()


def load_task_file(path: str | os.PathLike[str]) -> Task:
    """The task that a Python file defines. The file is executed: only load what you trust.

    Raises TaskError: no such file, the file fails, or it does not define exactly one subclass of `Task`.
    """
    file = Path(path)
    if not file.exists():
        raise TaskError(f"task file {file} does not exist. Check the path")
    if file.suffix != ".py" or not file.is_file():
        raise TaskError(f"task file {file} is no Python file. Give one that is named .py")
    spec = importlib.util.spec_from_file_location(f"mirenc_task_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look up the module of a class
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        raise TaskError(f"task file {file} fails: {type(error).__name__}: {error}. Mend it") from error
    own = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
    found = [one for one in own if issubclass(one, Task)]
    if len(found) != 1:
        names = ", ".join(sorted(kind.__name__ for kind in found)) or "none"
        raise TaskError(f"task file {file} defines {len(found)} tasks ({names}); it must define one subclass of Task")
    try:
        task: Task = found[0]()
    except TypeError as error:
        raise TaskError(f"task file {file}: {error}") from None
    missing = [name for name in ("name", "title", "source", "protocols") if not hasattr(task, name)]
    if missing:
        raise TaskError(f"task file {file}: {found[0].__name__} lacks {', '.join(missing)}. See mirenc.decide.Task")
    _check_task(task, f"task file {file}")
    return task
