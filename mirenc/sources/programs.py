"""Source files to compile: which there are below a folder, in what language, with what flags."""

from __future__ import annotations

import fnmatch
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mirenc.errors import IRFileError, ToolchainError
from mirenc.ir.compile import find_compiler
from mirenc.ir.files import DRIVER
from mirenc.ir.projects import find_headers, header_flags
from mirenc.sources.compiling import LEVEL_FLAGS, Program, Report, levels_of
from mirenc.sources.ir_folder import digest, stamp_of
from mirenc.sources.reserved import is_reserved, is_reserved_package

__all__ = [
    "LANGUAGES",
    "Toolchain",
    "compile_command",
    "compiler_name",
    "find_sources",
    "language_of_source",
    "source_programs",
]

LANGUAGES: Mapping[str, tuple[str, ...]] = {
    "c": (".c",),
    "c++": (".cc", ".cpp", ".cxx", ".C"),
    "opencl": (".cl",),
    "cuda": (".cu",),
    "fortran": (".f", ".for", ".f77", ".f90", ".f95", ".F", ".F77", ".F90"),
}
_LANGUAGE_OF = {suffix: language for language, suffixes in LANGUAGES.items() for suffix in suffixes}
_SKIPPED_FOLDERS = (".git", ".hg", ".svn", ".pc")

_COMMON = ("-S", "-emit-llvm", "-w", "-ferror-limit=2", "-fno-color-diagnostics", "-fno-crash-diagnostics")
_DIALECT = {
    "c": (
        *("-x", "c"),
        # Old C is legal C to its authors: what clang 16 made an error stays a warning here.
        *("-Wno-implicit-function-declaration", "-Wno-implicit-int"),
        *("-Wno-int-conversion", "-Wno-incompatible-function-pointer-types"),
    ),
    "c++": ("-x", "c++", "-std=gnu++17"),
    "opencl": (
        *("-x", "cl", "-cl-std=CL1.2", "-target", "spir64-unknown-unknown"),
        *("-Xclang", "-finclude-default-header"),
    ),
    # The device side only: the host side is C++ that launches kernels through stubs.
    "cuda": (
        *("-x", "cuda", "-std=gnu++17", "--cuda-device-only", "--cuda-gpu-arch=sm_70"),
        "-Wno-unknown-cuda-version",
    ),
}
_FLANG = ("flang", "flang-new", *(f"flang-new-{version}" for version in range(22, 15, -1)))
_NAME_FOR_SEARCH = {"opencl": "cl"}  # what mirenc.ir.compile calls it


def language_of_source(file: str) -> str | None:
    """Language that a file's suffix says; None if it is no source."""
    return _LANGUAGE_OF.get(Path(file).suffix)


def find_sources(
    root: Path,
    languages: Collection[str] = tuple(LANGUAGES),
    *,
    skipped: Collection[str] = _SKIPPED_FOLDERS,
    include: Sequence[str] = ("*",),
    exclude: Sequence[str] = (),
    with_reserved: bool = False,
) -> list[tuple[str, str]]:
    """Files below a folder that can be compiled; none that is kept for evaluation, no links.

    Parameters
    ----------
    root : Path
    languages : collection of str
        Of `LANGUAGES`.
    skipped : collection of str
        Folder names, lower case, that are not looked into.
    include, exclude : sequence of str
        Globs of paths below ``root``; ``*`` crosses folders.
    with_reserved : bool
        Also those that are kept for evaluation.

    Returns
    -------
    list[tuple[str, str]]
        File and language, in an order fixed by a hash: the first n are a fair sample.
    """
    suffixes = {suffix: language for language in languages for suffix in LANGUAGES[language]}
    sources = []
    for path in root.rglob("*"):
        file = path.relative_to(root).as_posix()
        if path.suffix not in suffixes or path.name.endswith(DRIVER) or not path.is_file() or path.is_symlink():
            continue
        if any(part.lower() in skipped for part in file.split("/")[:-1]):
            continue
        if is_reserved(file) and not with_reserved:
            continue
        if not any(fnmatch.fnmatchcase(file, glob) for glob in include):
            continue
        if any(fnmatch.fnmatchcase(file, glob) for glob in exclude):
            continue
        sources.append((file, suffixes[path.suffix]))
    return sorted(sources, key=lambda source: (digest(source[0]), source[0]))


def compile_command(
    compiler: Sequence[str],
    language: str,
    level: str,
    file: str,
    options: Sequence[str],
    *,
    cuda_path: Path | None = None,
) -> tuple[str, ...]:
    """Command that compiles one file to text IR, but for the output's place.

    Parameters
    ----------
    compiler : sequence of str
        A clang; for Fortran a flang.
    language : str
        Of `LANGUAGES`.
    level : str
        Of `LEVEL_FLAGS`.
    file : str
        Relative to where the compiler runs.
    options : sequence of str
        Macros, header folders and the like.
    cuda_path : Path, optional
        A CUDA toolkit's headers; CUDA sources only.
    """
    place = f"./{file}" if file.startswith("-") else file  # a name that begins with a dash would be an option
    if language == "fortran":
        # flang writes the absolute path into the IR of every file with I/O: this one is the same on every machine.
        return (*compiler, "-S", "-emit-llvm", "-w", f"-{level}", *options, f"/proc/self/cwd/{file}")
    command = [*compiler, *_COMMON, *_DIALECT[language], *LEVEL_FLAGS[level]]
    if "ziglang" in compiler:
        # zig cc adds these of its own; a user of clang expects clang's output.
        command += ["-fno-sanitize=undefined", "-fno-stack-protector", "-g0"]
    if cuda_path is not None and language == "cuda":
        command.append(f"--cuda-path={cuda_path}")
    return (*command, *options, place)


def compiler_name(compiler: Sequence[str]) -> str:
    """Name of a compiler for people and records."""
    return "zig cc" if "ziglang" in compiler else Path(compiler[0]).name


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What compiles each language on this machine.

    Attributes
    ----------
    compilers : dict of str to list of str
        Language -> command.
    cuda_path : Path or None
    """

    compilers: Mapping[str, list[str]]
    cuda_path: Path | None

    @classmethod
    def find(
        cls,
        languages: Collection[str],
        *,
        compiler: str | None = None,
        cuda_path: Path | None = None,
        report: Report | None = None,
    ) -> Toolchain:
        """Look for what compiles some languages; those without are reported and left out.

        Parameters
        ----------
        languages : collection of str
        compiler : str, optional
            A clang to use for all but Fortran, instead of the first on PATH.
        cuda_path : Path, optional
        report : callable, optional

        Raises
        ------
        ToolchainError
            None of the languages can be compiled.
        """
        compilers = {}
        error: ToolchainError | None = None
        for language in sorted(languages):
            try:
                compilers[language] = _find_for(language, compiler, cuda_path)
            except ToolchainError as missing:
                error = missing
                if report is not None:
                    report(f"{language} sources are left out: {missing}")
        if error is not None and not compilers:
            raise error
        return cls(compilers, cuda_path.resolve() if cuda_path else None)


def _find_for(language: str, compiler: str | None, cuda_path: Path | None) -> list[str]:
    if language == "fortran":
        for name in _FLANG:
            if shutil.which(name):
                return [name]
        raise ToolchainError("no flang on PATH to compile Fortran. Type: apt-get install flang-19")
    if language == "cuda" and cuda_path is None:
        raise ToolchainError(
            "CUDA needs the toolkit's headers. Give their folder with --cuda-path (Python: cuda_path=)"
        )
    return find_compiler(_NAME_FOR_SEARCH.get(language, language), compiler)


def source_programs(
    folder: Path,
    *,
    levels: Sequence[str] | None = None,
    compiler: str | None = None,
    cflags: Sequence[str] = (),
    cuda_path: Path | None = None,
    with_reserved: bool = False,
    report: Report | None = None,
) -> Iterator[Program]:
    """Programs of a folder of sources. Its first folders are the projects; one without folders is a project itself.

    Every folder with headers is searched, after the system's, so that many sources compile without their build system.

    Parameters
    ----------
    folder : Path
    levels : sequence of str, optional
        Default: see `levels_of`.
    compiler : str, optional
        A clang to use instead of the first on PATH.
    cflags : sequence of str
        Flags that all sources need.
    cuda_path : Path, optional
        A CUDA toolkit's headers.
    with_reserved : bool
        Also what is reserved for evaluation.
    report : callable, optional
        Told what is left out.

    Raises
    ------
    IRFileError
        No source file there.
    ToolchainError
        No compiler for any of them.
    """
    projects = _projects(folder, with_reserved, report)
    languages = {language for _, _, sources in projects for _, language in sources}
    if not languages:
        suffixes = " ".join(_LANGUAGE_OF)
        raise IRFileError(f"{folder}: no source file below it. Give a folder with files that end in one of: {suffixes}")
    tools = Toolchain.find(languages, compiler=compiler, cuda_path=cuda_path, report=report)
    for project, root, sources in projects:
        here = {language for _, language in sources} & set(tools.compilers)
        headers = {language: header_flags(root, language) for language in here}
        stamps = {language: stamp_of(find_headers(root, language)) for language in here}
        for file, language in sources:
            if language not in here:
                continue
            command = tools.compilers[language]
            options = (*cflags, *headers[language])
            stamp = stamp_of([root / file], stamps[language], *command, *options, str(tools.cuda_path))
            yield Program(
                project=project,
                version="",
                file=file,
                language=language,
                compiler=compiler_name(command),
                root=root,
                commands={
                    level: compile_command(command, language, level, file, options, cuda_path=tools.cuda_path)
                    for level in levels_of(project, file, language, levels)
                },
                stamp=stamp,
            )


def _projects(
    folder: Path, with_reserved: bool, report: Report | None
) -> list[tuple[str, Path, list[tuple[str, str]]]]:
    """Name, root and sources of each project below a folder."""
    folder = folder.resolve()
    below = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    projects = []
    for path in below:
        if is_reserved_package(path.name) and not with_reserved:
            if report is not None:
                report(f"{path.name} is left out: it is reserved for evaluation")
        elif sources := find_sources(path, with_reserved=with_reserved):
            projects.append((path.name, path, sources))
    top = [source for source in find_sources(folder, with_reserved=with_reserved) if "/" not in source[0]]
    if top:
        projects.append((folder.name, folder, top))
    return projects
