"""`Kernel`: a piece of code to measure, and what it runs on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the process that measures needs nothing of the tasks
    from mirenc.tasks.space import Value


@dataclass(frozen=True)
class Kernel:
    """A piece of code at one problem size: one sample of a table, or one for each part of the machine.

    Attributes
    ----------
    name : str
        Of the kernel and its size; no other kernel of a table has it.
    group, family : str
        Its structure without type and size, never on both sides of a fold; and what a protocol leaves out as a whole.
    language : str
        ``c``, ``cl`` or ``cuda``.
    driver : str
        C (``mirenc_measure.h`` says what it defines) for ``c``; TOML for ``cl`` and ``cuda``.
    function : str
        The function that is timed.
    line : int
        Line of ``source``, from 1, of the loop or parallel region that is decided about; 0: the function as a whole.
    size : int
        What the driver is told to set up.
    context : mapping of str to number
        What is known beside the code, by the names of the task's context features.
    include, headers : str
        Of a user's source its folder, for the headers beside it, and a digest of what is included.
    """

    name: str
    group: str
    family: str
    language: str
    source: str
    driver: str
    function: str
    line: int = 0
    size: int = 0
    context: Mapping[str, float | str] = field(default_factory=dict, hash=False)
    include: str = ""
    headers: str = ""


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
