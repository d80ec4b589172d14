"""Where datasets lie: a folder given, ``MIRENC_DATA``, or the user's data folder."""

from __future__ import annotations

import os
from pathlib import Path

from mirenc.errors import DatasetError
from mirenc.tasks.datasets.reading import archive_path, file_path
from mirenc.tasks.datasets.registry import get_dataset

__all__ = ["data_root", "dataset_folder", "find_folder"]


def data_root(data_dir: str | os.PathLike[str] | None = None) -> Path:
    """The folder that holds the datasets' folders; it need not exist.

    Parameters
    ----------
    data_dir : path, optional
        Taken as it is. Without it, ``$MIRENC_DATA``; without that, ``mirenc/datasets`` in the platform's folder for
        user data, where `fetch` puts what it gets.
    """
    given = data_dir or os.environ.get("MIRENC_DATA")
    if given:
        return Path(given).expanduser()
    from platformdirs import user_data_path

    return user_data_path("mirenc") / "datasets"


def find_folder(name: str, data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """`dataset_folder`, or None where there is none."""
    dataset, root = get_dataset(name), data_root(data_dir)
    for folder in (root / name, root):
        # Archives of several datasets have the same name (kernels_ir); in a folder of another name, tables must tell.
        archives = dataset.archives if folder != root or not dataset.tables else ()
        if any(file_path(folder, table) for table in dataset.tables) or any(
            archive_path(folder, archive) for archive in archives
        ):
            return folder
    return None


def dataset_folder(name: str, data_dir: str | os.PathLike[str] | None = None) -> Path:
    """The folder of a dataset: ``data_root(data_dir)/name``, or the root itself if the files lie in it.

    Raises DatasetError: unknown dataset, or none of its files is there.
    """
    found = find_folder(name, data_dir)
    if found is not None:
        return found
    dataset, root = get_dataset(name), data_root(data_dir)
    state = "" if root.is_dir() else f" ({root} does not exist)"
    raise DatasetError(
        f"dataset {name!r} is not here: looked for {', '.join(dataset.urls)} in {root / name} and in {root}{state}. "
        f"Type: mirenc datasets fetch {name}. Where the data are already, set MIRENC_DATA to the folder that holds "
        f"{name}/, or give it with --data (Python: data_dir=)"
    )
