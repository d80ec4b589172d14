"""Rust's symbol names as people write them: `rust_name` reads the legacy mangling and the v0 one (RFC 2603).

The C++ demangler that LLVM's process has knows neither: it leaves ``$LT$`` in legacy names and refuses ``_R``. Hashes
and crate disambiguators are left out. Names in statements do not come from here: vectors depend on those. The one
package for it on PyPI (rust-demangler 1.0) keeps hashes, and misreads closures, binders and what is no Rust symbol.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable

_LEGACY = re.compile(r"_{1,2}ZN(\d[\w$.]+)17h[0-9a-f]{16}E(?:\.|$)")
_LEGACY_ESCAPE = re.compile(r"\$(\w+)\$|\.\.")
_LEGACY_SIGNS = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}
_BASIC = dict(
    zip(
        "abcdefhijlmnopstuvxyz",
        "i8 bool char f64 str f32 u8 isize usize i32 u32 i128 u128 _ i16 u16 () ... i64 u64 !".split(),
        strict=True,
    )
)
_DIGITS = string.digits + string.ascii_lowercase + string.ascii_uppercase  # of base 62
_DECIMAL = re.compile(r"0|[1-9]\d*")
_MAX_DEPTH = 200  # a back reference may point at what holds it
_MAX_LENGTH = 100_000  # and short names may expand without end


def rust_name(symbol: str) -> str | None:
    """The name that a Rust symbol stands for; None if it is no Rust symbol.

    Examples
    --------
    >>> rust_name("_ZN4core3ptr22drop_in_place$LT$T$GT$17h9e3e349411d6c92eE")
    'core::ptr::drop_in_place<T>'
    >>> rust_name("_RNvNtCs1234_7mycrate3foo3bar")
    'mycrate::foo::bar'
    """
    if symbol.startswith("_R"):
        try:
            return _Symbol(symbol[2:].partition(".")[0]).read()
        except (ValueError, IndexError, KeyError, OverflowError):
            return None
    match = _LEGACY.match(symbol)
    return _legacy(match[1]) if match else None


def _legacy(path: str) -> str | None:
    """``4core3ptr`` as ``core::ptr``."""
    parts = []
    while path:
        digits = re.match(r"\d+", path)
        if digits is None:
            return None
        first, length = digits.end(), int(digits[0])
        if length > len(path) - first:
            return None
        part = path[first : first + length]
        parts.append(_LEGACY_ESCAPE.sub(_legacy_sign, part[1:] if part.startswith("_$") else part))
        path = path[first + length :]
    return "::".join(parts)


def _legacy_sign(match: re.Match[str]) -> str:
    word = match[1]
    if word is None:
        return "::"
    if re.fullmatch(r"u[0-9a-f]{2,5}", word):
        return chr(int(word[1:], 16))
    return _LEGACY_SIGNS.get(word, match[0])


class _Symbol:
    """Reader of one v0 name, without its ``_R``. Every method reads one thing of the grammar and returns its text.

    What is no v0 name raises ValueError, IndexError or KeyError.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.lifetimes = 0  # bound around the place where the reader is

    def read(self) -> str:
        name = self._path(value=True)
        if self.at < len(self.text):
            self._path(value=False)  # the crate that instantiated it
        if self.at != len(self.text):
            raise ValueError(self.text)
        return name

    # -- letters and numbers ---------------------------------------------------------------------------
    def _next(self) -> str:
        self.at += 1
        return self.text[self.at - 1]

    def _accept(self, letter: str) -> bool:
        accepted = self.text.startswith(letter, self.at)
        self.at += accepted
        return accepted

    def _number(self) -> int:
        """Base 62, closed by ``_``; ``_`` alone is 0 and ``0_`` is 1."""
        if self._accept("_"):
            return 0
        value = 0
        while not self._accept("_"):
            value = 62 * value + _DIGITS.index(self._next())
        return value + 1

    def _optional_number(self, letter: str) -> int:
        """0 where the letter is not there, else one more than the number after it."""
        return self._number() + 1 if self._accept(letter) else 0

    def _identifier(self) -> str:
        is_punycode = self._accept("u")
        digits = _DECIMAL.match(self.text, self.at)
        if digits is None:
            raise ValueError(self.text)
        self.at = digits.end()
        self._accept("_")
        name = self.text[self.at : self.at + int(digits[0])]
        self.at += len(name)
        if len(name) != int(digits[0]):
            raise ValueError(self.text)
        if is_punycode:
            head, _, tail = name.rpartition("_")
            name = (f"{head}-{tail}" if head else tail).encode("ascii").decode("punycode")
        return name

    def _until_end(self, read: Callable[[], str]) -> list[str]:
        items = []
        while not self._accept("E"):
            items.append(read())
        return items

    def _at_reference(self, read: Callable[[], str]) -> str:
        """What stands where a back reference points."""
        begin = self.at - 1
        target = self._number()
        if target >= begin:
            raise ValueError(self.text)
        back, self.at = self.at, target
        text = self._nested(read)
        self.at = back
        return text

    def _nested(self, read: Callable[[], str]) -> str:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ValueError(self.text)
        text = read()
        self.depth -= 1
        if len(text) > _MAX_LENGTH:
            raise ValueError(self.text)
        return text

    # -- paths -----------------------------------------------------------------------------------------
    def _path(self, *, value: bool) -> str:
        """A path; of a value, its generic arguments are written ``::<T>``, of a type ``<T>``."""
        return self._nested(lambda: self._path_of(self._next(), value))

    def _path_of(self, letter: str, value: bool) -> str:
        if letter == "C":
            self._optional_number("s")
            return self._identifier()
        if letter in "MX":
            self._optional_number("s")
            self._path(value=False)  # where the impl stands
        if letter == "M":
            return f"<{self._type()}>"
        if letter in "XY":
            return f"<{self._type()} as {self._path(value=False)}>"
        if letter == "N":
            namespace = self._next()
            path, number, name = self._path(value=value), self._optional_number("s"), self._identifier()
            if namespace.islower():
                return f"{path}::{name}" if name else path
            kind = {"C": "closure", "S": "shim"}.get(namespace, namespace)
            return f"{path}::{{{kind}{':' if name else ''}{name}#{number}}}"
        if letter == "I":
            path = self._path(value=value)
            return f"{path}{'::' if value else ''}<{', '.join(self._until_end(self._generic_argument))}>"
        if letter == "B":
            return self._at_reference(lambda: self._path(value=value))
        raise ValueError(self.text)

    def _generic_argument(self) -> str:
        if self._accept("L"):
            return self._lifetime(self._number())
        return self._const() if self._accept("K") else self._type()

    def _lifetime(self, index: int) -> str:
        if index == 0:
            return "'_"
        level = self.lifetimes - index
        if level < 0:
            raise ValueError(self.text)
        return f"'{string.ascii_lowercase[level]}" if level < 26 else f"'_{level}"

    # -- types and constants ---------------------------------------------------------------------------
    def _type(self) -> str:
        return self._nested(lambda: self._type_of(self._next()))

    def _type_of(self, letter: str) -> str:
        if letter in _BASIC:
            return _BASIC[letter]
        if letter in "RQ":
            lifetime = self._lifetime(self._number()) if self._accept("L") else "'_"
            shown = "" if lifetime == "'_" else lifetime + " "
            return f"&{shown}{'mut ' if letter == 'Q' else ''}{self._type()}"
        if letter in "PO":
            return f"*{'const' if letter == 'P' else 'mut'} {self._type()}"
        if letter == "A":
            return f"[{self._type()}; {self._const()}]"
        if letter == "S":
            return f"[{self._type()}]"
        if letter == "T":
            items = self._until_end(self._type)
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        if letter == "F":
            return self._bound(self._function_type)
        if letter == "D":
            traits = self._bound(lambda: " + ".join(self._until_end(self._trait)))
            if not self._accept("L"):
                raise ValueError(self.text)
            lifetime = self._lifetime(self._number())
            return f"dyn {traits}" + ("" if lifetime == "'_" else f" + {lifetime}")
        if letter == "B":
            return self._at_reference(self._type)
        self.at -= 1
        return self._path(value=False)

    def _bound(self, read: Callable[[], str]) -> str:
        """What a ``for<'a>`` may stand before."""
        count = self._optional_number("G")
        if count > len(self.text):
            raise ValueError(self.text)
        self.lifetimes += count
        names = ", ".join(self._lifetime(index) for index in range(count, 0, -1))
        text = read()
        self.lifetimes -= count
        return f"for<{names}> {text}" if count else text

    def _function_type(self) -> str:
        words = "unsafe " if self._accept("U") else ""
        if self._accept("K"):
            abi = "C" if self._accept("C") else self._identifier().replace("_", "-")
            words += f'extern "{abi}" '
        arguments = ", ".join(self._until_end(self._type))
        result = self._type()
        return f"{words}fn({arguments})" + ("" if result == "()" else f" -> {result}")

    def _trait(self) -> str:
        """A trait with what its associated types are: ``Iterator<Item = u8>``."""
        path = self._path(value=False)
        associated = []
        while self._accept("p"):
            associated.append(f"{self._identifier()} = {self._type()}")
        if not associated:
            return path
        joined = ", ".join(associated)
        return f"{path[:-1]}, {joined}>" if path.endswith(">") else f"{path}<{joined}>"

    def _const(self) -> str:
        if self._accept("B"):
            return self._at_reference(self._const)
        letter = self._next()
        if letter == "p":
            return "_"
        sign = "-" if self._accept("n") else ""
        digits = self.text[self.at : self.text.index("_", self.at)]
        self.at += len(digits) + 1
        value = int(digits or "0", 16)
        if letter == "b":
            return ("false", "true")[value]
        if letter == "c":
            return repr(chr(value))
        if letter not in "ahijlmnosxyt":
            raise ValueError(self.text)
        return f"{sign}{value}"
