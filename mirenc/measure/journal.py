"""`Journal`: what a run has finished, a line of JSON each, so that it can be stopped anywhere and goes on."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from mirenc.errors import ConfigError


class Journal(ABC):
    """The finished results of a folder; what a line is and what is kept of it, a subclass says.

    The first line is ``setup``, what makes results comparable; what either of two does not say is not compared. A
    `ConfigError` where the folder has results of another one, or the file is damaged.
    """

    def __init__(self, path: Path, setup: dict[str, Any]) -> None:
        self._path = path
        data = path.read_bytes() if path.exists() else b""
        complete = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:complete].splitlines(), 1):
            try:
                values = json.loads(line)
                if number > 1:
                    self.take(values)
                    continue
                before = values.get("setup", values)  # passes of 0.2 wrote it as it is
                differences = _differences(before, json.loads(json.dumps(setup))) if before["format"] else []
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ConfigError(
                    f"{path}, line {number} is damaged ({error!r}). Remove the folder, or name another"
                ) from None
            if differences:
                raise ConfigError(
                    f"{path.parent.parent} has results of another run: {'; '.join(differences)}. "
                    "Name another folder with -o"
                )
        if complete:
            os.truncate(path, complete)  # without the line that was being written when the run was killed
        else:
            path.unlink(missing_ok=True)
        # Written with the first result: a folder without any may get another setup, or be carried to another machine.
        self._header = [] if complete else [{"setup": setup}]

    @abstractmethod
    def take(self, values: dict[str, Any]) -> None:
        """Keep what a line says; whatever is wrong with it raises."""

    def write(self, *lines: dict[str, Any]) -> None:
        """Add lines, and have them on the disk."""
        text = "".join(json.dumps(line) + "\n" for line in (*self._header, *lines))
        with open(self._path, "ab") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        self._header = []


def _differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    other = [name for name in now if name in before and before[name] != now[name]]
    return [f"{name} {before[name]!r}, not {now[name]!r}" for name in other]
