"""``mirenc compare``: how alike files are, or which function of one is which of another."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mirenc.cli import common
from mirenc.errors import ConfigError, MirencError

if TYPE_CHECKING:
    from mirenc.embed.embedding import Embedding


@common.reads
def compare(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE FILE ...",
            help="IR or source files, folders of either, or compile_commands.json.",
            show_default=False,
        ),
    ],
    level: common.LevelName = "module",
    as_json: common.JSON = False,
    model: common.Model = None,
    whitening_map: common.Map = None,
    hide_names: common.HideNames = False,
    *,
    options: common.Reading,
) -> None:
    """Cosine of two files, or of each pair of several.

    With --level function (or a finer one), of two files: what each function of the first is nearest to in the second.
    """
    chosen = common.check_level(level)
    paths = common.expand(files)
    if len(paths) < 2:
        raise typer.BadParameter(f"{len(paths)} file to compare; give at least two", param_hint="FILE FILE ...")
    if chosen != "module" and len(paths) > 2:
        raise typer.BadParameter(
            f"{len(paths)} files; at level {chosen} two are compared. Use `mirenc search` for one in many",
            param_hint="FILE FILE ...",
        )
    from mirenc.embed import load

    encoder = load(model, options=options, whitening_map=whitening_map, hide_names=hide_names)
    failures = common.Failures(len(paths))
    read: list[str] = []
    embeddings: list[Embedding] = []
    with common.progress("embedding", len(paths)) as advance:
        for path in paths:
            try:
                embeddings.append(encoder.embed_parts(path, level=chosen))
                read.append(path.name)
            except MirencError as error:
                if len(paths) == 2:
                    raise  # of one file there is nothing to tell
                failures.add(error)
            advance()
    head = {"model": encoder.name, "model_digest": encoder.digest, "level": chosen}
    if chosen != "module":
        for name, embedding in zip(read, embeddings, strict=True):
            if not embedding.regions:
                raise ConfigError(f"{name} has no {chosen}. Compare at another level (--level)")
        first, second = embeddings
        _best(read, first, second, head if as_json else None)
    elif embeddings:
        _matrix(read, embeddings, head if as_json else None)
    failures.finish()


def _matrix(files: list[str], embeddings: list[Embedding], head: dict[str, Any] | None) -> None:
    """One number for two files; for more, one row a file, numbered as the columns are."""
    import numpy as np

    from mirenc.search import compare

    cosines = compare(np.concatenate([embedding.vector for embedding in embeddings]))
    if head is not None:
        typer.echo(json.dumps({**head, "files": files, "cosines": cosines.tolist()}))
    elif len(files) == 2:
        typer.echo(f"{cosines[0, 1]:.4f}")
    else:
        typer.echo("    " + "".join(f"{number:8}" for number in range(1, len(files) + 1)))
        for number, (file, row) in enumerate(zip(files, cosines, strict=True), start=1):
            typer.echo(f"{number:4}" + "".join(f"{value:8.4f}" for value in row) + f"  {file}")


def _best(files: list[str], first: Embedding, second: Embedding, head: dict[str, Any] | None) -> None:
    """Nearest part of the second file for each of the first, and whether it is the nearest the other way round, too."""
    from mirenc.search import nearest

    there, cosines = nearest(first.vector, second.vector, 1)
    back, _ = nearest(second.vector, first.vector, 1)
    matches = [
        {
            "name": first.names[row],
            "nearest": second.names[best],
            "cosine": float(cosine),
            "mutual": int(back[best, 0]) == row,
        }
        for row, (best, cosine) in enumerate(zip(there[:, 0].tolist(), cosines[:, 0], strict=True))
    ]
    if head is not None:
        typer.echo(json.dumps({**head, "files": files, "matches": matches}))
        return
    width = max(len(files[0]), *(len(name) for name in first.names))
    typer.echo(f"cosine    {files[0]:{width}}    {files[1]}")
    for match in matches:
        # An arrow back where each is the other's nearest: those are the safe pairs.
        arrow = "<->" if match["mutual"] else " ->"
        typer.echo(f"{match['cosine']:.4f}    {match['name']:{width}} {arrow} {match['nearest']}")
