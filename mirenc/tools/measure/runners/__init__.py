"""`Runner`: what runs and times the cells of one sample, in a process that may die of it."""

from __future__ import annotations

import json
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray

from mirenc.base.errors import ConfigError, unknown

if TYPE_CHECKING:  # the process that measures needs nothing of the tasks
    from mirenc.decide.settings import Value


@dataclass(frozen=True)
class Cell:
    """One setting of one kernel, built; or why it could not be."""

    setting: tuple[Value, ...]  # as asked, a value for each knob
    effective: tuple[Value, ...]  # what the compiler says that it made of it, or the same again
    code: str = ""  # digest of the machine code; "": not known
    library: str = ""  # shared object in the kernel's folder, and the function in it: where the runner finds it
    symbol: str = ""
    before: Mapping[str, Any] = field(default_factory=dict, hash=False)  # for the runner: ``{"local": [8, 8]}``
    problem: str = ""  # why it is no candidate, ``compile: over 1 s``; "" if it is one

    @property
    def measurement(self) -> str:
        """Equal for cells with the same code and settings of the runner, which are measured once; "" if not known."""
        return f"{self.code} {json.dumps(self.before, sort_keys=True)}" if self.code and not self.problem else ""


@dataclass(frozen=True)
class Build:
    """A kernel, built with every setting for one part of the machine."""

    cells: tuple[Cell, ...]  # one a setting of the task's space, in its order
    copy: Cell  # a second build of the default: its times beside the default's are the noise floor (A/A)
    driver: str  # the built driver, in the kernel's folder
    ir: str  # what a head sees, and in it the function and, for a loop, the header; "" for the whole module
    symbol: str = ""
    header: str = ""
    default: int = 0  # place of the default in ``cells``


Array = NDArray[Any]

# name -> module and class. A new runner is one file and one line here.
_REGISTRY = {
    "c": "mirenc.tools.measure.runners.c:CRunner",
    "cuda": "mirenc.tools.measure.runners.cuda:CudaRunner",
    "opencl": "mirenc.tools.measure.runners.opencl:OpenCLRunner",
}


class CellRefusedError(Exception):
    """A cell cannot run, such as a work group that is too large; other cells of the sample can."""


class Runner(ABC):
    """Runs the cells of one sample. One object a process, and one process a sample.

    `CellRefusedError` costs the cell. Whatever else is raised, or ends the process, costs the cell that was at work and
    a new process for the others.
    """

    # Bytes of address space that a sample may add, beside a thread a core; None: what it runs on maps more than it uses
    memory_limit: ClassVar[int | None] = 8 * 2**30

    @classmethod  # noqa: B027 - most have nothing to import
    def warm(cls) -> None:
        """Import what takes long, in the process that those of all samples are forked from; raise if it is missing."""
        # It must start no thread and open no device: a fork keeps neither.

    @abstractmethod
    def load(self, folder: Path, driver: str, size: int) -> None:
        """Set up the inputs by the driver in a folder; a RuntimeError or OSError: the sample cannot be measured."""

    @abstractmethod
    def outputs(self, cell: Cell) -> list[Array]:
        """Outputs of one call after a reset: a copy of each array, of a floating or an integer type."""

    @abstractmethod
    def time(self, cell: Cell, calls: int) -> float:
        """Seconds that ``calls`` calls take together, after a reset that is not timed."""


class GpuRunner(Runner):
    """Launches a kernel of `Cell.library` in blocks that the cell tells: ``{"local": [x, y]}``."""

    memory_limit = None  # a GPU's library maps all of its memory

    def read(self, folder: Path, driver: str, size: int) -> None:
        from mirenc.tools.measure.gpu_driver import read_driver

        self.folder, self.size = folder, size
        self.driver = read_driver((folder / driver).read_text(encoding="utf-8"), str(folder / driver))


def get_runner(name: str) -> type[Runner]:
    """The runner of this name."""
    if name not in _REGISTRY:
        raise ConfigError(unknown("runner", name, _REGISTRY))
    return pkgutil.resolve_name(_REGISTRY[name])
