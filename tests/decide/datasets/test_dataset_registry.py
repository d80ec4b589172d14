"""The registry: each shipped entry is complete, a broken one is refused with its place, a mistyped name helped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import mirenc.decide.datasets
from mirenc.base.errors import ConfigError, DatasetError, MirencError
from mirenc.decide.datasets.dataset_registry import DATASETS, get_dataset, load_dataset

HOME = Path(mirenc.decide.datasets.__file__).parent
ENTRY = """
name = "mine"
title = "Mine"
licence = "MIT"
source = "https://example.org"
megabytes = 1.5
[urls]
"x.csv" = "https://example.org/v1/y.csv"
"ir/" = "https://example.org/v1/kernels/"
"""
SUMS = f"{'a' * 64}  x.csv\n{'b' * 64}  ir/one two.ll\n"


def write(folder: Path, entry: str = ENTRY, sums: str = SUMS) -> Path:
    (folder / "mine.toml").write_text(entry, encoding="utf-8")
    (folder / "mine.sha256").write_text(sums, encoding="utf-8")
    return folder / "mine.toml"


def test_every_entry_has_checksums_sorted_by_name_and_is_registered_under_its_own_name() -> None:
    entries = {path.stem for path in HOME.glob("*.toml")}
    assert entries == {path.stem for path in HOME.glob("*.sha256")} == set(DATASETS)
    for name, dataset in DATASETS.items():
        assert dataset.name == name
        lines = (HOME / f"{name}.sha256").read_text(encoding="utf-8").splitlines()
        names = [line.split("  ", 1)[1] for line in lines]
        assert names == sorted(set(names)) == list(dataset.sums)
        # At a pinned commit, so that the checksums stay true.
        assert all(re.match(r"https://.*/[0-9a-f]{40}/", dataset.url(name)) for name in names)


@pytest.mark.parametrize("name", ["numa_prefetch", "openmp"])
def test_a_dataset_without_a_licence_says_so(name: str) -> None:
    dataset = get_dataset(name)
    assert len(dataset.tables) == len(dataset.sums) == 1
    assert "none stated" in dataset.licence


def test_a_file_gets_the_address_of_its_part(tmp_path: Path) -> None:
    dataset = load_dataset(write(tmp_path))
    assert [(name, dataset.url(name)) for name in dataset.sums] == [
        ("ir/one two.ll", "https://example.org/v1/kernels/one%20two.ll"),
        ("x.csv", "https://example.org/v1/y.csv"),
    ]
    assert (dataset.tables, dataset.archives) == (("x.csv",), ("ir",))


@pytest.mark.parametrize(
    ("entry", "sums", "phrase"),
    [
        (ENTRY.replace('"Mine"', "Mine"), SUMS, "not TOML"),
        (ENTRY.replace("licence", "license"), SUMS, "licence: Field required"),
        ('colour = "red"\n' + ENTRY, SUMS, "unknown key 'colour'"),
        (ENTRY.replace("1.5", '"large"'), SUMS, "megabytes: Input should be a valid number"),
        (
            ENTRY.replace("https://example.org/v1/y.csv", "y.csv"),
            SUMS,
            "urls.x.csv: String should match pattern '^https?://' (found 'y.csv')",
        ),
        (ENTRY, SUMS + "abc  z.csv\n", "(found 'abc')"),
        (ENTRY, SUMS + f"{'c' * 64}  z.csv\n", "'z.csv' has no address"),
        (ENTRY, SUMS + f"{'c' * 64}  bc/z.bc\n", "'bc/' has no address"),
        (ENTRY, SUMS.splitlines()[0], "'ir/' has no checksums"),
    ],
)
def test_a_broken_entry_is_refused(tmp_path: Path, entry: str, sums: str, phrase: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_dataset(write(tmp_path, entry, sums))
    assert phrase in str(caught.value)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("mistyped", ["device-maping", "Device_Mapping", "devicemapping"])
def test_a_mistyped_name_gets_the_nearest_one(mistyped: str) -> None:
    with pytest.raises(DatasetError, match="Did you mean 'device_mapping'") as caught:
        get_dataset(mistyped)
    assert isinstance(caught.value, MirencError)
    assert isinstance(caught.value, OSError)


def test_a_name_like_no_other_gets_the_list() -> None:
    with pytest.raises(DatasetError, match="unknown dataset 'xyz'; available: device_mapping, numa_prefetch, openmp, "):
        get_dataset("xyz")
