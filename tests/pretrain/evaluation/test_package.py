"""A packaged model carries its baselines and, where the IR is at hand, its retrieval figures."""

import json
from pathlib import Path

import numpy as np

from mirenc.pretrain.config import PretrainConfig
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.evaluation import Baselines
from mirenc.pretrain.package import package
from mirenc.pretrain.trainer import Trainer


def test_package_with_and_without_ir(
    short_run: PretrainConfig, corpus: Corpus, ir_folder: Path, tmp_path: Path
) -> None:
    trainer = Trainer(short_run, corpus, tmp_path)
    trainer.run()
    folder = package(trainer, tmp_path / "with", name="with", ir=ir_folder)
    figures = json.loads((tmp_path / "with.figures.json").read_text(encoding="utf-8"))
    assert figures["retrieval"]["functions"] >= 10
    card = (folder / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert f"by text: recall at 1, at 10, MRR ({figures['retrieval']['functions']} functions)" in card
    stored = Baselines.load(folder, corpus.tokenizer.vocab_size)
    assert stored is not None
    fitted = Baselines.fit(corpus, trainer.train_modules)
    np.testing.assert_array_equal(stored.between_token, fitted.between_token)
    package(trainer, tmp_path / "without", name="without")
    figures = json.loads((tmp_path / "without.figures.json").read_text(encoding="utf-8"))
    assert figures["retrieval"] is None
    assert "was not given" in figures["missing"]["retrieval"]
