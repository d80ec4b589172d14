"""`Outcome`: what became of one input, an embedding or an error."""

from collections.abc import Callable
from typing import NamedTuple

from mirenc.base.errors import MirencError, NoFunctionBodyError
from mirenc.base.shown import short_repr
from mirenc.encoder.embedding import Embedding

_MAX_LISTED = 5  # complaints


class Outcome(NamedTuple):
    """What became of an input, a path or ``<string>``: an embedding, or the error that says why there is none.

    The error of a module without a function body is a NoFunctionBodyError.
    """

    name: str
    embedding: Embedding | None
    error: MirencError | None

    def __repr__(self) -> str:
        return short_repr(self)

    @property
    def is_empty(self) -> bool:
        """Whether the input could be read, and has no function body."""
        return isinstance(self.error, NoFunctionBodyError)

    def embedded(self, failed: Callable[[MirencError], object] | None = None) -> Embedding | None:
        """The embedding; where there is none, ``failed`` is called with the error, which is raised without it."""
        if self.error is not None:
            if failed is None:
                raise self.error
            failed(self.error)
        return self.embedding

    def complaint(self, row: int) -> str:
        """One line on an input that cannot be embedded, beginning with its name, or its row where it has none."""
        reason = str(self.error).partition("\n")[0].removeprefix("<string>: ")
        name = f"input {row}" if self.name == "<string>" else self.name
        return reason if reason.startswith(name) else f"{name}: {reason}"


def listed(complaints: list[str]) -> str:
    """The first of some complaints, and how many more there are."""
    ending = f"; and {len(complaints) - _MAX_LISTED} more" if len(complaints) > _MAX_LISTED else ""
    return "; ".join(complaints[:_MAX_LISTED]) + ending
