"""Pre-training with the directed graph encoder, from a corpus to a packaged model."""

import json
import zlib
from pathlib import Path

import numpy as np
import pytest
from same_vectors import assert_same_vectors

from mirenc import load
from mirenc.encoder.golden import GOLDEN_IR, check_golden
from mirenc.model.config import DirectedGraphConfig, LexicalConfig
from mirenc.pretrain.config import PretrainConfig
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.package import package
from mirenc.pretrain.trainer import Trainer

DIRECTED = DirectedGraphConfig(hidden=32, out=24, readout="mean-max-sum", statements=True)


@pytest.fixture(scope="module")
def folder(short_run: PretrainConfig, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of a short run."""
    trainer = Trainer(short_run.model_copy(update={"graph": DIRECTED}), corpus, tmp_path_factory.mktemp("directed"))
    trainer.run()
    return package(trainer, trainer.folder / "model", name="model")


def test_the_packaged_model_embeds_with_and_without_torch(folder: Path) -> None:
    assert check_golden(folder) < 1e-5
    encoder, other = (load(folder, cache=False, backend=backend) for backend in ("numpy", "torch"))
    assert encoder.files.config.graph == DIRECTED
    assert encoder.dimension == encoder.text_dimension + 3 * 24
    for text in GOLDEN_IR.values():
        for level in ("module", "function", "instruction"):
            one, two = (np.atleast_2d(each.embed(text, level=level, whiten=False)) for each in (encoder, other))
            assert one.shape[1] == encoder.dimension
            assert_same_vectors(one, two)
        assert 0 <= encoder.match(text, GOLDEN_IR["sum"]) <= 1
        assert encoder.match(text, text) == pytest.approx(other.match(text, text), abs=1e-5)


def test_figures_and_card_speak_of_it(folder: Path) -> None:
    figures = json.loads((folder.parent / "model.figures.json").read_text(encoding="utf-8"))
    assert set(figures["gae"]) == {"control", "data", "call"}
    assert 0 <= figures["matching"]["accuracy_random"] <= 1
    assert figures["training"]["config"]["graph"]["kind"] == "directed"
    card = " ".join((folder / "MODEL_CARD.md").read_text(encoding="utf-8").split())
    assert "graph encoder: directed, 32 -> 2 layers of 32 -> 24" in card
    assert "32 (text) + 72 (graph: mean-max-sum of the nodes) components" in card
    assert "The graph encoder does, up to the fourth operand." in card


def test_going_on_takes_all_of_the_same_architecture_and_of_another_graph_encoder_the_text(
    short_run: PretrainConfig, corpus: Corpus, folder: Path, tmp_path: Path
) -> None:
    start = short_run.model_copy(update={"start_from": str(folder)})
    same = Trainer(start.model_copy(update={"graph": DIRECTED}), corpus, tmp_path / "same").started_from
    assert same is not None
    assert "part" not in same
    assert Trainer(start, corpus, tmp_path / "other").started_from == {**same, "part": "text"}


def test_a_run_fits_the_table_of_a_lexical_view(short_run: PretrainConfig, corpus: Corpus, tmp_path: Path) -> None:
    view = LexicalConfig(width=64, buckets=4096)
    trainer = Trainer(short_run.model_copy(update={"lexical": view}), corpus, tmp_path)
    trainer.run()
    encoder = load(package(trainer, tmp_path / "model", name="model"), cache=False)
    assert encoder.files.config.lexical == view
    assert encoder.dimension == encoder.text_dimension + encoder.graph_dimension + 64
    idf = encoder.files.weights["lexical_idf"]
    often, never = (idf[zlib.crc32(term) % 4096] for term in (b"ret void", b"@nobody"))
    assert 0 <= often < never
    assert check_golden(tmp_path / "model") < 1e-5
    for text in GOLDEN_IR.values():
        assert np.linalg.norm(encoder.embed_parts(text).lexical) == pytest.approx(view.weight, rel=1e-4)
