"""Where a dataset is looked for: the folder given, then MIRENC_DATA, then the user's; a miss says all of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from decide.datasets.toy_dataset import write_packed, write_plain

from mirenc.base.errors import DatasetError
from mirenc.decide.datasets.dataset_registry import data_root, dataset_folder


def test_a_folder_given_beats_the_variable_beats_the_users(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_root() == root.parent / "user" / "mirenc" / "datasets"
    monkeypatch.setenv("MIRENC_DATA", "/set/here")
    assert data_root() == Path("/set/here")
    assert data_root("/given") == Path("/given")


def test_an_empty_variable_is_none(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRENC_DATA", "")
    assert data_root() == root.parent / "user" / "mirenc" / "datasets"


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    assert data_root("~/data") == Path("/home/someone/data")


def test_each_layout_is_found_below_the_root(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert dataset_folder("toy", there) == there / "toy"
    monkeypatch.setenv("MIRENC_DATA", str(there))
    assert dataset_folder("toy") == there / "toy"


@pytest.mark.parametrize("write", [write_plain, write_packed])
def test_a_root_that_holds_the_files_itself_is_the_folder(root: Path, write: object) -> None:
    assert callable(write)
    write(root)
    assert dataset_folder("toy", root) == root


def test_archives_alone_do_not_make_another_folder_the_datasets(root: Path) -> None:
    """Archives of two datasets have one name: that of the other must not be taken for it."""
    write_plain(root / "other" / "toy")
    (root / "other" / "toy" / "table.csv").unlink()
    with pytest.raises(DatasetError):
        dataset_folder("toy", root / "other" / "toy")
    assert dataset_folder("toy", root / "other") == root / "other" / "toy"


def test_a_miss_says_what_was_looked_for_and_what_to_type(root: Path) -> None:
    (root / "toy").mkdir()
    with pytest.raises(DatasetError) as caught:
        dataset_folder("toy", root)
    message = str(caught.value)
    for phrase in ("table.csv, kernels/", str(root / "toy"), "mirenc datasets fetch toy", "MIRENC_DATA"):
        assert phrase in message
    assert "does not exist" not in message
    with pytest.raises(DatasetError, match="nowhere does not exist"):
        dataset_folder("toy", root / "nowhere")
