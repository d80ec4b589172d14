"""`index`: files and folders embedded into a table to search in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

from mirenc.embed import Embedding, Encoder, Level
from mirenc.errors import MirencError
from mirenc.ir.inputs import Input
from mirenc.ir.projects import expand_inputs
from mirenc.search.table import Maker, VectorTable


def index(
    encoder: Encoder,
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str] | Input],
    *,
    level: Level = "module",
    failed: Callable[[MirencError], None] | None = None,
    progress: bool = False,
) -> VectorTable:
    """Embed files and folders into a table to search in.

    Parameters
    ----------
    encoder : Encoder
    inputs : path, or several
        Files, folders and ``compile_commands.json``, as `mirenc.ir.inputs` takes them: paths, whatever they look like.
    level : str
        As in `mirenc.Encoder.embed`.
    failed : callable, optional
        Told the error of a file that cannot be read, which is then left out. Without it the first error is raised.
    progress : bool
        Show a bar on stderr.

    Raises
    ------
    MirencError
        A file cannot be read, or the level is unknown.
    """
    several = [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs
    files = list(expand_inputs(one if isinstance(one, Input) else Path(one) for one in several))

    def embeddings() -> Iterator[tuple[str, Embedding]]:
        with closing(encoder.embed_stream(files, level=level, progress=progress)) as outcomes:
            for outcome in outcomes:
                if outcome.embedding is not None:
                    yield outcome.name, outcome.embedding
                elif outcome.error is not None:
                    if failed is None:
                        raise outcome.error
                    failed(outcome.error)

    return VectorTable.of(Maker.of(encoder, level), embeddings(), encoder.dimension)
