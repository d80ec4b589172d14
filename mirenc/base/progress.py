"""A progress bar on stderr, or lines where that is no terminal."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import IO, Any

FIRST_LINE = 10.0  # seconds


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


class _Lines:
    """In place of a bar: a line after `FIRST_LINE` seconds, and each time the time has doubled since the last one."""

    def __init__(self, description: str, total: int | None) -> None:
        self.description, self.total, self.done = description, total, 0
        self.start, self.next = time.monotonic(), FIRST_LINE

    def __call__(self, count: int = 1, *, total: int | None = None, **fields: Any) -> None:
        self.done, self.total = self.done + count, total or self.total
        if (seconds := time.monotonic() - self.start) >= self.next:
            self.next = 2 * seconds
            of_total = f" of {self.total}" if self.total else ""
            print(f"mirenc: {self.description}: {self.done}{of_total} done in {seconds:.0f} s", file=sys.stderr)


@contextmanager
def progress(description: str, total: int | None, *, show: bool = True) -> Iterator[Any]:
    """A progress bar on stderr that leaves nothing behind, or `_Lines`; yields ``advance(count=1, **fields)``."""
    if not show or not sys.stderr.isatty():
        yield _Lines(description, total) if show else lambda count=1, **fields: None
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
