"""One process at a time in a folder: two builds, or two runs, in one would write over each other."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mirenc.errors import ConfigError

__all__ = ["only_one"]


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold a folder; the system lets go of it when the process ends, however it ends.

    Raises
    ------
    ConfigError
        Another process holds it.
    """
    place = os.open(folder, os.O_RDONLY)
    try:
        # A file system without locks (some network ones) has no such protection.
        with contextlib.suppress(OSError):
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ConfigError(
                    f"{folder}: another process writes to it. Wait until that one is done, or name another folder"
                ) from None
        yield
    finally:
        os.close(place)
