"""What a linker makes of the functions of many modules: which it keeps of those that several have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from mirenc.ir.module import IRModule

__all__ = ["Linker", "linkages_of", "object_name"]

_ONE_OF_MANY = ("linkonce", "linkonce_odr", "weak", "weak_odr")  # inline functions and templates of C++, for one
_WORDS = "|".join((*_ONE_OF_MANY, "available_externally", "private", "internal"))
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2})")
_DEFINITION = re.compile(rf'^define (?:({_WORDS}) )?[^\n]*?@("[^"]*"|[-\w$.]+)\(', re.MULTILINE)


def linkages_of(module: IRModule) -> dict[str, str]:
    r"""Linkage of each function with a body, by its name in an object file: LLVM's word, or ``external``.

    Examples
    --------
    >>> from mirenc.ir import parse_ir
    >>> linkages_of(parse_ir("define linkonce_odr void @f() {\n  ret void\n}"))
    {'f': 'linkonce_odr'}
    """
    return {object_name(name): word or "external" for word, name in _DEFINITION.findall(module.text)}


def object_name(name: str) -> str:
    r"""A function's name as an object file of ELF has it: without LLVM's quotes, escapes, and the mark ``\01``."""
    raw = _ESCAPE.sub(
        lambda found: bytes.fromhex(found[1].decode()), name.strip('"').encode("utf-8", "surrogateescape")
    )
    return raw.removeprefix(b"\1").decode("utf-8", "replace")


class Linker:
    """Takes modules one after the other, as a linker does.

    Attributes
    ----------
    copies : int
        Functions that were dropped since a module before had them, too.
    """

    def __init__(self) -> None:
        self.copies = 0
        self._kept: set[str] = set()

    def add(self, linkages: Mapping[str, str], names: Iterable[str]) -> list[str]:
        """Those of the next module's functions that are kept.

        Parameters
        ----------
        linkages : mapping of str to str
            `linkages_of` the module.
        names : iterable of str
            The functions that its object file has.
        """
        found = []
        for name in names:
            shared = linkages.get(name) in _ONE_OF_MANY
            if shared and name in self._kept:
                self.copies += 1
                continue
            found.append(name)
            if shared:
                self._kept.add(name)
        return found
