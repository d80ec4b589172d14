"""`rust_name` demangles Rust symbols, of the legacy and of the v0 mangling (RFC 2603).

The C++ demangler knows neither, and rust-demangler 1.0 of PyPI misreads closures. Hashes, crate disambiguators and
names of lifetimes are left out. Statements do not use these names, as vectors depend on statements.
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
_NUMBER = "[0-9a-zA-Z]*_"  # `_base_62`
# A letter's meaning: what is passed over after it, what is read then (i: item, k: constant), and how that is shown.
_IMPL, _LIFETIME = f"(?:s{_NUMBER})?", f"(?:L{_NUMBER})?"
_SHAPES = {
    "M": (_IMPL, "ii", "<{1}>"),  # the first of an impl is where it stands
    "X": (_IMPL, "iii", "<{1} as {2}>"),
    "Y": ("", "ii", "<{0} as {1}>"),
    "R": (_LIFETIME, "i", "&{0}"),
    "Q": (_LIFETIME, "i", "&mut {0}"),
    "P": ("", "i", "*const {0}"),
    "O": ("", "i", "*mut {0}"),
    "A": ("", "ik", "[{0}; {1}]"),
    "S": ("", "i", "[{0}]"),
    "L": (_NUMBER, "", "'_"),
    "K": ("", "k", "{0}"),
}
_MAX_LENGTH = 100_000  # short names may expand without end


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
        return _legacy_name(legacy[1]) if legacy else None
    except (ValueError, LookupError, OverflowError, RecursionError):  # a back reference may point at what holds it
        return None


def _legacy_name(path: str) -> str:
    """``4core3ptr`` as ``core::ptr``."""
    names = []
    while path:
        remaining = path.lstrip(string.digits)
        length = int(path[: len(path) - len(remaining)])
        if length > len(remaining):
            raise ValueError(path)
        name, path = remaining[:length], remaining[length:]
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
    """Reader of one v0 name, given without its ``_R``. Raises what `rust_name` catches: the text is no such name."""

    def __init__(self, text: str) -> None:
        self.text, self.position = text, 0

    def read(self) -> str:
        name = self._item(is_value=True)
        if self.position < len(self.text):
            self._item()  # the crate that instantiated it
        self._take(r"\Z")
        return name

    def _take(self, pattern: str) -> re.Match[str]:
        match = re.compile(pattern).match(self.text, self.position)
        if match is None:
            raise ValueError(self.text)
        self.position = match.end()
        return match

    def _items(self) -> list[str]:
        """Items up to an ``E``."""
        items = []
        while not self._take("E?")[0]:
            items.append(self._item())
        return items

    def _identifier(self) -> tuple[str, int]:
        """A name, and its number among several of that name; 0 for the first."""
        number, punycode, length = self._take(rf"(?:s({_NUMBER}))?(u?)(0|[1-9]\d*)_?").groups()
        name = self._take(f".{{{length}}}")[0]
        if punycode:
            prefix, _, tail = name.rpartition("_")
            name = (f"{prefix}-{tail}" if prefix else tail).encode("ascii").decode("punycode")
        return name, 0 if number is None else _base_62(number) + 1

    def _reference(self, read: Callable[[], str]) -> str:
        """What ``read`` gives where a back reference points. Raises ValueError: it points forwards."""
        begin, target = self.position - 1, _base_62(self._take(_NUMBER)[0])
        if target >= begin:
            raise ValueError(self.text)
        resume, self.position = self.position, target
        text = read()
        self.position = resume
        return text

    def _item(self, *, is_value: bool = False) -> str:
        """A path, type or generic argument; generic arguments of a value are written ``::<T>``, of a type ``<T>``."""
        letter = self._take(".")[0]
        if letter in _BASIC:
            text = _BASIC[letter]
        elif letter in _SHAPES:
            skipped, parts, template = _SHAPES[letter]
            self._take(skipped)
            text = template.format(*[self._item() if part == "i" else self._constant() for part in parts])
        elif letter == "B":
            text = self._reference(lambda: self._item(is_value=is_value))
        elif letter == "C":
            text = self._identifier()[0]
        elif letter == "N":
            space, path, (name, number) = self._take("[a-zA-Z]")[0], self._item(is_value=is_value), self._identifier()
            kind = {"C": "closure", "S": "shim"}.get(space, space)
            segment = name if space.islower() else f"{{{kind}{':' if name else ''}{name}#{number}}}"
            text = f"{path}::{segment}" if segment else path
        elif letter == "I":
            text = f"{self._item(is_value=is_value)}{'::' if is_value else ''}<{', '.join(self._items())}>"
        elif letter == "T":
            items = self._items()
            text = f"({', '.join(items)}{',' * (len(items) == 1)})"
        else:
            text = {"F": self._function, "D": self._dynamic}[letter]()
        if len(text) > _MAX_LENGTH:
            raise ValueError(self.text)
        return text

    def _function(self) -> str:
        unsafe, abi_mark = self._take(f"(?:G{_NUMBER})?(U?)(KC?)?").groups()
        words = "unsafe " if unsafe else ""
        if abi_mark:
            abi = "C" if abi_mark == "KC" else self._identifier()[0].replace("_", "-")
            words += f'extern "{abi}" '
        arguments, result = ", ".join(self._items()), self._item()
        return f"{words}fn({arguments})" + ("" if result == "()" else f" -> {result}")

    def _dynamic(self) -> str:
        """Traits, each with what its associated types are: ``dyn Iterator<Item = u8>``."""
        self._take(f"(?:G{_NUMBER})?")
        traits = []
        while not self._take("E?")[0]:
            trait, bindings = self._item(), []
            while self._take("p?")[0]:
                bindings.append(f"{self._identifier()[0]} = {self._item()}")
            if bindings:
                opening = f"{trait[:-1]}, " if trait.endswith(">") else f"{trait}<"
                trait = f"{opening}{', '.join(bindings)}>"
            traits.append(trait)
        self._take(f"L{_NUMBER}")
        return "dyn " + " + ".join(traits)

    def _constant(self) -> str:
        if self._take("B?")[0]:
            return self._reference(self._constant)
        if self._take("p?")[0]:
            return "_"
        letter, sign, digits = self._take("([abchijlmnostxy])(n?)([0-9a-f]*)_").groups()
        value = int(digits or "0", 16)
        if letter == "b":
            return ("false", "true")[value]
        return repr(chr(value)) if letter == "c" else f"{'-' if sign else ''}{value}"


def _base_62(number: str) -> int:
    """Value of a number of base 62 that ``_`` closes: ``_`` alone is 0, ``0_`` is 1."""
    value = 0
    for digit in number[:-1]:
        value = 62 * value + _DIGITS.index(digit)
    return value + (number != "_")
