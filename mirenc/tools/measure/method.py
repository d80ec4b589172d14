"""`Method`: how the samples of one task are made and built. `MeasuredTask.method` names it."""

import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from mirenc.base.errors import TaskError
from mirenc.decide.registry import get_task, list_tasks
from mirenc.decide.settings import Space
from mirenc.decide.tables.measured import MeasuredKernel, MeasuredTask
from mirenc.tools.measure.runners import Build
from mirenc.tools.run.compilers import Toolchain


def get_method(task: str) -> "Method":
    """The method of a task. Raises TaskError: the task cannot be measured."""
    tasks = {name: kind for name in list_tasks() if isinstance(kind := get_task(name), MeasuredTask)}
    if task not in tasks:
        raise TaskError(f"task {task!r} cannot be measured; available: {', '.join(tasks)}. Name one of these")
    return pkgutil.resolve_name(tasks[task].method)()


class Method(ABC):
    """How one task (`mirenc.decide`) is measured."""

    task: ClassVar[str]
    default_count: ClassVar[int]  # kernels of the project's own, unless the user says otherwise
    # Parts that can be built on a machine that has none of them, to be timed on another
    elsewhere: ClassVar[tuple[str, ...]] = ()
    # Whether a kernel is one thread, so that its process may be kept on one CPU, which is less noisy
    one_thread: ClassVar[bool] = True
    one_size: ClassVar[bool] = False  # whether a build is for one size of a kernel; else all sizes share it

    @property
    def knobs(self) -> tuple[str, ...]:
        """Knobs of the settings. Default: those of the task's space."""
        space = self.space
        assert space is not None
        return space.knobs

    @property
    def space(self) -> Space | None:
        """The task's space; None where samples bring their own."""
        return get_task(self.task).space

    def runner_for(self, part: str) -> str:
        """Name of the runner of a part's cells (`mirenc.tools.measure.runners`). Default: ``c``."""
        return "c"

    def describe(self, part: str) -> Mapping[str, Any]:
        """The device of a part: ``name``, ``platform``, ``driver`` and more. Default: {}, no device."""
        return {}

    def flags(self, part: str) -> tuple[str, ...]:
        """Flags of all settings of a part, beside the toolchain's, for the table's record. Default: none."""
        return ()

    def takes(self, kernel: MeasuredKernel, part: str) -> bool:
        """Whether a part of the machine can run a kernel. Default: always."""
        return True

    @abstractmethod
    def parts(self) -> tuple[str, ...]:
        """Parts of this machine that are measured one by one, such as its instruction sets; ``("",)`` for none.

        A machine that lacks what all of them need has ``()``, and `describe` of any part raises with what to install.
        """

    @abstractmethod
    def find_compiler(self, compiler: str | None) -> Toolchain:
        """What builds the variants, or a `ToolchainError` that says what to install."""

    @abstractmethod
    def own_kernels(self, count: int) -> Iterator[MeasuredKernel]:
        """The first ``count`` kernels of the project's own, or all; any beginning is spread over groups."""

    @abstractmethod
    def user_kernels(self, paths: Sequence[Path], toolchain: Toolchain) -> Iterator[MeasuredKernel]:
        """Kernels of the user's sources, each with a driver beside it; an error says what to write."""

    @abstractmethod
    def build(self, kernel: MeasuredKernel, part: str, folder: Path, toolchain: Toolchain) -> Build:
        """Build all settings into a folder that is the kernel's own. It may run beside others.

        A setting that does not compile is a cell with a ``problem``; a default or a driver is a `CompileError`.
        """

    def run_context(self, kernel: MeasuredKernel, toolchain: Toolchain) -> Mapping[str, Any]:
        """Context features that one run of a kernel gives, named ``run_NAME``. Default: none."""
        return {}
