"""`Request`: what is wanted of every input, made once at the encoder's door; and the words it may be made of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mirenc.errors import ConfigError
from mirenc.ir import LEVELS, ReadOptions

Level = Literal["module", "function", "loop", "block", "instruction"]
Part = Literal["both", "text", "graph"]
Purpose = Literal["search", "features"]
OnError = Literal["raise", "skip"]
PARTS = ("both", "text", "graph")
PURPOSES = ("search", "features")


def check(what: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse a word that is none of those allowed, with a ConfigError that says which are."""
    if value not in allowed:
        raise ConfigError(f"unknown {what} {value!r}; available: {', '.join(allowed)}")


@dataclass(frozen=True)
class Request:
    """What is wanted of every input.

    Attributes
    ----------
    levels : tuple of str
        One, or several whose rows stand one below the other.
    purpose, function, whiten
        As `mirenc.Encoder.embed` takes them.
    options : ReadOptions
        Limits and compiler for reading.
    weighting : str
        How often a text counts (`mirenc.model.config.PoolingConfig`).
    cache : (str, Path, int) or None
        Digest, folder and size of the cache that may know the embedding.

    Raises
    ------
    ConfigError
        Unknown level or purpose.
    """

    levels: tuple[str, ...]
    purpose: str
    function: str | None
    whiten: bool
    options: ReadOptions
    weighting: str
    cache: tuple[str, Path, int] | None

    def __post_init__(self) -> None:
        for level in self.levels:
            check("level", level, LEVELS)
        if len(self.levels) > 1 and {"module", "instruction"}.intersection(self.levels):
            raise ConfigError(f"levels {', '.join(self.levels)}; several at once may be function, loop and block")
        check("purpose", self.purpose, PURPOSES)
