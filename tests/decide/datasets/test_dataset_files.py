"""Tables and archives read the same from every layout; what is damaged, foreign or too large is one error."""

from __future__ import annotations

import csv
import gzip
import lzma
import tarfile
from pathlib import Path

import pytest
from decide.datasets.toy_dataset import CONTENT, write_tar

from mirenc.base.errors import DatasetError, TaskError
from mirenc.decide.datasets import dataset_files as reading
from mirenc.decide.datasets.dataset_files import read_archive, read_table, real

KERNELS = {name.removeprefix("kernels/"): data for name, data in CONTENT.items() if "/" in name}


def test_a_table_reads_the_same_from_each_layout(there: Path) -> None:
    assert read_table(there / "toy", "table.csv") == [
        {"kernel": "a", "cost": "1"},
        {"kernel": "b", "cost": "2"},
        {"kernel": "c", "cost": "3"},
    ]


def test_long_fields_with_line_breaks_and_quotes_come_back(tmp_path: Path) -> None:
    source = 'say "a, b"\r\n' * 20_000  # beyond the csv module's own limit
    before = csv.field_size_limit()
    with (tmp_path / "x.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["", "src"], ["0", source]])
    assert read_table(tmp_path, "x.csv") == [{"": "0", "src": source}]
    assert csv.field_size_limit() == before


def test_a_byte_order_mark_is_no_part_of_a_column(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"\xef\xbb\xbfkernel\na\n")
    assert read_table(tmp_path, "x.csv") == [{"kernel": "a"}]


@pytest.mark.parametrize(
    ("data", "phrase"),
    [
        (b"", "no header"),
        (b"a,b,a\n1,2,3\n", "column 'a' occurs twice"),
        (b"a,b\n1,2\n3\n", "line 3: 1 fields, the header has 2"),
        (b"a,b\n1,2,3\n", "line 2: 3 fields, the header has 2"),
        (b"a,b\n1,\xff\n", "damaged .*utf-8"),
        (b'a,b\n1,"2\n', "damaged .*unexpected end"),
    ],
)
def test_a_table_that_is_none_is_refused(tmp_path: Path, data: bytes, phrase: str) -> None:
    (tmp_path / "x.csv").write_bytes(data)
    with pytest.raises(DatasetError, match=phrase) as caught:
        read_table(tmp_path, "x.csv")
    assert str(tmp_path / "x.csv") in str(caught.value)


@pytest.mark.parametrize("keep", [5, 30])
def test_a_cut_gzip_is_damaged(tmp_path: Path, keep: int) -> None:
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a,b\n" + bytes(range(48, 90)))[:keep])
    with pytest.raises(DatasetError, match=r"x\.csv\.gz: damaged"):
        read_table(tmp_path, "x.csv")


def test_a_column_that_is_needed_and_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"kernel,cost\na,1\n")
    with pytest.raises(TaskError, match=r"x\.csv: no column 'time', 'size'\. .* mirenc datasets verify"):
        read_table(tmp_path, "x.csv", ("cost", "time", "size"))


@pytest.mark.parametrize("text", ["", "nan", "inf", "fast"])
def test_a_field_that_is_no_finite_number_is_named(text: str) -> None:
    assert real({"cost": "1e3"}, "cost", "record 1") == 1000.0
    with pytest.raises(TaskError, match=f"record 2: column 'cost' is {text!r}, not a finite number"):
        real({"cost": text}, "cost", "record 2")


def test_missing_parts_are_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no x\.csv or x\.csv\.gz\. Type: mirenc datasets fetch"):
        read_table(tmp_path, "x.csv")
    with pytest.raises(DatasetError, match=r"no folder ir or ir\.tar\.xz\. Type: mirenc datasets fetch"):
        read_archive(tmp_path, "ir")


def test_an_archive_reads_the_same_from_each_layout(there: Path) -> None:
    kernels = read_archive(there / "toy", "kernels")
    assert kernels == KERNELS
    assert list(kernels) == sorted(kernels)


@pytest.mark.parametrize("prefix", ["kernels/", "./kernels/", ""])
def test_an_archives_own_name_is_no_part_of_its_members(tmp_path: Path, prefix: str) -> None:
    top = tarfile.TarInfo("kernels")
    top.type = tarfile.DIRTYPE
    write_tar(
        tmp_path / "kernels.tar.xz", {f"{prefix}b/x.ll": b"1", f"{prefix}a.ll": b"2", f"{prefix}._a.ll": b""}, top
    )
    assert list(read_archive(tmp_path, "kernels").items()) == [("a.ll", b"2"), ("b/x.ll", b"1")]


def test_a_folder_comes_before_a_packed_archive(tmp_path: Path) -> None:
    write_tar(tmp_path / "kernels.tar.xz", {"a.ll": b"packed"})
    (tmp_path / "kernels" / "sub").mkdir(parents=True)
    (tmp_path / "kernels" / "sub" / "a.ll").write_bytes(b"plain")
    (tmp_path / "kernels" / ".a.ll.swp").write_bytes(b"hidden")
    assert read_archive(tmp_path, "kernels") == {"sub/a.ll": b"plain"}


@pytest.mark.parametrize("name", ["../a.ll", "/a.ll", "kernels/../../a.ll"])
def test_a_member_outside_is_refused(tmp_path: Path, name: str) -> None:
    write_tar(tmp_path / "kernels.tar.xz", {name: b""})
    with pytest.raises(DatasetError, match=r"contains .*a\.ll, not a regular file"):
        read_archive(tmp_path, "kernels")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_member_that_is_no_file_is_refused(tmp_path: Path, kind: bytes) -> None:
    member = tarfile.TarInfo("kernels/a.ll")
    member.type, member.linkname = kind, "/etc/hostname"
    write_tar(tmp_path / "kernels.tar.xz", {}, member)
    with pytest.raises(DatasetError, match=r"contains kernels/a\.ll, not a regular file"):
        read_archive(tmp_path, "kernels")


def test_a_member_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    write_tar(tmp_path / "kernels.tar.xz", {"kernels/a.ll": b"1", "./kernels/a.ll": b"2"})
    with pytest.raises(DatasetError, match=r"holds a\.ll twice"):
        read_archive(tmp_path, "kernels")


@pytest.mark.parametrize("damage", ["cut", "no xz", "no tar"])
def test_a_damaged_archive_is_one_error(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "kernels.tar.xz"
    write_tar(path, {"a.ll": bytes(range(256)) * 40})
    data = path.read_bytes()
    path.write_bytes({"cut": data[: len(data) // 2], "no xz": b"kernels", "no tar": lzma.compress(b"x" * 600)}[damage])
    with pytest.raises(DatasetError, match=r"kernels\.tar\.xz: damaged"):
        read_archive(tmp_path, "kernels")


def test_a_small_file_that_stands_for_a_large_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_MAX_FILE", 2 * 2**20)
    monkeypatch.setattr(reading, "_MAX_ARCHIVE", 3 * 2**20)
    zeros = bytes(4 * 2**20)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(zeros))
    write_tar(tmp_path / "large.tar.xz", dict.fromkeys(("a.ll", "b.ll"), zeros[: 2 * 2**20]))
    write_tar(tmp_path / "member.tar.xz", {"a.ll": zeros[: 2 * 2**20 + 1]})
    (tmp_path / "folder").mkdir()
    for name in "ab":
        (tmp_path / "folder" / name).write_bytes(zeros[: 2 * 2**20])
    with pytest.raises(DatasetError, match="more than 2 MiB"):
        read_table(tmp_path, "x.csv")
    with pytest.raises(DatasetError, match="files or 3 MiB"):
        read_archive(tmp_path, "large")
    with pytest.raises(DatasetError, match="more than 2 MiB"):
        read_archive(tmp_path, "member")
    with pytest.raises(DatasetError, match="files or 3 MiB"):
        read_archive(tmp_path, "folder")


def test_too_many_files_are_refused(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_MAX_MEMBERS", 2)
    with pytest.raises(DatasetError, match="over 2 files"):
        read_archive(there / "toy", "kernels")
