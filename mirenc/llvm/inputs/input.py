"""What one input is: decided here for everything that takes IR. `projects` expands what stands for many files.

| value | taken for |
|---|---|
| `IRModule` | itself |
| ``bytes`` | IR text or bitcode |
| ``str`` with a line break, or beginning like IR | IR text |
| any other ``str``, or a path object | a file; ``-`` is standard input; ``lib.a(member.o)`` is a module in a file |
| an archive, a universal file, an object with several modules | its modules (`mirenc.llvm.inputs.containers`) |
| a folder | the IR files below it; without any, its ``compile_commands.json`` or sources |
| a file named ``.json`` | a ``compile_commands.json``: its sources, compiled as it says |
| a file named like C, C++, OpenCL C or CUDA source | a source file, which is compiled |
"""

import os
from collections.abc import Callable
from dataclasses import dataclass

from mirenc.base.errors import ConfigError
from mirenc.llvm.inputs.containers import Part
from mirenc.llvm.inputs.languages import language_of
from mirenc.llvm.ir.module import IRModule

IRInput = IRModule | str | bytes | os.PathLike[str]
Report = Callable[[str], None]
"""Called with a line about what is left out."""


@dataclass(frozen=True, slots=True)
class Input:
    """One input: a module, IR in memory (text or bitcode), a source file, or without ``language`` a file of IR."""

    name: str  # what messages and rows call it: a path as it was given, `<string>` for what has none
    value: IRModule | bytes | str  # the module, the IR or the path
    language: str = ""  # of a source, as clang's -x wants it
    flags: tuple[str, ...] = ()  # of a source that a project stands for, before the user's own
    folder: str = ""  # in which that source is compiled
    source: str = ""  # what its compiler is told it is called, as `__FILE__` has it; "": the path
    problem: str = ""  # why that source cannot be compiled
    part: Part | None = None  # where in a container it lies


def path_input(path: str | os.PathLike[str]) -> Input:
    """A path, whatever it looks like."""
    name = os.fspath(path)
    return Input(name, name, language_of(name) or "")


def resolve_input(value: IRInput | Input) -> Input:
    """What one input is; an `Input` is resolved already. Raises ConfigError: it is of another type."""
    if isinstance(value, Input):
        return value
    if isinstance(value, IRModule):
        return Input(value.name, value)
    if isinstance(value, (bytes, bytearray)):
        return Input("<string>", bytes(value))
    if isinstance(value, str) and is_ir_text(value):
        return Input("<string>", text_bytes(value))
    if isinstance(value, (str, os.PathLike)):
        return path_input(value)
    raise ConfigError(f"an input is of type {type(value).__name__}; allowed: a path, IR text, bitcode or an IRModule")


def text_bytes(text: str) -> bytes:
    """Bytes of IR text. A lone surrogate that stands for no byte becomes bytes that are no UTF-8, which LLVM judges."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def is_ir_text(text: str) -> bool:
    """Whether text is IR and no path."""
    return "\n" in text or text.lstrip().startswith(("define ", "; ModuleID", "source_filename", "target "))
