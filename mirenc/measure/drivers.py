"""A user's C sources, and what the driver beside each says, as far as it must be known before it is built."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mirenc.errors import IRFileError, TaskError
from mirenc.ir.files import DRIVER, check_file
from mirenc.measure.building import HEADER

__all__ = ["Driver", "c_sources", "folder_of", "parse_driver", "read_driver", "read_text", "texts_of"]

_FUNCTION = re.compile(r"\bmirenc_function\s*\[\s*\]\s*=\s*\"(\w+)\"")
_SIZES = re.compile(r"\bmirenc_sizes\s*\[\s*\]\s*=\s*\{([\dlL\s,]*)\}")


@dataclass(frozen=True)
class Driver:
    """A driver's text, the function that it names, and its sizes without the 0 at their end."""

    text: str
    function: str
    sizes: tuple[int, ...]


def read_text(path: Path) -> str:
    """Text of a user's file. A table keeps it, so it must be UTF-8.

    Raises
    ------
    IRFileError
        It cannot be read, or is no UTF-8.
    """
    check_file(path)
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise IRFileError(
            f"{path}: byte {error.start} is no UTF-8, which sources and drivers must be. "
            f"Convert it, for example: iconv -f latin1 -t utf-8 {path.name}"
        ) from None


def folder_of(source: Path) -> str:
    """Where a source's own headers lie, for `Kernel.include`."""
    return str(source.absolute().parent)


def c_sources(paths: Sequence[Path]) -> list[Path]:
    """The sources among what a user named: of ``*.c``, drivers beside their sources are none.

    Raises
    ------
    IRFileError
        One that cannot be read.
    TaskError
        No C, or a driver without its source.
    """
    sources = []
    for path in paths:
        if path.suffix != ".c":
            raise TaskError(f"{path} is no C source. Write what is measured as a C function, in a file NAME.c")
        check_file(path)
        if not path.name.endswith(DRIVER):
            sources.append(path)
        elif (source := path.with_name(f"{path.name.removesuffix(DRIVER)}.c")) not in paths:
            raise TaskError(f"{path} is a driver. Name its source, {source}")
    return sources


def texts_of(source: Path) -> tuple[Path, Path]:
    """``NAME.c`` and its driver beside it, ``NAME.driver.c``."""
    return source, source.with_suffix(DRIVER)


def read_driver(source: Path) -> Driver:
    """The driver of ``NAME.c``: ``NAME.driver.c`` beside it.

    Raises
    ------
    IRFileError
        It cannot be read.
    TaskError
        There is none, or it does not say which function is timed on which sizes.
    """
    _, path = texts_of(source)
    if not path.is_file():
        raise TaskError(f"{source}: no driver {path.name} beside it. Write one; {HEADER} says what it defines")
    return parse_driver(read_text(path), str(path))


def parse_driver(text: str, where: str) -> Driver:
    """A driver's text, C; ``where`` is its file, for messages.

    Raises
    ------
    TaskError
        It does not say which function is timed on which sizes.
    """
    function, listed = _FUNCTION.search(text), _SIZES.search(text)
    sizes = tuple(int(size) for size in re.findall(r"\d+", listed[1]) if int(size)) if listed else ()
    if function is None or not sizes:
        raise TaskError(
            f"{where}: it does not say which function is timed on which sizes. Write, for example: "
            'const char mirenc_function[] = "work"; const long mirenc_sizes[] = {1000, 100000, 0};'
        )
    return Driver(text, function[1], sizes)
