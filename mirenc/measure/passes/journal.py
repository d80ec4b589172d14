"""`Journal`: the labels of finished pieces, a line each, so that a run can be stopped anywhere and goes on."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mirenc.errors import ConfigError

__all__ = ["Figures", "Journal", "Record"]

Figures = tuple[int, int, str]
"""Instructions, bytes of code (`mirenc.passes.engine.code_bytes`), and what became of it (one of
`mirenc.tasks.compiled.STATUSES`); 0 where it failed."""


@dataclass(frozen=True, slots=True)
class Record:
    """A finished piece.

    Attributes
    ----------
    name, project, file, symbol, level : str
    held_out : bool
    stamp : str
        Of the file it is from.
    ir_hash : str
        "" for a piece that was dropped before its text was known.
    dropped : str
        Why it is not in the table; "" if it is.
    before : Figures
        Before any pass.
    levels : dict of str to Figures
    lists : tuple of Figures
    fires : dict of str to tuple of str
        Level -> passes that changed it; levels that nobody could tell about are missing.
    winner : str
        What ``opt`` says of the module that the best list makes: ``ok``, or why not; "" where it was not asked.
    """

    name: str
    project: str
    file: str
    symbol: str
    level: str
    held_out: bool
    stamp: str
    ir_hash: str = ""
    dropped: str = ""
    before: Figures = (0, 0, "")
    levels: dict[str, Figures] | None = None
    lists: tuple[Figures, ...] = ()
    fires: dict[str, tuple[str, ...]] | None = None
    winner: str = ""


class Journal:
    """The finished pieces of a folder.

    Parameters
    ----------
    path : Path
        The file, which may be there.
    setup : dict
        What makes pieces comparable. A file of another setup is refused.

    Raises
    ------
    ConfigError
        The folder has pieces of another setup, or the file is damaged.
    """

    def __init__(self, path: Path, setup: dict[str, Any]) -> None:
        self._path = path
        self._records: dict[tuple[str, str], Record] = {}
        setup = json.loads(json.dumps(setup))
        complete = self._read(setup) if path.exists() else 0
        if complete:
            os.truncate(path, complete)  # without the line that was being written when the run was killed
        else:
            path.unlink(missing_ok=True)
        # Written with the first piece: a folder without any may get another setup.
        self._header = "" if complete else json.dumps(setup) + "\n"

    def get(self, name: str, stamp: str) -> Record | None:
        """What is known of a piece; None if it is not finished, or its file has changed since."""
        return self._records.get((name, stamp))

    def names(self) -> set[str]:
        """Of all pieces that are finished, of whatever state of their files."""
        return {name for name, _ in self._records}

    def sources(self) -> set[tuple[str, str]]:
        """Project and file of all pieces that are finished."""
        return {(record.project, record.file) for record in self._records.values()}

    def add(self, record: Record) -> None:
        """Keep a finished piece."""
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(self._header + json.dumps(asdict(record)) + "\n")
        self._header = ""
        self._records[record.name, record.stamp] = record

    def _read(self, setup: dict[str, Any]) -> int:
        """Size of the whole lines, bytes."""
        data = self._path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        lines = whole.splitlines()
        try:
            found = json.loads(lines[0]) if lines else setup
            other = [f"{name} {found[name]!r}, not {setup[name]!r}" for name in setup if found[name] != setup[name]]
            for line in lines[1:]:
                record = _record(json.loads(line))
                self._records[record.name, record.stamp] = record
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigError(f"{self._path} is damaged ({error!r}). Remove the folder, or name another") from None
        if other:
            raise ConfigError(
                f"{self._path.parent.parent} has pieces of another run: {'; '.join(other)}. Name another folder with -o"
            )
        return len(whole)


def _record(values: dict[str, Any]) -> Record:
    """JSON's lists as the tuples that they were."""
    values["before"] = tuple(values["before"])
    values["lists"] = tuple(map(tuple, values["lists"]))
    for name in ("levels", "fires"):
        values[name] = {key: tuple(value) for key, value in values[name].items()} if values[name] is not None else None
    return Record(**values)
