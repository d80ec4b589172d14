"""``compile_commands.json`` to programs: what a build system told its compiler, as far as it matters to IR."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from mirenc.errors import ConfigError
from mirenc.ir.projects import kept_flags, read_entries, refused_flags
from mirenc.sources.compiling import Program, Report, levels_of, run_quietly
from mirenc.sources.ir_folder import stamp_of
from mirenc.sources.programs import Toolchain, compile_command, compiler_name, language_of_source
from mirenc.sources.reserved import is_reserved, is_reserved_package

__all__ = ["command_programs"]

_PROBE_SECONDS = 30


def command_programs(
    path: Path,
    *,
    levels: Sequence[str] | None = None,
    compiler: str | None = None,
    cuda_path: Path | None = None,
    with_reserved: bool = False,
    report: Report | None = None,
) -> Iterator[Program]:
    """Programs of a ``compile_commands.json``.

    A project is the first folder below the folder that all files share; files right in it are a project of its name. Of
    several entries of a file the first one counts.

    Parameters
    ----------
    path : Path
    levels : sequence of str, optional
        Default: see `levels_of`.
    compiler : str, optional
        A clang to use instead of the first on PATH; never the one of the entries, which may be any compiler.
    cuda_path : Path, optional
    with_reserved : bool
        Also what is reserved for evaluation.
    report : callable, optional
        Told what is left out.

    Raises
    ------
    ConfigError
        Not such a file, or no source in it that can be compiled.
    ToolchainError
        No compiler for any of them.
    """
    entries: dict[Path, tuple[Path, str, list[str]]] = {}
    others = again = 0
    for directory, file, arguments in read_entries(path):
        language = language_of_source(file.name)
        if language is None:
            others += 1
        elif file in entries:
            again += 1
        else:
            entries[file] = directory, language, arguments
    tell = report or (lambda line: None)
    if others:
        tell(f"{path}: {others} entries are left out: their suffix is of no language that becomes IR here")
    if again:
        tell(f"{path}: {again} entries are left out: their file had one before")
    if not entries:
        raise ConfigError(
            f"{path}: no C, C++, OpenCL C, CUDA or Fortran source in it. Make it again with CMake or bear"
        )
    shared = Path(os.path.commonpath([file.parent for file in entries]))
    top = os.path.commonpath([shared, path.resolve().parent]).rstrip("/")
    tools = Toolchain.find(
        {language for _, language, _ in entries.values()}, compiler=compiler, cuda_path=cuda_path, report=report
    )
    reserved = 0
    unknown: frozenset[str] = frozenset()
    for file, (directory, language, arguments) in entries.items():
        below = file.relative_to(shared)
        project = below.parts[0] if len(below.parts) > 1 else shared.name or "root"
        name = Path(*below.parts[1:]).as_posix() if len(below.parts) > 1 else below.name
        if not with_reserved and (is_reserved_package(project) or is_reserved(below.as_posix())):
            reserved += 1
            continue
        if language not in tools.compilers:
            continue
        command = tools.compilers[language]
        flags = kept_flags(arguments)
        foreign = _unknown_flags(tuple(command), language, tuple(flag for flag in flags if flag[:2] in ("-f", "-m")))
        unknown |= foreign
        options = [flag for flag in flags if flag not in foreign]
        if language != "fortran":
            # `__FILE__` in a header that was found by an absolute path would say where it lies on this machine.
            options.append(f"-fmacro-prefix-map={top}/=")
        place = os.path.relpath(file, directory)
        yield Program(
            project=project,
            version="",
            file=name,
            language=language,
            compiler=compiler_name(command),
            root=directory,
            commands={
                level: compile_command(command, language, level, place, options, cuda_path=tools.cuda_path)
                for level in levels_of(project, name, language, levels)
            },
            stamp=stamp_of([file], *command, *options, str(tools.cuda_path)),
        )
    if unknown:
        tell(f"{path}: flags are left out, no compiler here knows them: {' '.join(sorted(unknown))}")
    if reserved:
        tell(f"{path}: {reserved} entries are left out: they are reserved for evaluation")


@functools.cache
def _unknown_flags(compiler: tuple[str, ...], language: str, flags: tuple[str, ...]) -> frozenset[str]:
    """Flags that a compiler refuses: what another compiler (gcc) was told is no reason to lose all of a project."""
    unknown: set[str] = set()
    while left := [flag for flag in flags if flag not in unknown]:
        kind = language if language in ("c", "c++") else "c"
        with tempfile.TemporaryDirectory(prefix="mirenc-") as scratch:
            # As it will be compiled: with -fsyntax-only zig cc goes on to link.
            command = (*compiler, "-S", "-emit-llvm", *left, "-x", kind, os.devnull, "-o", "empty.ll")
            _, words = run_quietly(command, Path(scratch), _PROBE_SECONDS)
        found = refused_flags(words) & set(left)
        if not found:
            break
        unknown |= found
    return frozenset(unknown)
