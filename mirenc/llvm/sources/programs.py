"""A folder of sources or a ``compile_commands.json`` as programs: which files, in what language, with what flags."""

import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mirenc.base.errors import IRFileError, ToolchainError
from mirenc.llvm.inputs.compile_commands import read_commands, without_refused
from mirenc.llvm.inputs.compile_source import find_compiler, spelled_for
from mirenc.llvm.inputs.compiler_flags import words_of
from mirenc.llvm.inputs.input import Report
from mirenc.llvm.inputs.languages import LANGUAGE_FLAGS
from mirenc.llvm.inputs.projects import COMMANDS, find_headers, header_flags, header_folders, walk_sources
from mirenc.llvm.sources.compile_programs import LEVEL_FLAGS, Choices, Program, levels_of
from mirenc.llvm.sources.ir_folder import digest, stamp_of
from mirenc.llvm.sources.reserved import is_reserved, is_reserved_package

_LANGUAGE_OF = {
    ".c": "c",
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".C"), "c++"),
    ".cl": "opencl",
    ".cu": "cuda",
    **dict.fromkeys((".f", ".for", ".f77", ".f90", ".f95", ".F", ".F77", ".F90"), "fortran"),
}

_COMMON = ("-S", "-emit-llvm", "-w", "-ferror-limit=2", "-fno-color-diagnostics", "-fno-crash-diagnostics")
_DIALECT = {
    "c": (
        *LANGUAGE_FLAGS["c"],
        # Old C: what clang 16 made an error stays a warning.
        *("-Wno-implicit-function-declaration", "-Wno-implicit-int"),
        *("-Wno-int-conversion", "-Wno-incompatible-function-pointer-types"),
    ),
    "c++": (*LANGUAGE_FLAGS["c++"], "-std=gnu++17"),
    "opencl": LANGUAGE_FLAGS["cl"],
    # The device side only: the host side is C++ that launches kernels through stubs.
    "cuda": ("-x", "cuda", "-std=gnu++17", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-Wno-unknown-cuda-version"),
}
_FLANG = ("flang", "flang-new", *(f"flang-new-{version}" for version in range(22, 15, -1)))


def find_sources(root: Path, *, with_reserved: bool = False) -> list[tuple[str, str]]:
    """Files below a folder that can be compiled, with their languages; none that is kept for evaluation, no links.

    Ordered by a hash: the first n are a sample.
    """
    sources = []
    for path in walk_sources(root, _LANGUAGE_OF):
        file = path.relative_to(root).as_posix()
        if not path.is_symlink() and (with_reserved or not is_reserved(file)):
            sources.append((file, _LANGUAGE_OF[path.suffix]))
    return sorted(sources, key=lambda source: (digest(source[0]), source[0]))


def _find_compilers(languages: Collection[str], choices: Choices, report: Report) -> dict[str, list[str]]:
    """The command for each language; one without a compiler is reported and left out. ToolchainError if all are."""
    compilers = {}
    for number, language in enumerate(sorted(languages), 1):
        try:
            if language == "cuda" and choices.cuda_path is None:
                advice = "Give their folder with --cuda-path (Python: cuda_path=)"
                raise ToolchainError(f"CUDA needs the toolkit's headers. {advice}")
            if language != "fortran":
                compilers[language] = find_compiler("cl" if language == "opencl" else language, choices.compiler)
            elif flang := [name for name in _FLANG if shutil.which(name)]:
                compilers[language] = flang[:1]
            else:
                raise ToolchainError("no flang on PATH to compile Fortran. Type: apt-get install flang-19")
        except ToolchainError as error:
            report(f"{language} sources are left out: {error}")
            if number == len(languages) and not compilers:
                raise
    return compilers


def make_program(
    choices: Choices, compiler: Sequence[str], options: Sequence[str], *, file: str, place: str = "", **fields: Any
) -> Program:
    """A program of a file that lies at ``place`` where its clang or flang runs; ``fields`` are others of `Program`."""
    project, language, is_zig, place = fields["project"], fields["language"], "ziglang" in compiler, place or file
    levels = levels_of(project, file, language, choices.levels)
    if language == "fortran":
        # flang writes the absolute path into the IR of every file with I/O: this one is the same on every machine.
        first_words: tuple[str, ...] = ("-S", "-emit-llvm", "-w")
        last_words = [*options, f"/proc/self/cwd/{place}"]
        level_flags: Mapping[str, tuple[str, ...]] = {level: (f"-{level}",) for level in levels}
    else:
        first_words, level_flags = (*_COMMON, *_DIALECT[language]), LEVEL_FLAGS
        # zig cc adds these of its own; a user of clang expects clang's output.
        last_words = ["-fno-sanitize=undefined", "-fno-stack-protector", "-g0"] if is_zig else []
        last_words += [f"--cuda-path={choices.toolkit}"] if choices.toolkit is not None and language == "cuda" else []
        # A name that begins with a dash would be an option.
        last_words += [*spelled_for(compiler, options), f"./{place}" if place.startswith("-") else place]
    commands = {level: (*compiler, *first_words, *level_flags[level], *last_words) for level in levels}
    name = "zig cc" if is_zig else Path(compiler[0]).name
    return Program(file=file, compiler=name, commands=commands, **fields)


def source_programs(folder: Path, choices: Choices, report: Report) -> Iterator[Program]:
    """Programs of a folder of sources. Its first folders are the projects; one without folders is a project itself.

    Every folder with headers is searched, after the system's, so that many sources compile without their build system.
    ``report`` is told what is left out. IRFileError: no source file there. ToolchainError: no compiler for any of them.
    """
    projects = _projects(folder, choices.with_reserved, report)
    languages = {language for _, _, sources in projects for _, language in sources}
    if not languages:
        suffixes = " ".join(_LANGUAGE_OF)
        raise IRFileError(f"{folder}: has no source file in it. Give a folder with files that end in: {suffixes}")
    compilers = _find_compilers(languages, choices, report)
    for project, root, sources in projects:
        project_languages = {language for _, language in sources} & set(compilers)
        headers = {language: header_flags(header_folders(root, language), language) for language in project_languages}
        stamps = {language: stamp_of(find_headers(root, language)) for language in project_languages}
        for file, language in sources:
            if language in project_languages:
                compiler, options = compilers[language], (*choices.cflags, *headers[language])
                stamp = stamp_of([root / file], stamps[language], *compiler, *options, str(choices.toolkit))
                fields: dict[str, Any] = {"project": project, "language": language, "root": root, "stamp": stamp}
                yield make_program(choices, compiler, options, file=file, **fields)


def _projects(folder: Path, with_reserved: bool, report: Report) -> list[tuple[str, Path, list[tuple[str, str]]]]:
    """Name, root and sources of each project below a folder."""
    folder, projects = folder.resolve(), []
    for path in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        if is_reserved_package(path.name) and not with_reserved:
            report(f"{path.name} is left out: it is reserved for evaluation")
        elif sources := find_sources(path, with_reserved=with_reserved):
            projects.append((path.name, path, sources))
    if files := [source for source in find_sources(folder, with_reserved=with_reserved) if "/" not in source[0]]:
        projects.append((folder.name, folder, files))
    return projects


def command_programs(path: Path, choices: Choices, report: Report) -> Iterator[Program]:
    """Programs of a ``compile_commands.json``, or of the one in a folder, whatever compiler its entries name.

    A project is the first folder below the folder that all files share; files right in it are a project of its name.
    ``report`` is told what is left out. ConfigError: no such file, or no source in it. ToolchainError: no compiler.
    """
    path = path / COMMANDS if path.is_dir() else path
    commands = read_commands(path, _LANGUAGE_OF, report)
    shared_folder = Path(os.path.commonpath([command.file.parent for command in commands]))
    top = os.path.commonpath([shared_folder, path.resolve().parent]).rstrip("/")
    compilers = _find_compilers({command.language for command in commands}, choices, report)
    compiler_commands = {name: [*words, *_DIALECT.get(name, ()), *choices.cflags] for name, words in compilers.items()}
    reserved_count = 0
    for command in without_refused(path, commands, compiler_commands, report):
        inner_path = command.file.relative_to(shared_folder)
        project = inner_path.parts[0] if len(inner_path.parts) > 1 else shared_folder.name or "root"
        if not choices.with_reserved and (is_reserved_package(project) or is_reserved(inner_path.as_posix())):
            reserved_count += 1
            continue
        if command.language not in compilers:
            continue
        compiler, options = compilers[command.language], words_of(command.flags)
        if command.language != "fortran":
            # `__FILE__` in a header that was found by an absolute path would say where it lies on this machine.
            options.append(f"-fmacro-prefix-map={top}/=")
        options += choices.cflags
        yield make_program(
            choices,
            compiler,
            options,
            file=Path(*inner_path.parts[1:]).as_posix() if len(inner_path.parts) > 1 else inner_path.name,
            place=os.path.relpath(command.file, command.directory),
            project=project,
            language=command.language,
            root=command.directory,
            stamp=stamp_of([command.file], *compiler, *options, str(choices.toolkit)),
            refused=command.refused,
            problem=command.problem,
        )
    if reserved_count:
        report(f"{path}: {reserved_count} entries are left out: they are reserved for evaluation")
