"""C sources that are measured: a function and its driver, which says what is timed on which sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mirenc.errors import IRFileError, TaskError
from mirenc.ir.files import DRIVER, check_file
from mirenc.measure.building import HEADER, Toolchain, headers_digest
from mirenc.tasks.measured import MeasuredKernel

_FUNCTION = re.compile(r"\bmirenc_function\s*\[\s*\]\s*=\s*\"(\w+)\"")
_SIZES = re.compile(r"\bmirenc_sizes\s*\[\s*\]\s*=\s*\{([\dlL\s,]*)\}")


@dataclass(frozen=True)
class CSource:
    """A source and its driver; ``sizes`` are the driver's without the 0 at their end."""

    text: str
    driver: str
    function: str
    sizes: tuple[int, ...]
    include: str = ""
    headers: str = ""

    def kernels(
        self, name: str, line: int, group: str, family: str, context: Mapping[str, float | str] | None = None
    ) -> Iterator[MeasuredKernel]:
        """What is decided about in a line, at each size; its context is the size unless it is given."""
        for size in self.sizes:
            yield MeasuredKernel(
                name=f"{name} n={size}",
                group=group,
                family=family,
                language="c",
                source=self.text,
                driver=self.driver,
                function=self.function,
                line=line,
                size=size,
                context={"n": size} if context is None else context,
                include=self.include,
                headers=self.headers,
            )


def read_text(path: Path) -> str:
    """Text of a user's file. A table keeps it, so it must be UTF-8; else an `IRFileError`."""
    check_file(path)
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise IRFileError(
            f"{path}: byte {error.start} is no UTF-8, which sources and drivers must be. "
            f"Convert it, for example: iconv -f latin1 -t utf-8 {path.name}"
        ) from None


def c_sources(paths: Sequence[Path]) -> list[Path]:
    """The sources among what a user named: of ``*.c``, drivers beside their sources are none."""
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


def user_source(path: Path, toolchain: Toolchain, arms: Sequence[Sequence[str]] = ((),)) -> CSource:
    """``NAME.c`` with ``NAME.driver.c`` beside it; ``arms`` as in `headers_digest`."""
    driver = path.with_suffix(DRIVER)
    if not driver.is_file():
        raise TaskError(f"{path}: no driver {driver.name} beside it. Write one; {HEADER} says what it defines")
    headers = headers_digest((path, driver), toolchain, arms)
    return c_source(
        read_text(path), read_text(driver), str(driver), include=str(path.absolute().parent), headers=headers
    )


def c_source(text: str, driver: str, where: str, *, include: str = "", headers: str = "") -> CSource:
    """A source and its driver, whose file is ``where``; a `TaskError` says what the driver lacks."""
    function, listed = _FUNCTION.search(driver), _SIZES.search(driver)
    sizes = tuple(int(size) for size in re.findall(r"\d+", listed[1]) if int(size)) if listed else ()
    if function is None or not sizes:
        raise TaskError(
            f"{where}: it does not say which function is timed on which sizes. Write, for example: "
            'const char mirenc_function[] = "work"; const long mirenc_sizes[] = {1000, 100000, 0};'
        )
    return CSource(text, driver, function[1], sizes, include, headers)
