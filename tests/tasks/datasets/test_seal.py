"""Sealing: the parts that an entry names become its checksums, whatever layout they have."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from tasks.datasets.toy_dataset import CONTENT

from mirenc.tasks.datasets import DatasetError, load_dataset
from mirenc.tasks.datasets.seal import seal

ENTRY = """
name = "toy"
title = "A toy"
licence = "MIT"
source = "these tests"
megabytes = 0.1
[urls]
"table.csv" = "https://example.org/v1/table.csv"
"kernels/" = "https://example.org/v1/kernels/"
"""


def test_a_sealed_entry_is_a_dataset(there: Path, tmp_path: Path) -> None:
    entry = tmp_path / "toy.toml"
    entry.write_text(ENTRY, encoding="utf-8")
    (there / "toy" / "notes.txt").write_bytes(b"not in the entry")
    assert seal(entry, there / "toy") == 4
    assert {file.name: file.sha256 for file in load_dataset(entry).files} == {
        name: hashlib.sha256(data).hexdigest() for name, data in CONTENT.items()
    }


def test_a_part_that_is_missing_is_told(there: Path, tmp_path: Path) -> None:
    entry = tmp_path / "toy.toml"
    entry.write_text(ENTRY + '"more/" = "https://example.org/v1/more/"\n', encoding="utf-8")
    with pytest.raises(DatasetError, match=r"no more/, which toy\.toml lists"):
        seal(entry, there / "toy")
    assert not entry.with_suffix(".sha256").exists()
