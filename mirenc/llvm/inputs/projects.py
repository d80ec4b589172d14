"""Inputs that stand for many: a folder, an archive, a ``compile_commands.json``; and the flags of each source."""

import contextlib
import errno
import os
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from mirenc.base.errors import IRFileError, LeftOutWarning, ToolchainError
from mirenc.llvm.inputs.containers import FLAGS, Part, part_name
from mirenc.llvm.inputs.file_kind import COMPRESSIONS, DRIVER, bytes_of, file_parts, find_inputs, holds_several
from mirenc.llvm.inputs.input import Input, IRInput, Report, is_ir_text, path_input, resolve_input
from mirenc.llvm.inputs.languages import LANGUAGE_FLAGS, SOURCE_LANGUAGES
from mirenc.llvm.ir.read import ReadOptions

COMMANDS = "compile_commands.json"
_SKIPPED_FOLDERS = (".git", ".hg", ".svn", ".pc")
_SUFFIXES = set(SOURCE_LANGUAGES) - {".i"}  # in a folder that is SWIG's more often than a preprocessor's

# `libx.so.1` is `libx.so`; `.rlib` is Rust's.
_OBJECT = re.compile(r"\.(?:o|obj|a|lib|rlib|so|dylib|dll|wasm)(?:\.\d+)*$")
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inc", ".def", ".tcc", ".cl", ".clh")
_HEADERS_OF = {"cuda": (*_HEADERS, ".cuh"), "fortran": (".h", ".inc", ".fh", ".fi", ".INC")}
_SKIPPED_HEADERS = {".pc", "debian", "win32", "windows", "msvc", "vms"}
_MOST_HEADER_FOLDERS = 150
_DELAY = 10  # seconds by which an object that was compiled again is newer than its IR; edits and copies take less
_warn = partial(warnings.warn, category=LeftOutWarning, stacklevel=3)


def is_project(value: object) -> bool:
    """Whether an input stands for many: a folder, a ``compile_commands.json``, or what holds several modules."""
    if not isinstance(value, (str, os.PathLike)) or value == "-" or (isinstance(value, str) and is_ir_text(value)):
        return False
    if os.path.isdir(value) or (_is_database(value) and os.path.isfile(value)):
        return True
    return holds_several(value)


def _is_database(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).endswith(".json")


def expand_inputs(
    inputs: Iterable[IRInput | Input], report: Report | None = None, options: ReadOptions | None = None
) -> Iterator[Input]:
    """The inputs in their order; one that stands for many files gives those, and ``report`` is told what it leaves out.

    ``options`` are those with which the inputs will be read: flags that their compiler refuses are left out. A folder
    without any stays, so that it fails as one input of several. Raises ConfigError: a ``compile_commands.json`` is
    none.
    """
    for value in inputs:
        files: list[Input] = []
        if is_project(value):
            path = Path(value)  # type: ignore[arg-type]  # then it is one
            expand = folder_inputs if path.is_dir() else command_inputs if _is_database(path) else archive_inputs
            files = expand(path, report, options)
        yield from files or [resolve_input(value)]


def archive_inputs(path: Path, report: Report | None = None, options: ReadOptions | None = None) -> list[Input]:
    """The modules in an archive, a universal file, or an object with several; ``lib.a(member.o)`` is one's name.

    Without ``report`` a warning counts the members without bitcode.
    """
    report = report or _warn
    parts, empty_count = file_parts(path)
    if parts and empty_count:
        report(_no_bitcode(f"{path}: {empty_count} of its members", empty_count))
    return [part_input(path, part) for part in parts]


def part_input(path: Path, part: Part) -> Input:
    """A module in a container."""
    name = part_name(os.fspath(path), part)
    return Input(name, name, part=part)


def _no_bitcode(subject: str, count: int) -> str:
    has, is_ = ("has", "is") if count == 1 else ("have", "are")
    return f"{subject} {has} no LLVM bitcode and {is_} left out. To get bitcode in objects, compile with clang {FLAGS}"


def folder_inputs(folder: Path, report: Report | None = None, options: ReadOptions | None = None) -> list[Input]:
    """The IR files below a folder, and the bitcode in its objects (`object_inputs`); else its sources.

    These are what its ``compile_commands.json`` says, where it has one. Others are compiled with every folder that has
    headers searched after the system's. Raises as `expand_inputs`.
    """
    sources = sorted(walk_sources(folder, _SUFFIXES))
    ir = current_ir(find_inputs(folder), report or _warn)
    objects, empty_count = object_inputs(folder, ir)
    if empty_count and report is not None:
        report(_no_bitcode(f"{folder}: {empty_count} of its objects", empty_count))
    # Damaged objects alone hide no sources, as nobody knows whether bitcode was in them.
    if ir or any(file.part and not file.part.problem for file in objects):
        files = sorted([*map(path_input, ir), *objects], key=lambda file: Path(file.name))
        if sources and report is not None:
            ir_text, source_text = (
                f"{n} {kind} file{'s' * (n != 1)}" for n, kind in ((len(files), "IR"), (len(sources), "source"))
            )
            report(f"{folder}: reading {ir_text}, skipping {source_text}. To read these instead, name them")
        return files
    if (folder / COMMANDS).is_file():
        return command_inputs(folder / COMMANDS, report, options)
    files, root = [path_input(path) for path in sources], folder.resolve()
    # `__FILE__` would say where the folder lies on this machine.
    remap = f"-fmacro-prefix-map={root}/="
    languages = {file.language for file in files}
    flags = {language: (*header_flags(header_folders(root, language), language), remap) for language in languages}
    return [replace(file, flags=flags[file.language], folder=str(root)) for file in files] or objects


def current_ir(ir: Sequence[Path], report: Report = lambda line: None) -> list[Path]:
    """IR files without what is left over of `mirenc cc`: an ``x.o.bc`` older than ``x.o``, or without it beside others.

    ``report`` is told of these.
    """
    delays = {path: _object_delay(path) for path in ir if path.name.endswith((".o.bc", ".obj.bc"))}
    has_objects = any(seconds is not None for seconds in delays.values())
    stale = {path: "" for path, seconds in delays.items() if (has_objects if seconds is None else seconds > _DELAY)}
    if stale:
        reason = "their objects are gone, or were compiled again without it. To read them all the same, name them"
        report(f"IR of `mirenc cc` is left out ({len(stale)} files, such as {next(iter(stale))}): {reason}")
    return [path for path in ir if path not in stale]


def _object_delay(ir: Path) -> float | None:
    """Seconds by which the object of an ``x.o.bc`` is newer: ``x.o``, else libtool's ``x.lo``; None: it is gone."""
    object_file = ir.with_suffix("")
    # Of what was compiled and linked at once: the program, which is ``prog`` of ``prog-x.o.bc``.
    programs = [ir.with_name(object_file.name[: dash.start()]) for dash in re.finditer("(?<=.)-", object_file.name)]
    # Links are not followed: they may lead out of the folder.
    objects = (
        path for path in (object_file, object_file.with_suffix(".lo"), *programs) if path.is_symlink() or path.is_file()
    )
    return next((path.lstat().st_mtime - ir.lstat().st_mtime for path in objects), None)


def object_inputs(
    folder: Path, ir: Iterable[Path], is_wanted: Callable[[Path], bool] = Path.is_file
) -> tuple[list[Input], int]:
    """The modules in objects and libraries below a folder, and the number of objects without one.

    Taken once: an object and its IR (``x.o`` and ``x.bc`` or ``x.o.bc``), ``x.o`` and libtool's ``.libs/x.o``, and an
    object and its copy in an archive. Only files that ``is_wanted`` accepts are opened.
    """
    uncompressed = (path.with_suffix("") if path.suffix in COMPRESSIONS else path for path in ir)
    ir_stems = {path.with_suffix("") for path in uncompressed}  # x of x.bc, x.o of x.o.bc
    ir_stems |= {path.parent / ".libs" / path.name for path in ir_stems}
    candidates = (path for path in walk_files(folder) if _OBJECT.search(path.name) and is_wanted(path))
    files = {path.resolve(): path for path in sorted(candidates, reverse=True)}  # of links to one file, the first name
    modules: list[tuple[Path, Part]] = []
    empty_count = 0
    inputs: list[Input] = []
    for path in sorted(files.values()):
        try:
            parts, empty = file_parts(path)
        except IRFileError as error:  # whether it has any is not known; what may not be read is named where it is used
            inputs += [path_input(path)] * (error.errno == errno.EACCES)
            continue
        modules += [(path, part) for part in parts]
        empty_count += empty and ir_stems.isdisjoint((path, path.with_suffix("")))
    ir_stems |= {path.parent / ".libs" / path.name for path, _ in modules}
    single_parts = defaultdict[tuple[str, int], list[Part]](list)
    for path, part in modules:
        single_parts[path.name, part.size] += [] if part.label else [part]
    for path, part in modules:
        twins = single_parts[part.label.rpartition("/")[2], part.size] if part.label and not part.problem else ()
        is_copy = any(bytes_of(part) == bytes_of(twin) for twin in twins)
        if not is_copy and (part.label or ir_stems.isdisjoint((path, path.with_suffix("")))):
            inputs.append(part_input(path, part))
    return inputs, empty_count


def command_inputs(path: Path, report: Report | None = None, options: ReadOptions | None = None) -> list[Input]:
    """The sources of a ``compile_commands.json``, sorted, with their flags; named from the working folder if below it.

    Without ``report`` warnings tell what is left out. The level of optimisation is `compile_source`'s, whatever a
    command says. Raises ConfigError as `read_commands`.
    """
    # Here, because they compile patterns, and single files need none of them.
    from mirenc.llvm.inputs.compile_commands import read_commands, report_flags, without_refused
    from mirenc.llvm.inputs.compile_source import ir_compiler
    from mirenc.llvm.inputs.compiler_flags import words_of

    options = options or ReadOptions()
    report = report or _warn
    commands = read_commands(path, SOURCE_LANGUAGES, report)
    compilers = {}
    for language in {command.language for command in commands}:
        with contextlib.suppress(ToolchainError):  # each of its sources says so
            compiler = ir_compiler(language, options.compiler)
            compilers[language] = [*compiler, *LANGUAGE_FLAGS[language], *options.cflags]
    commands = sorted(without_refused(path, commands, compilers, report), key=lambda command: command.file)
    if not any(flag.startswith("-O") for flag in options.cflags):
        compilable = [command for command in commands if not command.problem]
        levels = Counter(command.level or "no -O" for command in compilable if command.level != "-O2")
        title = f"{path}: sources are compiled at -O2 or as --cflags says, not as their commands do"
        report_flags(title, levels, report)
    inputs = []
    for command in commands:
        name = os.path.relpath(command.file)
        name = str(command.file) if name.startswith(os.pardir) else name
        build = tuple(words_of(command.flags)), str(command.directory), command.source, command.problem
        inputs.append(Input(name, name, command.language, *build))
    return inputs


def walk_sources(folder: Path, suffixes: Collection[str]) -> Iterator[Path]:
    """Files with some suffixes below a folder, in no order; no harnesses, nothing in folders of version control."""
    for path in walk_files(folder):
        if path.suffix in suffixes and not path.name.endswith(DRIVER) and path.is_file():
            yield path


def walk_files(folder: Path) -> Iterator[Path]:
    """All that lies below a folder and is not itself a folder, in no order; folders of version control are skipped."""
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name.lower() not in _SKIPPED_FOLDERS]
        yield from (Path(root, name) for name in names)


def find_headers(root: Path, language: str) -> list[Path]:
    """Headers below a folder, sorted."""
    return sorted({path for suffix in _HEADERS_OF.get(language, _HEADERS) for path in root.rglob(f"*{suffix}")})


def header_folders(root: Path, language: str) -> list[str]:
    """Folders below ``root`` with headers below them, shallow ones first, at most 150."""
    parents = {folder for path in find_headers(root, language) for folder in path.relative_to(root).parents}
    folders = [folder.as_posix() for folder in parents if not _SKIPPED_HEADERS.intersection(folder.parts)]
    return sorted(folders, key=lambda folder: (folder.count("/"), folder))[:_MOST_HEADER_FOLDERS]


def header_flags(folders: Iterable[str], language: str) -> list[str]:
    """Flags that make a compiler search some folders for headers, without its build system."""
    # -idirafter comes last in clang's search, so no package's string.h hides the system's. flang has none.
    flag = "-I" if language == "fortran" else "-idirafter"
    return [f"{flag}{folder}" for folder in folders]
