"""Is a dataset on disk the published one, and one hash that says which data a result comes from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mirenc.tasks.datasets.places import dataset_folder
from mirenc.tasks.datasets.reading import hash_members
from mirenc.tasks.datasets.registry import Dataset, DatasetError, get_dataset

__all__ = ["Finding", "content_hash", "published_hash", "sums_text", "verify", "verify_folder"]


@dataclass(frozen=True, slots=True)
class Finding:
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


def verify_folder(dataset: Dataset, folder: Path) -> list[Finding]:
    """`verify` for a folder that is known."""
    findings: list[Finding] = []
    for part in (*dataset.tables, *dataset.archives):
        listed = {file.name: file.sha256 for file in dataset.below(part)}
        try:
            found = hash_members(folder, part)
        except DatasetError as error:
            findings += [Finding(name, "changed", str(error)) for name in listed]
            continue
        for name, sha256 in listed.items():
            if name not in found:
                findings.append(Finding(name, "missing"))
            elif found[name] == sha256:
                findings.append(Finding(name, "ok"))
            else:
                detail = f"sha256 {found[name][:12]}..., published {sha256[:12]}..."
                findings.append(Finding(name, "changed", detail))
        findings += [Finding(name, "extra") for name in found if name not in listed]
    return findings


def verify(name: str, data_dir: str | os.PathLike[str] | None = None) -> list[Finding]:
    """Compare a dataset on disk with its published checksums, file by file.

    Raises
    ------
    DatasetError
        Unknown dataset, or no file of it is there.
    """
    return verify_folder(get_dataset(name), dataset_folder(name, data_dir))


def sums_text(sums: dict[str, str]) -> str:
    """Lines ``sha256  name``, sorted by name: the text of a checksum file."""
    return "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(sums.items()))


def published_hash(name: str) -> str:
    """What `content_hash` gives for the dataset as it was published.

    Raises
    ------
    DatasetError
        Unknown dataset.
    """
    files = get_dataset(name).files
    return hashlib.sha256(sums_text({file.name: file.sha256 for file in files}).encode()).hexdigest()


def content_hash(
    name: str, data_dir: str | os.PathLike[str] | None = None, *, parts: Iterable[str] | None = None
) -> str:
    """One sha256 for the data a result was computed from, as they are on disk and whatever their layout.

    It is the sha256 of the lines ``sha256  name`` of all files, sorted by name. For a complete dataset on which
    `verify` finds nothing, that is the sha256 of its checksum file.

    Parameters
    ----------
    name : str
    data_dir : path, optional
    parts : iterable of str, optional
        Tables and archives that are read, as in ``("cgo17-amd.669.csv", "kernels_ir")``: the others then do not count.
        Without it, those of the dataset that are there.

    Raises
    ------
    DatasetError
        Unknown dataset; a part that is unknown, missing or cannot be read.
    """
    dataset, folder = get_dataset(name), dataset_folder(name, data_dir)
    known = (*dataset.tables, *dataset.archives)
    sums: dict[str, str] = {}
    for part in known if parts is None else parts:
        if part not in known:
            raise DatasetError(f"dataset {name!r} has no {part!r}; it has {', '.join(known)}. Name one of them")
        found = hash_members(folder, part)
        if not found and parts is not None:
            raise DatasetError(f"{folder}: no {part}. Type: mirenc datasets fetch {name}")
        sums |= found
    return hashlib.sha256(sums_text(sums).encode()).hexdigest()
