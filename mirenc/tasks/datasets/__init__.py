"""Published datasets: what they are, where they come from, and reading them from a folder.

None of their files is part of mirenc. The package carries, for each dataset, an entry (``NAME.toml``: title, licence,
source, public addresses) and its checksums (``NAME.sha256``); `fetch` puts the files where `dataset_folder` finds them.
To add a dataset, write its entry and run ``python -m mirenc.tasks.datasets.seal NAME.toml FOLDER``.
"""

from __future__ import annotations

from mirenc.tasks.datasets.fetching import FetchFailure, FetchPlan, fetch, plan_fetch
from mirenc.tasks.datasets.places import data_root, dataset_folder
from mirenc.tasks.datasets.reading import read_archive, read_table
from mirenc.tasks.datasets.registry import DATASETS, DataFile, Dataset, DatasetError, get_dataset, load_dataset
from mirenc.tasks.datasets.verifying import Finding, content_hash, published_hash, verify

__all__ = [
    "DATASETS",
    "DataFile",
    "Dataset",
    "DatasetError",
    "FetchFailure",
    "FetchPlan",
    "Finding",
    "content_hash",
    "data_root",
    "dataset_folder",
    "fetch",
    "get_dataset",
    "load_dataset",
    "plan_fetch",
    "published_hash",
    "read_archive",
    "read_table",
    "verify",
]
