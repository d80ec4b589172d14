"""What stands for many sources: a folder of them, or a ``compile_commands.json``."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from mirenc.errors import ConfigError
from mirenc.ir.compile_commands import kept_flags, read_entries
from mirenc.ir.files import DRIVER, SOURCE_LANGUAGES, find_inputs
from mirenc.ir.header_folders import header_flags
from mirenc.ir.inputs import Input, path_input

__all__ = ["command_inputs", "folder_inputs"]

COMMANDS = "compile_commands.json"
_SKIPPED = {".git", ".hg", ".svn", ".pc"}
_SUFFIXES = set(SOURCE_LANGUAGES) - {".i"}  # in a folder that is SWIG's more often than a preprocessor's


def folder_inputs(folder: Path, report: Callable[[str], None] | None = None) -> list[Input]:
    """The IR files below a folder; where there are none, what its ``compile_commands.json`` says; else its sources.

    Sources are compiled with every folder that has headers searched after the system's. ``report`` is told what is
    left out.

    Raises
    ------
    ConfigError
        Its ``compile_commands.json`` is none.
    """
    sources = _sources(folder)
    if ir := find_inputs(folder):
        if sources and report is not None:
            report(
                f"{folder}: its {len(ir)} IR files are taken, and its {len(sources)} sources left out. To have those, "
                "name them, or a folder without IR"
            )
        return list(map(path_input, ir))
    if (folder / COMMANDS).is_file():
        return command_inputs(folder / COMMANDS, report)
    found = [path_input(path) for path in sources]
    root = folder.resolve()
    # `__FILE__` would say where the folder lies on this machine.
    flags = {
        language: (*header_flags(root, language), f"-fmacro-prefix-map={root}/=")
        for language in {one.language for one in found}
    }
    return [Input(one.kind, one.name, one.value, one.language, flags[one.language], str(root)) for one in found]


def _sources(folder: Path) -> list[Path]:
    found: list[Path] = []
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _SKIPPED]
        found += [Path(root, name) for name in names if Path(name).suffix in _SUFFIXES and not name.endswith(DRIVER)]
    return sorted(path for path in found if path.is_file())


def command_inputs(path: Path, report: Callable[[str], None] | None = None) -> list[Input]:
    """The sources of a ``compile_commands.json``, sorted, each with the flags that say what the program is.

    Of several entries of a file the first one counts. A file below the working folder is named from there.

    Raises
    ------
    ConfigError
        Not such a file, or no source in it that can be compiled.
    """
    found: dict[Path, Input] = {}
    others: Counter[str] = Counter()
    again = 0
    top = path.resolve().parent
    for directory, file, arguments in read_entries(path):
        if file.suffix not in SOURCE_LANGUAGES:
            others[file.suffix or file.name] += 1
        elif file in found:
            again += 1
        else:
            short = os.path.relpath(file)
            given = path_input(file if short.startswith(os.pardir) else short)
            flags = (*kept_flags(arguments), f"-fmacro-prefix-map={os.path.commonpath([top, file.parent])}/=")
            found[file] = Input(given.kind, given.name, given.value, given.language, flags, str(directory))
    if not found:
        raise ConfigError(f"{path}: no C, C++, OpenCL C or CUDA source in it. Make it again with CMake or bear")
    if report is not None and others:
        told = ", ".join(f"{suffix} {count}" for suffix, count in others.items())
        report(f"{path}: entries are left out, since their files are no source that mirenc compiles: {told}")
    if report is not None and again:
        report(f"{path}: {again} entries are left out: their file had one before")
    return [found[file] for file in sorted(found)]
