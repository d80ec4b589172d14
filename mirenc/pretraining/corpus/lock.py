"""One process at a time in a folder: two builds, or two runs, in one would write over each other."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from filelock import FileLock, Timeout

from mirenc.errors import ConfigError

__all__ = ["only_one"]


def only_one(folder: Path) -> AbstractContextManager[object]:
    """Hold a folder that exists, by a file ``.lock`` in it; the system lets go of it when the process ends.

    Raises
    ------
    ConfigError
        Another process holds it.
    """
    try:
        return FileLock(folder / ".lock").acquire(timeout=0)
    except Timeout:
        raise ConfigError(
            f"{folder}: another process writes to it. Wait until that one is done, or name another folder"
        ) from None
    except OSError:  # a file system without locks (some network ones) has no such protection
        return nullcontext()
