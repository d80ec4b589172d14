"""One door for everything that a corpus can be made from."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_tools import FakeTools

from mirenc.base.errors import IRFileError
from mirenc.llvm.sources.compile_programs import Choices
from mirenc.llvm.sources.ir_folder import origins_of
from mirenc.llvm.sources.prepare import kind_of_source, prepare_ir

WriteTree = Callable[[Path, dict[str, str]], Path]


def test_the_kind_of_a_source(tmp_path: Path, write_tree: WriteTree) -> None:
    for name, files, kind in (
        ("ir", ("p/a.ll", "p/b.bc.gz", "notes.txt"), "ir"),
        ("code", ("p/a.c", "p/b.cpp", "p/test.ll"), "sources"),
        ("more", ("p/a.c", "p/b.ll", "p/c.ll"), "ir"),
        ("build", ("compile_commands.json", "a.ll", "b.ll"), "commands"),
    ):
        assert kind_of_source(write_tree(tmp_path / name, dict.fromkeys(files, ""))) == kind
    write_tree(tmp_path, {"mine_compile_commands.json": "", "a.c": ""})
    assert kind_of_source(tmp_path / "mine_compile_commands.json") == "commands"


def test_what_is_no_source_says_what_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.zip").write_text("")
    (tmp_path / "a.toml").write_text("")
    with pytest.raises(IRFileError, match=r"empty: has no IR or source file in it. Give a folder of IR"):
        prepare_ir(tmp_path / "empty", tmp_path / "out")
    with pytest.raises(IRFileError, match=r"a.zip: a corpus cannot be made from this file. Give a folder of IR"):
        prepare_ir(tmp_path / "a.zip", tmp_path / "out")
    with pytest.raises(IRFileError, match=r"a.toml: .* make IR of a .toml recipe of Debian packages"):
        prepare_ir(tmp_path / "a.toml", tmp_path / "out")
    with pytest.raises(IRFileError, match="gone: no such file or folder"):
        prepare_ir(tmp_path / "gone", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_of_ir_is_returned_as_it_is(tmp_path: Path, write_tree: WriteTree) -> None:
    write_tree(tmp_path / "ir", {"p/a.ll": ""})
    assert prepare_ir(tmp_path / "ir", tmp_path / "out") == tmp_path / "ir"
    assert not (tmp_path / "out").exists()


@pytest.fixture
def sources(fake_tools: FakeTools, tmp_path: Path, write_tree: WriteTree) -> dict[str, Path]:
    """The same two programs as a folder and as commands."""
    files = {"one/a.c": "int a;", "two/b.c": "int b;"}
    code = write_tree(tmp_path / "code", files)
    entries = [{"directory": str(code), "file": file, "command": f"cc -c {file}"} for file in files]
    write_tree(tmp_path, {"commands.json": json.dumps(entries)})
    return {"sources": code, "commands": tmp_path / "commands.json"}


@pytest.mark.parametrize("kind", ["sources", "commands"])
def test_every_source_becomes_a_folder_of_ir(kind: str, sources: dict[str, Path], tmp_path: Path) -> None:
    done: list[int] = []
    lines: list[str] = []
    out = tmp_path / "made" / "ir"

    def prepare() -> Path:
        advance = lambda count, note: done.append(count)  # noqa: E731
        return prepare_ir(sources[kind], out, Choices(levels=["O2"]), jobs=2, advance=advance, report=lines.append)

    assert prepare() == out
    assert ir_names(out) == {"one/O2/a.c.ll", "two/O2/b.c.ll"}
    assert sum(done) == 2
    assert lines[-1].startswith("2 IR files, 0 MB, 2 sources, 2 projects\n")
    log = (out / "log.jsonl").read_text()
    assert len(log.splitlines()) == 2
    # Once more: nothing new.
    stamps = {path: path.stat().st_mtime_ns for path in out.rglob("*.ll")}
    prepare()
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.ll")} == stamps
    assert (out / "log.jsonl").read_text() == log


def test_failures_can_be_tried_again(sources: dict[str, Path], tmp_path: Path) -> None:
    code = shutil.copytree(sources["sources"], tmp_path / "copy")
    (code / "one/a.c").write_text("#error")
    out = tmp_path / "ir"
    prepare_ir(code, out, Choices(levels=["O2"]))
    stamp = (code / "one/a.c").stat()
    (code / "one/a.c").write_text("int a;")
    os.utime(code / "one/a.c", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # what was mended lies elsewhere
    prepare_ir(code, out, Choices(levels=["O2"]))
    assert not (out / "one").exists()
    prepare_ir(code, out, Choices(levels=["O2"]), retry_failed=True)
    assert (out / "one/O2/a.c.ll").exists()


def ir_names(out: Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in out.rglob("*.*") if path.suffix in (".ll", ".bc")}


@pytest.mark.parametrize("kind", ["sources", "commands"])
def test_what_changed_is_compiled_again_and_what_is_gone_goes(
    kind: str, sources: dict[str, Path], tmp_path: Path
) -> None:
    code, out = sources["sources"], tmp_path / "ir"
    for name in ("two/copy.c", "two/stays.c"):
        (code / name).write_text("int b;" if "copy" in name else "int stays;")
    entries = [
        {"directory": str(code), "file": name, "arguments": ["cc", name]}
        for name in ("one/a.c", "two/b.c", "two/copy.c", "two/stays.c")
    ]
    sources["commands"].write_text(json.dumps(entries))
    prepare_ir(sources[kind], out, Choices(levels=["O2"]))
    assert len(ir_names(out)) == 3  # b.c and copy.c have the same IR
    before = (out / "two/O2/stays.c.ll").stat().st_mtime_ns
    compiled = "b.c" if (out / "two/O2/b.c.ll").exists() else "copy.c"
    other = {"b.c": "copy.c", "copy.c": "b.c"}[compiled]
    (code / "one/a.c").write_text("int edited;")
    (code / "two" / compiled).unlink()
    sources["commands"].write_text(json.dumps([entry for entry in entries if entry["file"] != f"two/{compiled}"]))
    prepare_ir(sources[kind], out, Choices(levels=["O2"]))
    assert ir_names(out) == {"one/O2/a.c.ll", f"two/O2/{other}.ll", "two/O2/stays.c.ll"}
    assert "edited" in (out / "one/O2/a.c.ll").read_text()
    assert (out / "two/O2/stays.c.ll").stat().st_mtime_ns == before
    prepare_ir(sources[kind], out, Choices(levels=["O0"]))
    assert {name.split("/")[1] for name in ir_names(out)} == {"O0"}


def test_an_edited_header_and_another_flag_count_as_changes(sources: dict[str, Path], tmp_path: Path) -> None:
    code, out = sources["sources"], tmp_path / "ir"
    place = out / "one/O2/a.c.ll"
    prepare_ir(code, out, Choices(levels=["O2"]))
    (code / "one/h.h").write_text("#define A 1")
    for cflags in ([], ["-DB"]):
        os.utime(place, ns=(0, 0))
        prepare_ir(code, out, Choices(levels=["O2"], cflags=cflags))
        assert place.stat().st_mtime_ns > 0


def test_ir_that_was_deleted_is_made_again(sources: dict[str, Path], tmp_path: Path) -> None:
    for kind in ("sources", "commands"):
        out = tmp_path / f"ir-{kind}"
        prepare_ir(sources[kind], out, Choices(levels=["O2"]))
        names = ir_names(out)
        (out / min(names)).unlink()
        prepare_ir(sources[kind], out, Choices(levels=["O2"]))
        assert ir_names(out) == names


def test_nothing_that_compiles_says_why(sources: dict[str, Path], tmp_path: Path) -> None:
    code, out = sources["sources"], tmp_path / "ir"
    for path in code.rglob("*.c"):
        path.write_text("#error")
    with pytest.raises(IRFileError, match=r"none of its files was compiled to IR: .*told so. .*log\.jsonl says why"):
        prepare_ir(code, out, Choices(levels=["O2"]))
    stamp = (code / "one/a.c").stat()
    (code / "one/a.c").write_text("int a;")
    os.utime(code / "one/a.c", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    prepare_ir(code, out, Choices(levels=["O2"]))  # a folder without any IR is begun anew
    assert ir_names(out) == {"one/O2/a.c.ll"}


def test_files_of_a_mixed_folder_that_are_left_out_are_reported(tmp_path: Path, write_tree: WriteTree) -> None:
    reported: list[str] = []
    mixed = write_tree(tmp_path / "mixed", {"p/a.ll": "", "p/b.ll": "", "p/c.c": ""})
    assert kind_of_source(mixed, reported.append) == "ir"
    assert reported == [f"{mixed}: 2 files are taken as ir; others are left out: sources 1"]


def test_names_that_are_not_utf_8(sources: dict[str, Path], tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.c")
    (sources["sources"] / "one" / name).write_text("int odd;")
    prepare_ir(sources["sources"], tmp_path / "ir", Choices(levels=["O2"]))
    assert (tmp_path / "ir/one/O2" / f"{name}.ll").is_file()
    assert name in [origin["file"] for origin in origins_of(tmp_path / "ir").values()]


def test_a_command_whose_folder_is_gone_is_one_failure(sources: dict[str, Path], tmp_path: Path) -> None:
    entries = json.loads(sources["commands"].read_text())
    entries[0]["directory"] = str(tmp_path / "gone")
    sources["commands"].write_text(json.dumps(entries))
    reported: list[str] = []
    prepare_ir(sources["commands"], tmp_path / "ir", Choices(levels=["O2"]), report=reported.append)
    assert len(ir_names(tmp_path / "ir")) == 1
    assert "failed 1" in reported[-1]
