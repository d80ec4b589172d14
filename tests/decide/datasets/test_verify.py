"""Checksums hold for every layout; each kind of difference is found; one hash stands for the data that were read."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from decide.datasets.toy_dataset import CONTENT, write_packed, write_plain

from mirenc.base.errors import DatasetError
from mirenc.decide.datasets.fetch import Finding, content_hash, published_hash, verify

# The checksum file's text, as `sha256sum` writes it.
SUMS = "".join(f"{hashlib.sha256(CONTENT[name]).hexdigest()}  {name}\n" for name in sorted(CONTENT))


def faults(root: Path) -> list[tuple[str, str]]:
    return [(finding.file, finding.status) for finding in verify("toy", root) if finding.status != "ok"]


def test_each_layout_verifies(there: Path) -> None:
    assert sorted(finding.file for finding in verify("toy", there)) == sorted(CONTENT)
    assert faults(there) == []


def test_each_layout_has_the_hash_of_the_checksum_file(there: Path) -> None:
    assert content_hash("toy", there) == hashlib.sha256(SUMS.encode()).hexdigest()


def test_missing_changed_and_extra_files_are_found(root: Path) -> None:
    folder = write_plain(root / "toy")
    (folder / "kernels" / "a.ll").unlink()
    (folder / "kernels" / "d.ll").write_bytes(b"")
    (folder / "table.csv").write_bytes(b"")
    assert faults(root) == [
        ("table.csv", "changed"),
        ("kernels/a.ll", "missing"),
        ("kernels/d.ll", "extra"),
    ]
    changed = verify("toy", root)[0]
    published = hashlib.sha256(CONTENT["table.csv"]).hexdigest()
    # The sha256 of nothing begins with e3b0c442.
    assert changed.detail == f"sha256 e3b0c44298fc..., published {published[:12]}..."


def test_a_part_that_is_not_there_is_missing(root: Path) -> None:
    (write_packed(root / "toy") / "kernels.tar.xz").unlink()
    assert faults(root) == [(f"kernels/{name}.ll", "missing") for name in "abc"]


def test_a_damaged_archive_is_a_finding_and_no_crash(root: Path) -> None:
    path = write_packed(root / "toy") / "kernels.tar.xz"
    path.write_bytes(path.read_bytes()[:100])
    assert verify("toy", root)[0] == Finding("table.csv", "ok")
    assert faults(root) == [(f"kernels/{name}.ll", "changed") for name in "abc"]
    assert "damaged" in verify("toy", root)[1].detail
    with pytest.raises(DatasetError, match="damaged"):
        content_hash("toy", root)


def test_nothing_there_is_an_error(root: Path) -> None:
    with pytest.raises(DatasetError, match="mirenc datasets fetch toy"):
        verify("toy", root)
    with pytest.raises(DatasetError, match="mirenc datasets fetch toy"):
        content_hash("toy", root)


def test_the_hash_follows_what_is_read_and_nothing_else(root: Path) -> None:
    folder = write_plain(root / "toy")
    digest = content_hash("toy", root)
    (folder / "notes.txt").write_bytes(b"mine")
    assert content_hash("toy", root) == digest
    (folder / "kernels" / "d.ll").write_bytes(b"")
    more = content_hash("toy", root)
    (folder / "table.csv").write_bytes(b"kernel,cost\n")
    assert len({digest, more, content_hash("toy", root)}) == 3


def test_the_published_hash_is_that_of_published_data(there: Path) -> None:
    assert published_hash("toy") == content_hash("toy", there)
