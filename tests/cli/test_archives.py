"""The command line on a static library: its members are rows, and inputs of their own."""

import json
from pathlib import Path

from command_line import Run, archive

PACKED = Path(__file__).resolve().parents[1] / "fixtures" / "ir" / "packed"
MEMBERS = {"a.o": "functions.clang-19.bc", "b.o": "exceptions.clang-19.bc"}


def write_archive(path: Path, *names: str) -> Path:
    """An archive of LTO objects."""
    path.write_bytes(archive(*((name, (PACKED / MEMBERS[name]).read_bytes()) for name in names)))
    return path


def test_members_have_the_vectors_of_their_bitcode(run: Run, tmp_path: Path, model_dir: Path) -> None:
    library = write_archive(tmp_path / "lib.a", "a.o", "b.o")
    found, alone = ([*map(json.loads, run("embed", "-m", model_dir, "--json", *of).ok().out.splitlines())]
                    for of in ([library], [PACKED / name for name in MEMBERS.values()]))  # fmt: skip
    assert [row["file"] for row in found] == [f"{library}(a.o)", f"{library}(b.o)"]
    for name in ("vector", "file_hash", "content_hash"):
        assert [row[name] for row in found] == [row[name] for row in alone]
    (again,) = map(json.loads, run("embed", "-m", model_dir, "--json", f"{library}(b.o)").ok().out.splitlines())
    assert again == found[1]


def test_a_member_is_inspected_and_measured(run: Run, tmp_path: Path, model_dir: Path) -> None:
    name = f"{write_archive(tmp_path / 'lib.a', 'a.o', 'b.o')}(b.o)"
    assert json.loads(run("inspect", name, "-m", model_dir, "--json").ok().out)["file"] == name
    for given, shown in ((tmp_path / "lib.a", f"{tmp_path / 'lib.a'}"), (tmp_path, "lib.a")):
        files = {row["file"] for row in json.loads(run("sizes", given, "--json").out)["rows"]}
        assert files == {f"{shown}({member})" for member in MEMBERS}


def test_members_of_two_libraries_correspond_whatever_these_are_called(
    run: Run, tmp_path: Path, model_dir: Path
) -> None:
    old, new = write_archive(tmp_path / "lib-1.a", "a.o"), write_archive(tmp_path / "lib-2.a", "a.o", "b.o")
    found = json.loads(run("diff", old, new, "-m", model_dir, "--json").ok().out)
    assert {one["new"]["file"] for one in found["functions"] if one["kind"] == "appeared"} == {"b.o"}
    assert {one["old"]["file"] for one in found["functions"] if one["kind"] == "identical"} == {"a.o"}
