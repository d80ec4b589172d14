"""What a source is compiled to: mirenc's flags, a dialect's, and the user's, which win."""

import pickle
import shutil
from pathlib import Path

import pytest
from ir_views import instructions_of

from mirenc.llvm import OPENCL_X86, Dialect, ReadOptions, bring, check_kernels, read_ir
from mirenc.llvm.inputs.compile_source import compile_source, find_compiler

KERNELS = sorted((Path(__file__).parents[2] / "fixtures" / "opencl").glob("*.cl"))
SPIR = ("-target", "spir64-unknown-unknown")


@pytest.fixture
def recorder(tmp_path: Path) -> Path:
    """A compiler that writes its arguments, one a line, as if they were IR."""
    path = tmp_path / "recorder"
    path.write_text(
        '#!/bin/sh\nfor last; do :; done\n{ echo "; ModuleID"; for flag; do echo "$flag"; done; } > "$last"\n'
    )
    path.chmod(0o755)
    (tmp_path / "k.cl").write_text("")
    return path


def test_flags_stand_in_the_order_in_which_they_win(recorder: Path) -> None:
    dialect = Dialect("a dialect", {"cl": ("-dialect",)}, "t", "l")
    words = {
        name: compile_source(
            recorder.parent / "k.cl", "cl", compiler=str(recorder), cflags=("-mine", "-O0"), dialect=dialect_given
        )
        .decode()
        .splitlines()
        for name, dialect_given in (("own", None), ("dialect", dialect))
    }
    source, output = str(recorder.parent / "k.cl"), "-o"
    command = words["dialect"]
    assert command[command.index("-O2") :][:6] == ["-O2", "-dialect", "-mine", "-O0", source, output]
    command = words["own"]
    assert command[command.index("-O2") :][:3] == ["-O2", "-x", "cl"]
    assert "spir64-unknown-unknown" in command
    assert command[-5:-2] == ["-mine", "-O0", source]


def test_a_language_without_flags_in_the_dialect_keeps_mirencs(recorder: Path) -> None:
    dialect = Dialect("a dialect", {}, "t", "l")
    (recorder.parent / "k.cpp").write_text("")
    words = compile_source(recorder.parent / "k.cpp", "c++", compiler=str(recorder), dialect=dialect).decode()
    assert "-x\nc++\n" in words


def test_a_dialect_may_want_the_oldest_clang(recorder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(recorder.parent))
    for name in ("clang", "clang-14", "clang-19"):
        shutil.copy(recorder, recorder.parent / name)
    assert find_compiler("cl") == ["clang"]
    assert find_compiler("cl", oldest=True) == ["clang-14"]
    (recorder.parent / "clang-14").unlink()
    (recorder.parent / "clang-19").unlink()
    assert find_compiler("cl", oldest=True) == ["clang"]


def test_options_with_a_dialect_travel_to_another_process() -> None:
    options = ReadOptions(dialect=OPENCL_X86)
    assert pickle.loads(pickle.dumps(options)) == options  # noqa: S301 - our own bytes
    assert hash(options) == hash(ReadOptions(dialect=OPENCL_X86))


@pytest.mark.needs("clang")
@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_kernels_of_every_clang_are_in_the_dialect(path: Path, compiler: str) -> None:
    module = read_ir(path, options=ReadOptions(compiler=compiler, dialect=OPENCL_X86))
    assert check_kernels(module) == [path.stem]
    assert "addrspace" not in module.text
    brought = bring(module, OPENCL_X86)
    assert [header.signature for header in brought.headers if not header.is_declaration] == [
        header.signature for header in module.headers if not header.is_declaration
    ]


@pytest.mark.needs("clang")
@pytest.mark.parametrize(
    ("cflags", "word"),
    [
        (SPIR, 'target triple = "spir64-unknown-unknown"'),
        (("--target=spir64",), 'target triple = "spir64"'),
        (("-O0", "-Xclang", "-disable-O0-optnone"), "alloca"),
        (("-x", "c", "-D__kernel=", "-D__global=", "-Dget_global_id(d)=0"), "define void @vector_add"),
        (("-cl-std=CL2.0",), "!{i32 2, i32 0}"),
    ],
)
def test_the_users_flags_win(compiler: str, cflags: tuple[str, ...], word: str) -> None:
    path = next(path for path in KERNELS if path.stem == "vector_add")
    text = compile_source(path, "cl", compiler=compiler, cflags=cflags, dialect=OPENCL_X86).decode()
    assert word in text
    assert word not in compile_source(path, "cl", compiler=compiler, dialect=OPENCL_X86).decode()


@pytest.mark.needs("clang")
def test_a_kernel_for_another_target_is_the_same_after_bring(compiler: str) -> None:
    path = next(path for path in KERNELS if path.stem == "vector_add")
    texts = []
    for cflags in ((), SPIR):
        module = bring(
            read_ir(path, options=ReadOptions(compiler=compiler, cflags=cflags, dialect=OPENCL_X86)), OPENCL_X86
        )
        texts.append([instruction.statement for instruction in instructions_of(module.functions[0])])
    assert texts[0] == texts[1]
