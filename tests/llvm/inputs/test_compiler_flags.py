"""Flags that a compiler refuses: which ones its words mean, and what follows for the source."""

import json
import re
from pathlib import Path

import pytest

from mirenc.base.errors import CompileError, LeftOutWarning
from mirenc.llvm.inputs.compile_source import compile_source, spelled_for
from mirenc.llvm.inputs.compiler_flags import refused_flags, split_flags
from mirenc.llvm.inputs.input import Input
from mirenc.llvm.inputs.projects import expand_inputs
from mirenc.llvm.ir.read import ReadOptions, read_ir


def project(folder: Path, flags: str, compiler: str = "gcc", text: str = "int f(int x) { return x + 1; }\n") -> Path:
    (folder / "a.c").write_text(text, encoding="utf-8")
    path = folder / "compile_commands.json"
    path.write_text(json.dumps([{"directory": ".", "file": "a.c", "command": f"{compiler} {flags} -O2 -c a.c"}]))
    return path


def expand(path: Path, **options: object) -> tuple[Input, list[str]]:
    reported: list[str] = []
    (source,) = expand_inputs([path], reported.append, ReadOptions(**options))  # type: ignore[arg-type]
    return source, reported


def fake_compiler(folder: Path, words: str, gone: str = "") -> str:
    """A compiler that says some words and fails, unless the shell code ``gone`` ends it before."""
    (folder / "words").write_text(f"{words}\n")
    (folder / "cc").write_text(f'#!/bin/sh\n{gone}cat "{folder}/words" >&2\nexit 1\n')
    (folder / "cc").chmod(0o755)
    return str(folder / "cc")


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        ("clang: error: unknown argument: '-fone'", "-fone"),
        ("clang: error: unknown argument '-fone'; did you mean '-ftwo'?", "-fone"),
        ('error: unknown clang option: "-fone"', "-fone"),
        ("clang: error: unsupported option '-mabi=' for target 'x86_64-pc-linux-gnu'", "-mabi=lp64"),
        ("error: unknown target ABI 'lp64'", "-mabi=lp64"),
        ("clang: error: unsupported argument 'cortex-m99' to option '-mcpu='", "-mcpu=cortex-m99"),
        ("clang: error: the clang compiler does not support '-mcpu=cortex-m99'", "-mcpu=cortex-m99"),
        ("error: unknown CPU: 'cortex_m99'", "-mcpu=cortex-m99"),
        ("clang: warning: argument unused during compilation: '-mthumb'", "-mthumb"),
        ("clang: warning: argument unused during compilation: '-ftwo'", ""),
        ("clang: warning: optimization flag '-ftwo' is not supported", ""),
        ("error: invalid value 'bar' in '-fvisibility bar'", "-fvisibility=bar"),
        ("clang (LLVM option parsing): Unknown command line argument '-no'.  Try: 'clang --help'", "-mllvm -no"),
        ("error: unknown argument: '-inner'", "-Xclang -inner"),
        ("error: unknown target triple 'arm'", ""),
        ("a.c:3:4: error: '-fone' is what this source wants", ""),
    ],
)
def test_a_compilers_words_name_a_flag(tmp_path: Path, words: str, refused: str) -> None:
    flags = "-fone -ftwo -mabi=lp64 -mcpu=cortex-m99 -mthumb -fvisibility=bar -mllvm -no -Xclang -inner --target=arm"
    # Says it until the flag is gone, as a compiler does.
    gone = f'case "$* " in *"{refused} "*) ;; *) exit 0 ;; esac\n' if refused else ""
    flags_refused, problem = refused_flags(
        [fake_compiler(tmp_path, words, gone)], list(split_flags(flags.split())), ".c"
    )
    assert ([" ".join(flag) for flag in flags_refused], problem) == ([refused] if refused else [], "")


@pytest.mark.needs("C compiler")
def test_what_gcc_alone_knows_is_left_out_and_named(tmp_path: Path) -> None:
    source, reported = expand(project(tmp_path, "-fno-such-flag-a -DX=1 -fno-such-flag-b -fwrapv"))
    assert source.flags == ("-DX=1", "-fwrapv")
    ending = "the compiler here refuses are left out (number of files): -fno-such-flag-a (1), -fno-such-flag-b (1)"
    assert [line.endswith(ending) for line in reported] == [True]
    assert read_ir(source).function("f")


@pytest.mark.needs("C compiler")
@pytest.mark.parametrize("flags", ["-mthumb -mcpu=cortex-m4 -mfloat-abi=hard", "-mavx512f -msse2"])
def test_flags_of_another_processor_are_no_source_of_this_machine(tmp_path: Path, flags: str) -> None:
    here = "x86_64" in read_ir(expand(project(tmp_path, ""))[0]).text
    source, reported = expand(project(tmp_path, flags))
    if here == ("avx" in flags):
        assert (source.problem, source.flags, reported) == ("", tuple(flags.split()), [])
        return
    with pytest.raises(CompileError, match=r"its compiler's name says no target\. Name the target, as in --cflags=--t"):
        read_ir(source)
    if "thumb" in flags:
        options = ReadOptions(cflags=("--target=arm-linux-gnueabihf",))
        (source,) = expand_inputs([tmp_path / "compile_commands.json"], print, options)
        assert "thumb" in read_ir(source, options=options).text


@pytest.mark.needs("C compiler")
@pytest.mark.parametrize(
    ("build_compiler", "size", "triple"),
    [
        ("arm-linux-gnueabihf-gcc", 4, "arm"),
        ("aarch64-linux-gnu-gcc", 8, "aarch64"),
        ("i686-linux-gnu-gcc-12", 4, "i[3-6]86|x86"),
        ("riscv64-unknown-elf-gcc", 8, "riscv64"),
        ("x86_64-w64-mingw32-gcc", 4, "x86_64.*windows"),
    ],
)
def test_a_cross_compilers_source_is_its_targets(tmp_path: Path, build_compiler: str, size: int, triple: str) -> None:
    source, reported = expand(project(tmp_path, "", build_compiler, "int f(void) { return sizeof(long); }\n"))
    text = read_ir(source).text
    assert f"ret i32 {size}\n" in text
    assert re.search(f'^target triple = "({triple})', text, re.MULTILINE)
    assert reported == []


@pytest.mark.needs("C compiler")
def test_headers_of_a_target_that_are_missing(tmp_path: Path) -> None:
    text = "#include <no-such-header.h>\nint f(void) { return 1; }\n"
    source, _ = expand(project(tmp_path, "", "sparc64-linux-gnu-gcc", text))
    with pytest.raises(CompileError, match=r"file not found\. The headers of sparc64-linux-gnu may be missing here"):
        read_ir(source)


@pytest.mark.needs("C compiler")
def test_a_header_that_gcc_precompiled_is_read_as_text(tmp_path: Path) -> None:
    (tmp_path / "k.h").write_text("#define K 7\n")
    (tmp_path / "k.h.gch").write_bytes(b"gpch.014 of gcc")
    source, reported = expand(project(tmp_path, "-include k.h", text="int f(void) { return K; }\n"))
    assert "ret i32 7\n" in read_ir(source).text
    assert reported == []


def test_flags_left_out_are_a_warning_in_python(tmp_path: Path) -> None:
    with pytest.warns(LeftOutWarning, match=r"are left out \(number of files\): -fsanitize=address \(1\)"):
        list(expand_inputs([project(tmp_path, "-fsanitize=address")]))


@pytest.mark.parametrize(
    "words",
    [
        "clang: warning: argument unused\nclang: error: no such thing\nclang: warning: another",
        "In file included from a.c:1:\na.h:1:2: warning: this\na.c:3:4: fatal error: that\n2 errors generated.",
        "cc: warning: x [-Wx]\nerror: unknown target CPU 'x'\nnote: valid target CPU values are: a, b",
    ],
)
def test_the_error_quotes_the_compilers_error_line(tmp_path: Path, words: str) -> None:
    (tmp_path / "a.c").write_text("int x;\n")
    cause = next(line for line in words.splitlines() if "error: " in line)
    with pytest.raises(CompileError) as raised:
        compile_source(tmp_path / "a.c", "c", compiler=fake_compiler(tmp_path, words))
    assert f"refuses it: {cause}. Mend the source" in str(raised.value)


@pytest.mark.parametrize(
    ("gnu", "zig"),
    [
        ("--target=arm-unknown-linux-gnueabihf", "--target=arm-linux-gnueabihf"),
        ("-target armv7-linux-musleabi", "-target arm-linux-musleabi"),
        ("--target=i686-pc-linux-gnu", "--target=x86-linux-gnu"),
        ("--target=aarch64-linux", "--target=aarch64-linux-gnu"),
        ("--target=x86_64-w64-mingw32", "--target=x86_64-windows-gnu"),
        ("--target=arm-none-eabi", "--target=arm-freestanding-eabi"),
        ("--target=riscv64-unknown-elf", "--target=riscv64-freestanding-none"),
        ("--target=arm64-apple-macosx", "--target=aarch64-macos"),
        ("-march=x86-64-v3 -mtune=haswell -fone-two=a-b", "-march=x86_64_v3 -mtune=haswell -fone-two=a-b"),
    ],
)
def test_targets_and_processors_as_zig_spells_them(gnu: str, zig: str) -> None:
    assert spelled_for(["python", "-m", "ziglang", "cc"], gnu.split()) == zig.split()
    assert spelled_for(["clang"], gnu.split()) == gnu.split()


@pytest.mark.parametrize(
    ("words", "for_zig"),
    [
        ("-Oz -c", "-Oz -Xclang -Oz -c"),
        ("-O2 -Oz", "-O2 -Oz -Xclang -Oz"),
        ("-Oz -O2", "-Oz -O2"),
        ("-O2 -Xclang -Oz", "-O2 -Xclang -Oz"),
        ("-c", "-c"),
    ],
)
def test_zig_gets_oz_twice(words: str, for_zig: str) -> None:
    """Of -Oz it makes -Os; the last level counts, as clang reads a command."""
    assert spelled_for(["python", "-m", "ziglang", "cc"], words.split()) == for_zig.split()
    assert spelled_for(["clang"], words.split()) == words.split()


@pytest.mark.needs("C compiler")
def test_ir_is_for_any_processor_of_the_architecture(tmp_path: Path) -> None:
    (source := tmp_path / "f.c").write_text("int f(int x) { return x + 1; }\n")
    assert set(re.findall('"target-cpu"="([^"]*)"', compile_source(source, "c").decode())) <= {"x86-64", "generic"}
