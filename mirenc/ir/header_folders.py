"""Folders with headers below a project, as flags that let many sources compile without their build system."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

__all__ = ["find_headers", "header_flags"]

_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inc", ".def", ".tcc", ".cl", ".clh")
_HEADERS_OF = {"cuda": (*_HEADERS, ".cuh"), "fortran": (".h", ".inc", ".fh", ".fi", ".INC")}
_SKIPPED_HEADERS = {".pc", "debian", "win32", "windows", "msvc", "vms"}
_MOST_HEADER_FOLDERS = 150


def find_headers(root: Path, language: str) -> list[Path]:
    """Headers below a folder, sorted."""
    return sorted({path for suffix in _HEADERS_OF.get(language, _HEADERS) for path in root.rglob(f"*{suffix}")})


def _header_folders(root: Path, language: str) -> list[str]:
    """Folders below ``root`` with headers below them, shallow ones first, at most 150."""
    found = {
        folder.as_posix()
        for path in find_headers(root, language)
        for folder in path.relative_to(root).parents
        if not _SKIPPED_HEADERS.intersection(folder.parts)
    }
    return sorted(found, key=lambda folder: (folder.count("/"), folder))[:_MOST_HEADER_FOLDERS]


def header_flags(
    root: Path, language: str, *, named: Collection[str] = (), others: Mapping[str, Path] | None = None
) -> tuple[str, ...]:
    """Flags that make a compiler which runs in ``root`` search every folder with headers.

    Parameters
    ----------
    root : Path
    language : str
    named : collection of str
        Folders that are searched by ``-I`` already.
    others : dict of str to Path, optional
        More roots, by their path relative to ``root``.
    """
    # -idirafter comes last in clang's search, so no package's string.h hides the system's. A folder that is named
    # in both ways would come last, too. flang has no -idirafter and no such headers.
    flag = "-I" if language == "fortran" else "-idirafter"
    folders = [folder for folder in _header_folders(root, language) if folder not in named]
    for relative, other in (others or {}).items():
        folders += [f"{relative}/{folder}" for folder in _header_folders(other, language)]
    return tuple(f"{flag}{folder}" for folder in folders)
