"""The command line on a static library: its members are rows, and inputs of their own."""

import json
import subprocess
from pathlib import Path

import pytest
from command_line import Run, archive
from same_vectors import assert_same_vectors

from mirenc.search import read_vectors

PACKED = Path(__file__).resolve().parents[1] / "fixtures" / "ir" / "packed"
MEMBERS = {"a.o": "functions.clang-19.bc", "b.o": "exceptions.clang-19.bc"}


def write_archive(path: Path, *names: str) -> Path:
    """An archive of LTO objects."""
    path.write_bytes(archive(*((name, (PACKED / MEMBERS[name]).read_bytes()) for name in names)))
    return path


def test_members_have_the_vectors_of_their_bitcode(run: Run, tmp_path: Path, model_dir: Path) -> None:
    library = write_archive(tmp_path / "lib.a", "a.o", "b.o")
    members, alone = ([*map(json.loads, run("embed", "-m", model_dir, "--json", *of).ok().out.splitlines())]
                    for of in ([library], [PACKED / name for name in MEMBERS.values()]))  # fmt: skip
    assert [row["file"] for row in members] == [f"{library}(a.o)", f"{library}(b.o)"]
    for name in ("vector", "file_hash", "content_hash"):
        assert [row[name] for row in members] == [row[name] for row in alone]
    (again,) = map(json.loads, run("embed", "-m", model_dir, "--json", f"{library}(b.o)").ok().out.splitlines())
    assert again == members[1]


def test_a_member_is_inspected_and_measured(run: Run, tmp_path: Path, model_dir: Path) -> None:
    name = f"{write_archive(tmp_path / 'lib.a', 'a.o', 'b.o')}(b.o)"
    assert json.loads(run("inspect", name, "-m", model_dir, "--json").ok().out)["file"] == name
    for location, shown in ((tmp_path / "lib.a", f"{tmp_path / 'lib.a'}"), (tmp_path, "lib.a")):
        files = {row["file"] for row in json.loads(run("sizes", location, "--json").out)["rows"]}
        assert files == {f"{shown}({member})" for member in MEMBERS}


def test_members_of_two_libraries_correspond_whatever_these_are_called(
    run: Run, tmp_path: Path, model_dir: Path
) -> None:
    old, new = write_archive(tmp_path / "lib-1.a", "a.o"), write_archive(tmp_path / "lib-2.a", "a.o", "b.o")
    report = json.loads(run("diff", old, new, "-m", model_dir, "--json").ok().out)
    assert {one["new"]["file"] for one in report["functions"] if one["kind"] == "appeared"} == {"b.o"}
    assert {one["old"]["file"] for one in report["functions"] if one["kind"] == "identical"} == {"a.o"}


@pytest.mark.needs("clang-19")
def test_a_library_of_fat_objects_has_the_vectors_of_its_compile_commands(
    run: Run, tmp_path: Path, model_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sources = {"one.c": "int one(int x) { return x * 3 + WITH; }\n", "two.cc": "int two(int &x) { return x++ + 2; }\n"}
    entries = []
    for name, text in sources.items():
        Path(name).write_text(text)
        words = ["clang-19", "-O2", "-flto", "-ffat-lto-objects", "-DWITH=1", "-c", name, "-o", f"{name}.o"]
        subprocess.run(words, check=True)
        entries.append({"directory": str(tmp_path), "file": name, "arguments": words})
    Path("lib.a").write_bytes(archive(*((f"{name}.o", Path(f"{name}.o").read_bytes()) for name in sources)))
    Path("compile_commands.json").write_text(json.dumps(entries))
    flags = ("--compiler", "clang-19", "--cflags=-flto")
    run("embed", "lib.a", "-m", model_dir, "-l", "function", "-o", "library.npz")
    run("embed", "compile_commands.json", *flags, "-m", model_dir, "-l", "function", "-o", "sources.npz")
    library, compiled = read_vectors("library.npz"), read_vectors("sources.npz")
    assert library.names == compiled.names == ["one", "two"]
    assert library.files == ["lib.a(one.c.o)", "lib.a(two.cc.o)"]
    assert_same_vectors(library.vectors, compiled.vectors)
