"""Is a dataset on disk the published one, and one hash that says which data a result comes from."""

from __future__ import annotations

import hashlib
import os
from typing import Literal, NamedTuple

from mirenc.errors import DatasetError
from mirenc.tasks.datasets.places import dataset_folder
from mirenc.tasks.datasets.reading import hash_members
from mirenc.tasks.datasets.registry import get_dataset

__all__ = ["Finding", "content_hash", "published_hash", "verify"]


class Finding(NamedTuple):
    """What is the case with one file.

    Attributes
    ----------
    file : str
        Name as in the checksums.
    status : str
        ``ok``; ``missing``; ``changed`` (other content, or unreadable); ``extra``: in an archive, and not published.
    detail : str
        For people; empty where the status says all.
    """

    file: str
    status: Literal["ok", "missing", "changed", "extra"]
    detail: str = ""


def verify(name: str, data_dir: str | os.PathLike[str] | None = None) -> list[Finding]:
    """Compare a dataset on disk with its published checksums, file by file.

    Raises DatasetError: unknown dataset, or no file of it is there.
    """
    dataset, folder = get_dataset(name), dataset_folder(name, data_dir)
    findings: list[Finding] = []
    for part in (*dataset.tables, *dataset.archives):
        published = dataset.below(part)
        try:
            found = hash_members(folder, part)
        except DatasetError as error:
            findings += [Finding(file, "changed", str(error)) for file in published]
            continue
        for file in {**published, **found}:
            if file not in found:
                findings.append(Finding(file, "missing"))
            elif file not in published:
                findings.append(Finding(file, "extra"))
            elif found[file] == published[file]:
                findings.append(Finding(file, "ok"))
            else:
                detail = f"sha256 {found[file][:12]}..., published {published[file][:12]}..."
                findings.append(Finding(file, "changed", detail))
    return findings


def _hash(sums: dict[str, str]) -> str:
    """The sha256 of the lines ``sha256  name`` of all files, sorted by name: that of a checksum file."""
    return hashlib.sha256("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()).hexdigest()


def published_hash(name: str) -> str:
    """What `content_hash` gives for the dataset as it was published. Raises DatasetError: unknown dataset."""
    return _hash(get_dataset(name).sums)


def content_hash(name: str, data_dir: str | os.PathLike[str] | None = None) -> str:
    """One sha256 for the data a result was computed from, as they are on disk and whatever their layout.

    For a complete dataset on which `verify` finds nothing, it is the sha256 of its checksum file.

    Raises DatasetError: unknown dataset; no file of it is there, or one cannot be read.
    """
    dataset, folder = get_dataset(name), dataset_folder(name, data_dir)
    sums: dict[str, str] = {}
    for part in (*dataset.tables, *dataset.archives):
        sums |= hash_members(folder, part)
    return _hash(sums)
