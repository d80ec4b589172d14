"""A progress bar on stderr."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress(description: str, total: int | None, *, show: bool = True) -> Iterator[Any]:
    """A progress bar on stderr that leaves nothing behind; yields ``advance(count=1, **fields)``."""
    if not show or not sys.stderr.isatty():
        yield lambda count=1, **fields: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=Console(stderr=True),
        transient=True,
        speed_estimate_period=24 * 3600,  # seconds: of jobs that take minutes, too
    )
    with bar:
        task = bar.add_task(description, total=total, note="")

        def advance(count: int = 1, **fields: Any) -> None:
            bar.update(task, advance=count, **fields)

        yield advance
