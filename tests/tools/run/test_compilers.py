"""Compilers: which is found, what it says of itself, and why one gave nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirenc.base.errors import CompileError, ToolchainError
from mirenc.tools.run.compilers import clang_of, compile_or_raise, compile_problem, compiler_version, tool_beside


def test_a_compilers_problem_is_said_in_a_few_words() -> None:
    assert compile_problem(["sleep", "9"], 0.1) == "compile: over 0.1 s"
    assert compile_problem(["true"], 9.0) == ""
    assert compile_problem(["false"], 9.0) == "compile: exit 1"
    with pytest.raises(CompileError, match="compile: exit 1"):
        compile_or_raise(["false"])


def test_a_compiler_says_its_version(tmp_path: Path) -> None:
    program = tmp_path / "cc"
    program.write_text("#!/bin/sh\necho 'a compiler 1.2'\necho 'InstalledDir: /home/me'\n")
    program.chmod(0o755)
    assert compiler_version(str(program)) == "a compiler 1.2"
    for missing in (str(tmp_path / "none"), "false"):
        with pytest.raises(ToolchainError, match="Name a compiler with --compiler"):
            compiler_version(missing)


def test_the_clang_is_of_the_engines_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match=r"LLVM 19\.1\.7, so .*clang-19 is not on PATH.*apt-get install clang-19"):
        clang_of("19.1.7")
    with pytest.raises(ToolchainError, match="'mine' is not on PATH"):
        clang_of("19.1.7", "mine")
    (tmp_path / "clang-19").write_text("#!/bin/sh\n")
    (tmp_path / "clang-19").chmod(0o755)
    assert clang_of("19.1.7") == "clang-19"


def test_a_tool_that_is_not_beside_the_compiler_is_named(tmp_path: Path) -> None:
    clang = tmp_path / "clang"
    clang.write_text("#!/bin/sh\necho clang version 19.1\n")
    clang.chmod(0o755)
    with pytest.raises(ToolchainError, match=r"llvm-profdata is missing.* apt-get install llvm-19"):
        tool_beside(str(clang), "llvm-profdata")
    (tmp_path / "llvm-profdata").touch()
    assert tool_beside(str(clang), "llvm-profdata") == tmp_path / "llvm-profdata"
