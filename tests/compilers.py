"""Kinds of compilers that a user can have, and a PATH that has one kind alone; of Python's own library, for CI too."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

COMPILERS = ("clang-14", "clang-16", "clang-19", "zig")
"""Every test that compiles runs under each (`conftest.pytest_generate_tests`). zig is ziglang, where no clang is."""

_CLANG = re.compile(r"clang(\+\+)?(-\d+)?")


def path_with(kind: str, path: str, scratch: Path) -> str:
    """PATH with the clang of a kind alone, or with none for zig; ``scratch`` gets links to what PATH has beside."""
    folders = [_without_clang(folder, scratch) for folder in path.split(os.pathsep)]
    if kind == "zig":
        return os.pathsep.join(folders)
    own_path = scratch / kind
    if not own_path.exists():
        own_path.mkdir()
        for name in (kind, kind.replace("clang", "clang++")):
            if program := shutil.which(name, path=path):
                (own_path / name).symlink_to(program)
    return os.pathsep.join([str(own_path), *folders])


def _without_clang(folder: str, scratch: Path) -> str:
    """The folder, or one with links to all of it but clang, if it has one."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    if not any(map(_CLANG.fullmatch, names)):
        return folder
    links = scratch / ("without" + folder.replace(os.sep, "_"))
    if not links.exists():
        links.mkdir()
        for name in names:
            if not _CLANG.fullmatch(name):
                (links / name).symlink_to(os.path.join(os.path.abspath(folder), name))
    return str(links)


if __name__ == "__main__":
    print(*(kind for kind in COMPILERS if kind != "zig"))
