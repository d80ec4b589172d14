"""The driver of a generated loop: sets up its data, calls it, and says what it computes (``mirenc_measure.h``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from random import Random

from mirenc.measure.kernel_files import KERNELS
from mirenc.measure.loops.source import LETTERS, RESULTS, Parameter, Source, fill_value

# The arrays start here beside a boundary of 64 bytes, in elements: most on it, as an allocator of large blocks does.
OFFSETS = (0, 0, 0, 0, 0, 1, 1, 3)


@dataclass(frozen=True)
class _Array:
    """An array of the driver: ``length`` elements, an expression of C; ``fill`` as in `fill_value`."""

    name: str
    ctype: str
    length: str
    fill: str
    changed: bool


def write_driver(source: Source, repeats: int, rng: Random) -> str:
    """Write the driver of a source; a call of it calls the function so often, as short loops take too little time.

    The seed of the data and the alignment are drawn.
    """
    arrays = [_array(one, source) for one in source.parameters if one.pointer and not _alias(one, source)]
    outputs = [array for array in arrays if array.changed]
    returns = source.returns != "void"
    setup = _setup(arrays, rng)
    text = [_part("driver.h")]
    if any("next()" in line for line in setup):
        text += [_part("numbers.h").replace("SEED", str(rng.randrange(1, 2**31)))]
    if source.structs:
        text += [source.structs, ""]
    text += ["static long n;"]
    if source.rows:
        text += [f"static const long rows = {source.rows};"]
    for array in arrays:
        text += [f"static {array.ctype} *{array.name};"]
        if array.changed:
            text += [f"static {array.ctype} *{array.name}_before;"]
    if returns:
        text += [f"static {source.returns} result;"]
    letters = "".join(LETTERS[ctype] for ctype in (*(array.ctype for array in outputs), *[source.returns] * returns))
    text += [
        "",
        f"typedef {source.returns} (*function_type)({', '.join(one.text for one in source.parameters)});",
        "",
        f'const char mirenc_function[] = "{source.function}";',
        f"const long mirenc_sizes[] = {{{source.n}, 0}};",
        f'const char mirenc_types[] = "{letters}";',
        "",
        *setup,
        "",
        "void mirenc_reset(void)",
        "{",
        *(f"    memcpy({one.name}, {one.name}_before, ({one.length}) * sizeof({one.ctype}));" for one in outputs),
        "}",
        "",
        *_call(source, repeats),
        "",
        "long mirenc_output(int index, void **data)",
        "{",
        "    switch (index) {",
    ]
    for index, array in enumerate(outputs):
        text += [f"    case {index}:", f"        *data = {array.name};", f"        return {array.length};"]
    if returns:
        text += [f"    case {len(outputs)}:", "        *data = &result;", "        return 1;"]
    return "\n".join([*text, "    default:", "        return -1;", "    }", "}"]) + "\n"


@cache
def _part(name: str) -> str:
    """A part that all drivers have, without the comment on its first line."""
    return (KERNELS / "loops" / name).read_text(encoding="utf-8").partition("\n")[2]


def _alias(parameter: Parameter, source: Source) -> bool:
    return source.data.get(parameter.name, "").startswith("=")


def _array(parameter: Parameter, source: Source) -> _Array:
    length, _, fill = source.data.get(parameter.name, "n").partition(":")
    length, fill = length.strip(), fill.strip() or "plain"
    if source.rows and (re.search(r"\bn\b", length) or parameter.name == RESULTS):
        length = f"rows * ({length})"
        # A row's values depend on the place in the row where the fill does.
        fill = re.sub(r"^(starts|powers|only|identity)\b", r"row \1", fill)
    return _Array(_name(parameter.name), parameter.ctype, length, fill, parameter.changed)


def _name(parameter: str) -> str:
    # Alone, some are functions of the C library: index, round.
    return f"{parameter}_array"


def _setup(arrays: list[_Array], rng: Random) -> list[str]:
    lines = ["int mirenc_setup(long size)", "{", "    n = size;"]
    for array in arrays:
        fill = array.fill
        # A branch that is taken in runs is foretold by the machine, one that is taken at random is not.
        if fill == "percent" and rng.random() < 0.3:
            fill = "waves"
        value = fill_value(fill.removeprefix("row "), array.ctype)
        if fill.startswith("row "):
            value = re.sub(r"\bi\b(?! - 1\])", "(i % (count / rows))", value)
        size, offset = f"sizeof({array.ctype})", rng.choice(OFFSETS)
        lines += [
            "    {",
            f"        long count = {array.length};",
            f"        {array.ctype} *now = allocate(count * {size}, {offset} * {size});",
            "        for (long i = 0; i < count; i++)",
            f"            now[i] = {value};",
            f"        {array.name} = now;",
        ]
        if array.changed:
            lines += [
                f"        {array.name}_before = allocate(count * {size}, 0);",
                f"        memcpy({array.name}_before, now, count * {size});",
            ]
        lines += ["    }"]
    return [*lines, "    return 0;", "}"]


def _call(source: Source, repeats: int) -> list[str]:
    values = []
    for parameter in source.parameters:
        if _alias(parameter, source):
            pointer, offset = source.data[parameter.name][1:].split("+")
            values.append(f"(void *)({_name(pointer.strip())} + {offset.strip()})")
        elif parameter.pointer:
            values.append(f"(void *){_name(parameter.name)}")
        else:
            values.append(source.data.get(parameter.name, parameter.name))
    call = f"((function_type)kernel)({', '.join(values)});"
    if source.returns != "void":
        call = f"result = {call}"
    if repeats > 1:
        call = f"for (int repeat = 0; repeat < {repeats}; repeat++)\n        {call}"
    return ["void mirenc_call(mirenc_kernel kernel)", "{", f"    {call}", "}"]
