"""`Runner`: what runs and times the cells of one sample, in a process that may die of it."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from numpy.typing import NDArray

from mirenc.errors import ConfigError
from mirenc.measure.kernel import Cell

Array = NDArray[Any]

# name -> module and class. A new runner is one file and one line here.
_REGISTRY = {
    "c": "mirenc.measure.runners.c:CRunner",
    "cuda": "mirenc.measure.runners.cuda:CudaRunner",
    "opencl": "mirenc.measure.runners.opencl:OpenCLRunner",
}


class CellRefusedError(Exception):
    """A cell cannot run, as a work group that is too large, and those after it can all the same."""


class Runner(ABC):
    """Runs the cells of one sample. One object a process, and one process a sample.

    `CellRefusedError` costs the cell. Whatever else is raised, or ends the process, costs the cell that was at work and
    a new process for the others.

    Attributes
    ----------
    memory_limit : int or None
        Bytes of address space that a sample may add, beside a thread a core; None where what it runs on maps more
        than it uses.
    """

    memory_limit: ClassVar[int | None] = 8 * 2**30

    @classmethod  # noqa: B027 - most have nothing to import
    def warm(cls) -> None:
        """Import what takes long, in the process that those of all samples are forked from; raise where it is missing.

        It must start no thread and open no device: a fork keeps neither.
        """

    @abstractmethod
    def load(self, folder: Path, driver: str, size: int) -> None:
        """Set up the inputs by the driver in a folder; a RuntimeError or OSError: the sample cannot be measured."""

    @abstractmethod
    def outputs(self, cell: Cell) -> list[Array]:
        """Outputs of one call after a reset: a copy of each array, of a floating or an integer type."""

    @abstractmethod
    def time(self, cell: Cell, calls: int) -> float:
        """Seconds that ``calls`` calls take together, after a reset that is not timed."""


def get_runner(name: str) -> type[Runner]:
    """The runner of this name."""
    if name not in _REGISTRY:
        raise ConfigError(f"unknown runner {name!r}; available: {', '.join(_REGISTRY)}")
    module, _, attribute = _REGISTRY[name].partition(":")
    runner: type[Runner] = getattr(importlib.import_module(module), attribute)
    return runner


def own_keys(before: Mapping[str, object], known: tuple[str, ...]) -> None:
    """Refuse what `Cell.before` tells a runner that it does not know: left out, it would measure something else."""
    strange = [key for key in before if key not in known]
    if strange:
        allowed = ", ".join(known) or "nothing"
        raise ConfigError(f"the runner is told {strange[0]!r}, which it does not know; it knows {allowed}")
