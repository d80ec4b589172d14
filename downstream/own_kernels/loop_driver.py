"""The driver of a generated loop: sets up its data, calls it, and says what it computes (``mirenc_measure.h``)."""

import re
from dataclasses import dataclass
from functools import cache
from random import Random

from kernel_files import HERE
from loop_source import LETTERS, RESULTS, Parameter, Source, fill_value

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
    """Write the driver of a source; a call of it calls the function so often, as short loops take too little time."""
    arrays = [
        _array(parameter, source)
        for parameter in source.parameters
        if parameter.pointer and not _alias(parameter, source)
    ]
    outputs = [array for array in arrays if array.changed]
    setup = "".join(_setup(array, rng) for array in arrays)
    # Type, place and length of what is compared.
    results = [(array.ctype, array.name, array.length) for array in outputs]
    variables = ["static long n;"] + [f"static const long rows = {source.rows};"] * bool(source.rows)
    for array in arrays:
        names = [array.name, f"{array.name}_before"] if array.changed else [array.name]
        variables += [f"static {array.ctype} *{name};" for name in names]
    if source.returns != "void":
        results.append((source.returns, "&result", "1"))
        variables.append(f"static {source.returns} result;")
    parts = [_part("driver.h")]
    if "next()" in setup:
        parts.append(_part("numbers.h").replace("SEED", str(rng.randrange(1, 2**31))))
    if source.structs:
        parts.append(f"{source.structs}\n")
    resets = (
        f"    memcpy({parameter.name}, {parameter.name}_before, ({parameter.length}) * sizeof({parameter.ctype}));\n"
        for parameter in outputs
    )
    cases = (
        f"    case {index}:\n        *data = {place};\n        return {length};\n"
        for index, (_, place, length) in enumerate(results)
    )
    body = f"""
typedef {source.returns} (*function_type)({", ".join(parameter.text for parameter in source.parameters)});

const char mirenc_function[] = "{source.function}";
const long mirenc_sizes[] = {{{source.n}, 0}};
const char mirenc_types[] = "{"".join(LETTERS[ctype] for ctype, _, _ in results)}";

int mirenc_setup(long size)
{{
    n = size;
{setup}    return 0;
}}

void mirenc_reset(void)
{{
{"".join(resets)}}}

void mirenc_call(mirenc_kernel kernel)
{{
    {_call(source, repeats)}
}}

long mirenc_output(int index, void **data)
{{
    switch (index) {{
{"".join(cases)}    default:
        return -1;
    }}
}}
"""
    return "\n".join([*parts, *variables, body])


@cache
def _part(name: str) -> str:
    """A part that all drivers have, without the comment on its first line."""
    return (HERE / "loops" / name).read_text(encoding="utf-8").partition("\n")[2]


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


def _setup(array: _Array, rng: Random) -> str:
    fill = array.fill
    # A branch that is taken in runs is foretold by the machine, one that is taken at random is not.
    if fill == "percent" and rng.random() < 0.3:
        fill = "waves"
    value = fill_value(fill.removeprefix("row "), array.ctype)
    if fill.startswith("row "):
        value = re.sub(r"\bi\b(?! - 1\])", "(i % (count / rows))", value)
    size = f"sizeof({array.ctype})"
    copy = f"""        {array.name}_before = allocate(count * {size}, 0);
        memcpy({array.name}_before, now, count * {size});
"""
    return f"""    {{
        long count = {array.length};
        {array.ctype} *now = allocate(count * {size}, {rng.choice(OFFSETS)} * {size});
        for (long i = 0; i < count; i++)
            now[i] = {value};
        {array.name} = now;
{copy if array.changed else ""}    }}
"""


def _call(source: Source, repeats: int) -> str:
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
    return f"for (int repeat = 0; repeat < {repeats}; repeat++)\n        {call}" if repeats > 1 else call
