"""How long the generated loops run."""

from __future__ import annotations

from random import Random

__all__ = ["SIZES", "draw_size"]

# Share of each range of trip counts.
SIZES = {
    "any": {"tiny": 0.16, "short": 0.2, "middle": 0.24, "thousands": 0.28, "ten thousands": 0.1, "million": 0.02},
    "work": {"tiny": 0.18, "short": 0.25, "middle": 0.3, "thousands": 0.27},
    "long": {"middle": 0.15, "thousands": 0.5, "ten thousands": 0.32, "million": 0.03},
    "short": {"tiny": 0.4, "short": 0.35, "middle": 0.25},
    "side": {"tiny": 0.2, "short": 0.4, "middle": 0.4},
    "small side": {"tiny": 0.35, "short": 0.65},
    # The source says it; what is drawn stands for it.
    "fixed": {"fixed": 1.0},
}


def draw_size(kind: str, rng: Random) -> int:
    """Draw a trip count.

    Parameters
    ----------
    kind : str
        A name in `SIZES`.
    rng : Random
        What is drawn from.

    Returns
    -------
    int
        At least 1.
    """
    ranges = SIZES[kind]
    name = rng.choices(list(ranges), weights=list(ranges.values()))[0]
    if name == "fixed":
        return 32
    if name == "tiny":
        return rng.choice((1, 2, 3, 3, 4, 4, 5, 5, 6, 7))
    if name == "short":
        return rng.choice((8, 9, 12, 15, 16, 16, 17, 20, 24, 27, 30, 31))
    if name == "middle":
        return rng.choice((32, 33, 40, 50, 63, 64, 64, 75, 96, 100, 127, 128, 160, 200, 250, 255))
    if name == "thousands":
        return rng.choice((1000, 1023, 1024, 1500, 2000, 2048, 3001, 4000, 4096, 4096, 4099, 5000))
    if name == "ten thousands":
        return rng.choice((20000, 32768, 50000, 60001, 65536, 65536))
    return rng.choice((1000000, 1048576, 1048579))
