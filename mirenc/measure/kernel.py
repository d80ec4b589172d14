"""`Build`: a kernel (`mirenc.tasks.measured.MeasuredKernel`) with all its settings, each a `Cell`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the process that measures needs nothing of the tasks
    from mirenc.tasks.space import Value


@dataclass(frozen=True)
class Cell:
    """One setting of one kernel, built; or why it could not be.

    Attributes
    ----------
    setting, effective : tuple
        As asked, a value for each knob; and what the compiler says that it made of it (or the same again).
    code : str
        Digest of the machine code. Cells of one ``code`` and one ``before`` are one measurement. "": not known.
    library, symbol : str
        Shared object, relative to the kernel's folder, and function: where the runner finds it.
    before : mapping of str to value
        What the runner is told beside it: ``{"local": [8, 8]}``.
    problem : str
        Why it is no candidate, ``compile: over 1 s``; "" if it is one.
    """

    setting: tuple[Value, ...]
    effective: tuple[Value, ...]
    code: str = ""
    library: str = ""
    symbol: str = ""
    before: Mapping[str, object] = field(default_factory=dict, hash=False)
    problem: str = ""


@dataclass(frozen=True)
class Build:
    """A kernel, built with every setting for one part of the machine.

    Attributes
    ----------
    cells : tuple of Cell
        One a setting of the task's space, in its order; ``default`` is the place of its default.
    copy : Cell
        A second build of the default: its times beside the default's are the noise floor (A/A).
    driver : str
        The built driver, relative to the kernel's folder.
    ir, symbol, header : str
        What a head sees, and in it the function and, for a loop, the header; "" for the whole module.
    """

    cells: tuple[Cell, ...]
    copy: Cell
    driver: str
    ir: str
    symbol: str = ""
    header: str = ""
    default: int = 0
