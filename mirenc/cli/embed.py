"""``mirenc embed``: vectors of IR files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mirenc.cli import common
from mirenc.errors import MirencError

if TYPE_CHECKING:
    from mirenc.embedding import Embedding
    from mirenc.encoder import Encoder, Level


def embed(
    inputs: common.Inputs,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="x.npy, x.npz, x.jsonl or x.parquet. [default: JSON lines on stdout]",
        ),
    ] = None,
    level: Annotated[
        Literal["module", "function", "instruction"],
        typer.Option("--level", "-l", help="What gets a vector."),
    ] = "module",
    part: Annotated[Literal["both", "text", "graph"], typer.Option(help="Which half of the vector.")] = "both",
    whiten: Annotated[bool, typer.Option(help="Take away what the vectors of all IR share.")] = True,
    model: common.Model = None,
    backend: Annotated[
        Literal["numpy", "torch"] | None,
        typer.Option(help="[default: numpy on the CPU, torch elsewhere]"),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1 ...")] = "cpu",
    cache: Annotated[bool, typer.Option(help="Keep vectors in the user's cache folder.")] = True,
    timeout: common.Timeout = None,
    memory_limit: common.MemoryLimit = None,
    max_bytes: common.MaxBytes = None,
    compiler: common.Compiler = None,
    cflags: common.CFlags = "",
) -> None:
    """Embed IR files.

    Files that fail are listed on stderr; the others are delivered, and the exit code is 1.
    """
    options = common.read_options(timeout, memory_limit, max_bytes, compiler, cflags)
    from mirenc.cli.output import open_output
    from mirenc.encoder import load

    writer_of = open_output(output)
    files = common.expand(inputs)
    encoder = load(model, device=device, backend=backend, cache=cache, options=options)
    failures = common.Failures(len(files))
    with (
        writer_of(encoder, level, part) as writer,
        common.progress("embedding", len(files)) as advance,
    ):
        for name in files:
            try:
                embedding = _embed_one(encoder, name, level, whiten, advance)
            except MirencError as error:
                failures.add(error)
            else:
                writer.add(name, embedding)  # an output that fails is no fault of the file's: it ends the run
            advance()
    failures.finish()


def _embed_one(encoder: Encoder, name: str, level: Level, whiten: bool, advance: Callable[..., None]) -> Embedding:
    """Embed one file and say on the bar how far it is: a large one takes a while."""
    encoded = 0

    def told(count: int, total: int) -> None:
        nonlocal encoded
        encoded += count
        advance(0, note=f"{name[-40:]}: {encoded}/{total} statements")

    advance(0, note=name[-40:])
    # A path, never text, whatever the file is called.
    return encoder.embed_parts(Path(name), level=level, whiten=whiten, advance=told)
