"""Recipes: a corpus's Debian packages, and what each needs to compile alone; ``debian-tiny.toml`` beside it is one."""

from __future__ import annotations

import difflib
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import Field, field_validator

from mirenc.base.config import Config, load_toml
from mirenc.base.errors import ConfigError
from mirenc.llvm.sources.compile_programs import Limits
from mirenc.llvm.sources.reserved import is_reserved_package


class Package(Config):
    """One ``[[package]]`` table of a recipe; a package may have several, for parts that need other keys."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9+.-]+$")  # of the source package
    languages: tuple[Literal["c", "c++", "opencl", "cuda", "fortran", "rust"], ...] = ("c",)
    # Globs of sources wanted and not wanted, relative to the source root; `*` crosses folders
    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    keep_folders: tuple[str, ...] = ()  # names taken although skipped everywhere else (`test`, `tests` ...)
    include_dirs: tuple[str, ...] = ()  # `-I` folders; every folder with headers is searched last anyway
    defines: tuple[str, ...] = ()  # `-D` macros, what a configure script would have found out
    flags: tuple[str, ...] = ()  # more of the compiler's
    headers_of: tuple[str, ...] = ()  # packages of the recipe whose headers are searched, too
    prepare: str = ""  # a shell command run in the source root, 90 s at most; failing is not fatal
    # Small files to write first (`config.h` where configure is not worth it), by their path below the source root
    files: dict[str, str] = Field(default_factory=dict)
    prelude: dict[str, tuple[str, ...]] = Field(default_factory=dict)  # files included before sources, by their glob
    openmp: bool = False  # compile with `-fopenmp`
    cap: int = Field(300, ge=1)  # at most so many sources, so that no project dominates

    @field_validator("files")
    @classmethod
    def _stay_below(cls, files: dict[str, str]) -> dict[str, str]:
        """Refuse files that would be written elsewhere."""
        for name, path in ((name, PurePosixPath(name)) for name in files):
            if not path.name or path.is_absolute() or ".." in path.parts or "\0" in name:
                raise ValueError(f"{name!r} does not lie below the source root; write a relative path without '..'")
        return files


class RecipeLimits(Limits):
    """A recipe's top-level keys: those of `Limits`, and the IR of a project and of all, bytes, asked every 24 files."""

    max_project_bytes: int = Field(6_000_000, ge=1)
    max_bytes: int = Field(700_000_000, ge=1)


class Recipe(Config):
    """Packages and limits of a corpus."""

    limits: RecipeLimits
    packages: tuple[Package, ...]
    held_out: tuple[str, ...] = ()  # tested on only, beside the reserved ones; a corpus of pre-training draws its own


def read_recipe(path: Path, *, with_reserved: bool = False) -> Recipe:
    """Read a recipe; ``with_reserved`` takes reserved packages and ``held_out``: for what no model is pre-trained on.

    Raises ConfigError: not TOML, an unknown key, a reserved package, or one that is named and not there.
    """
    values = load_toml(path)
    held_out: Any = values.pop("held_out", []) if with_reserved else []
    tables: Any = values.pop("package", None)
    if not isinstance(tables, list) or not tables:
        raise ConfigError(f"{path}: no [[package]] table. Write one with a name, as in pretrain/debian-small.toml")
    limits = RecipeLimits.from_dict(values, where=str(path))
    packages = []
    for number, table in enumerate(tables, 1):
        name = table.get("name", "") if isinstance(table, dict) else ""
        packages.append(Package.from_dict(table, where=f"{path}: package {number} {name!r}"))
    if not isinstance(held_out, list):
        raise ConfigError(f"{path}: held_out: a list of packages is needed (found {held_out!r})")
    if not with_reserved and (reserved := [item.name for item in packages if is_reserved_package(item.name)]):
        raise ConfigError(f"{path}: {reserved[0]} is reserved for evaluation. Remove it")
    names = [package.name for package in packages]
    references = [(f"{package.name}: headers_of", header) for package in packages for header in package.headers_of]
    for location, name in [*references, *(("held_out", name) for name in held_out)]:
        if name not in names:
            matches = difflib.get_close_matches(str(name), names, n=1)
            hint = f"did you mean {matches[0]!r}?" if matches else "add it as a package"
            raise ConfigError(f"{path}: {location} {name!r}, which is no package here; {hint}")
    return Recipe(limits=limits, packages=tuple(packages), held_out=tuple(held_out))
