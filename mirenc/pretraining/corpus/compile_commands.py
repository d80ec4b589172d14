"""``compile_commands.json`` to programs: what a build system told its compiler, as far as it matters to IR."""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mirenc.errors import ConfigError
from mirenc.pretraining.corpus.compiling import Program, Report, levels_of, run_quietly
from mirenc.pretraining.corpus.ir_folder import stamp_of
from mirenc.pretraining.corpus.reserved import is_reserved, is_reserved_package
from mirenc.pretraining.corpus.sources import Toolchain, compile_command, compiler_name, language_of_source

__all__ = ["command_programs", "kept_flags"]

# Options that name what they apply to in the next word, and whether both are kept.
_TAKES_WORD = {
    **dict.fromkeys(("-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-D", "-U"), True),
    **dict.fromkeys(("-isysroot", "--sysroot", "-iprefix", "-iwithprefix", "-target", "-arch", "-x"), True),
    **dict.fromkeys(("-o", "-MF", "-MT", "-MQ", "-MJ", "-L", "-l", "-T", "-u", "-z", "-e", "-G"), False),
    **dict.fromkeys(("-Xclang", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-mllvm", "--param", "-aux-info"), False),
}
_KEPT = re.compile(
    r"-(I|isystem|iquote|idirafter|D|U|std=|-std=|ansi$|pthread$|m|f|nostdinc|-sysroot=|-target=|include)"
)
# Of the families kept, what is no part of the program (diagnostics, plugins, sanitizers, profiles, other output) or
# would make the output something else than one module of IR.
_DROPPED = re.compile(
    r"-f(no-)?(plugin|pass-plugin|sanitize|profile|coverage|lto|whole-program|diagnostics|color|debug|save|syntax-only"
    r"|max-errors|message-length|show|caret|use-ld|modules|module|time|dump|embed-bitcode|split-dwarf|stack-usage|xray)"
    r"|-f(file|macro|debug)-prefix-map|-mllvm|-min-link"
)
_REFUSED = re.compile(r"""(?:unknown argument|unknown clang option|unsupported option):? ['"]([^'"]+)['"]""")
_PROBE_SECONDS = 30


def kept_flags(arguments: Sequence[str]) -> list[str]:
    """Flags of a compiler's command that say what the program is: macros, header folders, standard, code generation.

    The compiler itself, the input, output, dependencies, optimisation, debug information, warnings, plugins and the
    linker's flags are left out.
    """
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in _TAKES_WORD:
            value = next(words, None)
            if _TAKES_WORD[word] and value is not None:
                kept += [word, value]
        elif _KEPT.match(word) and not _DROPPED.match(word):
            kept.append(word)
    return kept


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
    for number, entry in enumerate(_read(path), 1):
        directory, file, arguments = _parse(path, number, entry)
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
        # zig cc names one flag at a time.
        found = {match[1] for match in _REFUSED.finditer(words)} & set(left)
        if not found:
            break
        unknown |= found
    return frozenset(unknown)


def _read(path: Path) -> list[Any]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file. Check the path") from None
    except ValueError as error:
        raise ConfigError(f"{path}: not JSON: {error}. Make it again with CMake or bear") from None
    if not isinstance(entries, list):
        raise ConfigError(f"{path}: no list of commands. Give a compile_commands.json, as CMake or bear writes it")
    return entries


def _parse(path: Path, number: int, entry: Any) -> tuple[Path, Path, list[str]]:
    """Folder, source file (both absolute) and arguments of an entry."""
    try:
        directory = Path(os.path.normpath(path.resolve().parent / entry["directory"]))
        file = Path(os.path.normpath(directory / entry["file"]))
        arguments = entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])
        if not all(isinstance(word, str) for word in arguments):
            raise TypeError("an argument that is no text")
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(
            f"{path}: entry {number}: {error} is missing or wrong. It needs directory, file, and arguments or command"
        ) from None
    return directory, file, list(arguments)
