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

import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, Strict, model_validator

from mirenc.base.config import Config
from mirenc.base.errors import ConfigError
from mirenc.tools.measure.expressions import Expression, read_expression

# OpenCL C's names; CUDA's `long` and `unsigned char` are the same bytes on Linux.
_TYPES: Mapping[str, str] = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8",
    "ulong": "u8", "float": "f4", "double": "f8",
}  # fmt: skip
# What each fill takes beside its seed, and those of whole numbers only.
FILLS: Mapping[str, tuple[str, ...]] = {
    "zeros": (),
    "ramp": ("below",),
    "uniform": ("low", "high"),
    "indices": ("below",),
    "permutation": (),
    "power-law": ("below",),
    "row-starts": ("below",),
}
_WHOLE = ("indices", "permutation", "power-law", "row-starts")
# Kinds of arguments: what says the size, and the other keys beside the name.
_KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "buffer": ("count", ("fill", "seed", "low", "high", "below", "output")),
    "scalar": ("value", ()),
    "local": ("local", ()),
}
# What a device of 4 GiB can hold beside a second copy of the inputs.
_MAX_BYTES = 1 << 30


def _formula(names: tuple[str, ...], value: Any) -> Expression:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("a text or a number is allowed")
    return read_expression(value, names)


_OfN = Annotated[Expression, BeforeValidator(partial(_formula, ("n",)))]
_OfBlock = Annotated[Expression, BeforeValidator(partial(_formula, ("n", "bx", "by")))]
_Type = Literal["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double"]
_Int = Annotated[int, Strict()]


class Argument(Config, arbitrary_types_allowed=True):
    """A parameter of a kernel, or memory of one block; see the module's text for what the keys of a buffer are."""

    name: str
    buffer: _Type | None = None
    scalar: _Type | None = None
    local: _OfBlock | None = None
    count: _OfN | None = None
    value: _OfN | None = None
    fill: Literal["zeros", "ramp", "uniform", "indices", "permutation", "power-law", "row-starts"] = "zeros"
    seed: _Int = 0
    low: float = 0.0
    high: float = 1.0
    below: _OfN | None = None
    output: bool = False

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        keys_set = self.model_fields_set - {"name"}
        kinds = [kind for kind in _KINDS if kind in keys_set]
        if len(kinds) != 1:
            raise ValueError(f"has {' and '.join(kinds) or 'no kind'}; write one of {', '.join(_KINDS)}")
        size, other_keys = _KINDS[self.kind]
        if size not in keys_set:
            raise ValueError(f"{size} is missing")
        if extra_keys := sorted(keys_set - {self.kind, size, *other_keys}):
            raise ValueError(f"`{extra_keys[0]}` has no effect on a {self.kind}; leave out `{extra_keys[0]}`")
        keys = FILLS[self.fill]
        if self.fill in _WHOLE and self.dtype.kind == "f":
            raise ValueError(f"fill is {self.fill!r}, which is for whole numbers; leave out `fill`")
        if "below" in keys and self.below is None and self.fill != "ramp":
            raise ValueError(f"fill is {self.fill!r}, which needs `below`")
        if extra_keys := sorted({"low", "high", "below"} & keys_set - {*keys}):
            raise ValueError(f"`{extra_keys[0]}` has no effect with fill = {self.fill!r}; leave out `{extra_keys[0]}`")
        return self

    @property
    def kind(self) -> str:
        """``buffer``, ``scalar`` or ``local``."""
        return next(kind for kind in _KINDS if getattr(self, kind) is not None)

    @property
    def size(self) -> Expression:
        """Elements of a buffer, the value of a scalar, bytes of local memory."""
        return getattr(self, _KINDS[self.kind][0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Data type of the elements, or of the scalar."""
        return np.dtype(_TYPES[self.buffer or self.scalar or "uchar"])

    def check(self, n: int) -> int:
        """Check its expressions at a size; return the bytes of a buffer, else 0."""
        if self.kind == "local":
            _whole_number("local", self.size, 0, n=n, bx=32, by=1)
        elif self.kind == "buffer":
            if self.below is not None:
                _whole_number("below", self.below, 1, n=n)
            return self.dtype.itemsize * _whole_number("count", self.size, 1, n=n)
        elif self.dtype.kind == "f":
            self.size(n=n)
        else:
            value, bounds = _whole_number("value", self.size, None, n=n), np.iinfo(self.dtype)
            if not bounds.min <= value <= bounds.max:
                raise ConfigError(f"value is {value} for n = {n}, which {self.dtype.name} cannot hold")
        return 0

    def array(self, n: int) -> NDArray[Any]:
        """What a buffer holds before a call: (count,), the same on any machine and with any numpy."""
        # Only a bit generator's raw words are promised to stay as they are, so everything is made from those, with
        # operations that round the same everywhere (no logarithm, no pairwise sum).
        count, below = int(self.size(n=n)), None if self.below is None else int(self.below(n=n))
        if self.fill == "zeros":
            return np.zeros(count, self.dtype)
        if self.fill == "ramp":
            ramp = np.arange(count, dtype=np.int64)
            return (ramp if below is None else ramp % below).astype(self.dtype)
        words = np.random.PCG64(self.seed).random_raw(count)  # (count,) uint64
        if self.fill == "permutation":
            return np.argsort(words, kind="stable").astype(self.dtype)
        unit = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53  # (count,), in [0, 1)
        if self.fill == "uniform":
            return (self.low + (self.high - self.low) * unit).astype(self.dtype)
        assert below is not None  # the reader of drivers asks for it
        if self.fill == "power-law":
            unit = unit * unit * unit * unit  # u^4 has the density v^(-3/4)
        elif self.fill == "row-starts":
            # A Pareto tail of exponent 1, cut at a hundred times the shortest row. `cumsum` adds one by one.
            ends = np.cumsum(1.0 / (unit + 0.01))
            unit = np.concatenate(([0.0], ends[:-1])) / (ends[-2] if count > 1 else 1.0)
        return (unit * below).astype(np.int64).astype(self.dtype)

    def passed(self, n: int) -> np.generic:
        """A scalar as the kernel gets it."""
        return self.dtype.type(self.size(n=n))


def _whole_number(key: str, expression: Expression, minimum: int | None, **names: int) -> int:
    value = expression(**names)
    if not isinstance(value, int) or (minimum is not None and value < minimum):
        allowed = "a whole number" if minimum is None else f"a whole number of {minimum} or more"
        raise ConfigError(f"{key} is {value} for n = {names['n']} ({expression.text!r}); {allowed} is allowed")
    return value


class GpuDriver(Config, arbitrary_types_allowed=True):
    """How a kernel is launched; see the module's text for the keys. At most one argument is ``local``."""

    kernel: str
    sizes: tuple[Annotated[_Int, Field(ge=1)], ...] = Field(min_length=1)
    wanted: tuple[_OfN, ...] = Field(alias="global", min_length=1, max_length=2)
    arguments: tuple[Argument, ...] = Field(alias="argument", min_length=1)
    max_block: Annotated[_Int, Field(ge=1)] = 1024
    divides: bool = False
    power_of_two: bool = False

    def check(self) -> None:
        """Check what needs several keys: expressions at every size, memory, and that there is an output to compare."""
        if not any(argument.output for argument in self.arguments):
            raise ConfigError("no argument is a buffer with `output = true`; results must be compared with something")
        if sum(argument.kind == "local" for argument in self.arguments) > 1:
            problem = "two arguments have `local`, but a CUDA kernel has one block of dynamic shared memory"
            raise ConfigError(f"{problem}. Use one argument, and divide its memory in the kernel")
        for n in self.sizes:
            for axis, items in enumerate(self.wanted):
                _whole_number(f"global[{axis}]", items, 1, n=n)
            total = 0
            for argument in self.arguments:
                try:
                    total += argument.check(n)
                except ConfigError as error:
                    raise ConfigError(f"argument {argument.name!r}: {error}") from None
            if total > _MAX_BYTES:
                raise ConfigError(f"buffers of size {n} take {total >> 20} MiB; at most {_MAX_BYTES >> 20} MiB")

    @property
    def dimensions(self) -> int:
        return len(self.wanted)  # 1 or 2

    def items(self, n: int) -> tuple[int, ...]:
        """Work-items wanted in each dimension."""
        return tuple(int(expression(n=n)) for expression in self.wanted)

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
        if self.divides and any(count % side for count, side in zip(self.items(n), block, strict=True)):
            return f"does not divide {' x '.join(map(str, self.items(n)))}, as the driver asks"
        return ""

    def local_bytes(self, n: int, block: Sequence[int]) -> int:
        """Local memory of a block of this shape, beside what the kernel declares itself."""
        bx, by = (*block, 1)[:2]
        return sum(int(argument.size(n=n, bx=bx, by=by)) for argument in self.arguments if argument.kind == "local")


def read_driver(text: str, where: str) -> GpuDriver:
    """Read a driver's TOML and try its expressions on all its sizes; an error names its file (``where``) and key."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where} is not TOML: {error}") from None
    driver = GpuDriver.from_dict(values, where=where)
    try:
        driver.check()
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    return driver
