"""The datasets, and the folders they are found in: one entry and one checksum file each, beside this module.

The checksums are of decompressed content, so they hold for ``x.csv`` and ``x.csv.gz``, a folder and its ``.tar.xz``.
"""

import os
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from pydantic import Field

from mirenc.base.config import Config, load_toml
from mirenc.base.errors import ConfigError, DatasetError, unknown
from mirenc.decide.datasets.dataset_files import archive_path, file_path

_HOME = Path(__file__).parent


class Dataset(Config):
    """A published dataset."""

    name: str  # also the name of its folder
    title: str  # for people: one line each
    licence: str
    source: str
    megabytes: float  # size of all files, decompressed, in 10^6 bytes
    # Public address, at a fixed version, of each table (``x.csv``) and of each archive's folder (``kernels/``)
    urls: dict[str, Annotated[str, Field(pattern=r"^https?://")]]
    # Sha256 of each file's decompressed content, in hexadecimal, by its name (``x.csv``, ``kernels/a.ll``); sorted
    sums: dict[str, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]]

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(part for part in self.urls if not part.endswith("/"))

    @property
    def archives(self) -> tuple[str, ...]:
        return tuple(part[:-1] for part in self.urls if part.endswith("/"))

    def below(self, part: str) -> dict[str, str]:
        """The checksums of a table or archive."""
        return {file: sha256 for file, sha256 in self.sums.items() if file.split("/")[0] == part}

    def url(self, file: str) -> str:
        part, slash, member = file.partition("/")
        return self.urls[part + slash] + quote(member)


def load_dataset(path: Path) -> Dataset:
    """A dataset from its entry ``NAME.toml`` and the checksums ``NAME.sha256`` beside it.

    Raises ConfigError: an entry or a line of the checksums that is none, or a part with only one of the two.
    """
    lines = path.with_suffix(".sha256").read_text(encoding="utf-8").splitlines()
    sums = {name: sha256 for name, _, sha256 in sorted(line.partition("  ")[::-1] for line in lines)}
    dataset = Dataset.from_dict({**load_toml(path), "sums": sums}, where=str(path))
    for part in sorted({"".join(name.partition("/")[:2]) for name in sums} ^ dataset.urls.keys()):
        missing = "checksums" if part in dataset.urls else "address in [urls]"
        raise ConfigError(f"{path}: {part!r} has no {missing}; each x.csv and folder x/ needs checksums and an address")
    return dataset


DATASETS: dict[str, Dataset] = {path.stem: load_dataset(path) for path in sorted(_HOME.glob("*.toml"))}


def get_dataset(name: str) -> Dataset:
    """The dataset of a name. Raises DatasetError: unknown name; the message has the nearest one."""
    if name in DATASETS:
        return DATASETS[name]
    raise DatasetError(unknown("dataset", name, DATASETS, "See `mirenc datasets list`"))


def data_root(data_dir: str | os.PathLike[str] | None = None) -> Path:
    """The folder of the datasets' folders; it need not exist.

    ``data_dir``; without it ``$MIRENC_DATA``; without that ``mirenc/datasets`` in the platform's folder for user data.
    """
    folder = data_dir or os.environ.get("MIRENC_DATA")
    if folder:
        return Path(folder).expanduser()
    from platformdirs import user_data_path

    return user_data_path("mirenc") / "datasets"


def find_folder(name: str, data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """`dataset_folder`, or None where there is none."""
    dataset, root = get_dataset(name), data_root(data_dir)
    for folder in (root / name, root):
        # Archives of several datasets have the same name (kernels_ir); in a folder of another name, tables must tell.
        archives = dataset.archives if folder != root or not dataset.tables else ()
        table_paths = [file_path(folder, table) for table in dataset.tables]
        if any([*table_paths, *(archive_path(folder, archive) for archive in archives)]):
            return folder
    return None


def dataset_folder(name: str, data_dir: str | os.PathLike[str] | None = None) -> Path:
    """The folder of a dataset: ``data_root(data_dir)/name``, or the root itself if the files lie in it.

    Raises DatasetError: unknown dataset, or none of its files is there.
    """
    if folder := find_folder(name, data_dir):
        return folder
    parts, root = ", ".join(get_dataset(name).urls), data_root(data_dir)
    state = "" if root.is_dir() else f" ({root} does not exist)"
    raise DatasetError(
        f"dataset {name!r} is not here: looked for {parts} in {root / name} and in {root}{state}. "
        f"Type: mirenc datasets fetch {name}. Where the data are already, set MIRENC_DATA to the folder that holds "
        f"{name}/, or give it with --data (Python: data_dir=)"
    )
