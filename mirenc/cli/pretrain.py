"""``mirenc pretrain``: train a model and package it."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from mirenc.base.errors import ConfigError, needs
from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.pretrain.config import PretrainConfig
    from mirenc.pretrain.trainer import StepReport, Trainer

_SILENCE = 60.0  # seconds of training between two lines of a log
_CONFIG = "TOML file such as pretrain/tiny.toml. The documentation of PretrainConfig lists every setting."
_IR = "Folder of the IR that CORPUS was built from. With it, function retrieval is evaluated, too."
_MAPS = "TOML file that names the code on which whitening maps (corrections of vectors for search) are fitted; see "
_MAPS += "MapsConfig. [default: they are fitted on CORPUS]"


def pretrain(
    config: Annotated[Path, Argument(help=_CONFIG)],
    corpus: Annotated[Path, Option("--corpus", "-c", help="Folder that `mirenc corpus build` wrote.")],
    output: Annotated[Path, Option("--output", "-o", help="Folder for checkpoints and the model.")],
    name: Annotated[str, Option(help="Name of the model.")] = "my-model",
    resume: Annotated[bool, Option("--resume", help="Continue from the checkpoint in OUTPUT.")] = False,
    ir: Annotated[Path | None, Option(help=_IR)] = None,
    maps: Annotated[Path | None, Option(help=_MAPS)] = None,
) -> None:
    """Pre-train a model on a corpus, evaluate it on held-out projects, and package it.

    The stages learn to predict masked tokens (mlm), hidden edges (gae), whether a text and a graph belong together
    (igm), and which functions come from one source (contrast).

    Several processes: `torchrun --nproc-per-node 2 -m mirenc pretrain ...`. Curves: `tensorboard --logdir OUTPUT`.

    mirenc pretrain tiny.toml --corpus corpus -o run
    mirenc pretrain tiny.toml --corpus corpus -o run --resume
    """
    from mirenc.pretrain.config import PretrainConfig

    with needs("train", "pre-training needs more packages"):
        from mirenc.pretrain.trainer import Trainer
    run(PretrainConfig, Trainer, config, corpus, output, name=name, resume=resume, ir=ir, maps=maps)


def run(
    config_class: type[PretrainConfig],
    trainer_class: type[Trainer],
    config: Path,
    corpus: Path,
    output: Path,
    *,
    name: str,
    resume: bool,
    ir: Path | None,
    maps: Path | None,
) -> None:
    """Run ``mirenc pretrain``, also for a recipe that has a configuration and a trainer of its own."""
    from mirenc.base.config import load_toml
    from mirenc.pretrain.config import MapsConfig
    from mirenc.pretrain.corpus.store import Corpus
    from mirenc.pretrain.package import package

    if name in ("", ".", "..") or "/" in name or (output / name).is_file():
        raise ConfigError(f"{name!r} cannot name a folder in {output}. Give --name letters, digits, - and _")
    settings = config_class.from_dict(load_toml(config), where=str(config))
    maps_config = None if maps is None else MapsConfig.from_dict(load_toml(maps), where=str(maps))
    # Told now, not after hours of training.
    for domain in maps_config.domains if maps_config is not None else ():
        if not Path(domain.folder).is_dir():
            raise ConfigError(f"{maps}: domain {domain.folder}: no such folder. Give a folder of IR or of a corpus")
    trainer = trainer_class(settings, Corpus.load(corpus), output)
    steps = sum(stage.steps for stage in trainer.stages.values())
    with common.progress("training", steps, show=trainer.processes.first) as advance:
        reported_steps, silence = 0, 0.0

        def report(step: StepReport) -> None:
            nonlocal reported_steps, silence
            remaining = timedelta(seconds=round(step.seconds_left))
            line = f"{step.stage} {step.step}/{step.steps} loss {step.loss:.3f}, {step.speed:,.0f} {step.unit}/s"
            advance(trainer.steps_done - reported_steps, note=line)  # what a resumed run did before counts as done
            reported_steps, silence = trainer.steps_done, silence + step.seconds
            is_due = silence > _SILENCE or step.step == step.steps
            if is_due and trainer.processes.first and not sys.stderr.isatty():  # where there is no bar
                silence = 0.0
                common.say(f"{line}, {remaining} left of {step.stage}")

        trainer.report = report
        trainer.run(resume=resume)
    is_first = trainer.processes.first
    trainer.processes.close()
    if is_first:
        folder = package(trainer, output / name, name=name, ir=ir, maps=maps_config)
        typer.echo(f"{folder}: packaged. Use it: mirenc embed --model {folder} foo.ll")
