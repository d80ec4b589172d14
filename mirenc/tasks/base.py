"""`Task`: what a decision problem is. One file a task; this one holds what all of them share, and the registry.

A task of your own is a Python file with a subclass of `Task`; ``mirenc evaluate FILE.py --data DIR`` runs it through
the same protocols, baselines and search as the shipped ones (`notebooks/` walks through one).
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import TaskError
from mirenc.tasks.data import TaskData, TaskSample
from mirenc.tasks.protocols import Protocol

__all__ = ["Task", "get_task", "list_tasks", "load_task_file"]

# name -> module and class. A new task of the package is one file and one line here.
_REGISTRY = {
    "device_mapping": "mirenc.tasks.device_mapping:DeviceMapping",
    "thread_coarsening": "mirenc.tasks.thread_coarsening:ThreadCoarsening",
}


class Task(ABC):
    """A decision problem with measured costs.

    Attributes
    ----------
    name, title, source : str
        ``source`` is the paper or data set the costs come from.
    knob : str
        What is decided, in the field's word (DESIGN section 8).
    choices : tuple of str
        Values of the knob, in the order of every sample's costs.
    default : int
        Index of the choice that runs when nobody decides.
    aux_names : tuple of str
        Task features beside the code, raw, as ``mirenc predict --aux name=value`` takes them.
    aux_help : mapping of str to str
        What each of them is, for messages: unit, or allowed values.
    variants : tuple of str
        Separate tables of the task, such as one a GPU; ``("",)`` if there is one.
    protocols : tuple of Protocol
        The published one first.
    baselines : mapping of str to int
        Static choices that speedups are also given over: name -> index.
    hand_names : tuple of str
        Published hand-made code features; empty if the data have none.
    select : str
        What the search for a head maximises on the training folds: ``accuracy`` or ``speedup``.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    knob: ClassVar[str]
    choices: ClassVar[tuple[str, ...]]
    default: ClassVar[int] = 0
    aux_names: ClassVar[tuple[str, ...]] = ()
    aux_help: ClassVar[Mapping[str, str]] = {}
    variants: ClassVar[tuple[str, ...]] = ("",)
    protocols: ClassVar[tuple[Protocol, ...]]
    baselines: ClassVar[Mapping[str, int]] = {}
    hand_names: ClassVar[tuple[str, ...]] = ()
    select: ClassVar[str] = "accuracy"

    @abstractmethod
    def load(self, data_dir: str | Path | None = None, variant: str = "") -> TaskData:
        """Read one variant's samples.

        Parameters
        ----------
        data_dir : path, optional
            Where the data sets are; ``MIRENC_DATA`` or the download folder if left out.
        variant : str
            One of `variants`.

        Raises
        ------
        TaskError, OSError
            Missing files or columns, a kernel without IR, a bad cost: the row or key is named.
        """

    def encode_aux(self, aux: tuple[Any, ...]) -> NDArray[np.float64]:
        """Raw task features as numbers for a head: (A,) float64. Here: as they are."""
        return np.array(aux, dtype=np.float64)

    def hand_features(self, sample: TaskSample) -> NDArray[np.float64]:
        """The sample's `hand_names`, as numbers for a head: (len(hand_names),) float64."""
        raise TaskError(f"task {self.name!r} has no hand features")

    def parse_aux(self, given: Mapping[str, str]) -> tuple[Any, ...]:
        """``--aux`` values in the order of `aux_names`. Here: numbers.

        Raises
        ------
        TaskError
            A missing or unknown name, or a value that is no finite number.
        """
        self._check_aux_names(given)
        return tuple(_number(name, given[name]) for name in self.aux_names)

    def _check_aux_names(self, given: Mapping[str, str]) -> None:
        wanted = ",".join(f"{name}=..." for name in self.aux_names)
        wanted += "".join(f"; {name}: {self.aux_help[name]}" for name in self.aux_names if name in self.aux_help)
        for name in given:
            if name not in self.aux_names:
                raise TaskError(f"unknown task feature {name!r} for {self.name}. Give --aux {wanted}")
        missing = [name for name in self.aux_names if name not in given]
        if missing:
            raise TaskError(f"{self.name} also needs {', '.join(map(repr, missing))}. Give --aux {wanted}")

    def protocol(self, name: str) -> Protocol:
        """The protocol of this name.

        Raises
        ------
        TaskError
            Unknown name.
        """
        for protocol in self.protocols:
            if protocol.name == name:
                return protocol
        names = ", ".join(protocol.name for protocol in self.protocols)
        raise TaskError(f"{self.name} has no protocol {name!r}; available: {names}")

    def check_variant(self, variant: str) -> str:
        """The variant, the first one for ``""``.

        Raises
        ------
        TaskError
            Unknown name.
        """
        chosen = variant or self.variants[0]
        if chosen not in self.variants and self.variants == ("",):
            raise TaskError(f"{self.name} has one table only, and no variant {variant!r}. Leave the variant out")
        if chosen not in self.variants:
            raise TaskError(f"{self.name} has no variant {variant!r}; available: {', '.join(self.variants)}")
        return chosen


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise TaskError(f"task feature {name!r} is {text!r}; it must be a finite number, as in {name}=128")
    return value


def _check_task(task: Task, where: str) -> None:
    """Refuse a task whose names do not fit together, before it meets any data."""
    for name in ("choices", "variants", "protocols"):
        if not isinstance(getattr(task, name), tuple) or not getattr(task, name):
            raise TaskError(f"{where}: {name} is {getattr(task, name)!r}; it must be a tuple of one or more")
    for name in ("aux_names", "hand_names"):
        if not isinstance(getattr(task, name), tuple):
            raise TaskError(f"{where}: {name} is {getattr(task, name)!r}; it must be a tuple of names")
    if task.select not in ("accuracy", "speedup"):
        raise TaskError(f"{where}: select is {task.select!r}; available: accuracy, speedup")
    for name, choice in {"default": task.default, **task.baselines}.items():
        if choice not in range(len(task.choices)):
            raise TaskError(f"{where}: {name!r} is choice {choice!r}; indices go from 0 to {len(task.choices) - 1}")


def list_tasks() -> list[str]:
    """Names that `get_task` knows."""
    return sorted(_REGISTRY)


def get_task(name: str | os.PathLike[str]) -> Task:
    """A shipped task by its name, or a task of your own by a `Path` of its file.

    A string is a name and nothing else, because names come from anywhere, a head's folder for one. A `Path` is a file,
    which is executed: `load_task_file`.

    Raises
    ------
    TaskError
        Unknown name; a file without exactly one task.
    """
    if isinstance(name, os.PathLike):
        return load_task_file(name)
    if name not in _REGISTRY:
        close = difflib.get_close_matches(name, _REGISTRY, n=1)
        meant = f" Did you mean {close[0]!r}?" if close else ""
        raise TaskError(
            f"unknown task {name!r}; available: {', '.join(list_tasks())}.{meant} "
            "A task of your own is a file, which is executed: --task-file FILE.py (Python: mirenc.tasks.load_task_file)"
        )
    module, _, attribute = _REGISTRY[name].partition(":")
    task: Task = getattr(importlib.import_module(module), attribute)()
    return task


def load_task_file(path: str | os.PathLike[str]) -> Task:
    """The task that a Python file defines. The file is executed: only load what you trust.

    Raises
    ------
    TaskError
        No such file, the file fails, or it does not define exactly one subclass of `Task`.
    """
    file = Path(path)
    if not file.is_file():
        raise TaskError(f"task file {file} does not exist. Check the path")
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
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Task) and value.__module__ == module.__name__
    ]
    if len(found) != 1:
        names = ", ".join(sorted(kind.__name__ for kind in found)) or "none"
        raise TaskError(f"task file {file} defines {len(found)} tasks ({names}); it must define one subclass of Task")
    try:
        task: Task = found[0]()
    except TypeError as error:
        raise TaskError(f"task file {file}: {error}") from None
    missing = [name for name in ("name", "title", "source", "knob", "choices", "protocols") if not hasattr(task, name)]
    if missing:
        raise TaskError(f"task file {file}: {found[0].__name__} lacks {', '.join(missing)}. See mirenc.tasks.Task")
    _check_task(task, f"task file {file}")
    return task
