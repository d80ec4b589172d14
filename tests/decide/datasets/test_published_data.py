"""The published files themselves, where MIRENC_DATA names them: they verify, and read as their papers say."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

import mirenc.decide.datasets
from mirenc.decide.datasets.dataset_files import read_archive, read_file
from mirenc.decide.datasets.dataset_registry import DATASETS, dataset_folder, get_dataset
from mirenc.decide.datasets.fetch import content_hash, verify

pytestmark = pytest.mark.skipif(
    not os.environ.get("MIRENC_DATA"), reason="MIRENC_DATA is not set; it names the folder of the published datasets"
)
HOME = Path(mirenc.decide.datasets.__file__).parent


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_a_dataset_is_as_published(name: str) -> None:
    assert [finding for finding in verify(name) if finding.status != "ok"] == []
    assert content_hash(name) == hashlib.sha256((HOME / f"{name}.sha256").read_bytes()).hexdigest()


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_the_size_that_is_told_before_the_download_is_right(name: str) -> None:
    dataset, folder = get_dataset(name), dataset_folder(name)
    size = sum(len(read_file(folder, table)) for table in dataset.tables)
    size += sum(len(data) for archive in dataset.archives for data in read_archive(folder, archive).values())
    assert size / 1e6 == pytest.approx(dataset.megabytes, abs=0.05)
