"""`read_driver`: what the driver beside a user's source says, as far as it must be known before it is built."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from mirenc.errors import TaskError

__all__ = ["Driver", "read_driver"]

_FUNCTION = re.compile(r"\bmirenc_function\s*\[\s*\]\s*=\s*\"(\w+)\"")
_SIZES = re.compile(r"\bmirenc_sizes\s*\[\s*\]\s*=\s*\{([\dlL\s,]*)\}")


@dataclass(frozen=True)
class Driver:
    """A driver's text, the function that it names, and its sizes without the 0 at their end."""

    text: str
    function: str
    sizes: tuple[int, ...]


def read_driver(source: Path) -> Driver:
    """The driver of ``NAME.c``: ``NAME.driver.c`` beside it.

    Raises
    ------
    TaskError
        There is none, or it does not say which function is timed on which sizes.
    """
    path = source.with_suffix(".driver.c")
    if not path.is_file():
        raise TaskError(f"{source}: no driver {path.name} beside it. Write one; mirenc_measure.h says what it defines")
    text = path.read_text(encoding="utf-8")
    function, listed = _FUNCTION.search(text), _SIZES.search(text)
    sizes = tuple(int(size) for size in re.findall(r"\d+", listed[1]) if int(size)) if listed else ()
    if function is None or not sizes:
        raise TaskError(
            f"{path}: it does not say which function is timed on which sizes. Write, for example: "
            f'const char mirenc_function[] = "{source.stem}"; const long mirenc_sizes[] = {{1000, 100000, 0}};'
        )
    return Driver(text, function[1], sizes)
