"""Element types of the generated loops."""

from __future__ import annotations

__all__ = [
    "ALL",
    "FLOATS",
    "INTEGERS",
    "LETTERS",
    "NARROW",
    "NARROWING",
    "SIGNED",
    "UNSIGNED",
    "WIDENING",
    "WIDE_UNSIGNED",
    "TypePair",
    "is_float",
    "is_unsigned",
]

TypePair = tuple[str, str]

# The letter of mirenc_types by type of C.
LETTERS = {
    "char": "b",
    "int8_t": "b",
    "uint8_t": "b",
    "int16_t": "h",
    "uint16_t": "h",
    "int": "i",
    "unsigned": "i",
    "int32_t": "i",
    "uint32_t": "i",
    "int64_t": "l",
    "uint64_t": "l",
    "long": "l",
    "size_t": "l",
    "ptrdiff_t": "l",
    "float": "f",
    "double": "d",
}


def _same(*names: str) -> tuple[TypePair, ...]:
    return tuple((name, name) for name in names)


FLOATS = _same("float", "float", "double")
SIGNED = _same("int8_t", "int16_t", "int", "int64_t")
UNSIGNED = _same("uint8_t", "uint16_t", "uint32_t", "uint64_t")
WIDE_UNSIGNED = _same("uint32_t", "uint64_t")
NARROW = _same("uint8_t", "int8_t", "uint16_t", "int16_t")
INTEGERS = SIGNED + UNSIGNED
ALL = INTEGERS + FLOATS + FLOATS
# U holds more than T.
WIDENING: tuple[TypePair, ...] = (
    ("uint8_t", "uint16_t"),
    ("uint8_t", "uint32_t"),
    ("int8_t", "int"),
    ("uint8_t", "uint64_t"),
    ("int16_t", "int"),
    ("uint16_t", "uint32_t"),
    ("int16_t", "int64_t"),
    ("int", "int64_t"),
    ("uint32_t", "uint64_t"),
    ("float", "double"),
    ("uint8_t", "float"),
    ("int16_t", "float"),
    ("int", "double"),
    ("int16_t", "double"),
    ("uint8_t", "double"),
)
# U holds less than T.
NARROWING: tuple[TypePair, ...] = (
    ("uint16_t", "uint8_t"),
    ("int", "int8_t"),
    ("uint32_t", "uint8_t"),
    ("int", "int16_t"),
    ("int64_t", "int"),
    ("uint64_t", "uint8_t"),
    ("int64_t", "int16_t"),
    ("double", "float"),
    ("float", "uint8_t"),
    ("float", "int16_t"),
    ("double", "int"),
    ("double", "int16_t"),
)


def is_float(name: str) -> bool:
    """Whether a type of C is a floating type."""
    return name in ("float", "double")


def is_unsigned(name: str) -> bool:
    """Whether a type of C is an unsigned integer."""
    return name.startswith("u") or name == "size_t"
