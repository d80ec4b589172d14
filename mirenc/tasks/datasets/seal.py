"""Checksums of a new dataset, for those who add one.

``python -m mirenc.tasks.datasets.seal mirenc/tasks/datasets/NAME.toml FOLDER`` reads the parts that the entry names
under ``[urls]`` from a folder that was checked by hand, and writes ``NAME.sha256`` beside the entry.
"""

from __future__ import annotations

import sys
from pathlib import Path

from mirenc.tasks.datasets.reading import hash_members
from mirenc.tasks.datasets.registry import DatasetError, load_entry
from mirenc.tasks.datasets.verifying import sums_text

__all__ = ["seal"]


def seal(entry: Path, folder: Path) -> int:
    """Write the checksum file of an entry; returns the number of files.

    Raises
    ------
    DatasetError
        An entry that is no entry, or a part that is missing or cannot be read.
    """
    sums: dict[str, str] = {}
    for key in load_entry(entry)["urls"]:
        found = hash_members(folder, key.rstrip("/"))
        if not found:
            raise DatasetError(f"{folder}: no {key}, which {entry.name} lists under [urls]. Put it there")
        sums |= found
    entry.with_suffix(".sha256").write_text(sums_text(sums), encoding="utf-8")
    return len(sums)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m mirenc.tasks.datasets.seal ENTRY.toml FOLDER")
    try:
        print(f"{seal(Path(sys.argv[1]), Path(sys.argv[2]))} files")
    except DatasetError as problem:
        sys.exit(str(problem))
