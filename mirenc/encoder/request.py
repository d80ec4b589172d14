"""`Request`: what is wanted of every input, made once at the encoder's door; and the words it may be made of."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from mirenc.base.cache import Cache
from mirenc.base.errors import ConfigError
from mirenc.llvm import LEVELS, ReadOptions
from mirenc.llvm.ir.plain_statement import Spelling
from mirenc.llvm.passes.optimise import Form

Level = Literal["module", "function", "loop", "block", "instruction"]
Part = Literal["both", "text", "graph"]
Purpose = Literal["search", "features"]
OnError = Literal["raise", "skip"]
PARTS = ("both", "text", "graph")
PURPOSES = ("search", "features")
Item = TypeVar("Item")
SEARCH_FORM: Form = "O2"
"""Form of vectors that are made to be searched: builds of one source at other levels come to look alike."""


def check(what: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse a word that is none of those allowed, with a ConfigError that says which are."""
    if value not in allowed:
        raise ConfigError(f"unknown {what} {value!r}; available: {', '.join(allowed)}")


def usual_form(purpose: str, levels: Collection[str]) -> Form:
    """The form of vectors for a purpose: `SEARCH_FORM` of modules and functions for search, else ``plain``.

    A loop, block or instruction that passes have changed is none of those that the caller has.
    """
    return SEARCH_FORM if purpose == "search" and {"module", "function"}.issuperset(levels) else "plain"


def in_batches(
    items: Iterable[Item], size_of: Callable[[Item], int], most: int, count: int | None = None
) -> Iterator[list[Item]]:
    """Items in their order, some at a time: of a total size of at most ``most``, or one item; at most ``count``."""
    batch: list[Item] = []
    total = 0
    for item in items:
        size = size_of(item)
        if batch and total + size > most:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
        if total >= most or len(batch) == count:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


@dataclass(frozen=True)
class Request:
    """What is wanted of every input, in words of `mirenc.Encoder.embed`, checked (ConfigError).

    ``weighting`` says how often a text counts (`mirenc.model.config.PoolingConfig`); ``spelling``
    how texts are read; ``cache`` may know the embedding. ``options`` have the form.
    """

    levels: tuple[str, ...]
    purpose: str
    function: str | None
    whiten: bool
    options: ReadOptions
    weighting: str
    spelling: Spelling
    cache: Cache | None
    batch_size: int = 64
    workers: int | None = None

    def __post_init__(self) -> None:
        for level in self.levels:
            check("level", level, LEVELS)
        if len(self.levels) > 1 and {"module", "instruction"}.intersection(self.levels):
            raise ConfigError(f"levels {', '.join(self.levels)}; several at once may be function, loop and block")
        check("purpose", self.purpose, PURPOSES)
        if self.batch_size < 1:
            raise ConfigError(f"batch_size is {self.batch_size}; allowed: a whole number from 1 up")
        if self.workers is not None and self.workers < 0:
            raise ConfigError(f"workers is {self.workers}; allowed: a whole number from 0 up, or None")
