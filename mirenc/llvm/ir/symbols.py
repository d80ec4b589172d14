"""Symbols as statements show them: C++ and legacy Rust names demangled, without parameters."""

import itertools
import re
from collections.abc import Callable

from mirenc.llvm.ir.lines import DEFINED

_ESCAPE = re.compile(rb"\\(\\|[0-9A-Fa-f]{2})")
_MANGLED_SYMBOL = re.compile(r"@(_{1,3}Z[\w$.]+)")
_RUST_HASH = re.compile(r"::h[0-9a-f]{16}$")
# Suffixes of clones that passes make of a function.
_CLONE = re.compile(r" (?:\(\.[\w.]+\)|\[clone [^\]]*\])$")
_SIGN = re.compile(r"(?<![A-Za-z0-9_])operator(?![A-Za-z0-9_])(?:\(\)|\[\]|[-<>=!+*/%&|^~,]+)?|[][<>(){} ]")
# clang and rustc number private constants in order, so the number depends on the rest of the file.
_NUMBERED_SYMBOL = re.compile(r"@((?:\.str|str|switch\.table|\.L?__const|anon|alloc)\.[0-9][.0-9a-f]*)(?![\w$.-])")

# An array in local memory (OpenCL's __local, CUDA's __shared__) is internal and has no initial value. It is in address
# space 3 where the target has one; otherwise it is recognised by its name, FUNCTION.VARIABLE.
_LOCAL_ARRAY = re.compile(
    r'^(@(?:[-\w$.]+|"[^"\n]*")) = internal (?:(?:local_)?unnamed_addr )?(addrspace\(3\) )?global [^\n]*? '
    r"(?:undef|poison)(?=,|$)",
    re.MULTILINE,
)


def strip_parameters(name: str) -> str:
    """``void f<int>(int)`` as ``f<int>``; names without a parameter list (variables, ``vtable for S``) stay whole."""
    while (clone := _CLONE.search(name)) is not None:
        name = name[: clone.start()]
    name = name.replace("(anonymous namespace)", "{anonymous}")
    while "> >" in name:
        name = name.replace("> >", ">>")
    depth = 0
    start, parameters = 0, -1  # begin of the word before the last top-level parenthesis, and its own position
    space = -1  # position of the last at top level, but not after `operator`
    in_operator = False
    # The signs of operator<<, operator() and the like are no brackets, and a space after it separates no words.
    for match in _SIGN.finditer(name):
        sign = match[0]
        if sign.startswith("operator"):
            in_operator = True
        elif sign in "<([{":
            if sign == "(" and depth == 0:
                start, parameters = space + 1, match.start()
            depth += 1
        elif sign == " ":
            space = match.start() if depth == 0 and not in_operator else space
        else:
            depth -= 1
    # `f(int)::x` is a variable of f: the text after the parameters belongs to the name.
    depths = itertools.accumulate((sign == "(") - (sign == ")") for sign in name[parameters:])
    suffix = next((name[index:] for index, depth in enumerate(depths, parameters) if depth == 0), "")
    if parameters <= 0 or " for " in name or "::" in suffix:
        return name
    return name[start:parameters].strip()


def display_symbols(text: str, demangle: Callable[[list[str]], list[str]] | None) -> dict[str, str]:
    """Symbol -> symbol as statements show it, both with ``@``, for those of a module's text that differ."""
    display: dict[str, str] = {}
    for name in set(_NUMBERED_SYMBOL.findall(text)):
        display["@" + name] = "@" + re.sub(r"\.[0-9][.0-9a-f]*$", "", name)
    if demangle is not None and "@_Z" in text:
        mangled = sorted(set(_MANGLED_SYMBOL.findall(text)))
        for name, full_name in zip(mangled, demangle(mangled), strict=True):
            if full_name != name:
                display["@" + name] = "@" + strip_parameters(_RUST_HASH.sub("", full_name))
    # Arrays in local memory are globals in LLVM, but their names are local ones. LLVM prints globals before functions.
    arrays = _LOCAL_ARRAY.findall(text.partition("\ndefine ")[0])
    prefixes = tuple(f"@{function}." for function in DEFINED.findall(text)) if arrays else ()
    return display | {name: "%" for name, in_space_3 in arrays if in_space_3 or name.startswith(prefixes)}


def unescaped(text: str) -> str:
    r"""A string or quoted name without LLVM's escapes: ``\C3\A9`` for bytes outside of ASCII, ``\\`` for ``\``."""
    if "\\" not in text:
        return text
    raw = text.encode("utf-8", "surrogateescape")

    def byte(match: re.Match[bytes]) -> bytes:
        return match[1] if match[1] == b"\\" else bytes.fromhex(match[1].decode())

    return _ESCAPE.sub(byte, raw).decode("utf-8", "replace")
