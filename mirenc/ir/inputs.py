"""What an input is: decided here, once, for everything that takes IR.

| given | taken for |
|---|---|
| `IRModule` | itself |
| ``bytes`` | IR text or bitcode |
| ``str`` with a line break, or beginning like IR | IR text |
| any other ``str``, or a path object | a file; ``-`` is standard input |
| a folder | the IR files below it; without any, its ``compile_commands.json`` or sources (`mirenc.ir.projects`) |
| a file named ``.json`` | a ``compile_commands.json``: its sources, compiled as it says |
| a file named like C, C++, OpenCL C or CUDA source | a source file, which is compiled |
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mirenc.errors import ConfigError
from mirenc.ir.files import language_of
from mirenc.ir.module import IRModule

__all__ = ["IRInput", "Input", "expand_inputs", "is_project", "path_input", "resolve_input"]

IRInput = IRModule | str | bytes | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Input:
    """One input, told what it is.

    Attributes
    ----------
    kind : str
        ``module``, ``ir`` (text or bitcode in memory), ``file`` (of IR) or ``source``.
    name : str
        What messages and rows call it: a path as it was given, ``<string>`` for what has none.
    value : IRModule, bytes or str
        The module, the IR or the path.
    language : str
        Of a source, as clang's ``-x`` wants it; "" for others.
    flags : tuple of str
        Of a source that a project stands for: what it is compiled with, before the user's own flags.
    folder : str
        Where the compiler runs for these flags; "" for a source that was named itself.
    """

    kind: Literal["module", "ir", "file", "source"]
    name: str
    value: IRModule | bytes | str
    language: str = ""
    flags: tuple[str, ...] = ()
    folder: str = ""


def path_input(path: str | os.PathLike[str]) -> Input:
    """A path, whatever it looks like."""
    name = os.fspath(path)
    language = language_of(name)
    return Input("file", name, name) if language is None else Input("source", name, name, language)


def resolve_input(given: IRInput | Input) -> Input:
    """What one input is; an `Input` is resolved already.

    Raises
    ------
    ConfigError
        It is nothing of the kind.
    """
    if isinstance(given, Input):
        return given
    if isinstance(given, IRModule):
        return Input("module", given.name, given)
    if isinstance(given, (bytes, bytearray)):
        return Input("ir", "<string>", bytes(given))
    if isinstance(given, str) and _is_ir_text(given):
        return Input("ir", "<string>", given.encode("utf-8", "surrogateescape"))
    if isinstance(given, (str, os.PathLike)):
        return path_input(given)
    raise ConfigError(
        f"an input is of type {type(given).__name__}; allowed: a path, IR text, bitcode bytes or an IRModule"
    )


def is_project(given: object) -> bool:
    """Whether an input stands for many files: a folder, or a ``compile_commands.json``."""
    if isinstance(given, os.PathLike) or (isinstance(given, str) and not _is_ir_text(given) and given != "-"):
        try:
            return os.path.isdir(given) or (os.fspath(given).endswith(".json") and os.path.isfile(given))
        except ValueError:  # no file name at all
            return False
    return False


def expand_inputs(inputs: Iterable[IRInput | Input], report: Callable[[str], None] | None = None) -> Iterator[Input]:
    """The inputs in their order; one that stands for many files gives those, and ``report`` is told what it leaves out.

    A folder without any stays, so that it fails as one input of several.

    Raises
    ------
    ConfigError
        A ``compile_commands.json`` is none.
    """
    for given in inputs:
        found: list[Input] = []
        if is_project(given):
            from mirenc.ir.projects import command_inputs, folder_inputs

            path = Path(given)  # type: ignore[arg-type]  # then it is one
            found = folder_inputs(path, report) if path.is_dir() else command_inputs(path, report)
        yield from found or [resolve_input(given)]


def _is_ir_text(text: str) -> bool:
    return "\n" in text or text.lstrip().startswith(("define ", "; ModuleID", "source_filename", "target "))
