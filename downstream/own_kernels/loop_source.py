"""The source of a generated loop: a structure with types, sizes and style filled in.

Structures are C functions around one innermost loop, with holes; each is a text in ``loops``.

``@`` stands before the loop that is decided about. These words are filled in: ``T`` and ``U`` (element types; ``T`` may
be ``T/U``), ``I`` (type of counters), ``J`` (a signed one), ``_F`` (``f`` after a literal or a function of math.h if
``T`` is float), and those of the header. A driver calls the function many times before it puts its data back: a
condition on what the loop itself changes settles after the first call, so few have one. A header says beside them:

- ``sizes``: what ``n`` may be, a name in `SIZES`.
- ``trip``: trip count of the loop, an expression (`mirenc.tools.measure.expressions`) of ``n`` and the words;
  ``unknown`` before the loop runs.
- ``rows``: whether the body may stand in a loop over rows, each pointer moved on by its length after each.
- ``constant``: whether ``n`` may be a constant of the source.
- ``order``: work of a call is about ``n ** order`` iterations.
- ``weight``: how often it is drawn, from 1 to 4.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from kernel_files import HERE, KernelText, fill_words, read_folder

from mirenc.tools.measure.expressions import read_expression

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
    is_real = ctype in ("float", "double")
    unsigned = ctype.startswith("u") or ctype == "size_t"
    wide_range = "next()" if unsigned or ctype in ("int8_t", "char") else "(int)(next() % 20001) - 10000"
    values = {
        "plain": "(next() % 2001) / 1000.0 - 1" if is_real else f"(int)(next() % 41){'' if unsigned else ' - 20'}",
        "positive": "0.5 + (next() % 1001) / 1000.0" if is_real else "1 + next() % 20",
        "near": "0.999 + (next() % 2001) / 1000000.0" if is_real else "next() % 2 * 2 + 1",
        "percent": "(next() % 10000) / 100.0" if is_real else "next() % 100",
        "waves": "i / 64 * 37 % 100" + (" + 0.5" if is_real else ""),
        "ramp": "i % 97" + (" / 97.0" if is_real else ""),
        "any": "(next() % 20001) / 100.0 - 100" if is_real else wide_range,
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
    return values[name]


@cache
def structures() -> Mapping[str, Sequence[KernelText]]:
    """All of them by family."""
    return read_folder(HERE / "loops", _KEYS)


COUNTERS = ("int", "int", "int", "size_t", "size_t", "size_t", "long", "unsigned", "int64_t", "uint32_t")
SIGNED_COUNTERS = ("int", "int", "long", "int64_t", "ptrdiff_t")
# Names tell nothing about the structure: a head must read the loop, not its label.
VERBS = ("update", "process", "run", "apply", "compute", "handle", "step", "work", "do", "pass", "calc", "eval")
NOUNS = ("block", "data", "line", "cells", "items", "stage", "chunk", "part", "frame", "batch", "level", "kernel")
# A body that is moved into a loop over rows writes here what it returned before.
RESULTS = "results"
_MATH = re.compile(r"\b(sqrt|fabs|floor|exp|log|pow|sin|cos|fmin|fmax|fma|hypot|round|trunc|atan2)_F\(")


@dataclass(frozen=True)
class Parameter:
    """A parameter as it stands in the source; ``ctype`` is that of elements, ``changed``: the function may write."""

    text: str
    name: str
    ctype: str
    pointer: bool
    changed: bool


@dataclass(frozen=True)
class Source:
    """A function of C, and what its driver must know of it."""

    text: str
    function: str
    line: int  # of the loop
    returns: str
    parameters: tuple[Parameter, ...]
    data: Mapping[str, str]  # what each parameter holds (`kernel_files`)
    structs: str  # types that the driver needs
    n: int  # trip count
    rows: int  # how many rows the loop stands in; 0: none
    trip_count: int  # what the compiler can know of it; 0: nothing


def write_source(text: KernelText, n: int, rng: Random) -> Source:
    """Write a structure's source for ``n``, with types and style drawn at random."""
    words, code = _draw_words(text, rng), "\n".join((*text.parameters, *text.body))
    body = [fill_words(line, words) for line in text.body]
    data = {name: fill_words(value, words) for name, value in text.data.items()}
    preamble, returns = fill_words(text.preamble, words), fill_words(text.returns, words)
    parameters = [_read_parameter(fill_words(parameter, words), words["T"]) for parameter in text.parameters]
    rows, share = 0, 0.7 if n < 32 else 0.35 if n < 256 else 0.0
    if text.keys["rows"] == "yes" and rng.random() < share:
        rows = max(4, rng.choice((800, 3000, 6000)) // n)
    # A short loop of constant trip count is unrolled away before the vectorizer sees it.
    constant = text.keys["constant"] == "yes" and n >= 120 and rng.random() < 0.3
    if rows:
        body = _wrap_in_rows(body, parameters, data, words["I"])
        if returns != "void":
            parameters.insert(0, _read_parameter(f"{returns} *{RESULTS}", words["T"]))
            data[RESULTS], returns = "1: zero", "void"
        parameters.append(_read_parameter(f"{words['I']} rows", words["T"]))
        data["rows"] = "rows"
    if constant:
        body = [re.sub(r"\bn\b", str(n), line) for line in body]
        parameters = [parameter for parameter in parameters if parameter.name != "n"]
    # Without `restrict` the compiler cannot check that such places are apart, and most such loops are as they are.
    share = 0.85 if re.search(r"\[\w+\[|\[[^\]]*[/%&^>]", code) else 0.5
    if rng.random() < share and not any(value.startswith("=") for value in data.values()):
        parameters = [
            replace(parameter, text=re.sub(r"\*(?=[a-z])", "*restrict ", parameter.text)) for parameter in parameters
        ]
    function = f"{rng.choice(VERBS)}_{rng.choice(NOUNS)}"
    headers = ["#include <stddef.h>", "#include <stdint.h>"]
    if _MATH.search(code):
        headers.insert(0, "#include <math.h>")
    if re.search(r"\babs\(", code):
        headers.append("#include <stdlib.h>")
    signature = f"{returns} {function}({', '.join(parameter.text for parameter in parameters)})"
    trip = fill_words(text.keys["trip"], words)
    is_known = trip != "unknown" and (constant or not re.search(r"\bn\b", trip))
    trip_count = int(read_expression(trip, ("n",))(n=n)) if is_known else 0
    lines = [*headers, "", *([*preamble.split("\n"), ""] if preamble else [])]
    lines += [signature, "{", *(f"    {line}" if line else "" for line in body), "}"]
    return Source(
        text="\n".join(lines).replace("@", "") + "\n",
        function=function,
        line=next(number for number, line in enumerate(lines, 1) if "@" in line),
        returns=returns,
        parameters=tuple(parameters),
        data=data,
        structs=preamble if preamble.startswith("struct") else "",
        n=n,
        rows=rows,
        trip_count=trip_count,
    )


def _draw_words(text: KernelText, rng: Random) -> dict[str, str]:
    choices = dict(text.words)
    first, _, second = rng.choice(choices.pop("T")).partition("/")
    words = {"T": first, "U": second or first, "_F": "f" if first == "float" else ""}
    words |= {"I": rng.choice(COUNTERS), "J": rng.choice(SIGNED_COUNTERS)}
    return words | {word: rng.choice(values) for word, values in choices.items()}


def _read_parameter(text: str, element: str) -> Parameter:
    name = re.findall(r"[A-Za-z_]\w*", text.split("[")[0])[-1]
    ctype = re.sub(rf"\bconst\b|\*.*|\b{name}\b.*", "", text).strip()
    pointer = "*" in text or "[" in text
    ctype = element if ctype.startswith("struct") else ctype
    return Parameter(text, name, ctype, pointer, pointer and not text.startswith("const "))


def _wrap_in_rows(body: list[str], parameters: list[Parameter], data: Mapping[str, str], counter: str) -> list[str]:
    lines = [f"for ({counter} row = 0; row < rows; row++) {{"]
    for line in body:
        text = re.sub(r"^return (.+);$", rf"{RESULTS}[row] = \1;", line)
        lines.append(f"    {text}" if text else "")
    for parameter in parameters:
        length = data.get(parameter.name, "n").split(":")[0].strip()
        # A table that does not grow with n is the same for every row.
        if parameter.pointer and re.search(r"\bn\b", length):
            # Lengths count elements; of a struct one member each, and a row has n of them.
            lines.append(f"    {parameter.name} += {'n' if 'struct ' in parameter.text else length};")
    return [*lines, "}"]
