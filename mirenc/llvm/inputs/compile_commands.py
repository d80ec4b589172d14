"""Commands of a build (``compile_commands.json``): what each compiles, for what target, and with what flags."""

from __future__ import annotations

import itertools
import json
import os
import platform
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirenc.base.errors import CompileError, ConfigError
from mirenc.llvm.inputs.compiler_flags import (
    LEFT_OUT,
    LEVEL,
    OUTPUT,
    PRECOMPILED,
    TARGET,
    Flag,
    option_of,
    refused_flags,
    split_flags,
    without_preprocessor,
    words_of,
)
from mirenc.llvm.inputs.languages import SOURCE_LANGUAGES

if TYPE_CHECKING:
    from mirenc.llvm.inputs.input import Report

_COMPILER = re.compile(
    r"(?:(?P<prefix>.+)-)?(?P<name>cc|c\+\+|[cg]\+\+|gcc|clang(\+\+)?|c[89]9|CC|tcc|icc|icpc|icp?x|mpi(cc|cxx|CC|c\+\+)"
    r"|nvcc|hipcc|emcc|em\+\+|armclang|nvc(\+\+)?|gfortran|flang(-new)?|f77|f95|ifort|ifx)(-[\d.]+)?(\.exe)?"
)
_CXX = re.compile(r".*\+\+|mpicxx|mpiCC|CC|icpc|icpx")  # what takes a .c for C++
_MICROSOFT = re.compile(r"(clang-|i|xi)?cl(-[\d.]+)?(\.exe)?", re.IGNORECASE)
_SHELL = re.compile(r"(ba|da|z)?sh$|cmd(\.exe)?$|python|perl")  # whose -c is another
_WINDOWS = re.compile(r'"?[A-Za-z]:[\\/]|[^ ]*\\[^ ]*\.exe\b')
_NAMED_TARGETS = {"emcc": "wasm32-unknown-emscripten", "em++": "wasm32-unknown-emscripten"}
_INCLUDES = ("-include", "--include")
# Variables in which gcc and clang look for folders of headers.
_HEADER_VARIABLES = ("CPATH=", "C_INCLUDE_PATH=", "CPLUS_INCLUDE_PATH=")
_NO_OBJECT = frozenset("-E -S -M -MM -fsyntax-only -### --preprocess --assemble --analyze -cc1".split())
_OUTPUT = re.compile(r"(-o|--output(?:=|$))(.*)")
_DEEPEST = 20  # response files in response files
_MOST_FILES = 1000  # response files of a command, however they name each other
_LARGEST = 16 << 20  # bytes of one
# A language as -x has it, and a suffix that stands for it.
_SUFFIX_OF = {"c": ".c", "cpp-output": ".c", "c++": ".cc", "c++-cpp-output": ".cc", "cl": ".cl", "cuda": ".cu"}
_SUFFIX_OF |= {"cu": ".cu", "f77": ".f", "f77-cpp-input": ".F", "f95": ".f90", "f95-cpp-input": ".F90"}


@dataclass(frozen=True, slots=True)
class Command:
    """One compilation of a build."""

    directory: Path  # where the compiler ran; absolute, as the file is
    file: Path
    language: str  # as the caller's table of suffixes has it; "": none that is compiled here
    source: str = ""  # the file as the command names it
    flags: tuple[Flag, ...] = ()
    level: str = ""  # the last -O; "": none
    left_out: tuple[str, ...] = ()  # flags that change the IR and are not kept
    refused: tuple[str, ...] = ()  # flags that the compiler here does not know (`without_refused`)
    problem: str = ""  # why it cannot be done here


def read_commands(path: Path, languages: Mapping[str, str], report: Report) -> list[Command]:
    """The commands of a ``compile_commands.json``, or of ``-MJ`` fragments, for files of some languages by suffix.

    Of several for a file the first that can be done. ``report`` is told what is left out. Raises ConfigError: missing,
    no such file, or no such source in it.
    """
    commands: list[Command] = []
    problems: list[str] = []
    for number, entry in enumerate(_entries(path), 1):
        try:
            commands.append(_read_entry(path.resolve().parent, entry, languages))
        except (KeyError, TypeError, ValueError) as error:
            problem = f"{path}: entry {number} is not a command ({error}{' is missing' * isinstance(error, KeyError)})"
            problems.append(f"{problem}. It needs directory, file, and arguments or command")
    if problems and not commands:
        raise ConfigError(problems[0])
    other_suffixes = Counter(command.file.suffix or command.file.name for command in commands if not command.language)
    by_file: dict[Path, Command] = {}
    for command in sorted(commands, key=lambda command: bool(command.problem)):  # else in the build's order
        if command.language:
            by_file.setdefault(command.file, command)
    repeats = len(commands) - other_suffixes.total() - len(by_file)
    if not by_file:
        endings = " ".join(languages)
        raise ConfigError(f"{path}: no source ends in one of: {endings}. Make this file again with CMake or bear")
    for line in problems:
        report(f"{line}. It is left out")
    if other_suffixes:
        counts = ", ".join(f"{suffix} {count}" for suffix, count in other_suffixes.items())
        report(f"{path}: entries are left out, because mirenc does not compile sources with these endings: {counts}")
    if repeats:
        report(f"{path}: {repeats} entries are left out: an earlier entry has the same file")
    flag_counts = Counter(flag for command in by_file.values() for flag in command.left_out)
    report_flags(f"{path}: flags of tools, profiles and linkers are left out", flag_counts, report)
    return list(by_file.values())


def without_refused(
    path: Path, commands: Iterable[Command], compilers: Mapping[str, Sequence[str]], report: Report
) -> list[Command]:
    """The commands without what the compiler of their language refuses; ``report`` is told of each such flag.

    A compiler is its command with the flags that come first. Where there is none a command stays as it is.
    """
    answers: dict[tuple[str, tuple[Flag, ...]], tuple[list[Flag], str]] = {}
    result = []
    for command in commands:
        if not command.problem and command.language in compilers:
            key = command.language, without_preprocessor(command.flags)
            if key not in answers:
                answers[key] = refused_flags(compilers[command.language], key[1], command.file.suffix)
            refused, problem = answers[key]
            names = tuple(dict.fromkeys(" ".join(flag) for flag in refused))
            flags = tuple(flag for flag in command.flags if flag not in refused)
            command = replace(command, flags=flags, refused=names, problem=problem)
        result.append(command)
    counts = Counter(flag for command in result for flag in command.refused if not command.problem)
    report_flags(f"{path}: flags that the compiler here refuses are left out", counts, report)
    return result


def report_flags(description: str, counts: Mapping[str, int], report: Report) -> None:
    """Tell ``report`` of flags and the number of files that had each, if there are any."""
    if counts:
        report(f"{description} (number of files): {', '.join(f'{flag} ({count})' for flag, count in counts.items())}")


# -- from the file to words ----------------------------------------------------------------------------------
def _entries(path: Path) -> list[Any]:
    try:
        # An editor may have put a byte order mark before it; a path need not be UTF-8.
        text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
        entries = _parse_json(text)
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file. Check the path") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not JSON: {error}. Make this file again with CMake or bear") from None
    if not isinstance(entries, list):
        raise ConfigError(f"{path}: is no list of commands. Give a compile_commands.json, as CMake or bear writes it")
    return entries


def _parse_json(text: str) -> Any:
    # Fragments of clang -MJ, put together: no brackets, or a comma behind the last.
    items = text.strip().removeprefix("[").removesuffix("]").strip().removesuffix(",")
    try:
        content = json.loads(text)
    except ValueError:
        if not re.match(r'\{\s*"', items):
            raise
        return json.loads(f"[{items}]")
    return [content] if isinstance(content, dict) and "file" in content else content


def _read_entry(folder: Path, entry: Any, languages: Mapping[str, str]) -> Command:
    """The command of an entry. Raises KeyError, TypeError or ValueError: the entry is not a command."""
    directory = Path(os.path.normpath(folder / entry["directory"]))
    file = Path(os.path.normpath(directory / entry["file"]))
    command = Command(directory, file, languages.get(file.suffix, ""))
    shell = "arguments" not in entry
    if shell and not isinstance(entry["command"], str):
        raise TypeError("its command is not text")
    words = shlex.split(entry["command"]) if shell else list(entry["arguments"])
    if not all(isinstance(word, str) for word in words):
        raise TypeError("one of its arguments is not text")
    if not words:
        raise ValueError("its command is empty")
    try:
        if any(map(_WINDOWS.match, (entry["directory"], entry["command"].lstrip() if shell else words[0]))):
            raise CompileError("its command was written on Windows. Make this file on the machine with the sources")
        if shell:
            words, command = _without_shell(words, command)
        return _parse(command, words, languages)
    except CompileError as error:
        return replace(command, problem=str(error))


def _without_shell(words: list[str], command: Command) -> tuple[list[str], Command]:
    """The part of a shell's line that compiles, and the command in the folder where that runs."""
    part: list[str] = []
    for word in [*words, ";"]:
        if word not in (";", "&&", "||", "|"):
            part.append(word)
            continue
        if _compiler_index(part, command.file) is not None:
            return part, command
        if part[:1] == ["cd"] and len(part) == 2:
            command = replace(command, directory=Path(os.path.normpath(command.directory / part[1])))
        part = []
    return words, command


def _expand(words: Iterable[str], directory: Path, depth: int = 0, count: Iterator[int] | None = None) -> Iterator[str]:
    """The words with those of response files in place of ``@FILE`` (nvcc: --options-file), as gcc and clang read them.

    Raises CompileError: one is not there, or names itself.
    """
    queue, count = iter(words), count or itertools.count(1)
    for word in queue:
        name = next(queue, "") if word in ("--options-file", "-optf") else word[1:] if word.startswith("@") else ""
        if not name:
            yield word
            continue
        if depth == _DEEPEST or next(count) > _MOST_FILES:
            raise CompileError(f"its response file {name} includes itself. Configure the build again")
        file = directory / name
        try:
            if not file.is_file() or file.stat().st_size > _LARGEST:
                raise OSError
            text = file.read_bytes().decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        except OSError:
            advice = "Build again so that it is kept (ninja -d keeprsp)"
            raise CompileError(f"its response file {name} is not there. {advice}") from None
        yield from _expand(_response_words(text), directory, depth + 1, count)


def _response_words(text: str) -> list[str]:
    """Words of a response file by GNU's rules: quotes of either kind; a backslash makes the next sign literal."""
    words: list[str] = []
    word: str | None = None  # "" where quotes began
    quote = ""
    signs = iter(text)
    for sign in signs:
        if sign == "\\":
            word = (word or "") + next(signs, "")
        elif quote:
            quote, word = ("", word) if sign == quote else (quote, (word or "") + sign)
        elif sign in "'\"":
            quote, word = sign, word or ""
        elif sign.isspace():
            words += [] if word is None else [word]
            word = None
        else:
            word = (word or "") + sign
    return words if word is None else [*words, word]


# -- from words to flags -------------------------------------------------------------------------------------
def _compiler_index(words: Sequence[str], file: Path) -> int | None:
    """Index of the word that is the compiler, behind launchers (ccache, env, libtool); None where there is none."""
    for number, word in enumerate(words):
        base = _base(word)
        if (_COMPILER.fullmatch(base) or _MICROSOFT.fullmatch(base)) and not re.match(r"\w+=", word):
            return number
        if word in ("-c", str(file)):
            break
    return 0 if "-c" in words[1:] and not _SHELL.match(_base(words[0])) else None


def _base(word: str) -> str:
    return re.split(r"[\\/]", word)[-1]


def _parse(command: Command, words: Sequence[str], languages: Mapping[str, str]) -> Command:
    """A command from its words, the compiler and its launcher first. Raises CompileError: it cannot be done here."""
    number = _compiler_index(words, command.file)
    if number is None:
        raise CompileError(f"its command ({' '.join(words)[:60]}) does not run a compiler. Leave this entry out")
    base = _base(words[number])
    if _MICROSOFT.fullmatch(base) or "--driver-mode=cl" in words:
        raise CompileError(f"mirenc does not read Microsoft's options, which {base} takes. Build with gcc or clang")
    match = _COMPILER.fullmatch(base)
    prefix, name = (match["prefix"] or "", match["name"]) if match else ("", base)
    left_out = [word for word in words[:number] if word.startswith(_HEADER_VARIABLES)]
    kept_flags: list[Flag] = []
    level = language = source = current_language = ""
    for flag in split_flags(_expand(words[number + 1 :], command.directory)):
        option, value = option_of(flag), flag[-1]
        if not option:
            if not source and os.path.normpath(command.directory / value) == str(command.file):
                source, language = value, current_language
        elif named_language := _language(option, value):
            current_language = named_language
        elif LEVEL.match(option):
            level = "-O" + option.removeprefix("--optimize").removeprefix("-O").removeprefix("=")
            kept_flags += [("-ffast-math",)] if level == "-Ofast" else []
        elif option == "-cc1":
            raise CompileError("its command is clang's internal one, -cc1. Give the clang command that started it")
        elif LEFT_OUT.match(option) or (option.split("=")[0] in _INCLUDES and value.endswith(PRECOMPILED)):
            left_out.append(" ".join(flag))
        elif not OUTPUT.match(option):
            kept_flags.append(_without_precompiled(flag, command.directory))
    language = language if source else current_language
    if not language and command.file.suffix == ".c" and (_CXX.fullmatch(name) or "--driver-mode=g++" in words):
        language = "c++"
    targets = _targets(prefix, name, kept_flags)
    return replace(
        command,
        language=languages.get(_SUFFIX_OF.get(language, ""), "") if language not in ("", "none") else command.language,
        source=source or str(command.file),
        flags=(*targets, *(flag for flag in kept_flags if flag[0] != "-arch" or not targets)),
        level=level,
        left_out=tuple(dict.fromkeys(left_out)),
    )


def program_flags(words: Sequence[str]) -> list[str]:
    """Those words behind a compiler that decide what the program is, without an -O.

    For scripts that run builds themselves. Raises CompileError: they cannot be compiled here.
    """
    return words_of(_parse(Command(Path(), Path(), ""), ["cc", *words], {}).flags)


def read_call(words: Sequence[str]) -> tuple[list[str], list[tuple[Command, Path]]]:
    """The compiler of a call that runs in this folder, and each source with the object that the call makes of it.

    Of a call that links at once, an object is named as by clang's -save-temps: ``prog-x.o`` of ``-o prog x.c``. Empty
    where no object is asked for. Raises CompileError: a response file is not there.
    """
    number, directory = _compiler_index(words, Path()), Path.cwd()
    if number is None:
        return [], []
    flags = [*split_flags(_expand(words[number + 1 :], directory))]
    options = {option_of(flag) for flag in flags}
    if options & _NO_OBJECT:
        return [], []
    compiles = not options.isdisjoint(("-c", "--compile"))
    outputs = [match[2] or flag[-1] for flag in flags if (match := _OUTPUT.match(flag[0]))]
    output = outputs[-1] if outputs else ""
    calls = []
    for source in (flag[-1] for flag in flags if not option_of(flag)):
        file = Path(os.path.normpath(directory / source))
        command = Command(directory, file, SOURCE_LANGUAGES.get(file.suffix, ""))
        try:
            command = _parse(command, words, SOURCE_LANGUAGES)
        except CompileError as error:
            command = replace(command, problem=str(error))
        object_name = output if compiles and output else f"{Path(source).stem}.o"
        calls.append((command, directory / (object_name if compiles else f"{output or 'a.out'}-{object_name}")))
    return [words[number]], calls


def _language(option: str, value: str) -> str:
    """The language that a flag names; "" for other flags, such as icc's -xHost."""
    if option in ("-x", "--language"):
        return value
    name = option.removeprefix("--language=" if option.startswith("--language=") else "-x")
    return name if name != option and name in (*_SUFFIX_OF, "none") else ""


def _without_precompiled(flag: Flag, directory: Path) -> Flag:
    """A flag; of -include FILE one that ignores FILE.gch, which older clangs refuse where gcc wrote it."""
    file = directory / flag[-1]
    if flag[0] in _INCLUDES and any(Path(f"{file}{suffix}").exists() for suffix in PRECOMPILED):
        return "-Xclang", "-include", "-Xclang", flag[-1]
    return flag


def _targets(prefix: str, name: str, flags: Sequence[Flag]) -> list[Flag]:
    """The target that a compiler's name or Apple's -arch names; none where a flag does, or it is this machine."""
    if any(TARGET.match(flag[0]) for flag in flags):
        return []
    arches = [*dict.fromkeys(flag[1] for flag in flags if flag[0] == "-arch" and len(flag) > 1 and name != "nvcc")]
    if len(arches) > 1:
        raise CompileError(f"its command compiles for {' and '.join(arches)} at once. Build for one of them")
    if arches and platform.system() != "Darwin":
        return [(f"--target={arches[0]}-apple-macosx",)]
    triple = _NAMED_TARGETS.get(name) or (prefix if "-" in prefix or prefix == "avr" else "")
    host = triple.startswith(f"{platform.machine()}-") and triple.endswith("linux-gnu") and platform.system() == "Linux"
    return [(f"--target={triple}",)] if triple and not host else []
