"""A folder that stands for its files: what a build left in it is read once, and only as long as it is the build's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import archive
from llvmlite import binding

from mirenc.base.errors import LeftOutWarning
from mirenc.llvm.inputs.projects import expand_inputs


def bitcode(text: str) -> bytes:
    return bytes(binding.parse_assembly(text).as_bitcode())


# Of one size.
ONE, OTHER = (bitcode(f"define i32 @f() {{\n  ret i32 {number}\n}}\n") for number in (1, 2))


def names(folder: Path) -> tuple[list[str], list[str]]:
    """The inputs of a folder, and what is said of it."""
    said: list[str] = []
    return [os.path.relpath(one.name, folder) for one in expand_inputs([folder], said.append)], said


def write(folder: Path, *files: str, data: bytes = ONE, age: float = 0) -> None:
    """Files that were changed ``age`` seconds ago."""
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (1e9 - age, 1e9 - age))


def test_ir_whose_object_is_gone_or_newer_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "sub/x.o", "again.o", "edited.o", "prog", "lib-a.lo", data=b"native")
    write(tmp_path, "sub/x.o.bc", "gone.o.bc", "prog-p.o.bc", "lib-a.o.bc", "other.bc")
    write(tmp_path, "sub/x.lo", data=b"native", age=-60)  # of zlib's build, not libtool's
    write(tmp_path, "edited.o.bc", age=5)  # strip ran on the object, or it was copied later
    write(tmp_path, "again.o.bc", age=60)
    found, said = names(tmp_path)
    assert found == ["edited.o.bc", "lib-a.o.bc", "other.bc", "prog-p.o.bc", "sub/x.o.bc"]
    left_out = f"IR of `mirenc cc` is left out (2 files, such as {tmp_path}/again.o.bc)"
    why = "their objects are gone, or were compiled again without it. To read them all the same, name them"
    assert said == [f"{left_out}: {why}"]
    assert [one.name for one in expand_inputs([tmp_path / "gone.o.bc"])] == [str(tmp_path / "gone.o.bc")]
    with pytest.warns(LeftOutWarning, match="2 files, such as"):
        list(expand_inputs([tmp_path]))


def test_an_object_with_bitcode_is_read_instead_of_ir_from_before_it(tmp_path: Path) -> None:
    write(tmp_path, "x.o", data=OTHER)
    write(tmp_path, "x.o.bc", age=60)
    assert names(tmp_path)[0] == ["x.o"]


def test_of_ir_without_any_object_all_is_read(tmp_path: Path) -> None:
    write(tmp_path, "x.o.bc", "sub/y.o.bc")
    write(tmp_path, "z.o", data=b"native")
    assert names(tmp_path) == (["sub/y.o.bc", "x.o.bc"], [])


def test_of_libtools_two_objects_one_is_read(tmp_path: Path) -> None:
    write(tmp_path, "x.o", "alone/.libs/y.o")
    write(tmp_path, ".libs/x.o", data=OTHER)
    for name, data in {"libx.a": ONE, ".libs/libx.a": OTHER}.items():
        write(tmp_path, name, data=archive(("x.o", data)))
    assert names(tmp_path) == (["alone/.libs/y.o", "x.o"], [])
    write(tmp_path, "x.o.bc")
    assert names(tmp_path) == (["alone/.libs/y.o", "x.o.bc"], [])
