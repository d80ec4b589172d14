"""Fixtures of tests that compile small source trees: stand-ins for compilers and for Debian's tools."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_tools import FakeTools


@pytest.fixture
def fake_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTools:
    """clang-14, clang-19, apt-get and dpkg-source, and nothing else that compiles or fetches."""
    return FakeTools.only(tmp_path / "bin", monkeypatch)


@pytest.fixture
def no_clang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH without any clang, so that what compiles is the ziglang wheel's."""
    folder = tmp_path / "no-clang"
    folder.mkdir()
    for name in ("nice", "env"):
        program = shutil.which(name)
        assert program is not None
        (folder / name).symlink_to(program)
    monkeypatch.setenv("PATH", str(folder))
    assert Path(sys.executable).is_absolute()


WriteTree = Callable[[Path, dict[str, str]], Path]


@pytest.fixture
def write_tree() -> WriteTree:
    """Write files below a folder."""

    def write(root: Path, files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return root

    return write
