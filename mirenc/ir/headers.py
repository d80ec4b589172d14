"""The first line of a function in canonical text."""

from __future__ import annotations

from mirenc.ir.module import IRArgument
from mirenc.ir.parser import Parser

__all__ = ["parse_header"]


def parse_header(line: str) -> tuple[str, str, tuple[IRArgument, ...], bool, list[str]]:
    """Name, return type, arguments, variadic, and the arguments' printed names, of a ``define`` or ``declare`` line."""
    parser = Parser(line)
    parser.at = 1
    while not parser.at_type():
        first = parser.at
        parser.at += 1
        if parser.word == "(":
            parser.skip_balanced()
        elif parser.word == "=":
            parser.at += 2
        elif parser.kind == "number" and parser.words[first] in ("align", "cc"):
            parser.at += 1
    return_type = parser.type()
    name = parser.word[1:]
    parser.at += 2  # name, opening parenthesis
    arguments: list[IRArgument] = []
    printed_names: list[str] = []
    is_variadic = False
    while parser.at < parser.count and not parser.accept(")"):
        if parser.accept("..."):
            is_variadic = True
            continue
        type_text = parser.type()
        parser.attributes()
        printed = ""
        if parser.kind == "local":
            printed = parser.word[1:]
            parser.at += 1
        printed_names.append(printed)
        arguments.append(IRArgument(printed.strip('"'), type_text))
        parser.accept(",")
    return name, return_type, tuple(arguments), is_variadic, printed_names
