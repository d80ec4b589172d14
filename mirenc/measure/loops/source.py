"""The source of a generated loop: a structure's template with types, sizes and style filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

from mirenc.measure.kernel_files import KernelText, fill_words

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
    data: Mapping[str, str]  # what each parameter holds (`mirenc.measure.kernel_files`)
    structs: str  # types that the driver needs
    n: int  # trip count
    rows: int  # how many rows the loop stands in; 0: none
    trip_count: int  # what the compiler can know of it; 0: nothing


def write_source(text: KernelText, n: int, rng: Random) -> Source:
    """Write a structure's source for ``n``, with types and style drawn at random."""
    words, code = _draw_words(text, rng), "\n".join((*text.parameters, *text.body))
    body = [fill_words(line, words) for line in text.body]
    data = {name: fill_words(value, words) for name, value in text.data.items()}
    above, returns = fill_words(text.above, words), fill_words(text.returns, words)
    parameters = [_read_parameter(fill_words(one, words), words["T"]) for one in text.parameters]
    rows = _draw_rows(n, rng) if text.flag("rows") else 0
    # A short loop of constant trip count is unrolled away before the vectorizer sees it.
    constant = text.flag("constant") and n >= 120 and rng.random() < 0.3
    if rows:
        body = _in_rows(body, parameters, data, words["I"], returns)
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
        parameters = [replace(one, text=re.sub(r"\*(?=[a-z])", "*restrict ", one.text)) for one in parameters]
    function = f"{rng.choice(VERBS)}_{rng.choice(NOUNS)}"
    headers = ["#include <stddef.h>", "#include <stdint.h>"]
    if _MATH.search(code):
        headers.insert(0, "#include <math.h>")
    if re.search(r"\babs\(", code):
        headers.append("#include <stdlib.h>")
    signature = f"{returns} {function}({', '.join(parameter.text for parameter in parameters)})"
    lines = [*headers, "", *([*above.split("\n"), ""] if above else [])]
    lines += [signature, "{", *(f"    {line}" if line else "" for line in body), "}"]
    return Source(
        text="\n".join(lines).replace("@", "") + "\n",
        function=function,
        line=next(number for number, line in enumerate(lines, 1) if "@" in line),
        returns=returns,
        parameters=tuple(parameters),
        data=data,
        structs=above if above.startswith("struct") else "",
        n=n,
        rows=rows,
        trip_count=_known_trip(text.keys["trip"], n if constant else None, words),
    )


def _draw_words(text: KernelText, rng: Random) -> dict[str, str]:
    choices = dict(text.words)
    first, *second = rng.choice(choices.pop("T")).split("/")
    words = {"T": first, "U": second[0] if second else first}
    words |= {"I": rng.choice(COUNTERS), "J": rng.choice(SIGNED_COUNTERS)}
    words |= {word: rng.choice(values) for word, values in choices.items()}
    return words | {"_F": "f" if first == "float" else ""}


def _read_parameter(text: str, element: str) -> Parameter:
    name = re.findall(r"[A-Za-z_]\w*", text.split("[")[0])[-1]
    ctype = re.sub(rf"\bconst\b|\*.*|\b{name}\b.*", "", text).strip()
    pointer = "*" in text or "[" in text
    if ctype.startswith("struct"):
        ctype = element
    return Parameter(text, name, ctype, pointer, pointer and not text.startswith("const "))


def _draw_rows(n: int, rng: Random) -> int:
    share = 0.7 if n < 32 else 0.35 if n < 256 else 0.0
    return max(4, rng.choice((800, 3000, 6000)) // n) if rng.random() < share else 0


def _in_rows(
    body: list[str], parameters: list[Parameter], data: Mapping[str, str], counter: str, returns: str
) -> list[str]:
    lines = [f"for ({counter} row = 0; row < rows; row++) {{"]
    for line in body:
        value = re.match(r"return (.*);$", line)
        text = f"{RESULTS}[row] = {value[1]};" if value and returns != "void" else line
        lines.append(f"    {text}" if text else "")
    for parameter in parameters:
        length = data.get(parameter.name, "n").split(":")[0].strip()
        # A table that does not grow with n is the same for every row.
        if parameter.pointer and re.search(r"\bn\b", length):
            # Lengths count elements; of a struct one member each, and a row has n of them.
            lines.append(f"    {parameter.name} += {'n' if 'struct ' in parameter.text else length};")
    return [*lines, "}"]


def _known_trip(expression: str, n: int | None, words: Mapping[str, str]) -> int:
    """Value of an expression of numbers and + - * /, which are C's; 0 where it is not known."""
    if expression == "unknown" or (n is None and re.search(r"\bn\b", expression)):
        return 0
    filled = re.sub(r"\bn\b", str(n), fill_words(expression, words))
    total = 0
    for term in filled.replace("- ", "+ -").split("+"):
        first, *factors = re.split(r"([*/])", term.strip())
        value = int(first)
        for operator, factor in zip(factors[::2], factors[1::2], strict=True):
            value = value * int(factor) if operator == "*" else int(value / int(factor))
        total += value
    return max(total, 0)
