"""``mirenc embed``: vectors of IR files."""

from contextlib import closing
from typing import Annotated, Literal

from typer import Option

from mirenc.cli import common

_OUTPUT = "File whose suffix says how, as .npz; an unknown one is answered with all. [default: JSON lines on stdout]"


@common.reads
def embed(
    inputs: common.Inputs,
    output: Annotated[str | None, Option("--output", "-o", help=_OUTPUT)] = None,
    level: common.Level = "module",
    function: common.Function = None,
    purpose: Annotated[
        Literal["search", "features"], Option(help="Vectors to compare and search, or features for a head.")
    ] = "search",
    part: Annotated[Literal["both", "text", "graph"], Option(help="Which part of the vector.")] = "both",
    whiten: Annotated[bool, Option(help="Take away what the vectors of all IR share.")] = True,
    hide_names: common.HideNames = False,
    model: common.Model = None,
    whitening_map: common.Map = None,
    backend: Annotated[
        Literal["numpy", "torch"] | None, Option(help="[default: numpy on the CPU, torch elsewhere]")
    ] = None,
    device: Annotated[str, Option(help="cpu, cuda, cuda:1 ...")] = "cpu",
    cache: Annotated[bool, Option(help="Keep vectors in the user's cache folder.")] = True,
    *,
    options: common.Reading,
) -> None:
    """Embed IR files and sources.

    Files that fail are listed on stderr; the others are delivered, and the exit code is 1.
    """
    from mirenc.embed import load
    from mirenc.search import Maker, VectorWriter, check_vectors_output

    check_vectors_output(output)
    files = common.expand(inputs)
    encoder = load(
        model,
        device=device,
        backend=backend,
        cache=cache,
        options=options,
        hide_names=hide_names,
        whitening_map=whitening_map,
    )
    failures = common.Failures(len(files))
    outcomes = encoder.embed_stream(
        files, level=level, purpose=purpose, function=function, whiten=whiten, progress=True
    )
    with VectorWriter(output, Maker.of(encoder, level, part, purpose, whiten)) as writer, closing(outcomes):
        for given, outcome in zip(files, outcomes, strict=True):
            if (embedding := outcome.embedded(failures.add)) is not None:
                writer.add(given.name, embedding)
    failures.finish()
