"""The kinds of compilers that tests run under: each is the only one while its tests run, in child processes too."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from compilers import COMPILERS, path_with

from mirenc.llvm.inputs.compile_source import find_compiler


@pytest.mark.parametrize("kind", COMPILERS)
def test_a_path_with_one_kind(kind: str, tmp_path: Path) -> None:
    for folder, names in {"bin": ["clang", "clang-19", "clang++-19", "clang-14", "gcc"], "own": ["make"]}.items():
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).touch(mode=0o755)
    (tmp_path / "links").mkdir()
    before = f"{tmp_path / 'bin'}:{tmp_path / 'own'}:{tmp_path / 'gone'}"
    for _ in range(2):  # made, then found
        path = path_with(kind, before, tmp_path / "links")
        programs = {name for name in ("clang", "clang-14", "clang-19", "gcc", "make") if shutil.which(name, path=path)}
        assert programs == {"gcc", "make"} | ({kind} & {"clang-14", "clang-19"})
        assert bool(shutil.which("clang++-19", path=path)) == (kind == "clang-19")


@pytest.mark.needs("C compiler")
def test_a_kind_is_alone(compiler: str) -> None:
    command = find_compiler("c")
    assert "ziglang" in command if compiler == "zig" else command == [compiler]
    clangs = [f"clang{version}" for version in ("", *(f"-{number}" for number in range(10, 23)))]
    shell = ["sh", "-c", 'for name; do command -v "$name"; done', "sh", *clangs]
    seen = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert [Path(line).name for line in seen.stdout.splitlines()] == [kind for kind in [compiler] if kind != "zig"]
