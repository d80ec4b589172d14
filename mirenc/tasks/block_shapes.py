"""Block shapes: the settings of OpenCL work groups and CUDA thread blocks, and how a tuner is told some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mirenc.errors import TaskError
from mirenc.tasks.space import Space

__all__ = ["KNOBS", "block_space", "likely_shapes", "tuner_restriction"]

KNOBS = ("block_x", "block_y")
_LINES = {
    # A CPU runs a work group as a loop in one thread, so that both ends of the scale are worth a try.
    "cl": (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096),
    # Whole warps.
    "cuda": (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024),
}
_PLANES = {
    "cl": (
        *((1, 1), (4, 4), (8, 8), (16, 4), (16, 16), (32, 8), (32, 32), (64, 1), (64, 4), (64, 16)),
        *((256, 1), (256, 4), (1024, 1), (1, 64), (4, 64), (8, 32)),
    ),
    "cuda": ((8, 8), (16, 8), (16, 16), (32, 4), (32, 8), (32, 16), (32, 32), (64, 4), (128, 2), (256, 1)),
}
# What people write who have not measured.
_HABIT = {1: (256, 1), 2: (16, 16)}


def _space(language: str, dimensions: int) -> Space:
    lines, planes = tuple((x, 1) for x in _LINES[language]), _PLANES[language]
    habit = _HABIT[dimensions]
    # The default stands first in every space, so that a head for all of them knows it.
    settings = (habit, *(shape for shape in (lines if dimensions == 1 else planes) if shape != habit))
    # A shape that a kernel or a device refuses leaves people with what they have.
    return Space(KNOBS, settings, 0, missing="default")


_SPACES = {(language, dimensions): _space(language, dimensions) for language in _LINES for dimensions in (1, 2)}


def block_space(language: str, dimensions: int) -> Space:
    """The shapes for a kernel in ``cl`` or ``cuda`` of 1 or 2 dimensions; one object for all that share it.

    A third dimension is left at 1, as people do. Raises TaskError: another language or number.
    """
    if (language, dimensions) not in _SPACES:
        raise TaskError(
            f"no block shapes for {language!r} in {dimensions} dimensions; cl and cuda have them for 1 and 2"
        )
    return _SPACES[language, dimensions]


def likely_shapes(expected: Mapping[str, float], count: int) -> list[tuple[int, int]]:
    """So many shapes of least expected cost, the best first; of `Choice.expected`, as ``block_x=32 block_y=8``."""
    best = sorted(expected, key=lambda name: expected[name])[:count]
    sides = ([int(word.partition("=")[2]) for word in name.split()] for name in best)
    return [(x, y) for x, y in sides]


def tuner_restriction(shapes: Sequence[tuple[int, int]]) -> str:
    """A Python expression for the ``restrictions`` of Kernel Tuner that leaves these shapes.

    It names ``block_size_y`` only where some shape needs it: a tuner of lines does not define it.
    """
    if all(y == 1 for _, y in shapes):
        return f"block_size_x in {[x for x, _ in shapes]}"
    return f"(block_size_x, block_size_y) in {list(shapes)}"
