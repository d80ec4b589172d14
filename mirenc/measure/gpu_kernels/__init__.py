"""The project's own OpenCL and CUDA kernels: templates in the TOML files beside this one, a file a family.

Every kernel was written here. Bounds are checked and tiles take the block's shape, so that any block is right.
"""

from __future__ import annotations

import itertools
import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from string import Template
from typing import Any

from mirenc.errors import ConfigError
from mirenc.measure.gpu_kernels.dialect import (
    cuda_source,
    driver_text,
    opencl_source,
    plain_numbers,
    read_arguments,
)
from mirenc.measure.kernel import Kernel

__all__ = ["LANGUAGES", "gpu_kernels"]

LANGUAGES = ("cl", "cuda")

# Three problem sizes for a CPU's few cores and for a GPU, by what a size means.
_SIZES = {
    "line": {"cl": (4096, 65536, 1048576), "cuda": (65536, 1048576, 8388608)},
    "plane": {"cl": (64, 256, 1024), "cuda": (256, 1024, 4096)},
    "image": {"cl": (48, 160, 512), "cuda": (256, 1024, 4096)},
    "cube": {"cl": (16, 40, 96), "cuda": (64, 160, 320)},
    "product": {"cl": (32, 96, 224), "cuda": (128, 512, 1536)},
    "pairs": {"cl": (128, 512, 1536), "cuda": (1024, 4096, 16384)},
    "rows": {"cl": (512, 4096, 32768), "cuda": (8192, 65536, 524288)},
}
_SIZE_COUNT = 3
_KNOWN = {
    *("name", "items", "sizes", "cpu", "gpu", "power_of_two"),
    *("variants", "constants", "arguments", "helpers", "body"),
}


def gpu_kernels(language: str, seed: int = 0) -> Iterator[Kernel]:
    """All kernels in one language, at each of their sizes.

    Parameters
    ----------
    language : str
        ``cl`` or ``cuda``.
    seed : int
        Of the order. Any beginning is spread over structures: one kernel of each comes at one of its three sizes, then
        each at another, then a second kernel of those that have types or constants left.

    Yields
    ------
    Kernel
        `Kernel.group` is the structure; types and constants differ within it.
    """
    structures = [list(_variants(entry, family, language)) for family, entries in _families() for entry in entries]
    random.Random(seed).shuffle(structures)
    for variants in itertools.zip_longest(*structures):
        kept = [sizes for sizes in variants if sizes is not None]
        for turn in range(_SIZE_COUNT):
            yield from (sizes[(turn + row) % _SIZE_COUNT] for row, sizes in enumerate(kept))


def _families() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    files = sorted(resources.files(__name__).iterdir(), key=lambda file: file.name)
    for file in files:
        if file.name.endswith(".toml"):
            yield file.name.removesuffix(".toml"), tomllib.loads(file.read_text(encoding="utf-8"))["kernel"]


def _variants(entry: Mapping[str, Any], family: str, language: str) -> Iterator[list[Kernel]]:
    """The kernels of one structure: for each choice of types and constants, one at each size."""
    structure = entry["name"]
    if strange := set(entry) - _KNOWN:
        raise ConfigError(f"{family}.toml: {structure} has {sorted(strange)[0]!r}; known: {', '.join(sorted(_KNOWN))}")
    choices = entry["variants"]
    sizes = _sizes(entry, language)
    for values in itertools.product(*choices.values()):
        chosen = dict(zip(choices, values, strict=True))
        chosen |= {name: by_type[chosen["T"]] for name, by_type in entry.get("constants", {}).items()}

        # A value may use another one, as a formula its type.
        def filled(text: str, chosen: dict[str, str] = chosen) -> str:
            return plain_numbers(Template(Template(text).substitute(chosen)).substitute(chosen))

        arguments = read_arguments(filled(entry["arguments"]), structure)
        items = [filled(one) for one in entry["items"]]
        write = opencl_source if language == "cl" else cuda_source
        source = write(structure, arguments, filled(entry["body"]), filled(entry.get("helpers", "")))
        called = "-".join([structure, *map(_word, choices.values(), values)])
        yield [
            Kernel(
                name=f"{called} {language} {size}",
                group=structure,
                family=family,
                language=language,
                source=source,
                driver=driver_text(structure, arguments, items, [size], power_of_two=entry.get("power_of_two", False)),
                function=structure,
                size=size,
                context={"n": size, "dimensions": len(items), "cuda": int(language == "cuda")},
            )
            for size in sizes
        ]


def _sizes(entry: Mapping[str, Any], language: str) -> tuple[int, ...]:
    if "sizes" in entry:
        return _SIZES[entry["sizes"]][language]
    return tuple(entry["cpu" if language == "cl" else "gpu"])


def _word(choices: list[str], value: str) -> str:
    """A value as a part of a name; one that is a formula, by its place."""
    return value if re.fullmatch(r"[\w.-]+", value) else str(choices.index(value) + 1)
