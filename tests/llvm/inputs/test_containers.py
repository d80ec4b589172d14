"""Bitcode in containers that are written here byte by byte: each gives the module that was put into it."""

import errno
import io
import os
import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from written_containers import bsd, coff, elf, gnu, mach_o, universal, wasm

from mirenc.base.errors import IRFileError, IRParseError, LeftOutWarning
from mirenc.llvm import parse_ir, read_ir
from mirenc.llvm.inputs import containers, projects
from mirenc.llvm.inputs.containers import Part, find_parts, kind_of_container
from mirenc.llvm.inputs.input import path_input
from mirenc.llvm.inputs.projects import expand_inputs, is_project
from mirenc.llvm.ir.read import ReadOptions, load_input

PACKED = Path(__file__).resolve().parents[2] / "fixtures" / "ir" / "packed"
FIRST = (PACKED / "functions.clang-19.bc").read_bytes()
SECOND = (PACKED / "reduce.clang-14.bc").read_bytes()
WRAPPED = struct.pack("<5I", 0x0B17C0DE, 0, 20, len(FIRST), 0) + FIRST
CODE = ("code", b"\x90" * 5)


LONG = "a_name_of_more_than_sixteen.o"
CONTAINERS: dict[str, tuple[bytes, list[str]]] = {
    "elf64": (elf(CODE, (".llvm.lto", FIRST)), [""]),
    "elf32": (elf(CODE, (".llvmbc", FIRST), wide=False), [""]),
    "elf64_big_endian": (elf(CODE, (".llvmbc", FIRST), order=">"), [""]),
    "elf32_big_endian": (elf((".llvmbc", FIRST), CODE, wide=False, order=">"), [""]),
    "two_sections": (elf((".llvmbc", FIRST), CODE, (".llvm.lto", FIRST)), ["1", "2"]),
    "two_sections_of_a_name": (elf((".llvmbc", FIRST + FIRST), (".llvmbc", FIRST)), ["1", "2", "3"]),
    "ld_r": (elf((".llvm.lto", FIRST + bytes(12) + FIRST)), ["1", "2"]),
    "wrapped_in_a_section": (elf((".llvmbc", WRAPPED + FIRST)), ["1", "2"]),
    "mach_o64": (mach_o(("__TEXT,__text", b"c"), ("__LLVM,__bitcode", FIRST)), [""]),
    "mach_o32": (mach_o(("__LLVM,__bitcode", FIRST), wide=False), [""]),
    "mach_o_big_endian": (mach_o(("__LLVM,__bitcode", FIRST), wide=False, order=">"), [""]),
    "universal": (
        universal((0x1000007, mach_o(("__LLVM,__bitcode", FIRST))), (0x100000C, FIRST), (99, FIRST)),
        ["x86_64", "arm64", "cpu99"],
    ),
    "universal64": (universal((7, gnu(("x.o", FIRST), ("y.o", FIRST))), wide=True), ["i386:x.o", "i386:y.o"]),
    "coff": (coff(CODE, (".llvmbc", FIRST)), [""]),
    "coff_long_name": (coff((".llvm.lto", FIRST)), [""]),
    "big_coff": (coff((".llvm.lto", FIRST), CODE, big=True), [""]),
    "dll": (coff(CODE, (".llvmbc", FIRST), program=True), [""]),
    "wasm": (wasm(("name", b"abc"), (".llvmbc", FIRST)), [""]),
    "gnu": (gnu(("x.o", elf((".llvmbc", FIRST))), (LONG, FIRST)), ["x.o", LONG]),
    "bsd": (bsd(("x y.o", WRAPPED), (LONG, FIRST)), ["x y.o", LONG]),
    "same_names": (gnu(("x.o", FIRST), ("x.o", FIRST), ("x.o:2", FIRST)), ["x.o", "x.o:2", "x.o:2:2"]),
    "a_number_in_a_name": (gnu(*[(name, FIRST) for name in ("x:2", "x", "x", "x")]), ["x:2", "x", "x:3", "x:4"]),
    "several_in_a_member_of_the_same_name": (
        gnu(("x.o", elf((".llvmbc", FIRST + FIRST))), ("x.o", FIRST), ("x.o", FIRST)),
        ["x.o:1", "x.o:2", "x.o", "x.o:3"],
    ),
    "several_in_a_member": (gnu(("x.o", elf((".llvmbc", FIRST + FIRST)))), ["x.o:1", "x.o:2"]),
    "wrapper": (WRAPPED, [""]),
    "lto_object": (FIRST, [""]),
}  # fmt: skip
EXPECTED = read_ir(PACKED / "functions.clang-19.bc").text


@pytest.mark.parametrize("name", CONTAINERS)
def test_each_module_is_the_one_that_was_put_in(name: str, tmp_path: Path) -> None:
    data, labels = CONTAINERS[name]
    path = tmp_path / "x (1).a"  # which looks like a module's name, and is a file's
    path.write_bytes(data)
    inputs = list(expand_inputs([path]))
    assert [one.name for one in inputs] == [f"{path}({label})" if label else str(path) for label in labels]
    assert is_project(path) == (labels != [""])
    for one in inputs:
        loaded = load_input(one, ReadOptions())
        assert loaded.data in (FIRST, WRAPPED)
        assert loaded == load_input(path_input(one.name), ReadOptions())  # as the user types it


@pytest.mark.parametrize("name", ["elf64", "wrapper", "lto_object"])
def test_a_module_is_read_as_its_bitcode_is(name: str, tmp_path: Path) -> None:
    (path := tmp_path / "x.o").write_bytes(CONTAINERS[name][0])
    assert read_ir(path).text == EXPECTED


def test_what_is_for_the_linker_goes_before_what_was_embedded(tmp_path: Path) -> None:
    (path := tmp_path / "x.o").write_bytes(elf((".llvmbc", SECOND), (".llvm.lto", FIRST)))
    modules = [load_input(one, ReadOptions()).data for one in expand_inputs([path])]
    assert modules == [FIRST, SECOND]


def in_two_modules(*, names_apart: bool) -> bytes:
    """Bitcode with a second module, of which the names are behind both, or behind each as ``llvm-cat`` writes them."""
    blocks, at = {}, 4
    while at < len(FIRST):
        number, words = struct.unpack_from("<II", FIRST, at)
        blocks[number >> 2 & 255] = FIRST[at : at + 8 + 4 * words]
        at += 8 + 4 * words
    module, names = blocks[13] + blocks[8], blocks[23]
    return FIRST[:4] + module + (names if names_apart else b"") + module + names


def test_of_a_split_unit_the_module_with_the_functions_is_read(tmp_path: Path) -> None:
    split = in_two_modules(names_apart=False)
    (path := tmp_path / "x.o").write_bytes(split)
    (archive := tmp_path / "x.a").write_bytes(gnu(("x.o", split)))
    assert [read_ir(one).text for one in (path, f"{archive}(x.o)")] == [EXPECTED] * 2
    assert parse_ir(split).text == parse_ir(elf((".llvm.lto", split))).text == EXPECTED
    # Modules that have nothing to do with each other are not left out unsaid.
    with pytest.raises(IRParseError, match="LLVM cannot read it"):
        parse_ir(in_two_modules(names_apart=True))


@pytest.mark.needs("clang-19")
def test_a_split_unit_of_clang_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.cpp").write_text("struct A { virtual int f(); };\nint A::f() { return 1; }\n")
    words = ["clang-19", "-O2", "-flto=thin", "-fsplit-lto-unit", "-fvisibility=hidden", "-fwhole-program-vtables"]
    subprocess.run([*words, "-c", "x.cpp"], cwd=tmp_path, check=True)
    assert [one.display_name for one in read_ir(tmp_path / "x.o").defined_functions] == ["A::f"]


def test_a_module_is_read_from_bytes_and_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    data = elf(CODE, (".llvmbc", FIRST))
    assert parse_ir(data).text == EXPECTED
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert load_input(path_input("-"), ReadOptions()).data == FIRST


@pytest.mark.parametrize(
    "data",
    [
        elf(CODE),
        elf((".llvmbc", b"\0")),  # -fembed-bitcode=marker
        mach_o(("__TEXT,__text", b"c"), wide=False),
        coff(CODE, big=True),
        b"MZ".ljust(64, b"\0"),
        wasm(CODE),
        gnu(("x.o", elf(CODE)), ("y.txt", b"text")),
        b"!<arch>\n",
    ],
    ids=lambda data: kind_of_container(data),
)
def test_objects_without_bitcode_are_refused_with_the_flags(data: bytes, tmp_path: Path) -> None:
    (path := tmp_path / "x.o").write_bytes(data)
    message = "without LLVM bitcode in it. Compile the source .*, or with -flto, -flto -ffat-lto-objects or -fembed-bit"
    with pytest.raises(IRFileError, match=message):
        read_ir(path)
    with pytest.raises(IRFileError, match="without LLVM bitcode in it"):
        parse_ir(data)
    assert list(expand_inputs([path])) == [path_input(path)]  # so that it fails by itself


def test_an_object_without_bitcode_names_the_ir_beside_it(tmp_path: Path) -> None:
    (path := tmp_path / "x.o").write_bytes(elf(CODE))
    path.with_suffix(".o.bc").write_bytes(FIRST)
    with pytest.raises(IRFileError, match=r"without LLVM bitcode in it\. Give .*x\.o\.bc, which is its IR$"):
        read_ir(path)


def test_members_without_bitcode_are_counted(tmp_path: Path) -> None:
    (path := tmp_path / "x.a").write_bytes(gnu(("x.o", FIRST), ("y.o", elf(CODE)), ("z.o", elf(CODE))))
    reported: list[str] = []
    assert [one.name for one in expand_inputs([path], reported.append)] == [f"{path}(x.o)"]
    message = f"{path}: 2 of its members have no LLVM bitcode and are left out"
    assert reported == [
        f"{message}. To get bitcode in objects, compile with clang -flto, -flto -ffat-lto-objects or -fembed-bitcode"
    ]
    with pytest.warns(LeftOutWarning, match="2 of its members have no LLVM bitcode"):
        list(expand_inputs([path]))


def test_a_damaged_member_costs_that_member_alone(tmp_path: Path) -> None:
    damaged = elf((".llvmbc", FIRST))[:-100]
    (path := tmp_path / "x.a").write_bytes(gnu(("x.o", FIRST), ("y.o", damaged), ("z.o", FIRST))[:-1000])
    first, second, third = expand_inputs([path])
    assert read_ir(first).text == EXPECTED
    with pytest.raises(
        IRFileError, match=r"x\.a\(y\.o\): is an ELF object or program, and damaged: its tables lead out"
    ):
        read_ir(second)
    assert third.name == str(path)
    with pytest.raises(IRFileError, match="is a static library, and damaged"):
        read_ir(third)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("", "is a static library with 2 modules, and one is expected. Name one, as in .*; available: x.o, y.o"),
        ("(z.o)", "has no such module. It has x.o, y.o"),
        ("(x.o", "no such file"),
    ],
)
def test_a_name_must_be_that_of_one_module(typed: str, message: str, tmp_path: Path) -> None:
    (path := tmp_path / "x.a").write_bytes(gnu(("x.o", FIRST), ("y.o", FIRST)))
    with pytest.raises(IRFileError, match=message):
        read_ir(f"{path}{typed}")


def test_the_largest_input_is_that_of_a_module_and_not_of_its_archive(tmp_path: Path) -> None:
    (path := tmp_path / "x.a").write_bytes(gnu(("x.o", FIRST), ("y.o", FIRST)))
    (one, _) = expand_inputs([path])
    assert read_ir(one, options=ReadOptions(max_bytes=len(FIRST))).text == EXPECTED
    with pytest.raises(
        IRFileError, match=r"x\.o\): its bitcode has 7676 bytes, the limit is 7675 bytes. Raise it with"
    ):
        read_ir(one, options=ReadOptions(max_bytes=len(FIRST) - 1))


def test_members_of_a_thin_archive_are_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.o").write_bytes(elf((".llvmbc", FIRST)))
    os.mkfifo(tmp_path / "pipe.o")  # reading it would never end
    names = ("sub/x.o", "gone.o", "pipe.o", "x.a")  # the last is the archive itself
    (path := tmp_path / "x.a").write_bytes(gnu(*((name, b"") for name in names), thin=True))
    inputs = list(expand_inputs([path], print))
    assert read_ir(inputs[0]).text == read_ir(f"{path}(sub/x.o)").text == EXPECTED
    unread = "is a member of a thin archive, and .* cannot be read"
    for one, name, message in zip(inputs[1:], names[1:], (unread, unread, "is a thin archive, .* Give"), strict=True):
        assert one.name == f"{path}({name})"
        with pytest.raises(IRFileError, match=rf"{name}\): {message}"):
            read_ir(one)


def test_a_thin_archive_names_no_files_from_memory_or_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.o").write_bytes(FIRST)
    thin = gnu((str(tmp_path / "x.o"), b""), thin=True)
    (outer := tmp_path / "outer.a").write_bytes(gnu(("thin.a", thin)))
    (nested := tmp_path / "both").write_bytes(universal((7, thin)))
    message = "is a thin archive, which names other files, .* Give its path, or type: ar t thin.a"
    for path in (outer, nested):
        with pytest.raises(IRFileError, match=message):
            read_ir(path)
    with pytest.raises(IRFileError, match=message):
        parse_ir(thin)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(thin)))
    with pytest.raises(IRFileError, match=message):
        load_input(path_input("-"), ReadOptions())


def test_a_folder_has_the_modules_of_its_objects_once_each(tmp_path: Path) -> None:
    files = {
        "a.ll": b"define void @f() { ret void }",
        "a.o": FIRST,  # beside its IR
        "b.o": elf((".llvm.lto", FIRST)),
        "c.o": elf(CODE),
        "c.c": b"int c;",
        "lib.a": gnu(("b.o", elf((".llvm.lto", FIRST))), ("d.o", FIRST), ("e.o", elf(CODE))),
        "libx.so.1.2": elf((".llvmbc", SECOND)),
        "other.o": b"no object",
        "program": FIRST,  # whose name does not say that it is an object
        ".git/x.o": FIRST,
    }
    (tmp_path / ".git").mkdir()
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "libx.so").symlink_to("libx.so.1.2")
    reported: list[str] = []
    names = [os.path.relpath(one.name, tmp_path) for one in expand_inputs([tmp_path], reported.append)]
    assert names == ["a.ll", "b.o", "lib.a(d.o)", "libx.so"]
    assert len(reported) == 2
    assert "2 of its objects have no LLVM bitcode and are left out" in reported[0]
    assert "reading 4 IR files, skipping 1 source file." in reported[1]


DAMAGED = elf((".llvmbc", FIRST))[:64]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.c": b"int a;", "bad.o": DAMAGED}, ["a.c"]),
        ({"a.c": b"int a;", "bad.o": DAMAGED, "c.o": FIRST}, ["bad.o", "c.o"]),
        ({"a.c": b"int a;", "bad.o": DAMAGED, "c.ll": b""}, ["bad.o", "c.ll"]),
        ({"bad.o": DAMAGED}, ["bad.o"]),  # so that it says why
    ],
    ids=["sources", "objects", "ir", "nothing_else"],
)
def test_damaged_objects_hide_no_sources(files: dict[str, bytes], expected: list[str], tmp_path: Path) -> None:
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    assert [os.path.relpath(one.name, tmp_path) for one in expand_inputs([tmp_path])] == expected


class Guarded(io.BytesIO):
    """A file of which nothing may be read outside of it."""

    def read(self, size: int | None = -1) -> bytes:
        assert size is not None
        assert 0 <= size <= len(self.getbuffer()) - self.tell()
        return super().read(size)


@pytest.mark.parametrize("name", CONTAINERS)
def test_mutated_containers_are_parts_inside_of_them_or_damaged(name: str) -> None:
    chosen = random.Random(name)
    for _ in range(100):
        data = bytearray(CONTAINERS[name][0])
        for _ in range(chosen.choice((1, 2, 8))):
            at = chosen.randrange(chosen.choice((16, 300, len(data))) if len(data) > 300 else len(data))
            value = chosen.choice((b"\xff" * 4, b"\0" * 8, b"\xff\xff\xff\x7f", chosen.randbytes(1)))
            data[at : at + chosen.choice((len(value), 0, 30))] = value
        end = chosen.choice((len(data), chosen.randrange(len(data))))
        parts, _ = find_parts(Guarded(data[:end]), "")
        sound = [part for part in parts if not part.problem]
        assert all(0 <= part.start <= part.start + part.size <= end for part in sound)
        assert len({part.label for part in sound}) == len(sound)


def test_tables_without_end_are_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "_MOST", 100)
    monkeypatch.setattr(containers, "_MOST_MODULES", 80)
    for data in (gnu(*[("x", b"")] * 90), gnu(*[("x", FIRST)] * 90), b"\0asm\1\0\0\0" + b"\1\0" * 110):
        (*_, last), _ = find_parts(io.BytesIO(data), "")
        assert "more than" in last.problem
    slices = struct.pack(">IIIII", 7, 0, 8 + 20 * 40, len(FIRST), 0) * 40  # of one module
    parts, _ = find_parts(io.BytesIO(struct.pack(">II", 0xCAFEBABE, 40) + slices + FIRST), "")
    assert "its modules overlap" in parts[-1].problem
    assert len(parts) == 2


def test_an_empty_wrapper_is_damaged() -> None:
    empty = struct.pack("<5I", 0x0B17C0DE, 0, 0, 0, 0)
    ((part,), without) = find_parts(io.BytesIO(elf((".llvmbc", empty))), "")
    assert "is an ELF object or program, and damaged: a bitcode wrapper has no bitcode in it" in part.problem
    assert without == 0


@pytest.mark.parametrize("length", [4000, 5000])
def test_of_the_table_of_names_4096_bytes_are_searched_for_each_member(length: int) -> None:
    ((part,), _) = find_parts(io.BytesIO(gnu(("x" * length, FIRST))), "")
    assert part.label == "x" * min(length, 4096)


def test_an_object_that_may_not_be_read_is_an_input_beside_ir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("closed.o", "good.ll"):
        (tmp_path / name).write_bytes(b"\x7fELF")

    def refused(path: Path) -> tuple[list[Part], int]:
        raise IRFileError(f"{path}: no permission to read it", errno=errno.EACCES)

    monkeypatch.setattr(projects, "file_parts", refused)
    assert [Path(one.name).name for one in projects.folder_inputs(tmp_path)] == ["closed.o", "good.ll"]
