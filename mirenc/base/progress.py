"""A progress bar on stderr."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import IO, Any


class _AboveBar:
    """Stdout on the terminal that shows a bar: each line erases the bar, which is drawn again below it."""

    def __init__(self, stdout: IO[str], stderr: IO[str]) -> None:
        self._stdout, self._stderr, self._begins_line = stdout, stderr, True

    def write(self, text: str) -> int:
        if self._begins_line:
            self._stderr.write("\r\x1b[2K")
            self._stderr.flush()
        self._begins_line = text.endswith("\n")
        count = self._stdout.write(text)
        self._stdout.flush()
        return count

    def writelines(self, lines: Iterable[str]) -> None:
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stdout, name)


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
        redirect_stdout=False,  # rich would print on stderr what goes to a file, and wrap it
        speed_estimate_period=24 * 3600,  # seconds: of jobs that take minutes, too
    )
    stdout = _AboveBar(sys.stdout, bar.console.file) if sys.stdout.isatty() else sys.stdout
    with bar, redirect_stdout(stdout):
        task = bar.add_task(description, total=total, note="")

        def advance(count: int = 1, **fields: Any) -> None:
            bar.update(task, advance=count, **fields)

        yield advance
