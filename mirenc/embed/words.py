"""The words that an encoder's arguments may be."""

from __future__ import annotations

from typing import Literal

from mirenc.errors import ConfigError

__all__ = ["PARTS", "PURPOSES", "Level", "OnError", "Part", "Purpose", "check"]

Level = Literal["module", "function", "loop", "block", "instruction"]
Part = Literal["both", "text", "graph"]
Purpose = Literal["search", "features"]
OnError = Literal["raise", "skip"]
PARTS = ("both", "text", "graph")
PURPOSES = ("search", "features")


def check(what: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse a word that is none of those allowed.

    Raises
    ------
    ConfigError
        Says which are.
    """
    if value not in allowed:
        raise ConfigError(f"unknown {what} {value!r}; available: {', '.join(allowed)}")
