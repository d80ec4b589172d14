"""Drivers of OpenCL and CUDA kernels: what they say, and what is refused."""

import numpy as np
import pytest

from mirenc.base.errors import ConfigError
from mirenc.tools.measure.expressions import read_expression
from mirenc.tools.measure.gpu_driver import FILLS, Argument, read_driver

ROWS = """
kernel = "rows"
sizes = [100, 1000]
global = ["n", "max(n // 3, 1)"]
max_block = 256

[[argument]]
name = "starts"
buffer = "int"
count = "n + 1"
fill = "row-starts"
below = "4 * n"
seed = 7

[[argument]]
name = "y"
buffer = "double"
count = "n"
output = true

[[argument]]
name = "scale"
scalar = "float"
value = 0.5

[[argument]]
name = "n"
scalar = "uint"
value = "n"

[[argument]]
name = "tile"
local = "bx * by * 8"
"""


def test_a_driver_is_read() -> None:
    driver = read_driver(ROWS, "rows.driver.toml")
    starts, y, scale, n, tile = driver.arguments
    assert (driver.kernel, driver.sizes, driver.dimensions, driver.max_block) == ("rows", (100, 1000), 2, 256)
    assert [argument.kind for argument in driver.arguments] == ["buffer", "buffer", "scalar", "scalar", "local"]
    assert starts.array(100).shape == (101,)
    assert y.array(100).dtype == np.float64
    assert [argument for argument in driver.arguments if argument.output] == [y]
    assert scale.passed(100) == np.float32(0.5)
    assert n.passed(100).dtype == np.uint32
    assert tile.size(n=100, bx=16, by=4) == 16 * 4 * 8
    assert driver.local_bytes(100, (16, 4)) == 16 * 4 * 8
    assert driver.items(100) == (100, 33)
    assert driver.blocks(100, (32, 8)) == (4, 5)  # the last blocks are partly used


def test_which_blocks_a_driver_allows() -> None:
    driver = read_driver(ROWS, "rows.driver.toml")
    assert driver.refusal(100, (32, 8)) == ""
    assert driver.refusal(100, (32, 16)) == "512 items, and the driver allows 256"
    strict = read_driver(
        ROWS.replace("max_block = 256", "divides = true\npower_of_two = true").replace("max(n // 3, 1)", "n * 2"), "d"
    )
    assert strict.refusal(96, (48, 1)) == "48 items, and the driver asks for a power of two"
    assert strict.refusal(100, (32, 1)) == "does not divide 100 x 200, as the driver asks"
    assert strict.refusal(128, (32, 4)) == ""


def test_one_dimension_has_blocks_of_height_one() -> None:
    driver = read_driver(ROWS.replace(', "max(n // 3, 1)"', ""), "d")
    assert driver.blocks(1000, (64,)) == (16,)
    assert driver.local_bytes(1000, (64,)) == 512


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('kernel = "rows"', "", "d.toml: kernel: Field required"),
        ("sizes = [100, 1000]", "sizes = [100", "d.toml is not TOML"),
        ("sizes = [100, 1000]", "sizes = []", "d.toml: sizes: Tuple should have at least 1 item"),
        ("sizes = [100, 1000]", "sizes = [0]", "d.toml: sizes.0: Input should be greater than or equal to 1 (found 0)"),
        ("sizes = [100, 1000]", "sizes = [true]", "d.toml: sizes.0: Input should be a valid integer (found True)"),
        ("max_block = 256", "max_blok = 256", "d.toml: unknown key 'max_blok'; did you mean 'max_block'?"),
        (
            'global = ["n", "max(n // 3, 1)"]',
            'global = ["n", "n", "n"]',
            "d.toml: global: Tuple should have at most 2 items",
        ),
        ('global = ["n", "max(n // 3, 1)"]', 'global = ["n - 100"]', "d.toml: global[0] is 0 for n = 100"),
        ('global = ["n", "max(n // 3, 1)"]', 'global = ["n // (n - 100)"]', "divides by zero where n = 100"),
        (
            'global = ["n", "max(n // 3, 1)"]',
            'global = ["m"]',
            "d.toml: global.0: 'm' in 'm'; allowed are numbers, n, +",
        ),
        (
            'global = ["n", "max(n // 3, 1)"]',
            "global = [true]",
            "d.toml: global.0: a text or a number is allowed (found True)",
        ),
        ('buffer = "double"', 'buffer = "float64"', "argument.1.buffer: Input should be 'char', 'uchar'"),
        (
            'buffer = "double"',
            "",
            "argument.1: has no kind; write one of buffer, scalar, local",
        ),
        ("output = true", "outptu = true", "unknown key 'argument.1.outptu'; did you mean 'output'?"),
        ('fill = "row-starts"', 'fill = "rows"', "argument.0.fill: Input should be 'zeros', 'ramp'"),
        ('fill = "row-starts"', 'fill = "zeros"', "argument.0: `below` has no effect with fill = 'zeros'"),
        ('below = "4 * n"', "", "argument.0: fill is 'row-starts', which needs `below`"),
        ('buffer = "int"', 'buffer = "float"', "argument.0: fill is 'row-starts', which is for whole numbers"),
        ('count = "n + 1"', 'count = "n * 0.5"', "argument 'starts': count is 50.0 for n = 100"),
        ('count = "n + 1"', 'count = "n * 1000000000"', "buffers of size 100 take"),
        ("output = true", "output = false", "no argument is a buffer with `output = true`"),
        (
            'scalar = "uint"\nvalue = "n"',
            'scalar = "char"\nvalue = "n"',
            "argument 'n': value is 1000 for n = 1000, which int8 cannot hold",
        ),
    ],
)
def test_a_wrong_key_is_named_in_the_error(old: str, new: str, complaint: str) -> None:
    assert old in ROWS
    with pytest.raises(ConfigError) as error:
        read_driver(ROWS.replace(old, new), "d.toml")
    assert complaint in str(error.value)


def test_two_local_memories_are_refused() -> None:
    with pytest.raises(ConfigError, match="two arguments have `local`"):
        read_driver(ROWS + '[[argument]]\nname = "other"\nlocal = 64\n', "d.toml")


@pytest.mark.parametrize(
    ("text", "value"),
    [("n", 10), ("2 * (n + 1) - 3", 19), ("n // 3 % 2", 1), ("max(n, 4, 20) - min(n, 3)", 17), ("-n", -10), (5, 5)],
)
def test_expressions(text: str | int, value: int) -> None:
    assert read_expression(text, ("n",))(n=10) == value


@pytest.mark.parametrize(
    "text",
    ["n ** n", "n / 2", "__import__('os')", "n.real", "n[0]", "True", "'n'", "max(n)", "max(*n)", "n if n else 1", "",
     "(" * 90 + "n", "n +" * 90 + "n", "lambda: n", "1j", "abs(n, 1)", "max(n, 1, key=n)"],
)  # fmt: skip
def test_other_python_is_no_expression(text: str) -> None:
    with pytest.raises(ConfigError):
        read_expression(text, ("n",))


def fill(name: str, count: int, dtype: str = "int", below: int | None = None, seed: int = 3) -> np.ndarray:
    limits = {} if below is None else {"below": below}
    limits |= {"low": -1, "high": 3} if name == "uniform" else {}
    values = {"name": "x", "buffer": dtype, "count": "n", "fill": name, "seed": seed, **limits}
    return Argument.from_dict(values).array(count)


def test_fills_are_what_they_say() -> None:
    assert fill("ramp", 5, below=3).tolist() == [0, 1, 2, 0, 1]
    uniform = fill("uniform", 4000, "double")
    assert -1 <= uniform.min() < -0.99
    assert 2.99 < uniform.max() < 3
    indices = fill("indices", 4000, below=10)
    assert np.bincount(indices, minlength=10).min() > 300
    assert sorted(fill("permutation", 100)) == list(range(100))
    law = fill("power-law", 4000, below=1000)
    assert law.min() >= 0
    assert law.max() < 1000
    assert (law < 63).mean() == pytest.approx(0.5, abs=0.03)  # half of all below 1000 / 2^4
    starts = fill("row-starts", 101, below=400)
    lengths = np.diff(starts)
    assert (starts[0], starts[-1]) == (0, 400)
    assert lengths.min() >= 0
    assert lengths.max() > 10 * np.median(lengths)


@pytest.mark.parametrize("name", sorted(FILLS))
def test_a_fill_is_the_same_for_a_seed(name: str) -> None:
    below = 50 if "below" in FILLS[name] else None
    assert np.array_equal(fill(name, 64, below=below), fill(name, 64, below=below))
    if name not in {"zeros", "ramp"}:
        assert not np.array_equal(fill(name, 64, below=below), fill(name, 64, below=below, seed=4))


def test_a_fill_is_the_same_on_any_machine() -> None:
    """Words of PCG64 for a seed are numpy's promise; what is made of them is held here."""
    assert fill("permutation", 6).tolist() == [0, 4, 1, 5, 3, 2]
    assert fill("indices", 6, below=1000).tolist() == [85, 236, 801, 582, 94, 433]
    assert fill("row-starts", 6, below=1000).tolist() == [0, 386, 536, 582, 644, 1000]
