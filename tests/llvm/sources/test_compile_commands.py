"""``compile_commands.json``: what of a build system's flags is kept, and which files are compiled as what."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_tools import FakeTools

from mirenc.base.errors import ConfigError
from mirenc.llvm.inputs.compile_commands import program_flags
from mirenc.llvm.sources.compile_programs import Choices, Limits, Program, compile_programs
from mirenc.llvm.sources.ir_folder import IRFolder
from mirenc.llvm.sources.programs import command_programs

WriteTree = Callable[[Path, dict[str, str]], Path]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("-Iinc -I more -isystem sys -DX=1 -D Y -UZ", "-Iinc -I more -isystem sys -DX=1 -D Y -UZ"),
        ("-std=c11 -fPIC -fno-exceptions -fopenmp -pthread -march=x86-64-v3", None),
        ("-include config.h -imacros m.h --sysroot=/s -isysroot /t -nostdinc -ansi", None),
        ("-c -o a.o -MD -MMD -MF a.d -MT a.o -MQ a.o -MP a.c", ""),
        ("-O3 -Ofast -Os -g -g3 -ggdb -gdwarf-4 -Wall -Werror -Werror=format -pedantic -w -pipe", "-ffast-math"),
        ("-Wno-implicit-int -Wno-error=int-conversion -Wno-error", "-Wno-implicit-int -Wno-error=int-conversion"),
        ("-Xclang -load -Xclang plugin.so -fplugin=p.so -fpass-plugin=q.so -mllvm -debug", "-mllvm -debug"),
        ("-include-pch x.pch -fwrapv -include y.h.gch -DX", "-fwrapv -DX"),
        ("-x c++ -DX a.c b.c -- c.c -DNO", "-DX"),
        ("-Wp,-DA=1,-MD,x.d -Wp,-UB", "-Xpreprocessor -DA=1 -Xpreprocessor -UB"),
        ("-fsanitize=address -fprofile-instr-generate -fcoverage-mapping -flto=thin -fdiagnostics-color", ""),
        ("-L lib -lm -Wl,-z,now -Xlinker x -T script.ld -save-temps -Rpass=x", ""),
        ("-target arm-linux --target=x86_64-linux", "-target arm-linux --target=x86_64-linux"),
    ],
)
def test_flags_of_the_program_are_kept(given: str, kept: str | None) -> None:
    assert program_flags(given.split()) == (given if kept is None else kept).split()


@pytest.fixture
def commands(tmp_path: Path) -> Callable[..., Path]:
    """Write a compile_commands.json into a build folder."""

    def write(entries: Any) -> Path:
        path = tmp_path / "code" / "build" / "compile_commands.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(entries), encoding="utf-8")
        return path

    return write


def by_file(programs: list[Program]) -> dict[str, Program]:
    return {f"{program.project}/{program.file}": program for program in programs}


def test_both_forms_and_relative_folders(fake_tools: FakeTools, tmp_path: Path, commands: Callable[..., Path]) -> None:
    code = tmp_path / "code"
    path = commands(
        [
            {
                "directory": str(code / "build"),
                "file": "../app/a.c",
                "arguments": ["cc", "-DA=x y", "-c", "../app/a.c"],
            },
            {"directory": "../", "file": "lib/sub/b.cpp", "command": 'ccache g++ -DB="q r" -O3 -o b.o lib/sub/b.cpp'},
            {"directory": ".", "file": str(code / "main.c"), "command": "gcc -c /somewhere/main.c"},
        ]
    )
    programs = by_file(list(command_programs(path, Choices(levels=["O1"]))))
    assert set(programs) == {"app/a.c", "lib/sub/b.cpp", "code/main.c"}
    a, b, main = programs["app/a.c"], programs["lib/sub/b.cpp"], programs["code/main.c"]
    assert a.root == main.root == code / "build"
    assert b.root == code
    assert a.commands["O1"][0] == "clang-19"
    assert a.commands["O1"][-1] == "../app/a.c"
    assert main.commands["O1"][-1] == "../main.c"
    assert "-DA=x y" in a.commands["O1"]
    assert "-DB=q r" in b.commands["O1"]
    assert "-O1" in b.commands["O1"]
    assert not {"-O3", "-o", "-c", "g++", "ccache"} & set(b.commands["O1"])


def test_what_is_left_out_is_reported(fake_tools: FakeTools, tmp_path: Path, commands: Callable[..., Path]) -> None:
    files = ["p/a.c", "p/a.c", "p/boot.S", "q/b.c", "q/lua/l.c", "q/sqlite3.c"]
    entries = [{"directory": "..", "file": file, "command": f"cc -DN{n} {file}"} for n, file in enumerate(files)]
    said: list[str] = []
    programs = by_file(list(command_programs(commands(entries), report=said.append)))
    assert set(programs) == {"p/a.c", "q/b.c"}
    assert "-DN0" in programs["p/a.c"].commands["O0"]  # of two entries the first
    assert [line.split(": ", 1)[1] for line in said] == [
        "entries are left out, since their files are no source that is compiled here: .S 1",
        "1 entries are left out: their file had one before",
        "2 entries are left out: they are reserved for evaluation",
    ]


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        ({"a": 1}, "no list of commands"),
        ([{"directory": ".", "command": "cc a.c"}], "entry 1 is no command .'file' is missing"),
        ([{"directory": ".", "file": "a.c"}], "entry 1 is no command .'command' is missing"),
        ([{"directory": ".", "file": "a.c", "command": "cc 'a.c"}], "entry 1 is no command .No closing quotation"),
        ([{"directory": ".", "file": "a.c", "arguments": [1]}], "entry 1 is no command .an argument that is no text"),
        (["cc a.c"], "entry 1 is no command"),
        ([], r"no source in it that ends in \.c "),
        ([{"directory": ".", "file": "a.S", "command": "as a.S"}], r"no source in it that ends in \.c "),
    ],
)
def test_wrong_files(entries: Any, complaint: str, commands: Callable[..., Path]) -> None:
    with pytest.raises(ConfigError, match=complaint):
        list(command_programs(commands(entries)))


def test_no_json(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        list(command_programs(tmp_path / "compile_commands.json"))
    (tmp_path / "compile_commands.json").write_text("[")
    with pytest.raises(ConfigError, match="not JSON: "):
        list(command_programs(tmp_path / "compile_commands.json"))


@pytest.mark.usefixtures("no_clang")
def test_flags_of_another_compiler_do_not_stop_clang(
    tmp_path: Path, commands: Callable[..., Path], write_tree: WriteTree
) -> None:
    write_tree(tmp_path / "code", {"a.c": "int f(void) { return X; }\n"})
    command = "gcc -DX=1 -fno-gcc-only -fno-strict-aliasing -fno-gcc-only-either -c a.c"
    path = commands([{"directory": "..", "file": "a.c", "command": command}])
    with IRFolder(tmp_path / "ir") as folder:
        compile_programs(command_programs(path, Choices(levels=["O2"])), folder, workers=1, limits=Limits())
        (record,) = folder.records()
    assert record.status == "ok", record.reason
    assert record.reason == "without -fno-gcc-only -fno-gcc-only-either"


@pytest.mark.usefixtures("no_clang")
def test_real_ir_knows_no_folder_of_this_machine(
    tmp_path: Path, commands: Callable[..., Path], write_tree: WriteTree
) -> None:
    code = tmp_path / "code"
    write_tree(
        code,
        {
            "inc/where.h": "static const char *where = __FILE__;\n",
            "app/a.c": '#include "where.h"\nconst char *f(void) { return where; }\nint n = NUMBER;\n',
        },
    )
    command = f"gcc -I{code}/inc -DNUMBER=77 -g -O3 -Werror -Wall -MD -MF a.d -o a.o -c {code}/app/a.c"
    path = commands([{"directory": str(code / "build"), "file": f"{code}/app/a.c", "command": command}])
    with IRFolder(tmp_path / "ir") as folder:
        compile_programs(command_programs(path, Choices(levels=["O0"])), folder, workers=1, limits=Limits())
        (record,) = folder.records()
        assert record.status == "ok", record.reason
        text = folder.path_of(record).read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    assert "i32 77" in text
    assert "!DICompileUnit" not in text
    assert list((code / "build").iterdir()) == [path]  # the build's own outputs are not written
