"""Short runs of pre-training: of one stage alone, killed and resumed, and what became of their weights."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from mirenc.pretrain.config import PretrainConfig
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.trainer import StepReport, Trainer

Weights = dict[str, torch.Tensor]


class Killed(BaseException):
    """Stands for kill -9: nothing of mirenc catches it."""


def weights_of(model: nn.Module) -> Weights:
    """A copy: packaging rounds the model's own."""
    return {name: value.clone() for name, value in model.state_dict().items()}


def assert_same_weights(actual: Weights, expected: Weights) -> None:
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        assert torch.equal(value, actual[name]), name


def with_stages(config: PretrainConfig, stages: dict[str, dict[str, Any]], **changes: Any) -> PretrainConfig:
    """A run of these stages alone, each with its changes."""
    for name in ("mlm", "gae", "igm"):
        changes[name] = getattr(config, name).model_copy(update=stages.get(name, {"steps": 0}))
    return config.model_copy(update=changes)


def run_with_losses(config: PretrainConfig, corpus: Corpus, folder: Path) -> tuple[Trainer, Weights, list[float]]:
    """A run that nothing stops: its trainer, the weights before it, and the loss of each step."""
    losses: list[float] = []
    trainer = Trainer(config, corpus, folder, report=lambda step: losses.append(step.loss))
    before = weights_of(trainer.model)
    trainer.run()
    return trainer, before, losses


def killed_and_resumed(
    config: PretrainConfig, corpus: Corpus, folder: Path, stage: str, step: int, trainer_of: type[Trainer] = Trainer
) -> Trainer:
    """The trainer of a run that was killed after a step of a stage and then resumed."""

    def kill(report: StepReport) -> None:
        if (report.stage, report.step) == (stage, step):
            raise Killed

    with pytest.raises(Killed):
        trainer_of(config, corpus, folder, report=kill).run()
    trainer = trainer_of(config, corpus, folder)
    trainer.run(resume=True)
    return trainer
