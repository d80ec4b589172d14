"""How symbols are shown in statements: C++ and old Rust names demangled, without the parameters that calls have."""

import itertools
import re
from collections.abc import Callable

_ESCAPE = re.compile(rb"\\(\\|[0-9A-Fa-f]{2})")
_MANGLED = re.compile(r"@(_{1,3}Z[\w$.]+)")
_RUST_HASH = re.compile(r"::h[0-9a-f]{16}$")
# clang and rustc number private constants as they come: the number is an accident of the rest of the file.
_CLONE = re.compile(r" (?:\(\.[\w.]+\)|\[clone [^\]]*\])$")
_SIGN = re.compile(r"(?<![A-Za-z0-9_])operator(?![A-Za-z0-9_])(?:\(\)|\[\]|[-<>=!+*/%&|^~,]+)?|[][<>(){} ]")
_NUMBERED = re.compile(r"@((?:\.str|str|switch\.table|\.L?__const|anon|alloc)\.[0-9][.0-9a-f]*)(?![\w$.-])")

# An array in local memory (OpenCL's __local, CUDA's __shared__): internal, and without a value to begin with. It is in
# address space 3 where the target has one; elsewhere only its name, FUNCTION.VARIABLE, tells.
_LOCAL_ARRAY = re.compile(
    r'^(@(?:[-\w$.]+|"[^"\n]*")) = internal (?:(?:local_)?unnamed_addr )?(addrspace\(3\) )?global [^\n]*? '
    r"(?:undef|poison)(?=,|$)",
    re.MULTILINE,
)
_DEFINED = re.compile(r"^define [^\n]*?(@[-\w$.]+)\(", re.MULTILINE)


def strip_parameters(name: str) -> str:
    """``void f<int>(int)`` as ``f<int>``; names without a parameter list (variables, ``vtable for S``) stay whole."""
    while (clone := _CLONE.search(name)) is not None:
        name = name[: clone.start()]
    name = name.replace("(anonymous namespace)", "{anonymous}")
    while "> >" in name:
        name = name.replace("> >", ">>")
    depth = 0
    start, parameters = 0, -1  # where the last top-level parenthesis opens, and the word before it
    space = -1  # last top-level one, but those after `operator`
    in_operator = False
    # The signs of operator<<, operator() and the like are no brackets; its space parts no words.
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
    # `f(int)::x` is a variable of f: what stands after the parameters is part of the name.
    depths = itertools.accumulate((sign == "(") - (sign == ")") for sign in name[parameters:])
    after = next((name[index:] for index, depth in enumerate(depths, parameters) if depth == 0), "")
    if parameters <= 0 or " for " in name or "::" in after:
        return name
    return name[start:parameters].strip()


def display_symbols(text: str, demangle: Callable[[list[str]], list[str]] | None) -> dict[str, str]:
    """Symbols (with ``@``) of a module's text that statements show in another way, and how."""
    shown: dict[str, str] = {}
    for name in set(_NUMBERED.findall(text)):
        shown["@" + name] = "@" + re.sub(r"\.[0-9][.0-9a-f]*$", "", name)
    if demangle is not None and "@_Z" in text:
        mangled = sorted(set(_MANGLED.findall(text)))
        for name, plain in zip(mangled, demangle(mangled), strict=True):
            if plain != name:
                shown["@" + name] = "@" + strip_parameters(_RUST_HASH.sub("", plain))
    return shown | dict.fromkeys(_local_arrays(text), "%")


def _local_arrays(text: str) -> list[str]:
    """Arrays in local memory. LLVM has them among the globals, but their names are local ones: shown as `%`."""
    arrays = _LOCAL_ARRAY.findall(text.partition("\ndefine ")[0])  # LLVM prints globals before functions
    prefixes = tuple(f"{function}." for function in _DEFINED.findall(text)) if arrays else ()
    return [name for name, in_space_3 in arrays if in_space_3 or name.startswith(prefixes)]


def unescaped(text: str) -> str:
    r"""Contents of a string or quoted name as meant.

    LLVM writes ``\C3\A9`` for bytes that are not printable ASCII, and ``\\`` for ``\``.
    """
    if "\\" not in text:
        return text
    raw = text.encode("utf-8", "surrogateescape")

    def meant(match: re.Match[bytes]) -> bytes:
        return match[1] if match[1] == b"\\" else bytes.fromhex(match[1].decode())

    return _ESCAPE.sub(meant, raw).decode("utf-8", "replace")
