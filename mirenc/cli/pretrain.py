"""``mirenc pretrain``: train a model and package it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mirenc.cli import common


def pretrain(
    config: Annotated[Path, typer.Argument(help="TOML with the keys of PretrainConfig.")],
    corpus: Annotated[Path, typer.Option("--corpus", "-c", help="Folder `mirenc corpus build` wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for checkpoints and the model.")],
    name: Annotated[str, typer.Option(help="Name of the model.")] = "my-model",
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the folder's checkpoint.")] = False,
) -> None:
    """Pre-train: MLM, GAE, IR-graph matching; evaluate held-out projects; package the model."""
    from mirenc.config import PretrainConfig, load_toml
    from mirenc.errors import MissingExtraError

    settings = PretrainConfig.from_dict(load_toml(config), where=str(config))
    try:
        from mirenc.pretraining.corpus import Corpus
        from mirenc.pretraining.package import package
        from mirenc.pretraining.trainer import Trainer
    except ImportError as error:
        raise MissingExtraError(
            f"pre-training needs more packages ({error}). Type: pip install 'mirenc[train]'"
        ) from None
    steps = settings.mlm.steps + settings.gae.steps + settings.igm.steps
    with common.progress("training", steps) as advance:

        def report(stage: str, step: int, count: int, loss: float) -> None:
            advance(1, note=f"{stage} {step}/{count} loss {loss:.3f}")

        trainer = Trainer(settings, Corpus.load(corpus), output, report=report)
        trainer.run(resume=resume)
    folder = package(trainer, output / name, name=name)
    typer.echo(f"{folder}: packaged. Use it: mirenc embed --model {folder} foo.ll")
