"""What stands for many sources, a folder of them or a ``compile_commands.json``, and the flags that each needs."""

import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from mirenc.errors import ConfigError
from mirenc.ir.files import DRIVER, SOURCE_LANGUAGES, find_inputs
from mirenc.ir.inputs import Input, IRInput, is_ir_text, path_input, resolve_input

COMMANDS = "compile_commands.json"
_SKIPPED_FOLDERS = (".git", ".hg", ".svn", ".pc")
_SUFFIXES = set(SOURCE_LANGUAGES) - {".i"}  # in a folder that is SWIG's more often than a preprocessor's

_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inc", ".def", ".tcc", ".cl", ".clh")
_HEADERS_OF = {"cuda": (*_HEADERS, ".cuh"), "fortran": (".h", ".inc", ".fh", ".fi", ".INC")}
_SKIPPED_HEADERS = {".pc", "debian", "win32", "windows", "msvc", "vms"}
_MOST_HEADER_FOLDERS = 150

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

Report = Callable[[str], None]


class Entry(NamedTuple):
    """One command of a build: where the compiler ran, the source (both absolute), and its words, the compiler first."""

    directory: Path
    file: Path
    arguments: list[str]


def is_project(given: object) -> bool:
    """Whether an input stands for many files: a folder, or a ``compile_commands.json``."""
    if not isinstance(given, (str, os.PathLike)) or given == "-" or (isinstance(given, str) and is_ir_text(given)):
        return False
    return os.path.isdir(given) or (os.fspath(given).endswith(".json") and os.path.isfile(given))


def expand_inputs(inputs: Iterable[IRInput | Input], report: Report | None = None) -> Iterator[Input]:
    """The inputs in their order; one that stands for many files gives those, and ``report`` is told what it leaves out.

    A folder without any stays, so that it fails as one input of several. Raises ConfigError: a
    ``compile_commands.json`` is none.
    """
    for given in inputs:
        many: list[Input] = []
        if is_project(given):
            path = Path(given)  # type: ignore[arg-type]  # then it is one
            many = folder_inputs(path, report) if path.is_dir() else command_inputs(path, report)
        yield from many or [resolve_input(given)]


def folder_inputs(folder: Path, report: Report | None = None) -> list[Input]:
    """The IR files below a folder; where there are none, what its ``compile_commands.json`` says; else its sources.

    Those are compiled with every folder that has headers searched after the system's. Raises as `expand_inputs`.
    """
    sources = sorted(walk_sources(folder, _SUFFIXES))
    if ir := find_inputs(folder):
        if sources and report is not None:
            taken = f"{folder}: its {len(ir)} IR files are taken, and its {len(sources)} sources left out"
            report(f"{taken}. To have those, name them, or a folder without IR")
        return list(map(path_input, ir))
    if (folder / COMMANDS).is_file():
        return command_inputs(folder / COMMANDS, report)
    inputs, root = [path_input(path) for path in sources], folder.resolve()
    # `__FILE__` would say where the folder lies on this machine.
    place = f"-fmacro-prefix-map={root}/="
    languages = {one.language for one in inputs}
    flags = {each: (*header_flags(header_folders(root, each), each), place) for each in languages}
    return [replace(one, flags=flags[one.language], folder=str(root)) for one in inputs]


def command_inputs(path: Path, report: Report | None = None) -> list[Input]:
    """The sources of a ``compile_commands.json``, sorted, with their flags; named from the working folder if below it.

    Raises as `read_entries`.
    """
    inputs, top = [], path.resolve().parent
    for entry in sorted(read_entries(path, SOURCE_LANGUAGES, report), key=lambda entry: entry.file):
        short = os.path.relpath(entry.file)
        one = path_input(entry.file if short.startswith(os.pardir) else short)
        common = os.path.commonpath([top, entry.file.parent])
        flags = (*kept_flags(entry.arguments), f"-fmacro-prefix-map={common}/=")
        inputs.append(replace(one, flags=flags, folder=str(entry.directory)))
    return inputs


def walk_sources(folder: Path, suffixes: Collection[str]) -> Iterator[Path]:
    """Files with some suffixes below a folder, in no order; no harnesses, nothing in folders of version control."""
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name.lower() not in _SKIPPED_FOLDERS]
        for name in names:
            path = Path(root, name)
            if path.suffix in suffixes and not name.endswith(DRIVER) and path.is_file():
                yield path


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


def kept_flags(arguments: Sequence[str]) -> list[str]:
    """Flags of a compiler's command that say what the program is: macros, header folders, standard, code generation."""
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


def refused_flags(words: str) -> set[str]:
    """Flags that a clang's error output calls unknown; zig cc names one at a time."""
    return {match[1] for match in _REFUSED.finditer(words)}


def read_entries(path: Path, suffixes: Collection[str], report: Report | None = None) -> list[Entry]:
    """The commands of a ``compile_commands.json`` for files with some suffixes; of several for a file the first.

    ``report`` is told what is left out. Raises ConfigError: missing, no such file, or no such source in it.
    """
    try:
        entries = json.loads(path.read_text(encoding="utf-8-sig"))  # an editor may have put a byte order mark before it
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file. Check the path") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not JSON: {error}. Make it again with CMake or bear") from None
    if not isinstance(entries, list):
        raise ConfigError(f"{path}: no list of commands. Give a compile_commands.json, as CMake or bear writes it")
    parsed = [_parse(path, number, one) for number, one in enumerate(entries, 1)]
    others = Counter(one.file.suffix or one.file.name for one in parsed if one.file.suffix not in suffixes)
    chosen: dict[Path, Entry] = {}
    for one in parsed:
        if one.file.suffix in suffixes:
            chosen.setdefault(one.file, one)
    again = len(parsed) - others.total() - len(chosen)
    if not chosen:
        wanted = " ".join(suffixes)
        raise ConfigError(f"{path}: no source in it that ends in {wanted}. Make it again with CMake or bear")
    if report is not None and others:
        listed = ", ".join(f"{suffix} {count}" for suffix, count in others.items())
        report(f"{path}: entries are left out, since their files are no source that is compiled here: {listed}")
    if report is not None and again:
        report(f"{path}: {again} entries are left out: their file had one before")
    return list(chosen.values())


def _parse(path: Path, number: int, entry: Any) -> Entry:
    try:
        directory = Path(os.path.normpath(path.resolve().parent / entry["directory"]))
        file = Path(os.path.normpath(directory / entry["file"]))
        arguments = entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])
        if not all(isinstance(word, str) for word in arguments):
            raise TypeError("an argument that is no text")
    except (KeyError, TypeError, ValueError) as error:
        why = f"{path}: entry {number} is no command ({error}{' is missing' * isinstance(error, KeyError)})"
        raise ConfigError(f"{why}. It needs directory, file, and arguments or command") from None
    return Entry(directory, file, list(arguments))
