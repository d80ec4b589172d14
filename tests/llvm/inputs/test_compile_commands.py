"""Commands of a build: whose source, for what target, and what cannot be done here; nothing is compiled."""

import json
import platform
import shlex
from pathlib import Path
from typing import Any

import pytest

from mirenc.base.errors import ConfigError
from mirenc.llvm.inputs.compile_commands import Command, program_flags, read_commands
from mirenc.llvm.inputs.languages import SOURCE_LANGUAGES

HERE = f"{platform.machine()}-linux-gnu"


def read(folder: Path, *entries: Any, reported: list[str] | None = None) -> list[Command]:
    path = folder / "compile_commands.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return read_commands(path, SOURCE_LANGUAGES, (reported if reported is not None else []).append)


def one(folder: Path, command: str, file: str = "a.c") -> Command:
    (only,) = read(folder, {"directory": ".", "file": file, "command": command})
    return only


def words(command: Command) -> list[str]:
    return [word for flag in command.flags for word in flag]


@pytest.mark.parametrize(
    ("compiler", "target"),
    [
        ("arm-linux-gnueabihf-gcc", "arm-linux-gnueabihf"),
        ("/opt/x/bin/aarch64-linux-gnu-g++-12", "aarch64-linux-gnu"),
        ("ccache arm-none-eabi-gcc", "arm-none-eabi"),
        ("x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32"),
        ("aarch64-linux-android21-clang", "aarch64-linux-android21"),
        ("avr-gcc", "avr"),
        ("emcc", "wasm32-unknown-emscripten"),
        ("cc -arch arm64", "arm64-apple-macosx"),
        (f"{HERE}-gcc-12", ""),
        ("gcc-12", ""),
        ("clang-19", ""),
        ("afl-gcc", ""),
        ("c99-gcc", ""),
        ("my-wrapper", ""),
    ],
)
@pytest.mark.skipif(platform.system() != "Linux", reason="elsewhere another target is this machine's")
def test_the_target_is_what_the_compilers_name_says(tmp_path: Path, compiler: str, target: str) -> None:
    assert words(one(tmp_path, f"{compiler} -c a.c")) == ([f"--target={target}"] if target else [])


@pytest.mark.parametrize("target_flags", ["--target=riscv64-linux-gnu", "-target riscv64-linux-gnu"])
def test_a_target_flag_wins_over_the_compilers_name(tmp_path: Path, target_flags: str) -> None:
    assert words(one(tmp_path, f"arm-none-eabi-gcc {target_flags} -c a.c")) == target_flags.split()


@pytest.mark.parametrize(
    "launched",
    [
        "ccache gcc",
        "/usr/lib/ccache/gcc",
        "distcc sccache /usr/bin/g++-12",
        "env LANG=C CC=/opt/arm-none-eabi-gcc gcc",
        "/bin/sh ../libtool --tag=CC --mode=compile gcc",
        "cd . && nice -n 5 cc",
        ": && zig cc",
    ],
)
def test_launchers_before_the_compiler_are_skipped(tmp_path: Path, launched: str) -> None:
    command = one(tmp_path, f"{launched} -DX -c sub/../a.c -o a.o && true")
    assert (words(command), command.source, command.problem) == (["-DX"], "sub/../a.c", "")


def test_folders_of_headers_in_variables_are_named(tmp_path: Path) -> None:
    assert one(tmp_path, "env CPATH=/x LANG=C gcc -c a.c").left_out == ("CPATH=/x",)


def test_a_shell_may_change_the_folder(tmp_path: Path) -> None:
    (command,) = read(tmp_path, {"directory": "b", "file": "../a/x.c", "command": "cd ../a && gcc -c x.c"})
    assert (command.directory, command.source) == (tmp_path / "a", "x.c")


@pytest.mark.parametrize(
    ("command", "file", "language"),
    [
        ("gcc -x c++ -c a.c", "a.c", "c++"),
        ("gcc -xc++ -c a.c", "a.c", "c++"),
        ("gcc --language=c++ -c a.c -x c b.c", "a.c", "c++"),
        ("gcc -x c++ -x none -c a.c", "a.c", "c"),
        ("g++ -c a.c", "a.c", "c++"),
        ("g++ -x c -c a.c", "a.c", "c"),
        ("clang --driver-mode=g++ -c a.c", "a.c", "c++"),
        ("clang++-19 -c a.cl", "a.cl", "cl"),
        ("nvcc -x cu -c a.cpp", "a.cpp", "cuda"),
        ("gcc -x c -c a.inc", "a.inc", "c"),
        ("icc -xHost -c a.c", "a.c", "c"),
    ],
)
def test_the_language_of_a_source(tmp_path: Path, command: str, file: str, language: str) -> None:
    assert one(tmp_path, command, file).language == language


def test_a_precompiled_headers_own_entry_is_no_source(tmp_path: Path) -> None:
    reported: list[str] = []
    header = {"directory": ".", "file": "pch.cxx", "command": "c++ -x c++-header -c pch.cxx"}
    (command,) = read(tmp_path, header, {"directory": ".", "file": "a.c", "command": "cc -c a.c"}, reported=reported)
    assert command.file == tmp_path / "a.c"
    assert "does not compile sources with these endings: .cxx 1" in reported[0]


@pytest.mark.parametrize(
    ("flags", "expected"),
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
        ("-target arm-linux --target=x86_64-linux -mfloat-abi=hard -m32 -mtune=generic", None),
        ("--define-macro X=3 --define-macro=X=4 --undefine-macro X", None),
        ("-Xpreprocessor -DX=10 -Xclang -DX=12", None),
        ("--include-directory=inc --include-directory inc -iprefix ./ -iwithprefixbefore inc -cxx-isystem inc", None),
        ("--include inc/k.h --include=inc/k.h -imacros inc/k.h --imacros=inc/k.h -isystem-after inc", None),
        ("--std=c89 --std c++17 -fno-rtti -fvisibility=hidden -fno-strict-aliasing -fno-plt -fshort-enums", None),
        ("-funsigned-char -fwrapv -ffp-contract=off -ffast-math -fno-math-errno -fomit-frame-pointer", None),
        ("-D_FORTIFY_SOURCE=2 -fstack-protector-strong -ffunction-sections -fdata-sections -fcommon -pg", None),
        ("-fmacro-prefix-map=src=elsewhere -mllvm -unroll-threshold=7 -fno-inline -static -shared", None),
        ("-Wp,-DX=6 -Wp,-MMD,x.d", "-Xpreprocessor -DX=6"),
        ("-DX -Xclang", None),  # the compiler itself says that a word is missing
    ],
)
def test_flags_of_the_program_are_kept(flags: str, expected: str | None) -> None:
    assert program_flags(flags.split()) == (flags if expected is None else expected).split()


# -- response files ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-DA=1 -DB=2\n-DC\r\n\t-DD", ["-DA=1", "-DB=2", "-DC", "-DD"]),
        ("'-DA=a b' -DB=\"c 'd'\"", ["-DA=a b", "-DB=c 'd'"]),
        (r"-DA=\"x\" -DB=a\ b -DC='d\'e'", ['-DA="x"', "-DB=a b", "-DC=d'e"]),
        (r'-DA="q\"r" -DB="\\"', ['-DA=q"r', "-DB=\\"]),
        ("-DA='' ''", ["-DA="]),
        ("-DA @second", ["-DA", "-DB=b c"]),
        ("", []),
    ],
)
def test_response_files_have_the_rules_of_gnu(tmp_path: Path, text: str, expected: list[str]) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b/first").write_text(text)
    (tmp_path / "b/second").write_text('"-DB=b c"')
    (command,) = read(tmp_path, {"directory": "b", "file": "a.c", "arguments": ["cc", "@first", "-c", "a.c"]})
    assert words(command) == expected


def test_flags_in_a_response_file_are_left_out_too(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("-o a.o -O3 -fsanitize=address -MD -MF a.d -DX a.c")
    command = one(tmp_path, "gcc @r -c")
    assert (words(command), command.level, command.left_out, command.source) == (
        ["-DX"],
        "-O3",
        ("-fsanitize=address",),
        "a.c",
    )


# -- what cannot be done here --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("gcc @none.rsp -c a.c", "response file none.rsp is not there. Build again"),
        ("gcc @loop.rsp -c a.c", "response file loop.rsp includes itself"),
        ("clang-cl /DX /c a.c", "does not read Microsoft's options, which clang-cl takes"),
        (r"C:\VC\bin\cl.exe /c C:\src\a.c", "written on Windows"),
        ("clang --driver-mode=cl -c a.c", "does not read Microsoft's options"),
        ("python gen.py a.c", "does not run a compiler"),
        ("sh -c 'gcc -DX -c a.c'", "does not run a compiler"),
        ("env CC=/usr/bin/gcc python gen.py a.c", "does not run a compiler"),
        ("clang -cc1 -emit-obj a.c", "internal one, -cc1"),
        ("cc -arch arm64 -arch x86_64 -c a.c", "compiles for arm64 and x86_64 at once"),
    ],
)
def test_an_entry_that_cannot_be_compiled_says_why(tmp_path: Path, command: str, why: str) -> None:
    (tmp_path / "loop.rsp").write_text("@loop.rsp")
    bad = {"directory": str(tmp_path), "file": "a.c", "command": command}
    first, second = read(tmp_path, bad, {"directory": ".", "file": "b.c", "command": "cc -DX -c b.c"})
    assert (first.file.name, first.problem, words(first)) == ("b.c", "", ["-DX"])
    assert why in second.problem


def test_of_several_commands_the_first_that_can_be_done(tmp_path: Path) -> None:
    reported: list[str] = []
    entries = [
        {"directory": ".", "file": "a.c", "command": f"{cc} -DN={n} -c a.c"} for n, cc in enumerate(("cl", "cc", "cc"))
    ]
    (command,) = read(tmp_path, *entries, reported=reported)
    assert words(command) == ["-DN=1"]
    assert reported == [
        f"{tmp_path / 'compile_commands.json'}: 2 entries are left out: an earlier entry has the same file"
    ]


# -- the file ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        (None, "no such file"),
        ("[", "not JSON: "),
        ("[" * 10**5, "not JSON: "),
        ({"a": 1}, "no list of commands"),
        ([{"directory": ".", "command": "cc a.c"}], "entry 1 is not a command .'file' is missing"),
        ([{"directory": ".", "file": "a.c"}], "entry 1 is not a command .'command' is missing"),
        ([{"directory": ".", "file": "a.c", "command": "cc 'a.c"}], "entry 1 is not a command .No closing quotation"),
        (
            [{"directory": ".", "file": "a.c", "arguments": [1]}],
            "entry 1 is not a command .one of its arguments is not text",
        ),
        (["cc a.c"], "entry 1 is not a command"),
        ([], r"no source ends in one of: \.c "),
        ([{"directory": ".", "file": "a.S", "command": "as a.S"}], r"no source ends in one of: \.c "),
    ],
)
def test_files_that_are_refused(tmp_path: Path, entries: Any, complaint: str) -> None:
    path = tmp_path / "compile_commands.json"
    if entries is not None:
        path.write_text(entries if isinstance(entries, str) else json.dumps(entries), encoding="utf-8")
    with pytest.raises(ConfigError, match=complaint):
        read_commands(path, SOURCE_LANGUAGES, print)


@pytest.mark.parametrize(
    "text", ["{0},\n{1},\n", "{0},{1}", "[{0},\n{1},\n]", "[{0}, {1}]", "\ufeff[{0}, {1}]", "{0},\n{1}"]
)
def test_fragments_of_clang(tmp_path: Path, text: str) -> None:
    entries = [
        {"directory": str(tmp_path), "file": file, "output": "x.o", "arguments": ["clang", "-xc", file, "-c", f"-D{n}"]}
        for n, file in enumerate(("b.c", "a.c"))
    ]
    path = tmp_path / "all.json"
    path.write_text(text.format(*map(json.dumps, entries)), encoding="utf-8")
    assert [words(each) for each in read_commands(path, SOURCE_LANGUAGES, print)] == [["-D0"], ["-D1"]]


def test_one_fragment(tmp_path: Path) -> None:
    path = tmp_path / "a.o.json"
    path.write_text(json.dumps({"directory": "/b", "file": "a.c", "arguments": ["clang", "a.c"]}) + ",\n")
    assert [str(each.file) for each in read_commands(path, SOURCE_LANGUAGES, print)] == ["/b/a.c"]


def test_arguments_go_before_the_command(tmp_path: Path) -> None:
    entry = {"directory": ".", "file": "a.c", "arguments": ["cc", "-DX=a b", "a.c"], "command": "cc -DY a.c"}
    assert words(read(tmp_path, entry)[0]) == ["-DX=a b"]


def test_shell_quotes_are_read(tmp_path: Path) -> None:
    assert words(one(tmp_path, shlex.join(["cc", '-DX="a b"', "-D", "Y='c'", "-c", "a.c"]))) == [
        '-DX="a b"',
        "-D",
        "Y='c'",
    ]


A = {"directory": ".", "file": "a.c"}


@pytest.mark.parametrize(
    "broken",
    [None, {"file": "a.c"}, *({**A, **words} for words in ({"arguments": []}, {"command": 5}, {"command": ""}))],
)
def test_a_broken_entry_costs_itself(broken: dict[str, Any] | None, tmp_path: Path) -> None:
    reported: list[str] = []
    (command,) = read(tmp_path, broken, {"directory": ".", "file": "b.c", "command": "cc -c b.c"}, reported=reported)
    assert command.file.name == "b.c"
    assert "entry 1 is not a command" in reported[0]


def test_response_files_that_multiply_end(tmp_path: Path) -> None:
    for level in range(15):
        (tmp_path / f"b{level}.rsp").write_text(f"@b{level + 1}.rsp " * 10)
    (tmp_path / "b15.rsp").write_text("-DX")
    command = one(tmp_path, "cc @b0.rsp -c a.c")
    assert "includes itself" in command.problem


def test_only_levels_are_taken_for_levels(tmp_path: Path) -> None:
    assert one(tmp_path, "clang -ObjC -c a.c").level == ""
    assert [one(tmp_path, f"cc {level} -c a.c").level for level in ("-O", "-O3", "-Oz", "-Ofast")] == [
        "-O",
        "-O3",
        "-Oz",
        "-Ofast",
    ]
