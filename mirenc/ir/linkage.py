"""What a linker makes of the functions of many modules: which it keeps of those that several have."""

from __future__ import annotations

import re

from mirenc.ir.module import IRModule

__all__ = ["Linker", "linkages_of"]

_ONE_OF_MANY = ("linkonce", "linkonce_odr", "weak", "weak_odr")  # inline functions and templates of C++, for one
_ELSEWHERE = "available_externally"  # a body to be inlined; the code is in another library
_WORDS = "|".join((*_ONE_OF_MANY, _ELSEWHERE, "private", "internal"))
_DEFINITION = re.compile(rf'^define (?:({_WORDS}) )?[^\n]*?@("[^"]*"|[-\w$.]+)\(', re.MULTILINE)


def linkages_of(module: IRModule) -> dict[str, str]:
    r"""Linkage of each function with a body, by its name without quotes: LLVM's word, or ``external``.

    Examples
    --------
    >>> from mirenc.ir import parse_ir
    >>> linkages_of(parse_ir("define linkonce_odr void @f() {\n  ret void\n}"))
    {'f': 'linkonce_odr'}
    """
    return {name.strip('"'): word or "external" for word, name in _DEFINITION.findall(module.text)}


class Linker:
    """Takes modules one after the other, as a linker does.

    Attributes
    ----------
    copies : int
        Functions that were dropped since a module before had them, too.
    elsewhere : int
        Functions that were dropped since another library has their code.
    """

    def __init__(self) -> None:
        self.copies = 0
        self.elsewhere = 0
        self._kept: set[str] = set()

    def add(self, module: IRModule) -> set[str]:
        """Names, without quotes, of the next module's functions that are kept."""
        found = set()
        for name, linkage in linkages_of(module).items():
            if linkage == _ELSEWHERE:
                self.elsewhere += 1
            elif linkage in _ONE_OF_MANY and name in self._kept:
                self.copies += 1
            else:
                found.add(name)
                if linkage in _ONE_OF_MANY:
                    self._kept.add(name)
        return found
