"""The trainer: resumption to the last bit, clear ends, a model that can be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from mirenc.config import PretrainConfig
from mirenc.errors import ConfigError, ModelError
from mirenc.pretraining.corpus import Corpus
from mirenc.pretraining.package import package
from mirenc.pretraining.trainer import Trainer


class Killed(BaseException):
    """Stands for kill -9: nothing of mirenc catches it."""


def run(config: PretrainConfig, corpus: Corpus, folder: Path) -> dict[str, torch.Tensor]:
    return Trainer(config, corpus, folder).run().state_dict()


@pytest.mark.parametrize("stop", [("mlm", 5), ("gae", 2), ("igm", 4)])
def test_resume_gives_the_same_bits(
    short_run: PretrainConfig, corpus: Corpus, tmp_path: Path, stop: tuple[str, int]
) -> None:
    whole = run(short_run, corpus, tmp_path / "whole")

    def kill(stage: str, step: int, steps: int, loss: float) -> None:
        if (stage, step) == stop:
            raise Killed

    with pytest.raises(Killed):
        Trainer(short_run, corpus, tmp_path / "killed", report=kill).run()
    resumed = Trainer(short_run, corpus, tmp_path / "killed").run(resume=True).state_dict()
    assert whole.keys() == resumed.keys()
    for name, value in whole.items():
        assert torch.equal(value, resumed[name]), name


def test_another_seed_is_another_model(short_run: PretrainConfig, corpus: Corpus, tmp_path: Path) -> None:
    one = run(short_run, corpus, tmp_path / "one")
    other = run(short_run.model_copy(update={"seed": 1}), corpus, tmp_path / "other")
    assert not torch.equal(one["text.token.weight"], other["text.token.weight"])


def test_training_lowers_the_loss(short_run: PretrainConfig, corpus: Corpus, tmp_path: Path) -> None:
    losses: dict[str, list[float]] = {"mlm": [], "gae": [], "igm": []}
    stages = {
        name: getattr(short_run, name).model_copy(update={"steps": 40, "learning_rate": 3e-3})
        for name in ("mlm", "gae", "igm")
    }
    Trainer(
        short_run.model_copy(update=stages),
        corpus,
        tmp_path,
        report=lambda stage, step, steps, loss: losses[stage].append(loss),
    ).run()
    for stage, values in losses.items():
        assert sum(values[-5:]) < 0.9 * sum(values[:5]), stage


def test_started_folder_is_not_overwritten(short_run: PretrainConfig, corpus: Corpus, tmp_path: Path) -> None:
    run(short_run, corpus, tmp_path)
    with pytest.raises(ConfigError, match="--resume"):
        run(short_run, corpus, tmp_path)


def test_nothing_to_resume(short_run: PretrainConfig, corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no checkpoint"):
        Trainer(short_run, corpus, tmp_path).run(resume=True)


def test_resume_refuses_another_configuration(short_run: PretrainConfig, corpus: Corpus, tmp_path: Path) -> None:
    run(short_run, corpus, tmp_path)
    with pytest.raises(ConfigError, match="another configuration"):
        Trainer(short_run.model_copy(update={"seed": 5}), corpus, tmp_path).run(resume=True)


def test_a_loss_that_is_no_number_keeps_the_checkpoint(
    short_run: PretrainConfig, corpus: Corpus, tmp_path: Path
) -> None:
    trainer = Trainer(short_run, corpus, tmp_path)

    def poison(stage: str, step: int, steps: int, loss: float) -> None:
        if (stage, step) == ("mlm", 4):
            with torch.no_grad():
                trainer.model.text.norm_out.weight.fill_(float("nan"))

    trainer.report = poison
    with pytest.raises(ModelError, match="mlm loss is nan at step 4"):
        trainer.run()
    kept = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    assert kept["step"] == 3
    assert torch.isfinite(kept["model"]["text.norm_out.weight"]).all()


def test_package_makes_a_model_that_embeds(short_run: PretrainConfig, corpus: Corpus, tmp_path: Path) -> None:
    from mirenc import load
    from mirenc.golden import GOLDEN_IR, check_golden
    from mirenc.weights import verify_files

    trainer = Trainer(short_run, corpus, tmp_path)
    trainer.run()
    folder = package(trainer, tmp_path / "model", name="model")
    assert set(verify_files(folder)) == {
        *("config.json", "tokenizer.json", "model.safetensors"),
        *("MODEL_CARD.md", "golden.json"),
    }
    for backend in ("numpy", "torch"):
        assert check_golden(folder, backend=backend) < 1e-5
    encoder = load(folder, cache=False)
    assert encoder.embed(GOLDEN_IR["sum"]).shape == (encoder.dimension,)
    figures = json.loads((tmp_path / "model.figures.json").read_text())
    assert 0 <= figures["mlm"]["accuracy"] <= 1
    assert set(figures["gae"]) <= {"control", "data", "call"}
    assert f"{100 * figures['mlm']['accuracy']:.1f} %" in (folder / "MODEL_CARD.md").read_text()
