"""Floating-point literals of LLVM 23, in the spelling that LLVM 22 reads: ``f0x3FC00001``, ``+inf``, ``float 0.1``."""

import math
import re
import struct
from fractions import Fraction

# Width of exponent and mantissa, without the bit of x86_fp80 that says that a number is normal.
_FORMATS = {"half": (5, 10), "bfloat": (8, 7), "float": (8, 23), "double": (11, 52), "x86_fp80": (15, 63)}
_FORMATS["fp128"] = (15, 112)
_FARTHEST = 40_000  # powers of two and of ten
_NUMBER = r"0x[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?p[-+]?\d+|\d+\.\d*(?:e[-+]?\d+)?"
_TOKEN = re.compile(
    r'[%@!$c]?"[^"]*"|;[^\n]*|[%@!$][-\w.$]+|(?<![\w.])(?:'  # strings, comments and names are skipped
    rf"(?P<type>{'|'.join(_FORMATS)}|ppc_fp128)\b"
    rf"|(?P<literal>f0x(?P<bits>[0-9a-fA-F]+)|(?P<sign>[-+]?)(?P<number>{_NUMBER})|[-+](?:inf|qnan|s?nan\(\w+\))))"
)


def older_literals(text: str) -> str:
    """Text with each literal as LLVM 22 writes it, which is the same number; those of ppc_fp128 stay."""
    kind = ""

    def respell(token: re.Match[str]) -> str:
        nonlocal kind
        kind = token["type"] or kind
        if token["literal"] is None or kind not in _FORMATS:
            return token[0]
        exponent, mantissa = _FORMATS[kind]
        width = exponent + mantissa
        if token["bits"]:
            bits = int(token["bits"], 16)
            if kind == "x86_fp80":
                bits = bits >> 64 << 63 | bits & (1 << 63) - 1
        else:
            magnitude = _magnitude(token["number"] or token[0][1:], exponent, mantissa)
            bits = magnitude | (token[0].startswith("-") << width)
        return _spell(kind, bits, width)

    return _TOKEN.sub(respell, text)


def _magnitude(word: str, exponent: int, mantissa: int) -> int:
    """Bits of a number without its sign, rounded to the nearest, or of infinity or a NaN."""
    top = (1 << exponent) - 1 << mantissa
    quiet = 1 << mantissa - 1
    if word in ("inf", "qnan"):
        return top | quiet * (word == "qnan")
    if "nan(" in word:
        return top | quiet * (word[0] != "s") | int(word.partition("(")[2][:-1], 0)
    digits, mark, power = word.removeprefix("0x").partition("p" if word.startswith("0x") else "e")
    # So far from 1 it is infinity or zero in every format; the number itself could have more digits than memory.
    if mark and abs(int(power[:20])) > _FARTHEST + 4 * len(word):
        return 0 if power.startswith("-") or not digits.strip("0.") else top
    if word.startswith("0x"):
        integer, _, fraction = digits.partition(".")
        value = Fraction(int(integer + fraction, 16)) * Fraction(2) ** (int(power) - 4 * len(fraction))
    else:
        value = Fraction(word)
    bias = (1 << exponent - 1) - 1
    size = value.numerator.bit_length() - value.denominator.bit_length()
    place = max(size - (value < Fraction(2) ** size), 1 - bias)
    return min(round(value * Fraction(2) ** (mantissa - place)) + (place + bias - 1 << mantissa), top) if value else 0


def _spell(kind: str, bits: int, width: int) -> str:
    """Bits as LLVM 22 writes them: a float in those of a double, an fp128 with its low half first."""
    if kind == "float":
        (number,) = struct.unpack("f", struct.pack("I", bits))
        nan = bits >> 31 << 63 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29
        return f"0x{nan if math.isnan(number) else struct.unpack('Q', struct.pack('d', number))[0]:016X}"
    if kind == "x86_fp80":
        top, low_bits = bits >> 63, bits & (1 << 63) - 1
        return f"0xK{top:04X}{low_bits | (top & 0x7FFF != 0) << 63:016X}"
    if kind == "fp128":
        return f"0xL{bits & (1 << 64) - 1:016X}{bits >> 64:016X}"
    mark = {"half": "H", "bfloat": "R"}.get(kind, "")
    return f"0x{mark}{bits:0{(width + 1) // 4}X}"
