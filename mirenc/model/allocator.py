"""Freed memory goes back to the system: between two stages of a large module half of what a process holds is free.

glibc keeps freed blocks for later ones, in holes that the next stage's large arrays seldom fit. On other systems and C
libraries nothing is done here.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache

__all__ = ["give_back"]


@cache
def _trim() -> Callable[[int], int] | None:
    """`malloc_trim`, where the C library is glibc."""
    if sys.platform != "linux":
        return None
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):  # another C library
        return None
    return found


def give_back() -> None:
    """Give the system what is free. Takes milliseconds, so it is for large modules."""
    trim = _trim()
    if trim is not None:
        trim(0)
