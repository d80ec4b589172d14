"""The registry of tasks: the shipped ones by name, and those of your own by the file that defines one."""

import importlib
import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from mirenc.base.errors import TaskError, unknown
from mirenc.decide.context import Context, Feature
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
READY = Path(__file__).parent / "ready"  # heads that are shipped
_ALLOWED = {
    "cost_unit": ("seconds", "bytes"),
    "select": ("accuracy", "speedup"),
    "target": ("costs", "number", "labels"),
    "level": ("module", "function", "loop"),
}


def _check_task(task: Task, where: str) -> None:
    """Refuse a task whose names do not fit together, before it meets any data."""

    def refuse(name: str, requirement: str) -> TaskError:
        return TaskError(f"{where}: {name} is {getattr(task, name)!r}; {requirement}")

    for name in ("variants", "protocols"):
        if not isinstance(getattr(task, name), tuple) or not getattr(task, name):
            raise refuse(name, "it must be a tuple of one or more")
    if not isinstance(task.hand_feature_names, tuple):
        raise refuse("hand_feature_names", "it must be a tuple of names")
    if not isinstance(task.context, Context):
        raise refuse("context", "it must be a mirenc.decide.Context")
    for name, allowed in _ALLOWED.items():
        if getattr(task, name) not in allowed:
            raise refuse(name, f"available: {', '.join(allowed)}")
    if task.space is not None and not isinstance(task.space, Space):
        raise refuse("space", "it must be a mirenc.decide.Space")
    count = 0 if task.space is None else len(task.space)
    for name, choice in task.baselines.items():
        if choice not in range(count):
            raise TaskError(f"{where}: {name!r} is setting {choice!r}; indices go from 0 to {count - 1}")


def list_tasks() -> list[str]:
    """Names that `get_task` knows."""
    return sorted(_REGISTRY)


@dataclass(frozen=True)
class TaskSummary:
    """What ``mirenc tasks`` says of a task."""

    name: str
    title: str
    labels_from: str
    """Where costs and labels come from: ``published``, ``measured`` by `mirenc measure`, or ``compiled``."""
    context: tuple[Feature, ...]
    """Features to give with a question; `Feature.optional` ones may be left out."""
    variants: tuple[str, ...]
    ready: tuple[str, ...]
    """Variants with a head that is shipped, which `mirenc predict` takes without ``--head``."""


def describe_tasks() -> list[TaskSummary]:
    """A row for each shipped task, by name."""
    return [
        TaskSummary(name, task.title, task.labels_from, task.context.features, task.variants, tuple(ready_heads(task)))
        for name, task in ((name, get_task(name)) for name in list_tasks())
    ]


def ready_heads(task: Task, *, look_ahead: bool = False) -> dict[str, Path]:
    """Shipped heads of a task, or those that look ahead: variant -> folder, in the task's order."""
    suffix = ".look_ahead" if look_ahead else ""
    folders = {variant: READY / f"{task.name}.{variant or 'all'}{suffix}" for variant in task.variants}
    return {variant: folder for variant, folder in folders.items() if (folder / "head.json").is_file()}


def get_task(name: str | os.PathLike[str]) -> Task:
    """A shipped task by its name, or a task of your own by a `Path` of its file, which is executed: `load_task_file`.

    A string is a name and nothing else, because names come from anywhere, a head's folder for one. Raises TaskError:
    unknown name; a file without exactly one task.
    """
    if isinstance(name, os.PathLike):
        return load_task_file(name)
    if name not in _REGISTRY:
        advice = "For a task of your own, give the file, which is executed: --task-file FILE.py  "
        advice += "(Python: mirenc.decide.load_task_file). Or give `mirenc predict` the folder of a head"
        raise TaskError(unknown("task", name, {task: get_task(task).title for task in list_tasks()}, advice))
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
        raise TaskError(f"task file {file} is not a Python file. Give a file that is named .py")
    spec = importlib.util.spec_from_file_location(f"mirenc_task_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look up the module of a class
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        raise TaskError(f"task file {file} fails: {type(error).__name__}: {error}. Mend the file") from error
    classes = [item for item in vars(module).values() if isinstance(item, type) and item.__module__ == module.__name__]
    tasks = [task_class for task_class in classes if issubclass(task_class, Task)]
    if len(tasks) != 1:
        names = ", ".join(sorted(task_class.__name__ for task_class in tasks)) or "none"
        raise TaskError(f"task file {file} defines {len(tasks)} tasks ({names}); it must define one subclass of Task")
    task = tasks[0]()
    missing = [name for name in ("name", "title") if not hasattr(task, name)]
    if tasks[0].load is Task.load and tasks[0].samples is Task.samples:
        missing.append("samples")
    if missing:
        raise TaskError(f"task file {file}: {tasks[0].__name__} lacks {', '.join(missing)}. See mirenc.decide.Task")
    _check_task(task, f"task file {file}")
    return task
