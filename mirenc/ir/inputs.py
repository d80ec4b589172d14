"""What one input is: decided here, once, for everything that takes IR. What stands for many is `mirenc.ir.projects`'.

| given | taken for |
|---|---|
| `IRModule` | itself |
| ``bytes`` | IR text or bitcode |
| ``str`` with a line break, or beginning like IR | IR text |
| any other ``str``, or a path object | a file; ``-`` is standard input |
| a folder | the IR files below it; without any, its ``compile_commands.json`` or sources |
| a file named ``.json`` | a ``compile_commands.json``: its sources, compiled as it says |
| a file named like C, C++, OpenCL C or CUDA source | a source file, which is compiled |
"""

import os
from dataclasses import dataclass
from typing import Literal

from mirenc.errors import ConfigError
from mirenc.ir.files import language_of
from mirenc.ir.module import IRModule

IRInput = IRModule | str | bytes | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Input:
    """One input, told what it is: a module, IR in memory (text or bitcode), a file of IR, or a source."""

    kind: Literal["module", "ir", "file", "source"]
    name: str  # what messages and rows call it: a path as it was given, `<string>` for what has none
    value: IRModule | bytes | str  # the module, the IR or the path
    language: str = ""  # of a source, as clang's -x wants it
    flags: tuple[str, ...] = ()  # of a source that a project stands for, before the user's own
    folder: str = ""  # in which that source is compiled


def path_input(path: str | os.PathLike[str]) -> Input:
    """A path, whatever it looks like."""
    name = os.fspath(path)
    language = language_of(name)
    return Input("file", name, name) if language is None else Input("source", name, name, language)


def resolve_input(given: IRInput | Input) -> Input:
    """What one input is; an `Input` is resolved already. Raises ConfigError: it is nothing of the kind."""
    if isinstance(given, Input):
        return given
    if isinstance(given, IRModule):
        return Input("module", given.name, given)
    if isinstance(given, (bytes, bytearray)):
        return Input("ir", "<string>", bytes(given))
    if isinstance(given, str) and is_ir_text(given):
        return Input("ir", "<string>", given.encode("utf-8", "surrogateescape"))
    if isinstance(given, (str, os.PathLike)):
        return path_input(given)
    raise ConfigError(
        f"an input is of type {type(given).__name__}; allowed: a path, IR text, bitcode bytes or an IRModule"
    )


def is_ir_text(text: str) -> bool:
    """Whether text is IR and no path."""
    return "\n" in text or text.lstrip().startswith(("define ", "; ModuleID", "source_filename", "target "))
