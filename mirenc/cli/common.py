"""Options and helpers that several verbs share."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mirenc.errors import IRFileError

if TYPE_CHECKING:
    from mirenc.ir import ReadOptions

Inputs = Annotated[
    list[str],
    typer.Argument(
        help="IR (.ll .bc, also .gz .xz .zst), source (.c .cpp .cl .cu), folders of IR, or - for stdin.",
        show_default=False,
    ),
]
Input = Annotated[str, typer.Argument(help="IR or source file, or - for stdin.", show_default=False)]
Model = Annotated[
    str | None,
    typer.Option("--model", "-m", help="Model name or folder. [default: the packaged one]"),
]
Timeout = Annotated[float | None, typer.Option(help="Seconds LLVM may take for one file. [default: 120]", min=0.01)]
MemoryLimit = Annotated[str | None, typer.Option(help="Memory LLVM may take, as in 2G. [default: 8G]")]
MaxBytes = Annotated[str | None, typer.Option(help="Largest input file, as in 200M. [default: 64M]")]
Compiler = Annotated[
    str | None,
    typer.Option(help="clang for source files. [default: the first on PATH, then ziglang]"),
]
CFlags = Annotated[str, typer.Option("--cflags", help="Flags for it, as in --cflags='-O3 -Iinclude'.")]

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def byte_count(text: str, option: str) -> int:
    """Bytes of ``512``, ``64M``, ``2G``."""
    number = text.upper().removesuffix("IB").removesuffix("B")
    unit = number[-1:] if number[-1:] in _UNITS else ""
    try:
        value = float(number.removesuffix(unit) if unit else number)
    except ValueError:
        value = -1.0
    if value <= 0:
        raise typer.BadParameter(f"{text!r} is no size; write 500K, 64M or 2G", param_hint=option)
    return int(value * _UNITS[unit])


def read_options(
    timeout: float | None,
    memory_limit: str | None,
    max_bytes: str | None,
    compiler: str | None = None,
    cflags: str = "",
) -> ReadOptions:
    """The options as `ReadOptions`; starts the LLVM process with the memory limit."""
    from mirenc.ir import ReadOptions, start_reader
    from mirenc.ir.files import DEFAULT_MAX_BYTES

    limit = byte_count(memory_limit, "--memory-limit") if memory_limit else None
    start_reader(memory_limit=limit)
    return ReadOptions(
        max_bytes=byte_count(max_bytes, "--max-bytes") if max_bytes else DEFAULT_MAX_BYTES,
        timeout=timeout,
        compiler=compiler,
        cflags=tuple(shlex.split(cflags)),
    )


def expand(inputs: list[str]) -> list[str]:
    """Files of the inputs: folders give the IR files below them.

    Raises
    ------
    IRFileError
        A folder without IR files.
    """
    from mirenc.ir.files import find_inputs

    files: list[str] = []
    for given in inputs:
        if given != "-" and Path(given).is_dir():
            found = find_inputs(given)
            if not found:
                raise IRFileError(f"{given}: no .ll or .bc files in this folder. Give a folder of IR, or files")
            files += [str(path) for path in found]
        else:
            files.append(given)
    return list(dict.fromkeys(files))


@contextmanager
def progress(description: str, total: int | None, *, show: bool = True) -> Iterator[Any]:
    """A progress bar on stderr that leaves nothing behind; yields ``advance(count=1, **fields)``."""
    if not show or not sys.stderr.isatty():
        yield lambda count=1, **fields: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(description, total=total, note="")

        def advance(count: int = 1, **fields: Any) -> None:
            bar.update(task, advance=count, **fields)

        yield advance
