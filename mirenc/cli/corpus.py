"""``mirenc corpus``: IR files to a corpus for pre-training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mirenc.cli import common

app = typer.Typer(help="Build corpora for pre-training.", no_args_is_help=True)


@app.command()
def build(
    folder: Annotated[
        Path,
        typer.Argument(help="IR below it; its first folders are the projects.", exists=True, file_okay=False),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the corpus.", file_okay=False)],
    vocab_size: Annotated[int, typer.Option(help="Pieces of the tokenizer.", min=256, max=65535)] = 4096,
    tokenizer: Annotated[Path | None, typer.Option(help="Use this tokenizer instead of training one.")] = None,
    timeout: common.Timeout = None,
    memory_limit: common.MemoryLimit = None,
    max_bytes: common.MaxBytes = None,
) -> None:
    """Read a folder of IR, drop duplicates, train the tokenizer, write the corpus."""
    options = common.read_options(timeout, memory_limit, max_bytes)
    from mirenc.config import TokenizerConfig
    from mirenc.errors import MirencError
    from mirenc.ir.files import find_inputs, folder_error
    from mirenc.pretraining.corpus import build_corpus
    from mirenc.tokenizer import IRTokenizer

    files = find_inputs(folder)
    if not files:
        raise folder_error(str(folder))
    output.mkdir(parents=True, exist_ok=True)  # now, not after an hour of reading
    failures = common.Failures(len(files))

    def failed(path: Path, error: MirencError) -> None:
        failures.add(error)

    with common.progress("reading", len(files)) as advance:
        corpus = build_corpus(
            files,
            folder,
            TokenizerConfig(vocab_size=vocab_size),
            tokenizer=IRTokenizer.from_file(tokenizer) if tokenizer else None,
            options=options,
            advance=advance,
            failed=failed,
        )
    corpus.save(output)
    typer.echo(f"{output}: {corpus!r} of {len(files)} files")
    failures.finish()
