"""Published datasets: what they are, where they come from, and reading them from a folder.

None of their files is part of mirenc. The package carries, for each dataset, an entry (``NAME.toml``: title, licence,
source, public addresses) and its checksums (``NAME.sha256``); `fetch` puts the files where `dataset_folder` finds them.
"""

from mirenc.errors import DatasetError
from mirenc.tasks.datasets.fetching import FetchPlan, Finding, content_hash, fetch, plan_fetch, published_hash, verify
from mirenc.tasks.datasets.reading import read_archive, read_table
from mirenc.tasks.datasets.registry import DATASETS, Dataset, data_root, dataset_folder, get_dataset, load_dataset

__all__ = [
    "DATASETS",
    "Dataset",
    "DatasetError",
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
