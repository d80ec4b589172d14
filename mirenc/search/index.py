"""`index`: files and folders embedded into a table to search in."""

import os
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

from mirenc.embed import Encoder, Level
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
    level, progress
        As in `mirenc.Encoder.embed`.
    failed : callable, optional
        Told the error of a file that cannot be read, which is then left out. Without it the first error is raised.

    Raises
    ------
    MirencError
        A file cannot be read, or the level is unknown.
    """
    several = [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs
    files = list(expand_inputs(one if isinstance(one, Input) else Path(one) for one in several))

    with closing(encoder.embed_stream(files, level=level, progress=progress)) as outcomes:
        embedded = ((one.name, one.embedded(failed)) for one in outcomes)
        embeddings = ((name, embedding) for name, embedding in embedded if embedding is not None)
        return VectorTable.of(Maker.of(encoder, level), embeddings, encoder.dimension)
