"""Folders of sources and compile_commands.json as inputs: what compiles is delivered, the rest is named."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from command_line import SOURCE, Result, Run

from mirenc.base.run_program import run_limited

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the compiler is a shell script")
# Knows one flag less than the project, wants MACRO in two.c, and says where and how it was called.
COMPILER = r"""#!/bin/sh
echo "$PWD $*" >> "$(dirname "$0")/calls"
while [ $# -gt 0 ]; do
    case $1 in
        -fnot-mine) echo "error: unknown argument: '-fnot-mine'" >&2; exit 1 ;;
        -DMACRO) macro=1 ;;
        -o) out=$2; shift ;;
        *.c) file=$1 ;;
    esac
    shift
done
if grep -q MACRO "$file" && [ -z "$macro" ]; then echo "$file:1:1: error: no MACRO" >&2; exit 1; fi
echo "; ModuleID = 'x'" > "$out"
cat "$(dirname "$0")/ir" >> "$out"
printf 'define i32 @own() {\n  ret i32 %s\n}\n' "$(wc -c < "$file")" >> "$out"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three sources, of which two.c wants MACRO and bad.c never compiles; it is the working folder."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "one.c").write_text("int one;\n")
    (folder / "src" / "two.c").write_text("MACRO int two;\n")
    (folder / "src" / "bad.c").write_text("MACRO int three;\n")
    entries = [
        {"directory": str(folder / "src"), "file": "two.c", "arguments": ["cc", "-fnot-mine", "-DMACRO", "two.c"]},
        {"directory": str(folder), "file": "src/one.c", "command": "cc -c src/one.c"},
        {"directory": str(folder), "file": "src/bad.c", "command": "cc -c src/bad.c"},
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def cc(tmp_path: Path) -> Path:
    """The stand-in compiler."""
    (tmp_path / "ir").write_text(SOURCE)
    path = tmp_path / "cc"
    path.write_text(COMPILER)
    path.chmod(0o755)
    return path


@pytest.fixture
def mirenc(run: Run, model_dir: Path, cc: Path) -> Run:
    """A verb with the tiny model and that compiler."""

    def call(verb: str, *words: object) -> Result:
        return run(verb, *words, "--model", model_dir, "--compiler", cc)

    return call


@pytest.mark.parametrize("place", ["compile_commands.json", "."])
def test_a_build_is_embedded_as_its_commands_say(mirenc: Run, project: Path, cc: Path, place: str) -> None:
    result = mirenc("embed", place, "--no-cache")
    assert [json.loads(line)["file"] for line in result.out.splitlines()] == ["src/one.c", "src/two.c"]
    assert result.code == 1
    assert "flags that the compiler here refuses are left out (number of files): -fnot-mine (1)" in result.err
    assert "warning: src/bad.c: " in result.err
    assert "error: 1 of 3 files failed (listed above); the other 2 were delivered" in result.err
    called = next(line for line in (cc.parent / "calls").read_text().splitlines() if "-DMACRO" in line)
    assert called.startswith(f"{project / 'src'} ")
    assert " two.c -o" in called  # as its command says it, there


def test_a_compiler_beside_this_folder_is_found_from_all_others(mirenc: Run, project: Path, cc: Path) -> None:
    (project / "mycc").symlink_to(cc)
    result = mirenc("embed", "compile_commands.json", "--no-cache", "--compiler", "./mycc")
    assert [json.loads(line)["file"] for line in result.out.splitlines()] == ["src/one.c", "src/two.c"]


def test_a_folder_of_sources_is_embedded(mirenc: Run, project: Path) -> None:
    result = mirenc("embed", "src", "--no-cache", "--cflags=-DMACRO")
    assert [json.loads(line)["file"] for line in result.out.splitlines()] == ["src/bad.c", "src/one.c", "src/two.c"]
    result.ok()


def test_it_is_compared_searched_and_asked_about(mirenc: Run, project: Path) -> None:
    (project / "src" / "bad.c").unlink()
    cosine = float(mirenc("compare", "src", "--cflags=-DMACRO").ok().out)
    assert 0.5 < cosine < 1
    result = mirenc("search", "src/one.c", "src", "-k", "1", "--cflags=-DMACRO").ok().out
    assert result.split()[-1] == "src/one.c"


def test_one_file_is_not_many(mirenc: Run, project: Path) -> None:
    mirenc("inspect", "src").failed("src: is a folder, and one file is expected. Name a file in it")
    mirenc("inspect", "compile_commands.json").failed("compile_commands.json: is JSON, not LLVM IR")


def test_a_build_folder_that_is_gone_is_named(mirenc: Run, project: Path) -> None:
    entry = {"directory": "gone", "file": "../src/one.c", "command": "cc -O2"}
    (project / "x.json").write_text(json.dumps([entry]))
    mirenc("embed", "x.json").failed(f"src/one.c: the folder where it is built, {project / 'gone'}, does not exist")


@pytest.mark.parametrize("entry", [None, {"directory": 5}, {"directory": ".", "file": "a.c", "command": "cc '"}])
def test_an_entry_that_is_none_is_told(mirenc: Run, project: Path, entry: object) -> None:
    (project / "x.json").write_text(json.dumps([entry]))
    mirenc("embed", "x.json").failed("x.json: entry 1 is not a command (", "It needs directory, file, and arguments")


def test_ir_goes_before_sources(mirenc: Run, project: Path) -> None:
    (project / "src" / "one.ll").write_text(SOURCE)
    result = mirenc("embed", "src", "--no-cache")
    assert [json.loads(line)["file"] for line in result.out.splitlines()] == ["src/one.ll"]
    assert result.code == 0
    skipped = "skipping 3 source files. To read these instead, name them"
    assert result.err == f"mirenc: src: reading 1 IR file, {skipped}\n"


def test_a_compiler_that_floods_is_bounded(mirenc: Run, project: Path, cc: Path) -> None:
    cc.write_text('#!/bin/sh\nfor last; do :; done\nyes | head -c 90000000 | tee /dev/stderr > "$last"\n')
    mirenc("embed", "src/one.c").failed("src/one.c: its IR has 86 MiB, the limit is 64 MiB. Raise it with --max-bytes")


def test_nothing_that_a_compiler_prints_is_kept(
    mirenc: Run, project: Path, cc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = []
    honest = run_limited

    def watched(*arguments: Any, **options: Any) -> Any:
        limits.append(options.get("most_output"))
        return honest(*arguments, **options)

    monkeypatch.setattr("mirenc.llvm.inputs.compile_source.run_limited", watched)
    mirenc("embed", "src/one.c", "--no-cache").ok()
    assert limits == [0]


def test_a_mark_before_the_text_is_no_part_of_it(mirenc: Run, tmp_path: Path) -> None:
    (tmp_path / "marked.ll").write_text(f"\ufeff{SOURCE}", encoding="utf-8")
    mirenc("embed", tmp_path / "marked.ll").ok()
