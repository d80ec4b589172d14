"""`Run`: measuring into one folder until all is done or time is up. `timed` and `passes.run` say what is measured."""

from __future__ import annotations

import itertools
import math
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Plan:
    """What the user asked for: sources (of kernels (): the project's own), seed, compilers at once, when to stop.

    Of kernels also how many, rounds of timing, parts of the machine (() for all), and whether to build and time none;
    of passes at most so many pieces, pass lists with -Oz itself, a clang (None: that of the engine's version), flags.
    """

    sources: tuple[Path, ...] = ()
    seed: int = 0
    jobs: int = 1
    minutes: float = math.inf
    count: int = 0
    rounds: int = 12
    parts: tuple[str, ...] = ()
    compile_only: bool = False
    functions: int = 0
    modules: int = 0
    lists: int = 0
    compiler: str | None = None
    cflags: tuple[str, ...] = ()


class Run(ABC):
    """Measuring into ``folder``; ``work`` in it has what the table is made from."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan, self.folder, self.work = plan, folder, folder / "work"

    def go(self, advance: Callable[..., None]) -> None:
        """Measure what is left, until the time is up. What was finished is kept whatever ends this, Ctrl-C too."""
        self._end = time.monotonic() + 60 * self.plan.minutes
        self._pool = ThreadPoolExecutor(self.plan.jobs)
        try:
            self.measure(advance)
        finally:
            self._pool.shutdown(cancel_futures=True)
            self.close()

    @abstractmethod
    def measure(self, advance: Callable[..., None]) -> None:
        """Do what `go` promises; ``advance(note=...)`` after each."""

    @abstractmethod
    def close(self) -> None:
        """End what was started."""

    def in_time(self, items: Iterable[Item]) -> Iterator[Item]:
        """Items as long as there is time."""
        return itertools.takewhile(lambda _: time.monotonic() <= self._end, items)

    def beside(
        self, work: Callable[[Item], Result], items: Iterable[Item], ahead: int
    ) -> Iterator[tuple[Item, Result]]:
        """Items with what is made of them, in their order; so many are begun before they are asked for."""
        waiting: deque[tuple[Item, Future[Result]]] = deque()
        for item in items:
            waiting.append((item, self._pool.submit(work, item)))
            if len(waiting) >= ahead:
                first, future = waiting.popleft()
                yield first, future.result()
        for first, future in waiting:
            yield first, future.result()


def one_line(text: str) -> str:
    """The first 200 characters, without breaks."""
    return " ".join(text.split())[:200]
