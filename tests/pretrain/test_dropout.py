"""Dropout belongs to the steps of a run: what is computed once of texts that stay as they are has none."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mirenc.model.mirencoder import MIREncoder
from mirenc.pretrain import encoding
from mirenc.pretrain.config import PretrainConfig
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.trainer import Trainer


def test_dropout_is_for_steps_alone(
    short_run: PretrainConfig, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = {"steps": 1, "batch": 4, "learning_rate": 1e-3}
    config = PretrainConfig.from_dict(short_run.model_dump() | {"mlm": one, "gae": one, "igm": one})
    modes: list[bool] = []
    steps: list[bool] = []
    compute = encoding.statement_vectors

    def note_and_compute(model: MIREncoder, *args: Any, **options: Any) -> NDArray[np.float32]:
        modes.append(model.training)
        return compute(model, *args, **options)

    monkeypatch.setattr(encoding, "statement_vectors", note_and_compute)
    trainer = Trainer(config, corpus, tmp_path, report=lambda _: steps.append(trainer.model.training))
    trainer.run()
    assert (modes, steps) == ([False, False], [True, True, True])
