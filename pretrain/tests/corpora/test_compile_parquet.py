"""Parquet with bitcode: the columns of the public ComPile corpus, in a small file of our own making."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from mirenc.base.errors import ConfigError, IRFileError
from mirenc.llvm.sources.compile_programs import Limits
from mirenc.llvm.sources.ir_folder import IRFolder

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "pretrain"))

import compile_parquet

BITCODE = b"BC\xc0\xde"
WRAPPED = b"\xde\xc0\x17\x0b"
Parquet = Callable[..., Path]


@pytest.fixture
def parquet(tmp_path: Path) -> Parquet:
    """Write rows of (package_source, content, language) in ComPile's layout, two to a row group."""

    def write(
        rows: list[tuple[str | None, bytes | None, str | None]], name: str = "train.parquet", **more: Any
    ) -> Path:
        columns = {
            "content": pyarrow.array([row[1] for row in rows], pyarrow.binary()),
            "license_expression": pyarrow.array(["MIT"] * len(rows)),
            "license_source": pyarrow.array(["spack"] * len(rows)),
            "license_files": pyarrow.array([b"[]"] * len(rows), pyarrow.binary()),
            "package_source": pyarrow.array([row[0] for row in rows], pyarrow.string()),
            "language": pyarrow.array([row[2] for row in rows], pyarrow.string()),
            **more,
        }
        path = tmp_path / name
        pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=2)
        return path

    return write


def unpack(path: Path, out: Path, limits: Limits | None = None) -> tuple[dict[str, str], int]:
    """Statuses by project and row, and how many rows were reported as done."""
    done: list[int] = []
    compile_parquet.make_ir(path, out, limits or Limits(), lambda n, note: done.append(n))
    with IRFolder(out) as folder:
        statuses = {f"{record.project} {record.file}": record.status for record in folder.records()}
    return statuses, sum(done)


def test_each_row_is_one_record(parquet: Parquet, tmp_path: Path) -> None:
    path = parquet(
        [
            ("zlib", BITCODE + b"one", "c"),
            ("zlib", WRAPPED + b"two", "c++"),
            ("copy", BITCODE + b"one", "rust"),
            ("zlib", b"\x7fELF", "c"),
            ("zlib", None, "c"),
            ("lua", BITCODE + b"six", "c"),
            ("zlib", BITCODE + b"x" * 100, "c"),
            (None, BITCODE + b"eight", None),
        ]
    )
    statuses, done = unpack(path, tmp_path / "ir", Limits(max_file_bytes=100))
    assert statuses == {
        "zlib train.parquet/00000000.bc": "ok",
        "zlib train.parquet/00000001.bc": "ok",
        "copy train.parquet/00000002.bc": "duplicate",
        "zlib train.parquet/00000003.bc": "failed",
        "zlib train.parquet/00000004.bc": "failed",
        "lua train.parquet/00000005.bc": "reserved",
        "zlib train.parquet/00000006.bc": "large",
        "unknown train.parquet/00000007.bc": "ok",
    }
    assert done == 8
    files = {p.relative_to(tmp_path / "ir").as_posix(): p.read_bytes() for p in (tmp_path / "ir").rglob("*.bc")}
    assert files == {
        "zlib/unknown/train.parquet__00000000.bc": BITCODE + b"one",
        "zlib/unknown/train.parquet__00000001.bc": WRAPPED + b"two",
        "unknown/unknown/train.parquet__00000007.bc": BITCODE + b"eight",
    }


def test_row_groups_that_are_known_are_not_read(parquet: Parquet, tmp_path: Path) -> None:
    rows = [(f"p{n}", BITCODE + bytes([n]), "c") for n in range(6)]
    path = parquet(rows)
    unpacked, _ = unpack(path, tmp_path / "whole")
    log = (tmp_path / "whole" / "log.jsonl").read_text().splitlines(keepends=True)
    shutil.copytree(tmp_path / "whole", tmp_path / "stopped")
    (tmp_path / "stopped" / "log.jsonl").write_text("".join(log[:3]))
    again, done = unpack(path, tmp_path / "stopped")
    assert again == unpacked
    assert done == 4  # the second and the third group of two
    assert unpack(path, tmp_path / "whole")[1] == 0


def test_addresses_become_folders_that_stay_different(parquet: Parquet, tmp_path: Path) -> None:
    sources = ["https://host.example/a/b", "https://host.example/a_b", "../../outside", "", "x" * 300, "plain-1.0"]
    path = parquet([(source, BITCODE + bytes([n]), "c") for n, source in enumerate(sources)])
    unpack(path, tmp_path / "ir")
    folders = sorted(p.name for p in (tmp_path / "ir").iterdir() if p.is_dir())
    assert len(folders) == len(sources)
    assert "plain-1.0" in folders
    assert any(name.startswith("host.example_a_b-") for name in folders)
    assert max(map(len, folders)) < 120


def test_a_level_column_is_used(parquet: Parquet, tmp_path: Path) -> None:
    path = parquet(
        [("p", BITCODE + b"1", "c"), ("p", BITCODE + b"2", "c")],
        opt_level=pyarrow.array(["O2", None], pyarrow.string()),
    )
    unpack(path, tmp_path / "ir")
    assert {p.parent.name for p in (tmp_path / "ir").rglob("*.bc")} == {"O2", "unknown"}


def test_content_declared_as_large_binary_or_text(parquet: Parquet, tmp_path: Path) -> None:
    for name, kind in (("a.parquet", pyarrow.large_binary()), ("b.parquet", pyarrow.large_string())):
        content = pyarrow.array([b"BC\xc0\xde" + name.encode()], pyarrow.large_binary()).view(kind)
        parquet([("p", b"", "c")], name, content=content)
    unpack(tmp_path, tmp_path / "ir")
    contents = {p.name: p.read_bytes() for p in (tmp_path / "ir").rglob("*.bc")}
    assert contents == {
        "a.parquet__00000000.bc": BITCODE + b"a.parquet",
        "b.parquet__00000000.bc": BITCODE + b"b.parquet",
    }


def test_files_that_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"no parquet")
    with pytest.raises(ConfigError, match=r"x.parquet: cannot be read as parquet"):
        unpack(path, tmp_path / "ir")
    pyarrow.parquet.write_table(pyarrow.table({"content": [b""], "language": ["c"], "repo": ["x"]}), path)
    with pytest.raises(ConfigError, match="no column 'package_source'; found: content, language, repo"):
        unpack(path, tmp_path / "ir")


def test_a_file_that_changed_is_read_again_and_files_of_one_name_stay_apart(parquet: Parquet, tmp_path: Path) -> None:
    for name in ("c", "rust"):
        (tmp_path / name).mkdir()
        parquet([("p", BITCODE + name.encode(), name)], f"{name}/train.parquet")
    unpack(tmp_path, tmp_path / "ir")
    assert {path.name for path in (tmp_path / "ir").rglob("*.bc")} == {
        "c__train.parquet__00000000.bc",
        "rust__train.parquet__00000000.bc",
    }
    parquet([("three", BITCODE + b"new", "c")], "c/train.parquet")
    (tmp_path / "rust/train.parquet").unlink()
    unpack(tmp_path, tmp_path / "ir")
    files = [path.relative_to(tmp_path / "ir").as_posix() for path in (tmp_path / "ir").rglob("*.bc")]
    assert files == ["three/unknown/c__train.parquet__00000000.bc"]
    (tmp_path / "ir" / files[0]).unlink()
    unpack(tmp_path, tmp_path / "ir")
    assert (tmp_path / "ir" / files[0]).is_file()


def test_where_nothing_is_bitcode_it_says_so(parquet: Parquet, tmp_path: Path) -> None:
    with pytest.raises(IRFileError, match=r"nothing in it became IR. .*log.jsonl has a line for each try"):
        unpack(parquet([("p", b"text", "c")]), tmp_path / "ir")
