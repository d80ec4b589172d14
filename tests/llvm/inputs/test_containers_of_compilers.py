"""Objects, libraries and archives as compilers write them: the vectors are those of the IR written directly."""

import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from written_containers import bsd, elf, gnu, universal

import mirenc
from mirenc.llvm.inputs.projects import expand_inputs

SOURCE = """
int table[64];
static int helper(int x) { return x * 3 + table[x & 63]; }
int walk(const int *p, int n) { int s = 0; for (int i = 0; i < n; ++i) s += helper(p[i]); return s; }
float scale(float *p, int n) { float s = 0; for (int i = 0; i < n; ++i) { p[i] *= 1.1f; s += p[i]; } return s; }
"""
OTHER = "double twice(double x) { return x + x; }\nint sign(int x) { return x < 0 ? -1 : x > 0; }\n"
EMBED, LTO, FAT = ("-fembed-bitcode",), ("-flto",), ("-flto", "-ffat-lto-objects")
MACOS, WINDOWS, WASM = (
    ("-target", triple) for triple in ("arm64-apple-macos11", "x86_64-pc-windows-msvc", "wasm32-unknown-unknown")
)


class Compiler:
    """A compiler in a folder of its own."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.command, self.folder = command, folder
        for name, text in {"a.c": SOURCE, "b.c": OTHER}.items():
            (folder / name).write_text(text)

    def run(self, *words: str, output: str) -> Path:
        path = self.folder / output
        subprocess.run([*self.command, "-O2", *words, "-o", output], cwd=self.folder, check=True)
        return path

    def object(self, *flags: str, source: str = "a.c") -> bytes:
        return self.run(*flags, "-c", source, output="x.o").read_bytes()

    def ir(self, *flags: str, source: str = "a.c") -> Path:
        """IR as text, compiled with the same flags but for those that say where it goes."""
        plain_flags = [flag for flag in flags if flag not in (*EMBED, *FAT[1:])]
        return self.run(
            *plain_flags, "-S", "-emit-llvm", source, output=f"{source}{len(list(self.folder.iterdir()))}.ll"
        )

    def bitcode(self) -> bytes:
        return self.run("-c", "-emit-llvm", "a.c", output="x.bc").read_bytes()


Made = tuple[str, bytes, list[Path]]  # the file's name, what it holds, and the IR of its modules


def shared(compiler: Compiler) -> Made:
    """A library whose section a linker would drop: it is added behind it, as `llvm-objcopy` does."""
    (compiler.folder / "added.bc").write_bytes(compiler.bitcode())
    linked = compiler.run("-shared", "-fPIC", "-nostdlib", "a.c", output="lib.so")
    words = ["--add-section", ".llvmbc=added.bc", linked.name, "out.so"]
    subprocess.run([find_objcopy(), *words], cwd=compiler.folder, check=True)
    return "lib.so.1", (compiler.folder / "out.so").read_bytes(), [compiler.ir()]


def joined(compiler: Compiler) -> Made:
    """Two modules in one section, as `ld -r` leaves them."""
    for source in ("a", "b"):
        (compiler.folder / f"{source}.o").write_bytes(compiler.object(*EMBED, source=f"{source}.c"))
    subprocess.run(["ld", "-r", "a.o", "b.o", "-o", "both.o"], cwd=compiler.folder, check=True)
    return "both.o", (compiler.folder / "both.o").read_bytes(), [compiler.ir(), compiler.ir(source="b.c")]


def thin(compiler: Compiler) -> Made:
    for source in ("a", "b"):
        (compiler.folder / f"{source}.o").write_bytes(compiler.object(*LTO, source=f"{source}.c"))
    library = gnu(("a.o", b""), ("b.o", b""), thin=True)
    return "thin.a", library, [compiler.ir(*LTO), compiler.ir(*LTO, source="b.c")]


def fat(compiler: Compiler) -> Made:
    if compiler.command == ["clang-14"]:  # which has no flag for it
        return "fat.o", elf((".llvm.lto", compiler.object(*LTO))), [compiler.ir(*LTO)]
    return "fat.o", compiler.object(*FAT), [compiler.ir(*LTO)]


def of_flags(name: str, *flags: str) -> Callable[[Compiler], Made]:
    return lambda compiler: (name, compiler.object(*flags), [compiler.ir(*flags)])


def archive(write: Callable[..., bytes], *flags: str) -> Callable[[Compiler], Made]:
    return lambda compiler: (
        "lib.a",
        write(*((f"{one}.o", compiler.object(*flags, source=f"{one}.c")) for one in "ab")),
        [compiler.ir(*flags, source=f"{one}.c") for one in "ab"],
    )


def wrapped(compiler: Compiler) -> Made:
    bitcode = compiler.bitcode()
    head = struct.pack("<5I", 0x0B17C0DE, 0, 20, len(bitcode), 0)
    return "x.bc", head + bitcode, [compiler.ir()]


def two_slices(compiler: Compiler) -> Made:
    intel = ("-target", "x86_64-apple-macos11")
    slices = [(cpu, compiler.object(*target, *EMBED)) for cpu, target in ((0x1000007, intel), (0x100000C, MACOS))]
    return "universal.o", universal(*slices), [compiler.ir(*intel), compiler.ir(*MACOS)]


CONTAINERS: dict[str, Callable[[Compiler], Made]] = {
    "fat_lto": fat,
    "elf": of_flags("x.o", *EMBED),
    "elf_shared_library": shared,
    "elf_of_ld_r": joined,
    "mach_o": of_flags("x.o", *MACOS, *EMBED),
    "universal": two_slices,
    "coff": of_flags("x.obj", *WINDOWS, *EMBED),
    "wasm": of_flags("x.wasm", *WASM, *EMBED),
    "archive": archive(gnu, *EMBED),
    "archive_of_bsd": archive(bsd, *MACOS, *EMBED),
    "thin_archive": thin,
    "wrapper": wrapped,
    "lto_object": of_flags("x.o", *LTO),
    "thin_lto_object": of_flags("x.o", "-flto=thin"),
}


def find_objcopy() -> str:
    return next(filter(None, map(shutil.which, ("objcopy", "llvm-objcopy-19", "llvm-objcopy-14"))), "")


@pytest.fixture(scope="module")
def encoder() -> mirenc.Encoder:
    return mirenc.load("mirenc-tiny")


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["clang-14"], marks=pytest.mark.needs("clang-14"), id="clang-14"),
        pytest.param(["clang-19"], marks=pytest.mark.needs("clang-19"), id="clang-19"),
        pytest.param([sys.executable, "-m", "ziglang", "clang"], marks=pytest.mark.needs("zig"), id="zig"),
    ],
)
def test_vectors_are_those_of_the_ir_written_directly(
    command: list[str], name: str, encoder: mirenc.Encoder, tmp_path: Path
) -> None:
    if (name == "elf_of_ld_r" and not shutil.which("ld")) or (name == "elf_shared_library" and not find_objcopy()):
        pytest.skip("binutils are not on PATH")
    file, data, ir = CONTAINERS[name](Compiler(command, tmp_path))
    (path := tmp_path / file).write_bytes(data)
    for level in ("module", "function"):
        vectors, expected = encoder.embed(list(expand_inputs([path])), level=level), encoder.embed(ir, level=level)
        assert np.array_equal(np.vstack(vectors), np.vstack(expected))
    assert len(list(expand_inputs([path]))) == len(ir)
