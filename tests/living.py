"""Whether processes that carry a mark in their environment live, whatever has become of their parents."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

MARK = "MIRENC_TEST_MARK"


def living(mark: str) -> list[int]:
    """Processes, no zombies among them, that were started with ``MIRENC_TEST_MARK`` set to a mark."""
    processes = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):  # it has ended meanwhile, or is somebody else's
                if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    processes.append(int(folder.name))
    return processes


def wait_until(condition: object) -> None:
    """Wait for something that is sure to come; a test that waits in vain fails after a minute."""
    for _ in range(1200):
        if condition():  # type: ignore[operator]
            return
        time.sleep(0.05)
    raise AssertionError("it did not come")
