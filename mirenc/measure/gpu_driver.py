"""Driver of an OpenCL or CUDA kernel: a TOML text that says what it is launched on. The same text serves both.

For a kernel in NAME.cl or NAME.cu, write NAME.driver.toml::

    kernel = "saxpy"                # the function to launch
    sizes = [65536, 1048576]        # problem sizes; one of them is `n` below
    global = ["n"]                  # work-items (threads) wanted: x, or x and y
    max_block = 1024                # optional: items of a block, at most
    divides = false                 # optional: true if a block must divide `global`
    power_of_two = false            # optional: true if the items of a block must be a power of two

    [[argument]]                    # in the order of the kernel's parameters
    name = "x"
    buffer = "float"                # element type
    count = "n"                     # elements
    fill = "uniform"                # `zeros` unless said
    seed = 1                        # 0 unless said

    [[argument]]
    name = "y"
    buffer = "float"
    count = "n"
    output = true                   # compared with the default's, and put back before each batch

    [[argument]]
    name = "n"
    scalar = "int"
    value = "n"

    [[argument]]
    name = "tile"
    local = "bx * by * 4"           # bytes of local memory. CUDA: `extern __shared__`, which is no parameter

``global`` is rounded up to a multiple of the block, so a kernel must check its bounds. It is launched many times
in a row: it must give the same outputs each time after a reset, and no number may grow without end.

Fills: ``zeros``; ``ramp`` (0, 1, 2, ...; modulo ``below`` where given); ``uniform`` in [``low``, ``high``), 0 and 1
unless said; ``indices`` (uniform whole numbers below ``below``); ``permutation``; ``power-law`` (whole numbers below
``below``, small ones often); ``row-starts`` (from 0 up to ``below`` in steps of power-law lengths: rows of a sparse
matrix with ``below`` elements).
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import ConfigError
from mirenc.measure.expressions import Expression, read_expression
from mirenc.measure.fills import FILLS, filled

__all__ = ["Argument", "Buffer", "GpuDriver", "Local", "Scalar", "read_driver"]

# OpenCL C's names; CUDA's `long` and `unsigned char` are the same bytes on Linux.
TYPES: Mapping[str, np.dtype[Any]] = {
    name: np.dtype(code)
    for name, code in {
        "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8",
        "ulong": "u8", "float": "f4", "double": "f8",
    }.items()
}  # fmt: skip
# What a device of 4 GiB can hold beside a second copy of the inputs.
_MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class Buffer:
    """Memory of the device; see the module's text for the fields."""

    name: str
    dtype: np.dtype[Any]
    count: Expression
    fill: str = "zeros"
    seed: int = 0
    low: float = 0.0
    high: float = 1.0
    below: Expression | None = None
    output: bool = False

    def array(self, n: int) -> NDArray[Any]:
        """What it holds before a call: (count,), the same on any machine."""
        below = None if self.below is None else int(self.below(n=n))
        return filled(
            self.fill, int(self.count(n=n)), self.dtype, seed=self.seed, low=self.low, high=self.high, below=below
        )


@dataclass(frozen=True)
class Scalar:
    """A number that is passed by value."""

    name: str
    dtype: np.dtype[Any]
    value: Expression

    def of(self, n: int) -> np.generic:
        """The value as the kernel gets it."""
        scalar: np.generic = self.dtype.type(self.value(n=n))
        return scalar


@dataclass(frozen=True)
class Local:
    """Memory of one block."""

    name: str
    bytes: Expression

    def of(self, n: int, block: Sequence[int]) -> int:
        """Bytes that a block of this shape needs."""
        bx, by = (*block, 1)[:2]
        return int(self.bytes(n=n, bx=bx, by=by))


Argument = Buffer | Scalar | Local


@dataclass(frozen=True)
class GpuDriver:
    """How a kernel is launched.

    Attributes
    ----------
    kernel : str
        Name of the function.
    sizes : tuple of int
        Problem sizes.
    wanted : tuple of Expression
        Work-items in each of the one or two dimensions, x first.
    arguments : tuple of Argument
        In the order of the kernel's parameters. There is at most one `Local`.
    max_block : int
        Items of a block, at most.
    divides, power_of_two : bool
        What the kernel asks of a block; see `refusal`.
    """

    kernel: str
    sizes: tuple[int, ...]
    wanted: tuple[Expression, ...]
    arguments: tuple[Argument, ...]
    max_block: int = 1024
    divides: bool = False
    power_of_two: bool = False

    @property
    def dimensions(self) -> int:
        """1 or 2."""
        return len(self.wanted)

    @property
    def outputs(self) -> tuple[Buffer, ...]:
        """Buffers that are compared, in order."""
        return tuple(argument for argument in self.arguments if isinstance(argument, Buffer) and argument.output)

    def items(self, n: int) -> tuple[int, ...]:
        """Work-items wanted in each dimension."""
        return tuple(int(wanted(n=n)) for wanted in self.wanted)

    def block(self, shape: object) -> tuple[int, ...]:
        """A block of this kernel's dimensions, from what a cell is told: ``[64, 1]`` or ``[64]`` is (64,) in one.

        Raises
        ------
        ConfigError
            It has another number of dimensions, or a side below 1.
        """
        sides = tuple(shape) if isinstance(shape, list | tuple) else ()
        used, beyond = sides[: self.dimensions], sides[self.dimensions :]
        if len(used) < self.dimensions or set(beyond) - {1} or not all(isinstance(s, int) and s > 0 for s in used):
            raise ConfigError(
                f"a block of shape {shape}; {self.kernel} takes {self.dimensions} whole numbers, 1 or more"
            )
        return used

    def blocks(self, n: int, block: Sequence[int]) -> tuple[int, ...]:
        """Blocks in each dimension, the last one perhaps partly used: CUDA's grid; times ``block``, OpenCL's size."""
        return tuple(-(-items // side) for items, side in zip(self.items(n), block, strict=True))

    def refusal(self, n: int, block: Sequence[int]) -> str:
        """Why the kernel cannot be launched with blocks of this shape; "" if it can."""
        items = int(np.prod(block))
        if items > self.max_block:
            return f"{items} items, and the driver allows {self.max_block}"
        if self.power_of_two and items & (items - 1):
            return f"{items} items, and the driver asks for a power of two"
        if self.divides and any(wanted % side for wanted, side in zip(self.items(n), block, strict=True)):
            return f"does not divide {' x '.join(map(str, self.items(n)))}, as the driver asks"
        return ""

    def local_bytes(self, n: int, block: Sequence[int]) -> int:
        """Local memory of a block of this shape, beside what the kernel declares itself."""
        return sum(argument.of(n, block) for argument in self.arguments if isinstance(argument, Local))


def read_driver(text: str, where: str) -> GpuDriver:
    """Read a driver and try its expressions on each of its sizes.

    Parameters
    ----------
    text : str
        TOML.
    where : str
        Its file, for messages.

    Raises
    ------
    ConfigError
        Names the file and the key, and says what is allowed.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where} is no TOML: {error}") from None
    top = _Table(values, where)
    top.known("kernel", "sizes", "global", "max_block", "divides", "power_of_two", "argument")
    driver = GpuDriver(
        kernel=top.get("kernel", str),
        sizes=tuple(top.each("sizes", int)),
        wanted=tuple(top.expression("global", ("n",), text) for text in top.each("global", str)),
        arguments=tuple(
            _argument(_Table(table, f"{where}: argument {index}"))
            for index, table in enumerate(top.each("argument", dict), start=1)
        ),
        max_block=top.get("max_block", int, 1024),
        divides=top.get("divides", bool, False),
        power_of_two=top.get("power_of_two", bool, False),
    )
    _check(driver, top)
    return driver


def _argument(table: _Table) -> Argument:
    kinds = [kind for kind in ("buffer", "scalar", "local") if kind in table.values]
    if len(kinds) != 1:
        table.fail("", f"has {' and '.join(kinds) or 'no kind'}; write one of `buffer`, `scalar`, `local`")
    name = table.get("name", str)
    if kinds == ["local"]:
        table.known("name", "local")
        return Local(name, table.expression("local", ("n", "bx", "by")))
    dtype = TYPES[table.choice(kinds[0], tuple(TYPES))]
    if kinds == ["scalar"]:
        table.known("name", "scalar", "value")
        return Scalar(name, dtype, table.expression("value", ("n",)))
    table.known("name", "buffer", "count", "fill", "seed", "low", "high", "below", "output")
    fill = table.choice("fill", tuple(FILLS), "zeros")
    if FILLS[fill].needs_below and "below" not in table.values:
        table.fail("fill", f"is {fill!r}, which needs `below`")
    for key in {"low", "high", "below"} & set(table.values) - FILLS[fill].keys:
        table.fail(key, f"says nothing to a fill of {fill!r}; leave it out")
    if FILLS[fill].whole and dtype.kind == "f":
        table.fail("fill", f"is {fill!r}, which is for whole numbers; the buffer is of {table.values['buffer']!r}")
    return Buffer(
        name=name,
        dtype=dtype,
        count=table.expression("count", ("n",)),
        fill=fill,
        seed=table.get("seed", int, 0),
        low=float(table.get("low", (int, float), 0)),
        high=float(table.get("high", (int, float), 1)),
        below=table.expression("below", ("n",)) if "below" in table.values else None,
        output=table.get("output", bool, False),
    )


def _check(driver: GpuDriver, top: _Table) -> None:
    """What no key shows by itself: numbers for every size, and that there is something to compare."""
    if min(driver.sizes) < 1:
        top.fail("sizes", f"has {min(driver.sizes)}; sizes are 1 or more")
    if driver.dimensions > 2:
        top.fail("global", f"has {driver.dimensions} dimensions; 1 and 2 are allowed")
    if driver.max_block < 1:
        top.fail("max_block", f"is {driver.max_block}; 1 or more is allowed")
    if not driver.outputs:
        top.fail("argument", "has no buffer with `output = true`; results must be compared with something")
    if sum(isinstance(argument, Local) for argument in driver.arguments) > 1:
        top.fail("argument", "has two with `local`; CUDA knows one such memory, so cut one into parts in the kernel")
    for n in driver.sizes:
        for axis, wanted in enumerate(driver.wanted):
            top.whole(f"global[{axis}]", wanted, 1, n=n)
        total = 0
        for index, argument in enumerate(driver.arguments, start=1):
            table = _Table({}, f"{top.where}: argument {index} ({argument.name})")
            match argument:
                case Buffer():
                    total += argument.dtype.itemsize * table.whole("count", argument.count, 1, n=n)
                    if argument.below is not None:
                        table.whole("below", argument.below, 1, n=n)
                case Scalar():
                    _check_scalar(table, argument, n)
                case Local():
                    table.whole("local", argument.bytes, 0, n=n, bx=32, by=1)
        if total > _MOST_BYTES:
            top.fail("sizes", f"has {n}, whose buffers take {total >> 20} MiB; at most {_MOST_BYTES >> 20} MiB")


def _check_scalar(table: _Table, scalar: Scalar, n: int) -> None:
    if scalar.dtype.kind == "f":
        table.number("value", scalar.value, n=n)
        return
    value, bounds = table.whole("value", scalar.value, None, n=n), np.iinfo(scalar.dtype)
    if not bounds.min <= value <= bounds.max:
        table.fail("value", f"is {value} for n = {n}, which {scalar.dtype.name} cannot hold")


@dataclass(frozen=True)
class _Table:
    """A TOML table that names itself in errors."""

    values: Mapping[str, Any]
    where: str

    def fail(self, key: str, problem: str) -> NoReturn:
        raise ConfigError(f"{self.where}: {f'`{key}` ' if key else ''}{problem}")

    def known(self, *keys: str) -> None:
        for key in self.values:
            if key not in keys:
                near = difflib.get_close_matches(key, keys, n=1)
                hint = f"did you mean `{near[0]}`?" if near else f"known keys: {', '.join(keys)}"
                self.fail(key, f"is unknown; {hint}")

    def get(self, key: str, kind: Any, default: Any = None) -> Any:
        """The value of a key, of a type or one of some types; ``default`` is what it is when left out."""
        value = self.values.get(key, default)
        if value is None:
            self.fail(key, "is missing")
        kinds = kind if isinstance(kind, tuple) else (kind,)
        # A bool is an int to Python, not to a person.
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            self.fail(key, f"is {value!r}; {' or '.join(_KINDS[kind] for kind in kinds)} is allowed")
        return value

    def each(self, key: str, kind: type) -> list[Any]:
        values = self.get(key, list)
        if not values:
            self.fail(key, "is empty; write at least one")
        return [_Table({key: value}, self.where).get(key, kind) for value in values]

    def choice(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        value: str = self.get(key, str, default)
        if value not in allowed:
            self.fail(key, f"is {value!r}; allowed: {', '.join(allowed)}")
        return value

    def expression(self, key: str, names: tuple[str, ...], text: str | None = None) -> Expression:
        try:
            return read_expression(self.get(key, (str, int, float)) if text is None else text, names)
        except ConfigError as error:
            self.fail(key, f"has {error}")

    def number(self, key: str, expression: Expression, **names: int) -> int | float:
        try:
            return expression(**names)
        except ConfigError as error:
            self.fail(key, f"is wrong: {error}")

    def whole(self, key: str, expression: Expression, least: int | None, **names: int) -> int:
        value = self.number(key, expression, **names)
        if not isinstance(value, int) or (least is not None and value < least):
            allowed = "a whole number" if least is None else f"a whole number of {least} or more"
            self.fail(key, f"is {value} for n = {names['n']} ({expression.text!r}); {allowed} is allowed")
        return value


_KINDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}
