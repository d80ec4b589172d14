"""``mirenc cc``: the compiler does what it does without it; the IR is that which ``compile_commands.json`` gives."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mirenc.llvm.inputs.compile_source import compile_source, find_compiler
from mirenc.llvm.inputs.projects import expand_inputs
from mirenc.llvm.ir.module import IRModule
from mirenc.llvm.ir.read import ReadOptions, parse_ir, read_ir

SOURCE = '#include "a.h"\nint twice(int x) { return x * FACTOR; }\nconst char *file(void) { return __FILE__; }\n'
SOURCES = {"a.c": SOURCE, "a.h": "#define FACTOR 2\n", "b.cc": "int &least(int &a, int &b) { return a < b ? a : b; }\n"}
SOURCES |= {"main.c": "int twice(int);\nint main(void) { return twice(0); }\n", "bad.c": "int f(void) { return y; }\n"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of sources, which is the working folder."""
    folder = tmp_path / "pro ject"
    folder.mkdir()
    for name, text in SOURCES.items():
        (folder / name).write_text(text)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("MIRENC_IR", raising=False)
    return folder


def cc(*words: object, stdin: str = "", python: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return ended([sys.executable, *python, "-m", "mirenc", "cc", *map(str, words)], stdin)


def ended(words: list[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, input=stdin, capture_output=True, text=True, check=False, timeout=300)


def without_layout(module: IRModule) -> list[str]:
    """The lines of a module without its data layout, which LLVM upgrades in bitcode alone."""
    return [line for line in module.text.splitlines() if not line.startswith("target datalayout")]


def files(folder: Path) -> dict[str, bytes]:
    """All files below a folder, as the compiler left them, and the IR."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


CALLS = {
    "a.o.bc": "-O2 -c a.c",
    "out/x.o.bc": "-O1 -Wall -MD -MF out/x.d -MT x -c -o out/x.o a.c",
    "out/y.o.bc": "-c b.cc -O3 -g -fPIC -std=c++17 -oout/y.o",
    "main.o.bc a.o.bc": "-c -DFACTOR=2 main.c a.c",
    "out/p-a.o.bc out/p-main.o.bc": "-O2 a.c main.c -o out/p",
    "out/r.o.bc": "@words -o out/r.o",
    "out/z.o.bc": "-x c -c -o out/z.o out/source.txt",
}


@pytest.mark.needs("clang")
@pytest.mark.parametrize("outputs", CALLS)
def test_a_build_is_as_without_it_and_has_ir(project: Path, outputs: str) -> None:
    out = project / "out"
    out.mkdir()
    (out / "source.txt").write_text("int one(void) { return 1; }\n")
    (project / "words").write_text("-c 'a.c' -DNAME=\\\"x\\\"\n")
    clang = find_compiler("cl")[0]
    alone = ended([clang, *shlex.split(CALLS[outputs])])
    expected = files(project)
    for name in expected.keys() - SOURCES.keys() - {"words", "out/source.txt"}:
        (project / name).unlink()
    done = cc("--", clang, *shlex.split(CALLS[outputs]))
    assert (done.returncode, done.stdout, done.stderr) == (0, alone.stdout, alone.stderr)
    written = files(project)
    assert {name for name in written if name.endswith(".bc")} == set(outputs.split())
    assert {name: data for name, data in written.items() if not name.endswith(".bc")} == expected


@pytest.mark.needs("clang")
@pytest.mark.parametrize("level", ["", "-O0", "-O2", "-Os"])
def test_the_ir_is_that_of_a_compile_commands_json_at_the_level_of_the_build(project: Path, level: str) -> None:
    clang = find_compiler("cl")[0]
    words = [clang, *level.split(), "-DWITH=1", "-g", "-flto", "-fno-inline", "-c", "a.c", "-o", "a.o"]
    assert cc(*words).stderr == ""
    entry = {"directory": str(project), "file": "a.c", "arguments": words}
    Path("compile_commands.json").write_text(json.dumps([entry]))
    options = ReadOptions(cflags=(level or "-O0",), compiler=clang)
    (expected,) = expand_inputs([Path("compile_commands.json")], lambda line: None, options)
    assert without_layout(read_ir("a.o.bc")) == without_layout(read_ir(expected, options=options))


@pytest.mark.needs("clang")
def test_a_folder_of_objects_with_ir_is_read_without_a_word(project: Path) -> None:
    assert cc(find_compiler("cl")[0], "-c", "a.c", "b.cc").returncode == 0
    for name in SOURCES:
        (project / name).unlink()
    reported: list[str] = []
    assert [one.name for one in expand_inputs([project], reported.append)] == [f"{project}/a.o.bc", f"{project}/b.o.bc"]
    assert reported == []


@pytest.mark.needs("clang")
def test_fat_objects_beside_their_ir_are_read_once(project: Path) -> None:
    clang = find_compiler("cl")[0]
    assert cc(clang, "-flto", "-c", "a.c").returncode == 0  # the object is bitcode, too
    (project / "a.c").unlink()
    assert [one.name for one in expand_inputs([project])] == [str(project / "a.o.bc")]


@pytest.mark.needs("clang")
def test_what_fails_fails_as_before(project: Path) -> None:
    clang = find_compiler("cl")[0]
    for words in (["-c", "bad.c"], ["-c", "missing.c"], ["a.c"], ["-Wno-such", "-fno-such-flag", "-c", "a.c"], []):
        alone, done = ended([clang, *words]), cc(clang, *words)
        assert alone.returncode > 0
        # The linker names temporary files.
        assert (done.returncode, len(done.stderr.splitlines())) == (alone.returncode, len(alone.stderr.splitlines()))
    assert not [*project.glob("*.bc")]


@pytest.mark.needs("clang")
@pytest.mark.parametrize(
    "words",
    [
        "-E a.c",
        "-S a.c",
        "-MM a.c",
        "-fsyntax-only a.c",
        "--version",
        "-c conftest.c -o conftest.o",
        "conftest.c",
        "-c ztest123.c",
        "-c a.c -o /dev/null",
        "-c CMakeFiles/CMakeScratch/x/a.c -o CMakeFiles/CMakeScratch/x/a.o",
        "-c start.s",
        "-x c++-header a.h -o a.h.pch",
    ],
)
def test_where_no_ir_is_wanted_there_is_none(project: Path, words: str) -> None:
    folder = project / "CMakeFiles/CMakeScratch/x"
    folder.mkdir(parents=True)
    for name in ("ztest123.c", folder / "a.c"):
        Path(name).write_text("int x;\n")
    Path("conftest.c").write_text("int main(void) { return 0; }\n")
    Path("start.s").write_text("nop\n")
    done = cc(find_compiler("cl")[0], *words.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert not [*project.rglob("*.bc*")]


@pytest.mark.needs("clang")
def test_what_has_no_ir_is_said_in_a_line_and_builds(project: Path) -> None:
    clang = find_compiler("cl")[0]
    assert cc(clang, "-c", "a.c").returncode == 0
    (project / "a.m").write_text("int x(void) { return 1; }\n")
    done = cc(clang, "-c", "a.m")
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert done.stderr.startswith("mirenc: warning: a.m: no IR is kept: Objective-C is not compiled here. Type: clang ")
    assert not (project / "a.o.bc").exists()  # that of a.c is no IR of this object
    done = cc(clang, "-c", "-x", "c", "-", "-o", "piped.o", stdin="int piped;\n")
    assert (done.returncode, done.stderr.count("\n"), (project / "piped.o").is_file()) == (0, 1, True)
    assert "standard input" in done.stderr


@pytest.mark.needs("clang")
def test_a_folder_for_the_ir(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    clang, other = find_compiler("cl")[0], tmp_path / "other"
    other.mkdir()
    monkeypatch.setenv("MIRENC_IR", str(project / "ir"))
    assert cc(clang, "-c", "a.c").stderr == ""
    assert cc(clang, "-c", "a.c", "-o", other / "b.o").stderr == ""
    below = project / str(other)[1:]  # the path of the other folder once more, under the project
    below.mkdir(parents=True)
    assert cc(clang, "-c", "b.cc", "-o", below / "b.o").stderr == ""
    places = {f"{project}/ir/a.o.bc", f"{project}/ir/ir{other}/b.o.bc", f"{project}/ir{other}/b.o.bc"}
    assert {*map(str, project.rglob("*.bc"))} == places
    monkeypatch.setenv("MIRENC_IR", "ir")
    done = cc(clang, "-c", "a.c")
    assert (done.returncode, "absolute path" in done.stderr) == (0, True)


@pytest.mark.needs("clang")
def test_of_libtools_two_objects_one_has_ir(project: Path) -> None:
    (project / ".libs").mkdir()
    for words in ("-c a.c -fPIC -o .libs/a.o", "-c a.c -o a.o"):
        assert cc(find_compiler("cl")[0], *words.split()).stderr == ""
    assert [*project.rglob("*.bc")] == [project / "a.o.bc"]


@pytest.mark.needs("clang", "gcc")
def test_gccs_object_has_the_ir_of_a_clang(project: Path) -> None:
    words = "-O2 -fno-ipa-icf -fno-tree-vrp -c a.c -o a.o".split()
    ended(["gcc", *words])
    expected = (project / "a.o").read_bytes()
    assert cc("gcc", *words).stderr == ""
    assert (project / "a.o").read_bytes() == expected
    source = compile_source("a.c", "c", compiler=find_compiler("c")[0], folder=str(project), source_name="a.c")
    assert without_layout(read_ir("a.o.bc")) == without_layout(parse_ir(source))


@pytest.mark.needs("clang")
@pytest.mark.parametrize(("flags", "starts"), [("-include a.h", 1), ("-fno-such-a -include a.h -fno-such-b", 2)])
def test_flags_that_clang_does_not_know_cost_one_start_of_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, flags: str, starts: int
) -> None:
    programs, log = tmp_path / "bin", tmp_path / "log"
    programs.mkdir()
    for name, script in {
        "gcc": ": > a.o",
        "clang": f'echo >> {shlex.quote(str(log))}\nexec {shutil.which(find_compiler("cl")[0])} "$@"',
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    (project / "a.c").write_text("int twice(int x) { return x * FACTOR; }\n")  # a header of the flags, found from here
    assert cc("gcc", *flags.split(), "-c", "a.c", "-o", "a.o").stderr == ""
    assert read_ir("a.o.bc").function("twice")
    assert log.read_text().count("\n") == starts


def test_where_no_clang_is_the_object_is_built(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "cc"
    script.write_text("#!/bin/sh\n: > a.o\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = cc("cc", "-c", "a.c")
    assert (done.returncode, (project / "a.o").is_file()) == (0, True)
    if done.stderr:  # zig, where it is installed, may take over
        assert done.stderr.startswith("mirenc: warning: a.c: no IR is kept: ")


def test_a_signal_and_what_cannot_be_started(project: Path) -> None:
    script = project / "gcc"
    script.write_text("#!/bin/sh\nkill -SEGV $$\n")
    script.chmod(0o755)
    assert cc(script, "-c", "a.c").returncode == 139
    script.chmod(0o644)
    assert [cc(script, *words).returncode for words in (["-c", "a.c"], ["a.o"])] == [126, 126]
    done = cc("no-such-compiler", "-c", "a.c")
    assert (done.returncode, done.stderr.splitlines()) == (
        127,
        ["mirenc: error: no-such-compiler: No such file or directory. Type: mirenc cc COMPILER ..."],
    )


@pytest.mark.needs("clang")
@pytest.mark.parametrize("words", [["a.o", "-o", "/dev/null"], ["-c", "a.c"]])
def test_it_loads_little(project: Path, words: list[str]) -> None:
    done = cc(find_compiler("cl")[0], *words, python=("-X", "importtime"))
    loaded = {line.split("|")[-1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "mirenc.tools.keep_ir" in loaded
    assert ("mirenc.llvm.inputs.compile_commands" in loaded) == ("-c" in words)
    assert not {"numpy", "typer", "pydantic", "rich", "llvmlite", "torch", "mirenc.cli"} & loaded


@pytest.mark.needs("clang", "make")
def test_a_parallel_make(project: Path) -> None:
    (project / "Makefile").write_text("prog: a.o main.o\n\t$(CC) -o $@ $^\n%.o: %.c\n\t$(CC) -O2 -MMD -c $< -o $@\n")
    python = shlex.quote(sys.executable)
    cc_words = f"{python} -m mirenc cc {find_compiler('cl')[0]}"
    assert ended(["make", "-s", "-j4", f"CC={cc_words}"]).stderr == ""
    assert {path.name for path in project.glob("*.bc")} == {"a.o.bc", "main.o.bc"}
    assert ended([str(project / "prog")]).returncode == 0


@pytest.mark.needs("clang", "meson", "ninja")
def test_meson(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "meson.build").write_text("project('p', 'c')\nexecutable('prog', 'a.c', 'main.c')\n")
    monkeypatch.setenv("CC", f"{shlex.quote(sys.executable)} -m mirenc cc {find_compiler('cl')[0]}")
    assert ended(["meson", "setup", "build"]).returncode == 0
    assert ended(["ninja", "-C", "build"]).returncode == 0
    bitcode = {path.relative_to(project / "build").as_posix() for path in project.rglob("*.bc")}
    assert bitcode == {"prog.p/a.c.o.bc", "prog.p/main.c.o.bc"}
    assert os.access(project / "build" / "prog", os.X_OK)
