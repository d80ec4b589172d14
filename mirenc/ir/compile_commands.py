"""``compile_commands.json``: what a build system told its compiler, as far as it matters to IR."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mirenc.errors import ConfigError

__all__ = ["Entry", "kept_flags", "read_entries", "refused_flags"]

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


class Entry(NamedTuple):
    """One command of a build.

    Attributes
    ----------
    directory, file : Path
        Where the compiler ran, and the source; both absolute.
    arguments : list of str
        The command, its compiler included.
    """

    directory: Path
    file: Path
    arguments: list[str]


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


def refused_flags(words: str) -> set[str]:
    """Flags that a clang's error output calls unknown; zig cc names one at a time."""
    return {match[1] for match in _REFUSED.finditer(words)}


def read_entries(path: Path) -> list[Entry]:
    """The commands of a ``compile_commands.json``.

    Raises
    ------
    ConfigError
        Missing, or no such file.
    """
    try:
        # utf-8-sig: an editor may have put a byte order mark before it.
        entries = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file. Check the path") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not JSON: {error}. Make it again with CMake or bear") from None
    if not isinstance(entries, list):
        raise ConfigError(f"{path}: no list of commands. Give a compile_commands.json, as CMake or bear writes it")
    return [_parse(path, number, entry) for number, entry in enumerate(entries, 1)]


def _parse(path: Path, number: int, entry: Any) -> Entry:
    try:
        directory = Path(os.path.normpath(path.resolve().parent / entry["directory"]))
        file = Path(os.path.normpath(directory / entry["file"]))
        arguments = entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])
        if not all(isinstance(word, str) for word in arguments):
            raise TypeError("an argument that is no text")
    except (KeyError, TypeError, ValueError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else error
        raise ConfigError(
            f"{path}: entry {number} is no command ({why}). It needs directory, file, and arguments or command"
        ) from None
    return Entry(directory, file, list(arguments))
