"""One door for everything that a corpus can be made from."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from fake_tools import FakeTools

from mirenc.errors import ConfigError, IRFileError
from mirenc.pretraining.corpus.inputs import kind_of_source, prepare_ir

WriteTree = Callable[[Path, dict[str, str]], Path]


def test_the_kind_of_a_source(tmp_path: Path, write_tree: WriteTree) -> None:
    for name, files, kind in (
        ("ir", ("p/a.ll", "p/b.bc.gz", "notes.txt"), "ir"),
        ("code", ("p/a.c", "p/b.cpp", "p/test.ll"), "sources"),
        ("more", ("p/a.c", "p/b.ll", "p/c.ll"), "ir"),
        ("rows", ("a.parquet", "sub/b.parquet"), "parquet"),
        ("build", ("compile_commands.json", "a.ll", "b.ll"), "commands"),
    ):
        assert kind_of_source(write_tree(tmp_path / name, dict.fromkeys(files, ""))) == kind
    write_tree(tmp_path, {"r.toml": "", "mine_compile_commands.json": "", "a.parquet": "", "a.c": ""})
    assert kind_of_source(tmp_path / "r.toml") == "recipe"
    assert kind_of_source(tmp_path / "mine_compile_commands.json") == "commands"
    assert kind_of_source(tmp_path / "a.parquet") == "parquet"


def test_what_is_no_source_says_what_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.zip").write_text("")
    with pytest.raises(IRFileError, match=r"empty: no IR, source or parquet file below it. Give a folder of IR"):
        prepare_ir(tmp_path / "empty", tmp_path / "out")
    with pytest.raises(IRFileError, match=r"a.zip: a corpus cannot be made from this file. Give a folder of IR"):
        prepare_ir(tmp_path / "a.zip", tmp_path / "out")
    with pytest.raises(IRFileError, match="gone: no such file or folder"):
        prepare_ir(tmp_path / "gone", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_of_ir_is_returned_as_it_is(tmp_path: Path, write_tree: WriteTree) -> None:
    write_tree(tmp_path / "ir", {"p/a.ll": ""})
    assert prepare_ir(tmp_path / "ir", tmp_path / "out") == tmp_path / "ir"
    assert not (tmp_path / "out").exists()


def test_wrong_levels_are_refused_before_any_work(tmp_path: Path, write_tree: WriteTree) -> None:
    write_tree(tmp_path / "code", {"p/a.c": ""})
    with pytest.raises(ConfigError, match="unknown optimisation level 'O7'"):
        prepare_ir(tmp_path / "code", tmp_path / "out", levels=["O7"])
    assert not (tmp_path / "out").exists()


@pytest.fixture
def sources(fake_tools: FakeTools, tmp_path: Path, write_tree: WriteTree) -> dict[str, Path]:
    """The same two programs as a folder, as commands, as a recipe; and two modules of bitcode."""
    files = {"one/a.c": "int a;", "two/b.c": "int b;"}
    code = write_tree(tmp_path / "code", files)
    entries = [{"directory": str(code), "file": file, "command": f"cc -c {file}"} for file in files]
    write_tree(tmp_path, {"commands.json": json.dumps(entries)})
    recipe = "[[package]]\nname = 'one'\n[[package]]\nname = 'two'\n"
    write_tree(tmp_path, {"recipe.toml": recipe})
    for name in ("one", "two"):
        with tarfile.open(fake_tools.folder / f"{name}.orig.tar.gz", "w:gz") as tar:
            tar.add(code / name, arcname=name)
    rows = {"content": [b"BC\xc0\xde1", b"BC\xc0\xde2"], "package_source": ["one", "two"], "language": ["c", "c"]}
    pyarrow.parquet.write_table(pyarrow.table(rows), tmp_path / "rows.parquet")
    return {
        "sources": code,
        "commands": tmp_path / "commands.json",
        "recipe": tmp_path / "recipe.toml",
        "parquet": tmp_path / "rows.parquet",
    }


@pytest.mark.parametrize("kind", ["sources", "commands", "recipe", "parquet"])
def test_every_source_becomes_a_folder_of_ir(kind: str, sources: dict[str, Path], tmp_path: Path) -> None:
    done: list[int] = []
    said: list[str] = []
    out = tmp_path / "made" / "ir"
    arguments = {"workers": 2, "levels": ["O2"], "advance": lambda n, note: done.append(n), "report": said.append}
    assert prepare_ir(sources[kind], out, **arguments) == out
    names = {path.relative_to(out).as_posix() for path in out.rglob("*.*") if path.suffix in (".ll", ".bc")}
    assert (
        names
        == {
            "sources": {"one/O2/a.c.ll", "two/O2/b.c.ll"},
            "commands": {"one/O2/a.c.ll", "two/O2/b.c.ll"},
            "recipe": {"one/O2/a.c.ll", "two/O2/b.c.ll"},
            "parquet": {"one/unknown/rows.parquet__00000000.bc", "two/unknown/rows.parquet__00000001.bc"},
        }[kind]
    )
    assert sum(done) == 2
    assert said[-1].startswith("2 IR files, 0 MB, 2 sources, 2 projects\n")
    manifest = (out / "manifest.csv").read_text()
    assert len(manifest.splitlines()) == 3
    # Sources that were fetched may hold IR of their own: they do not lie in the folder that is read as IR.
    assert (tmp_path / "made" / "ir-work").is_dir() == (kind == "recipe")
    # Once more: nothing new, the same manifest.
    stamps = {path: path.stat().st_mtime_ns for path in out.rglob("*.ll")}
    prepare_ir(sources[kind], out, **arguments)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.ll")} == stamps
    assert (out / "manifest.csv").read_text() == manifest


def test_failures_can_be_tried_again(sources: dict[str, Path], tmp_path: Path) -> None:
    code = shutil.copytree(sources["sources"], tmp_path / "copy")
    (code / "one/a.c").write_text("#error")
    out = tmp_path / "ir"
    prepare_ir(code, out, levels=["O2"])
    (code / "one/a.c").write_text("int mended;")
    prepare_ir(code, out, levels=["O2"])
    assert not (out / "one").exists()
    prepare_ir(code, out, levels=["O2"], retry_failed=True)
    assert (out / "one/O2/a.c.ll").exists()
