"""`EmbedOptions`: what is wanted of every input, checked once, and the words that it may be said in."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from mirenc.base.errors import ConfigError, unknown
from mirenc.llvm import LEVELS, ReadOptions
from mirenc.llvm.passes.optimise import Form

Level = Literal["module", "function", "loop", "block", "instruction"]
Part = Literal["both", "text", "graph"]
Purpose = Literal["search", "features"]
OnError = Literal["raise", "skip"]
PARTS = ("both", "text", "graph")
PURPOSES = ("search", "features")
SEARCH_FORM: Form = "O2"
"""Form of vectors that are made to be searched: builds of one source at other levels come to look alike."""


def check(subject: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise a ConfigError that lists the allowed values if ``value`` is not one of them; ``subject`` names it."""
    if value not in allowed:
        raise ConfigError(unknown(subject, value, allowed))


def usual_form(purpose: str, levels: Collection[str]) -> Form:
    """The form of vectors for a purpose: `SEARCH_FORM` of modules and functions for search, else ``plain``.

    Passes change loops, blocks and instructions, so those would no longer be the ones in the caller's file.
    """
    return SEARCH_FORM if purpose == "search" and {"module", "function"}.issuperset(levels) else "plain"


@dataclass(frozen=True)
class EmbedOptions:
    """What is wanted of every input, in the words of `mirenc.Encoder.embed`; ``read`` has the form and the limits.

    Raises ConfigError: an unknown level or purpose, or levels that do not go together.
    """

    levels: tuple[str, ...]
    purpose: str
    function: str | None
    whiten: bool
    read: ReadOptions

    def __post_init__(self) -> None:
        for level in self.levels:
            check("level", level, LEVELS)
        if len(self.levels) > 1 and {"module", "instruction"}.intersection(self.levels):
            problem = f"levels {', '.join(self.levels)} cannot be combined"
            raise ConfigError(f"{problem}; several at once may be: function, loop, block")
        check("purpose", self.purpose, PURPOSES)


def check_jobs(jobs: int | None, batch_size: int) -> None:
    """Raise a ConfigError if the number of processes or of inputs in a batch is not positive."""
    if jobs is not None and (type(jobs) is not int or jobs < 1):
        raise ConfigError(f"jobs is {jobs}; allowed: a whole number from 1 up, or None")
    if batch_size < 1:
        raise ConfigError(f"batch_size is {batch_size}; allowed: a whole number from 1 up")
