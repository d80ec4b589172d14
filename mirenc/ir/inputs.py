"""What an input is: decided here, once, for everything that takes IR.

| given | taken for |
|---|---|
| `IRModule` | itself |
| ``bytes`` | IR text or bitcode |
| ``str`` with a line break, or beginning like IR | IR text |
| any other ``str``, or a path object | a file; ``-`` is standard input, a folder stands for the IR files below it |
| a file named like C, C++, OpenCL C or CUDA source | a source file, which is compiled |
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from mirenc.errors import ConfigError
from mirenc.ir.files import find_inputs, language_of
from mirenc.ir.module import IRModule

__all__ = ["IRInput", "Input", "expand_inputs", "is_folder", "path_input", "resolve_input"]

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
    """

    kind: Literal["module", "ir", "file", "source"]
    name: str
    value: IRModule | bytes | str
    language: str = ""


def path_input(path: str | os.PathLike[str]) -> Input:
    """A path, whatever it looks like."""
    name = os.fspath(path)
    language = language_of(name)
    return Input("file", name, name) if language is None else Input("source", name, name, language)


def resolve_input(given: IRInput) -> Input:
    """What one input is.

    Raises
    ------
    ConfigError
        It is nothing of the kind.
    """
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


def is_folder(given: object) -> bool:
    """Whether an input stands for the files of a folder."""
    if isinstance(given, os.PathLike) or (isinstance(given, str) and not _is_ir_text(given)):
        try:
            return os.path.isdir(given)
        except ValueError:  # no file name at all
            return False
    return False


def expand_inputs(inputs: Iterable[IRInput | Input]) -> Iterator[Input]:
    """The inputs in their order; a folder gives the IR files below it, sorted.

    A folder without any stays, so that it fails as one input of several; so does an `Input`, which is resolved already.
    """
    for given in inputs:
        if isinstance(given, Input):
            yield given
            continue
        found = find_inputs(given) if is_folder(given) else []  # type: ignore[arg-type]  # then it is a path
        yield from map(path_input, found) if found else [resolve_input(given)]


def _is_ir_text(text: str) -> bool:
    return "\n" in text or text.lstrip().startswith(("define ", "; ModuleID", "source_filename", "target "))
