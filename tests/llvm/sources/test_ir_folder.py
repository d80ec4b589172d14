"""The folder of IR: nothing twice, nothing half, and a log from which a stopped run goes on."""

import dataclasses
import json
from pathlib import Path

import pytest

from mirenc.base.errors import IRFileError
from mirenc.llvm.sources.ir_folder import IRFolder, IRRecord, origins_of

ORIGIN = ("zlib", "1.2", "src/a.c", "c", "O0", "clang-19")  # project, version, file, language, level, compiler
RECORD = IRRecord(*ORIGIN, sha256_of_ir="aa", ir_bytes=6, status="ok")


def variant(**changes: str | int) -> IRRecord:
    return dataclasses.replace(RECORD, **changes)  # type: ignore[arg-type]


def test_ir_and_log_are_there_after_each_add(tmp_path: Path) -> None:
    with IRFolder(tmp_path) as folder:
        assert folder.add(RECORD, b"define") == RECORD
        assert (tmp_path / "zlib" / "O0" / "src__a.c.ll").read_bytes() == b"define"
        (line,) = (tmp_path / "log.jsonl").read_text().splitlines()
        assert json.loads(line) == dataclasses.asdict(RECORD)
        assert folder.ir_bytes == 6


def test_equal_ir_is_kept_once(tmp_path: Path) -> None:
    with IRFolder(tmp_path) as folder:
        folder.add(RECORD, b"define")
        assert folder.add(variant(file="src/b.c"), b"define").status == "duplicate"
    with IRFolder(tmp_path) as folder:
        assert folder.add(variant(project="copy"), b"define").status == "duplicate"
        assert [record.file for record in folder.kept()] == ["src/a.c"]
        assert folder.ir_bytes == 6
    assert len(list(tmp_path.rglob("*.ll"))) == 1


def test_a_line_cut_off_by_a_kill_is_forgotten(tmp_path: Path) -> None:
    with IRFolder(tmp_path) as folder:
        folder.add(RECORD, b"define")
        folder.add(variant(file="src/b.c", sha256_of_ir="bb"), b"define")
    log = tmp_path / "log.jsonl"
    content = log.read_bytes()
    log.write_bytes(content[:-20])
    with IRFolder(tmp_path) as folder:
        assert len(folder) == 1
        assert folder.get(("zlib", "src/b.c", "O0")) is None
        assert folder.add(variant(file="src/b.c", sha256_of_ir="bb"), b"define").status == "ok"
    assert log.read_bytes() == content


def test_a_file_that_is_no_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"time": 1}\n')
    with pytest.raises(IRFileError, match=r"log.jsonl: line 1 is not a record .* Give another output folder"):
        IRFolder(tmp_path)


def test_a_later_record_replaces_the_earlier_one(tmp_path: Path) -> None:
    with IRFolder(tmp_path) as folder:
        folder.add(variant(status="failed", ir_bytes=0))
        folder.add(RECORD, b"define")
    with IRFolder(tmp_path) as folder:
        assert folder.records() == [RECORD]
        assert folder.ir_bytes == 6


def test_summary_counts_what_was_tried(tmp_path: Path) -> None:
    with IRFolder(tmp_path) as folder:
        folder.add(RECORD, b"define")
        folder.add(variant(opt_level="O2", sha256_of_ir="bb"), b"define")
        folder.add(variant(project="broken", status="failed"))
        lines = folder.summary().splitlines()
    assert lines[0] == "2 IR files, 0 MB, 1 sources, 1 projects"
    assert "opt_level: O0 1, O2 1" in lines
    assert "tried (file, level): ok 2, failed 1" in lines
    assert "files that did not compile, by project: broken 1" in lines


def test_long_names_are_cut_and_stay_different(tmp_path: Path) -> None:
    deep = "/".join(["folder"] * 40)
    with IRFolder(tmp_path) as folder:
        one = folder.path_of(variant(file=f"{deep}/one/x.c"))
        two = folder.path_of(variant(file=f"{deep}/two/x.c"))
        other_start = folder.path_of(variant(file=f"other/{deep}/one/x.c"))
    assert len({one, two, other_start}) == 3
    assert max(len(path.name) for path in (one, two, other_start)) < 200


def test_origins_name_the_files_as_they_lie(tmp_path: Path) -> None:
    assert origins_of(tmp_path) == {}
    with IRFolder(tmp_path) as folder:
        folder.add(RECORD, b"define")
        folder.add(variant(file="p/00000001.bc", sha256_of_ir="bb"), b"BC")
        folder.add(variant(file="src/c.c", status="failed"))
    origins = origins_of(tmp_path)
    files = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.suffix in (".ll", ".bc")]
    assert set(origins) == set(files) == {"zlib/O0/src__a.c.ll", "zlib/O0/p__00000001.bc"}
    names = ("project", "version", "file", "language", "opt_level", "compiler")
    assert origins["zlib/O0/src__a.c.ll"] == dict(zip(names, ORIGIN, strict=True))


def test_keep_only_forgets_records_their_ir_and_their_duplicates(tmp_path: Path) -> None:
    with IRFolder(tmp_path) as folder:
        folder.add(RECORD, b"define")
        folder.add(variant(file="src/b.c"), b"define")
        folder.add(variant(file="src/c.c", sha256_of_ir="cc"), b"define2")
        folder.keep_only(lambda record: record.file != "src/a.c")
        assert [record.file for record in folder.records()] == ["src/c.c"]
        assert folder.ir_bytes == RECORD.ir_bytes
        assert folder.add(variant(file="src/b.c"), b"define").status == "ok"
    assert not (tmp_path / "zlib/O0/src__a.c.ll").exists()
    with IRFolder(tmp_path) as folder:
        assert [record.file for record in folder.kept()] == ["src/b.c", "src/c.c"]
