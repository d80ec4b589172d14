"""`Run` works into a folder until all is done or the time is up; `Journal` keeps its finished results."""

import itertools
import json
import math
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mirenc.base.deadline import TimeUpError, has_time, within
from mirenc.base.errors import ConfigError

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Plan:
    """What the user asked for."""

    sources: tuple[Path, ...] = ()  # of kernels (): the project's own
    seed: int = 0
    jobs: int = 1  # compilers at once
    minutes: float = math.inf
    compiler: str | None = None  # None: the one that the task looks for, or of passes that of the engine's version
    cflags: tuple[str, ...] = ()
    # Of kernels
    count: int = 0
    rounds: int = 12
    parts: tuple[str, ...] = ()  # of the machine; () for all
    compile_only: bool = False  # build, and time none
    # Of passes, at most; and pass lists with -Oz itself
    functions: int = 0
    modules: int = 0
    lists: int = 0
    held_out: tuple[str, ...] = ()  # projects to be tested on only


class Run(ABC):
    """A run whose results go to ``folder``; its subfolder ``work`` keeps what they are made from."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan, self.folder, self.work = plan, folder, folder / "work"

    def go(self, advance: Callable[..., None]) -> None:
        """Measure what is left, until the time is up. What was finished is kept whatever ends this, Ctrl-C too."""
        self._pool = ThreadPoolExecutor(self.plan.jobs)
        try:
            with suppress(TimeUpError), within(60 * self.plan.minutes):
                self.measure(advance)
        finally:
            self._pool.shutdown(cancel_futures=True)
            self.close()

    @abstractmethod
    def measure(self, advance: Callable[..., None]) -> None:
        """Measure what is left, as `go` promises; call ``advance(note=...)`` after each."""

    @abstractmethod
    def close(self) -> None:
        """End what was started."""

    def in_time(self, items: Iterable[Item]) -> Iterator[Item]:
        """Items as long as there is time."""
        return itertools.takewhile(lambda _: has_time(), items)

    def beside(
        self, function: Callable[[Item], Result], items: Iterable[Item], ahead: int
    ) -> Iterator[tuple[Item, Result]]:
        """Yield items with results of ``function``, in order; up to ``ahead`` begin early. Late ones are left out."""
        queue: deque[tuple[Item, Future[Result]]] = deque()

        def next_result() -> list[tuple[Item, Result]]:
            item, future = queue.popleft()
            try:
                return [(item, future.result())]
            except TimeUpError:
                return []

        for item in items:
            queue.append((item, self._pool.submit(copy_context().run, function, item)))
            if len(queue) >= ahead:
                yield from next_result()
        while queue:
            yield from next_result()


def one_line(text: str) -> str:
    """The first 200 characters, without breaks."""
    return " ".join(text.split())[:200]


class Journal(ABC):
    """The finished results of a folder as lines of JSON; a subclass defines a line.

    The first line is ``setup``, what makes results comparable; what either of two does not say is not compared. A
    `ConfigError` where the folder has results of another one, or the file is damaged.
    """

    def __init__(self, path: Path, setup: dict[str, Any]) -> None:
        self._path = path
        data = path.read_bytes() if path.exists() else b""
        complete_size = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:complete_size].splitlines(), 1):
            try:
                values = json.loads(line)
                if number > 1:
                    self.take(values)
                    continue
                differences = _differences(values["setup"], json.loads(json.dumps(setup)))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                problem = f"{path}, line {number} is damaged ({error!r})"
                raise ConfigError(f"{problem}. Remove the folder, or name another") from None
            if differences:
                problem = f"{path.parent.parent} has results of another run: {'; '.join(differences)}"
                raise ConfigError(f"{problem}. Name another folder with -o")
        if complete_size:
            os.truncate(path, complete_size)  # without the line that was being written when the run was killed
        else:
            path.unlink(missing_ok=True)
        # Written with the first result: a folder without any may get another setup, or be carried to another machine.
        self._header = [] if complete_size else [{"setup": setup}]

    @abstractmethod
    def take(self, values: dict[str, Any]) -> None:
        """Take in a line of an earlier run; raises if it is damaged."""

    def write(self, *lines: dict[str, Any]) -> None:
        """Append lines, and flush them to the disk."""
        text = "".join(json.dumps(line) + "\n" for line in (*self._header, *lines))
        with open(self._path, "ab") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        self._header = []


def _differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    names = [name for name in new if name in old and old[name] != new[name]]
    return [f"{name} {old[name]!r}, not {new[name]!r}" for name in names]
