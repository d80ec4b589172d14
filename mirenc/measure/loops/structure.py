"""The structures: C functions around one innermost loop, with holes; each is a text in ``kernels/loops``.

``@`` stands before the loop that is decided about. These words are filled in: ``T`` and ``U`` (element types; ``T`` may
be ``T/U``), ``I`` (type of counters), ``J`` (a signed one), ``_F`` (``f`` after a literal or a function of math.h if
``T`` is float), and those of the header. A driver calls the function many times before it puts its data back: a
condition on what the loop itself changes settles after the first call, so few have one. A header says beside them:

- ``sizes``: what ``n`` may be, a name in `SIZES`.
- ``trip``: trip count of the loop, an expression of ``n`` and the words; ``unknown`` before the loop runs.
- ``rows``: whether the body may stand in a loop over rows, each pointer moved on by its length after each.
- ``constant``: whether ``n`` may be a constant of the source.
- ``order``: work of a call is about ``n ** order`` iterations.
- ``weight``: how often it is drawn, from 1 to 4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random

from mirenc.errors import ConfigError
from mirenc.measure.kernel_files import KernelText, read_folder

# The letter of mirenc_types by type of C.
LETTERS = {
    **dict.fromkeys(("char", "int8_t", "uint8_t"), "b"),
    **dict.fromkeys(("int16_t", "uint16_t"), "h"),
    **dict.fromkeys(("int", "unsigned", "int32_t", "uint32_t"), "i"),
    **dict.fromkeys(("int64_t", "uint64_t", "long", "size_t", "ptrdiff_t"), "l"),
    "float": "f",
    "double": "d",
}
# What a header says, and what holds where it does not.
_KEYS = {"sizes": "any", "trip": "n", "rows": "yes", "constant": "yes", "order": "1", "weight": "2"}

# Ranges of trip counts, and which of them is drawn how often.
_RANGES = {
    "tiny": (1, 2, 3, 3, 4, 4, 5, 5, 6, 7),
    "short": (8, 9, 12, 15, 16, 16, 17, 20, 24, 27, 30, 31),
    "middle": (32, 33, 40, 50, 63, 64, 64, 75, 96, 100, 127, 128, 160, 200, 250, 255),
    "thousands": (1000, 1023, 1024, 1500, 2000, 2048, 3001, 4000, 4096, 4096, 4099, 5000),
    "ten thousands": (20000, 32768, 50000, 60001, 65536, 65536),
    "million": (1000000, 1048576, 1048579),
}
SIZES = {
    "any": {"tiny": 0.18, "short": 0.24, "middle": 0.26, "thousands": 0.23, "ten thousands": 0.07, "million": 0.02},
    "work": {"tiny": 0.18, "short": 0.25, "middle": 0.3, "thousands": 0.27},
    "long": {"middle": 0.15, "thousands": 0.5, "ten thousands": 0.32, "million": 0.03},
    "short": {"tiny": 0.4, "short": 0.35, "middle": 0.25},
    "side": {"tiny": 0.2, "short": 0.4, "middle": 0.4},
    "small side": {"tiny": 0.35, "short": 0.65},
    "fixed": {"fixed": 1.0},
}
"""Shares of the ranges; ``fixed``: the source says it, and 32 stands for it."""


def draw_size(kind: str, rng: Random) -> int:
    """Draw a trip count of a kind in `SIZES`, at least 1."""
    ranges = SIZES[kind]
    name = rng.choices(list(ranges), weights=list(ranges.values()))[0]
    return rng.choice(_RANGES[name]) if name in _RANGES else 32


def fill_value(fill: str, ctype: str) -> str:
    """What a driver puts into an array (FILL or FILL ARGUMENT); data stay as they are however often a loop runs.

    It is C, of ``i`` (the element), ``count`` (of elements), ``now`` (the array) and ``next()`` (32 random bits).
    """
    name, _, argument = fill.partition(" ")
    real = ctype in ("float", "double")
    unsigned = ctype.startswith("u") or ctype == "size_t"
    wide = "next()" if unsigned or ctype in ("int8_t", "char") else "(int)(next() % 20001) - 10000"
    values = {
        "plain": "(next() % 2001) / 1000.0 - 1" if real else f"(int)(next() % 41){'' if unsigned else ' - 20'}",
        "positive": "0.5 + (next() % 1001) / 1000.0" if real else "1 + next() % 20",
        "near": "0.999 + (next() % 2001) / 1000000.0" if real else "next() % 2 * 2 + 1",
        "percent": "(next() % 10000) / 100.0" if real else "next() % 100",
        "waves": "i / 64 * 37 % 100" + (" + 0.5" if real else ""),
        "ramp": "i % 97" + (" / 97.0" if real else ""),
        "any": "(next() % 20001) / 100.0 - 100" if real else wide,
        "zero": "0",
        "identity": f"i % ({argument})",
        "clustered": f"((i / 16 * 2654435761ul) % ({argument}) + next() % 16) % ({argument})",
        "random": f"next() % ({argument})",
        "shuffled": f"(i * 7919ul + 13) % ({argument})",
        "skewed": f"(next() % 4 ? next() % 8 : next()) % ({argument})",
        "flags": f"next() % 100 < {argument}",
        "only": f"i == (long)({argument})",
        "text": 'i + 1 == count ? 0 : " etaoinshrdlu,.ETA09"[next() % 20]',
        "starts": f"i == 0 ? 0 : now[i - 1] + next() % (2 * ({argument}) + 1)",
        "powers": "i == 0 ? 0 : now[i - 1] + (next() % 16 ? next() % 4 : next() % 64)",
        "sorted": "i * 2",
    }
    if name not in values:
        raise ConfigError(f"fill {fill!r} is unknown; known: {', '.join(sorted(values))}")
    return values[name]


@cache
def structures() -> Mapping[str, Sequence[KernelText]]:
    """All of them by family: a family is what the strictest protocol leaves out as a whole."""
    families = read_folder("loops", _KEYS)
    for texts in families.values():
        for text in texts:
            _check(text)
    return families


def _check(text: KernelText) -> None:
    """Refuse a header with a value that is not allowed."""
    if sum(line.count("@") for line in text.body) != 1:
        text.fail("name", f"{text.name!r} has not one loop with @ before it")
    for kind in "/".join(text.words["T"]).split("/"):
        if kind not in LETTERS:
            text.fail("T", f"may be {kind!r}; allowed: {', '.join(LETTERS)}")
    for name in set(re.findall(r"[A-Za-z_]\w*", text.keys["trip"])) - {"n", "unknown", *text.words}:
        text.fail("trip", f"has {name!r}; allowed are n, numbers, + - * / and words of the header, or unknown")
    for parameter, value in text.data.items():
        fill = value.partition(": ")[2]
        for one in text.words.get(fill.partition(" ")[0], (fill or "plain",)):
            try:
                fill_value(one, "int")
            except ConfigError as error:
                text.fail(parameter, f"has a {error}")
    text.choice("sizes", tuple(SIZES))
    for key in ("rows", "constant"):
        text.flag(key)
    for key in ("order", "weight"):
        text.number(key)
