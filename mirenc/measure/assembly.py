"""`code_digests`: which functions of assembly text are the same machine code, whatever they are called.

Two functions whose instructions and constants agree run alike, so one measurement stands for both. Labels are counted
anew in each function, and constants and jump tables belong to the function they are printed for.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

__all__ = ["code_digests", "digest_of"]

_BEGIN = re.compile(r"-- Begin function (\S+)")
_LABEL = re.compile(r"\.L[\w.$]+|\bL[A-Z]+\d+_\d+\b")
_DEFINES = re.compile(r"^(\.L[\w.$]+|L[A-Z]+\d+_\d+):")
_COMMENT = re.compile(r"[ \t]*(?:#|//|;)[ \t].*$|[ \t]+(?:#|//)\S.*$")
_COPY = re.compile(r"__mirenc_\w+")
# Between functions: what names and places them, and no code.
_PLACING = re.compile(r"\s*\.(?:section|text|file|type|size|globl|hidden|weak|local|cfi_\w+|loc|ident|addrsig\w*)\b")
_DATA = re.compile(r"\s*\.(?:type\s+\S+,\s*[@%]object|ident|addrsig|bss\b|data\b|lcomm|comm)\b")


def code_digests(assembly: str) -> dict[str, str]:
    """Digest of each function of a file that clang wrote with ``-S``: 16 hexadecimal digits by name.

    The suffix of a copy (`mirenc.measure.hints.suffix`) is no part of it.
    """
    chunks: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in assembly.split("\n"):
        if (begin := _BEGIN.search(line)) is not None:
            lines = chunks.setdefault(begin[1], [])
        elif _DATA.match(line):
            lines = []  # data of the module follow
        lines.append(line)
    return {name: _digest(lines) for name, lines in chunks.items()}


def digest_of(digests: Iterable[str]) -> str:
    """One digest for functions that belong together, in any order."""
    found = sorted(digests)
    return found[0] if len(found) == 1 else _short("\n".join(found))


def _digest(lines: list[str]) -> str:
    bare = [_COMMENT.sub("", line).rstrip() for line in lines if not _PLACING.match(line)]
    own: dict[str, str] = {}
    for line in bare:
        if (match := _DEFINES.match(line)) is not None:
            own[match[1]] = f".L{len(own)}"
    text = "\n".join(line for line in bare if line)
    text = _LABEL.sub(lambda match: own.get(match[0], match[0]), text)
    return _short(_COPY.sub("", text))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
