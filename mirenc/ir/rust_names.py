"""Rust's symbol names as people write them: `rust_name` reads the legacy mangling and the v0 one (RFC 2603).

The C++ demangler knows neither, and PyPI's rust-demangler 1.0 misreads closures. Hashes, crate disambiguators and the
names of lifetimes are left out. Names in statements do not come from here: vectors depend on those.
"""

import re
import string
from collections.abc import Callable

_LEGACY = re.compile(r"_{1,2}ZN(\d[\w$.]+)17h[0-9a-f]{16}E(?:\.|$)")
_LEGACY_ESCAPE = re.compile(r"\$(\w+)\$|\.\.")
_LEGACY_SIGNS = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}
_BASIC_TYPES = "i8 bool char f64 str f32 u8 isize usize i32 u32 i128 u128 _ i16 u16 () ... i64 u64 !".split()
_BASIC = dict(zip("abcdefhijlmnopstuvxyz", _BASIC_TYPES, strict=True))
_DIGITS = string.digits + string.ascii_lowercase + string.ascii_uppercase  # of base 62
_LETTER = re.compile(r"[a-zA-Z]")
_NUMBER = re.compile(r"([0-9a-zA-Z]*)_")
_LENGTH = re.compile(r"(u?)(0|[1-9]\d*)_?")
_CONSTANT = re.compile(r"([abchijlmnostxy])(n?)([0-9a-f]*)_")
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
    try:
        if re.match("_R[CMXYNIB]", symbol):
            return _Symbol(symbol[2:].partition(".")[0]).read()
        legacy = _LEGACY.match(symbol)
        return _legacy(legacy[1]) if legacy else None
    except (ValueError, IndexError, KeyError, OverflowError):
        return None


def _legacy(path: str) -> str:
    """``4core3ptr`` as ``core::ptr``."""
    names = []
    while path:
        rest = path.lstrip(string.digits)
        length = int(path[: len(path) - len(rest)])
        if length > len(rest):
            raise ValueError(path)
        name, path = rest[:length], rest[length:]
        names.append(_LEGACY_ESCAPE.sub(_legacy_sign, name[name.startswith("_$") :]))
    return "::".join(names)


def _legacy_sign(match: re.Match[str]) -> str:
    word = match[1]
    if word is None:
        return "::"
    if re.fullmatch(r"u[0-9a-f]{2,5}", word):
        return chr(int(word[1:], 16))
    return _LEGACY_SIGNS.get(word, match[0])


class _Symbol:
    """Reader of one v0 name, without its ``_R``; what is none raises ValueError, IndexError or KeyError."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = self.depth = 0

    def read(self) -> str:
        name = self._item(is_value=True)
        if self.at < len(self.text):
            self._item()  # the crate that instantiated it
        if self.at < len(self.text):
            raise ValueError(self.text)
        return name

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise ValueError(self.text)
        self.at = match.end()
        return match

    def _accept(self, letter: str) -> bool:
        accepted = self.text.startswith(letter, self.at)
        self.at += accepted
        return accepted

    def _number(self) -> int:
        """Base 62, closed by ``_``; ``_`` alone is 0 and ``0_`` is 1."""
        digits, value = self._take(_NUMBER)[1], 0
        for digit in digits:
            value = 62 * value + _DIGITS.index(digit)
        return value + bool(digits)

    def _optional_number(self, letter: str) -> int:
        """0 where the letter is not there, else one more than the number after it."""
        return self._number() + 1 if self._accept(letter) else 0

    def _identifier(self) -> str:
        length = self._take(_LENGTH)
        self.at += int(length[2])
        if self.at > len(self.text):
            raise ValueError(self.text)
        name = self.text[length.end() : self.at]
        if length[1]:
            head, _, tail = name.rpartition("_")
            name = (f"{head}-{tail}" if head else tail).encode("ascii").decode("punycode")
        return name

    def _items(self, after_one: str = "") -> str:
        """Items up to an ``E``, with commas."""
        items = []
        while not self._accept("E"):
            items.append(self._item())
        return ", ".join(items) + (after_one if len(items) == 1 else "")

    def _reference(self, read: Callable[[], str]) -> str:
        """What stands where a back reference points."""
        begin, target = self.at - 1, self._number()
        if target >= begin:
            raise ValueError(self.text)
        back, self.at = self.at, target
        text = read()
        self.at = back
        return text

    def _item(self, *, is_value: bool = False) -> str:
        """A path, type or generic argument; generic arguments of a value are written ``::<T>``, of a type ``<T>``."""
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ValueError(self.text)
        letter = self.text[self.at]
        self.at += 1
        text = self._path(letter, is_value) if letter in "CMXYNIB" else self._type(letter)
        self.depth -= 1
        if len(text) > _MAX_LENGTH:
            raise ValueError(self.text)
        return text

    def _path(self, letter: str, is_value: bool) -> str:
        if letter == "B":
            return self._reference(lambda: self._item(is_value=is_value))
        if letter == "N":
            namespace = self._take(_LETTER)[0]
            path, number, name = self._item(is_value=is_value), self._optional_number("s"), self._identifier()
            if namespace.islower():
                return f"{path}::{name}" if name else path
            kind = {"C": "closure", "S": "shim"}.get(namespace, namespace)
            return f"{path}::{{{kind}{':' if name else ''}{name}#{number}}}"
        if letter == "I":
            return f"{self._item(is_value=is_value)}{'::' if is_value else ''}<{self._items()}>"
        if letter in "CMX":
            self._optional_number("s")
        if letter == "C":
            return self._identifier()
        if letter in "MX":
            self._item()  # where the impl stands
        return f"<{self._item()}>" if letter == "M" else f"<{self._item()} as {self._item()}>"

    def _type(self, letter: str) -> str:
        if letter in _BASIC:
            return _BASIC[letter]
        if letter == "L":
            self._number()
            return "'_"
        if letter == "K":
            return self._constant()
        if letter in "RQ":
            self._optional_number("L")
            return f"&{'mut ' if letter == 'Q' else ''}{self._item()}"
        if letter in "PO":
            return f"*{'const' if letter == 'P' else 'mut'} {self._item()}"
        if letter == "A":
            return f"[{self._item()}; {self._constant()}]"
        if letter == "S":
            return f"[{self._item()}]"
        if letter == "T":
            return f"({self._items(after_one=',')})"
        self._optional_number("G")
        if letter == "D":
            return self._dynamic_type()
        if letter != "F":
            raise ValueError(self.text)
        words = "unsafe " if self._accept("U") else ""
        if self._accept("K"):
            abi = "C" if self._accept("C") else self._identifier().replace("_", "-")
            words += f'extern "{abi}" '
        arguments, result = self._items(), self._item()
        return f"{words}fn({arguments})" + ("" if result == "()" else f" -> {result}")

    def _dynamic_type(self) -> str:
        """Traits, each with what its associated types are: ``dyn Iterator<Item = u8>``."""
        traits = []
        while not self._accept("E"):
            trait, associated = self._item(), []
            while self._accept("p"):
                associated.append(f"{self._identifier()} = {self._item()}")
            if associated:
                opening = f"{trait[:-1]}, " if trait.endswith(">") else f"{trait}<"
                trait = f"{opening}{', '.join(associated)}>"
            traits.append(trait)
        if not self._optional_number("L"):
            raise ValueError(self.text)
        return "dyn " + " + ".join(traits)

    def _constant(self) -> str:
        if self._accept("B"):
            return self._reference(self._constant)
        if self._accept("p"):
            return "_"
        letter, sign, digits = self._take(_CONSTANT).groups()
        value = int(digits or "0", 16)
        if letter == "b":
            return ("false", "true")[value]
        return repr(chr(value)) if letter == "c" else f"{'-' if sign else ''}{value}"
