"""Inputs of a table of passes: folders, build commands, single files; what they are called and held out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_tools import FakeTools
from source_trees import WriteTree

from mirenc.base.errors import ConfigError, IRFileError, MirencError
from mirenc.llvm.sources.ir_folder import IRFolder, IRRecord
from mirenc.tools.measure.passes.inputs import IRFile, find_ir

IR = "define void @f() {\n  ret void\n}\n"


def files_of(*sources: Path, work: Path, reported: list[str] | None = None) -> list[IRFile]:
    return find_ir(sources, work, lambda: "clang-19", report=[].append if reported is None else reported.append)


def facts(files: list[IRFile]) -> list[tuple[str, str, bool]]:
    return [(one.project, one.file, one.held_out) for one in files]


def test_a_folder_of_ir(tmp_path: Path, write_tree: WriteTree) -> None:
    source = write_tree(tmp_path / "ir", dict.fromkeys(("zlib/a/deflate.ll", "lua5.4/lapi.ll", "top.ll"), IR))
    files = files_of(source, work=tmp_path / "work")
    assert facts(files) == [("ir", "top.ll", False), ("lua5.4", "lapi.ll", True), ("zlib", "a/deflate.ll", False)]


def test_single_files(tmp_path: Path, fake_tools: FakeTools, write_tree: WriteTree) -> None:
    folder = write_tree(tmp_path / "mine", {"a.ll": IR, "b.c": "int b;"})
    files = files_of(folder / "a.ll", folder / "b.c", work=tmp_path / "work")
    assert facts(files) == [("mine", "a.ll", False), ("mine", "b.c", False)]
    (command,) = [call for call in fake_tools.calls() if call[0] == "clang-19"]
    # The last -O wins.
    assert [word for word in command if word.startswith("-O")][-1] == "-Oz"
    assert "-disable-llvm-passes" in command


def test_a_folder_of_sources_even_of_reserved_programs(
    tmp_path: Path, fake_tools: FakeTools, write_tree: WriteTree
) -> None:
    source = write_tree(tmp_path / "code", {"sqlite3/sqlite3.c": "int x = 1;", "mine/x.c": "int x = 2;"})
    files = files_of(source, work=tmp_path / "work")
    assert facts(files) == [("mine", "x.c", False), ("sqlite3", "sqlite3.c", True)]
    commands = [call for call in fake_tools.calls() if "-disable-llvm-passes" in call]
    assert {call[0] for call in commands} == {"clang-19"}


def test_sources_that_do_not_compile_are_named(tmp_path: Path, fake_tools: FakeTools, write_tree: WriteTree) -> None:
    source = write_tree(tmp_path / "code", {"good.c": "int x;", "bad.c": "#error"})
    problems: list[MirencError] = []
    files = find_ir([source], tmp_path / "work", lambda: "clang-19", report=[].append, failed=problems.append)
    assert [one.file for one in files] == ["good.c"]
    (problem,) = problems
    assert str(problem).startswith(
        "code/bad.c: not compiled: bad.c:1:2: error: told so. Mend the source, or give flags"
    )


def test_a_reserved_program_inside_of_a_project_is_neither_trained_on_nor_a_test(
    tmp_path: Path, write_tree: WriteTree
) -> None:
    names = ("rocks/db/main.ll", "rocks/third-party/lz4/lib.ll", "lua5.4/lapi.ll", "lua5.4/src/lvm.ll")
    reported: list[str] = []
    files = files_of(write_tree(tmp_path / "ir", dict.fromkeys(names, IR)), work=tmp_path / "work", reported=reported)
    assert facts(files) == [("lua5.4", "lapi.ll", True), ("lua5.4", "src/lvm.ll", True), ("rocks", "db/main.ll", False)]
    assert reported == ["1 files are left out: reserved programs inside of projects for training"]


def test_projects_that_the_user_holds_out(tmp_path: Path, write_tree: WriteTree) -> None:
    source = write_tree(tmp_path / "ir", dict.fromkeys(("zlib/a.ll", "mine/b.ll", "lua5.4/c.ll"), IR))
    arguments = ([source], tmp_path / "work", lambda: "clang-19", [].append)
    files = find_ir(*arguments, held_out=["zlib"])
    assert facts(files) == [("lua5.4", "c.ll", True), ("mine", "b.ll", False), ("zlib", "a.ll", True)]
    with pytest.raises(ConfigError, match=r"no project .zlip. to hold out; found: lua5\.4, mine, zlib"):
        find_ir(*arguments, held_out=["zlip"])


def test_code_of_another_machine_is_left_out(tmp_path: Path) -> None:
    with IRFolder(tmp_path / "ir") as folder:
        for number, language in enumerate(("c", "opencl", "c++", "c+openmp", "cuda")):
            folder.add(
                IRRecord("p", "1.5", f"{number}.c", language, "Oz-start", "clang-19", str(number), 9, "ok"), b"x"
            )
    reported: list[str] = []
    assert [one.file for one in files_of(tmp_path / "ir", work=tmp_path / "work", reported=reported)] == [
        "0.c",
        "2.c",
        "3.c",
    ]
    assert {one.version for one in files_of(tmp_path / "ir", work=tmp_path / "work")} == {"1.5"}
    assert reported[-1].endswith("2 files are left out: only C and C++ become code of this machine")


def test_build_commands_even_of_reserved_programs(tmp_path: Path, fake_tools: FakeTools) -> None:
    folder = tmp_path / "bzip2"
    folder.mkdir()
    (folder / "bzlib.c").write_text("int x;")
    entry = {"directory": str(folder), "file": "bzlib.c", "command": "gcc -O3 -DX=1 -c bzlib.c"}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    files = files_of(folder / "compile_commands.json", work=tmp_path / "work")
    assert facts(files) == [("bzip2", "bzlib.c", True)]
    (command,) = [call for call in fake_tools.calls() if "-DX=1" in call]
    assert "-Oz" in command
    assert "-O3" not in command


def test_two_inputs_of_one_name(tmp_path: Path, write_tree: WriteTree) -> None:
    write_tree(tmp_path, {"one/p/a.ll": IR, "two/p/a.ll": IR})
    with pytest.raises(IRFileError, match=r"two inputs are called p/a\.ll\. Give only one of the two"):
        files_of(tmp_path / "one", tmp_path / "two", work=tmp_path / "work")
