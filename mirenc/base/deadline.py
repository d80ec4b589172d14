"""How long something may run: until the time of a whole call is up, and a variant ten times as long as the default.

Compilers and LLVM's processes end with the call's time, too.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SLOWER = 10.0
"""A variant that takes this many times as long as the default is ended: it cannot be the better one."""

_TWICE = 2.0


class _Call:
    """When a call ends, by `time.monotonic`, and what ends the programs that run in it, in whatever thread."""

    def __init__(self, end: float) -> None:
        self.end, self.running = end, list[Callable[[], None]]()


_ENDLESS = _Call(math.inf)
_CALL: ContextVar[_Call] = ContextVar("call")


class TimeUpError(BaseException):
    """The time of the whole call is up. As KeyboardInterrupt, no fault of the input that is being worked on."""


class OverLimitError(Exception):
    """A command was ended after ``seconds``, with all it started: its own limit was over, or the call's (``late``)."""

    def __init__(self, seconds: float, *, late: bool = False) -> None:
        super().__init__(f"ended after {seconds:.3g} s" + (", when the time was up" if late else ""))
        self.seconds = seconds


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Programs that run in this context end after ``seconds``, or with a shorter context around it.

    Leaving it early, as by Ctrl-C, ends those that still run in other threads.
    """
    call = _Call(min(_CALL.get(_ENDLESS).end, time.monotonic() + seconds))
    token = _CALL.set(call)
    try:
        yield
    finally:
        _CALL.reset(token)
        call.end = -math.inf
        for end in [*call.running]:
            end()


@contextmanager
def ended_by_call(end: Callable[[], None]) -> Iterator[None]:
    """Call ``end`` where `within` is left while this context is open."""
    running = _CALL.get(_ENDLESS).running
    running.append(end)
    try:
        yield
    finally:
        running.remove(end)


def seconds_left() -> float:
    """Seconds until the time of the call is up, inf where it has no limit. Raises TimeUpError: there are none."""
    remaining = _CALL.get(_ENDLESS).end - time.monotonic()
    if remaining <= 0:
        raise TimeUpError
    return remaining


def has_time() -> bool:
    """Whether the time of the call is not up yet."""
    return _CALL.get(_ENDLESS).end > time.monotonic()


def variant_limit(default: float, least: float = 0.0) -> float:
    """Seconds that a variant may take where the default takes ``default``; ``least`` covers what any start costs."""
    return max(least, SLOWER * default)


def ended_after(seconds: float, limit: float) -> OverLimitError | TimeUpError:
    """What to raise for a command that was ended after ``seconds``, by its own limit or because the call's time is up.

    Where it ran twice as long as the default (`variant_limit`), the time that was left is a limit of its own.
    """
    return OverLimitError(seconds, late=seconds < limit) if seconds * SLOWER >= _TWICE * limit else TimeUpError()
