"""What datasets there are: one entry and one checksum file each, both plain text beside this module.

The checksums are those of the decompressed content. So one list holds for every layout of the same data: a table as
``x.csv`` or ``x.csv.gz``, a folder of files as it is or as ``.tar.xz``.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mirenc.errors import MirencError

__all__ = ["DATASETS", "DataFile", "Dataset", "DatasetError", "get_dataset", "load_dataset", "load_entry"]

_HOME = Path(__file__).parent
_KEYS = {"name": str, "title": str, "licence": str, "source": str, "megabytes": float, "urls": dict}
_SUM_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")


class DatasetError(MirencError, OSError):
    """A dataset is unknown, not there, damaged, or cannot be fetched."""

    def __str__(self) -> str:
        # OSError.__str__ would print the tuple of arguments when there are two of them.
        return str(self.args[0]) if self.args else ""


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a dataset.

    Attributes
    ----------
    name : str
        ``table.csv``, or ``archive/member`` for a file of an archive.
    sha256 : str
        Of the decompressed content, in hexadecimal.
    url : str
        Public address of that content, at a fixed version.
    """

    name: str
    sha256: str
    url: str


@dataclass(frozen=True)
class Dataset:
    """A published dataset.

    Attributes
    ----------
    name : str
        Also the name of its folder.
    title, licence, source : str
        For people: one line each.
    files : tuple of DataFile
        Sorted by name.
    megabytes : float
        Size of all files, decompressed, in 10^6 bytes.
    """

    name: str
    title: str
    licence: str
    source: str
    files: tuple[DataFile, ...]
    megabytes: float

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the files that lie in the dataset's folder itself."""
        return tuple(file.name for file in self.files if "/" not in file.name)

    @property
    def archives(self) -> tuple[str, ...]:
        """Names of the folders (or ``.tar.xz``) that hold the others."""
        return tuple(dict.fromkeys(file.name.split("/")[0] for file in self.files if "/" in file.name))

    def below(self, part: str) -> tuple[DataFile, ...]:
        """The files of a table's or archive's name."""
        return tuple(file for file in self.files if file.name.split("/")[0] == part)


def load_entry(path: Path) -> dict[str, Any]:
    """The values of a registry entry, each of its type.

    Raises
    ------
    DatasetError
        No TOML, an unknown or missing key, or a value of another type.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DatasetError(f"{path}: no TOML ({error}). Mend that line") from None
    for key in sorted(values.keys() ^ _KEYS.keys()):
        what = "unknown key" if key in values else "no key"
        raise DatasetError(f"{path}: {what} {key!r}. An entry has {', '.join(_KEYS)}")
    for key, kind in _KEYS.items():
        if not isinstance(values[key], kind):
            raise DatasetError(f"{path}: {key} is {values[key]!r}. Write a value of type {kind.__name__}")
    for part, url in values["urls"].items():
        if not (isinstance(url, str) and url.startswith(("http://", "https://"))):
            raise DatasetError(f"{path}: the address of {part!r} is {url!r}. Write one that begins with https://")
    return values


def load_dataset(path: Path) -> Dataset:
    """A dataset from its entry ``NAME.toml`` and the checksums ``NAME.sha256`` beside it.

    Raises
    ------
    DatasetError
        An entry that is no entry, a line of the checksums that is none, or a file without an address.
    """
    values = load_entry(path)
    sums = path.with_suffix(".sha256")
    urls: dict[str, str] = values.pop("urls")
    files = []
    for number, line in enumerate(sums.read_text(encoding="utf-8").splitlines(), 1):
        match = _SUM_LINE.fullmatch(line)
        if match is None:
            raise DatasetError(f"{sums}, line {number}: {line!r} is no checksum. Write `sha256  name`")
        name = match[2]
        part, slash, member = name.partition("/")
        if part + slash not in urls:
            raise DatasetError(
                f"{sums}, line {number}: {path.name} has no address for {part + slash!r}. Add it to [urls]"
            )
        files.append(DataFile(name, match[1], urls[part + slash] + quote(member)))
    return Dataset(files=tuple(sorted(files, key=lambda file: file.name)), **values)


# An entry whose checksums are still to be made is no dataset yet.
DATASETS: dict[str, Dataset] = {
    path.stem: load_dataset(path) for path in sorted(_HOME.glob("*.toml")) if path.with_suffix(".sha256").is_file()
}


def get_dataset(name: str) -> Dataset:
    """The dataset of a name.

    Raises
    ------
    DatasetError
        Unknown name; the message has the nearest one.
    """
    if name in DATASETS:
        return DATASETS[name]
    near = difflib.get_close_matches(name.lower().replace("-", "_"), DATASETS, n=1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    raise DatasetError(f"unknown dataset {name!r}; {guess}available: {', '.join(DATASETS)}. See `mirenc datasets list`")
