"""Whitening maps of a run, fitted on several kinds of code."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from small_programs import program

from mirenc import load
from mirenc.base.errors import ConfigError
from mirenc.encoder import Encoder
from mirenc.encoder.golden import check_golden
from mirenc.llvm import ReadOptions
from mirenc.model.tokenizer import TokenizerConfig
from mirenc.model.whitening import mixed_whitening, moments_of
from mirenc.pretrain.config import MapsConfig, PretrainConfig
from mirenc.pretrain.corpus import Corpus, build_corpus
from mirenc.pretrain.package import package
from mirenc.pretrain.trainer import Trainer
from mirenc.pretrain.whitening import fit_maps


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    for number in range(24):
        for level in ("O0", "O2"):
            text = program(number, optimised=level == "O2")
            (folder / f"{number:02}.{level}.ll").write_text(text, encoding="utf-8")
    (folder / "broken.ll").write_text("nonsense\n", encoding="utf-8")  # left out
    return folder


@pytest.fixture(scope="module")
def trainer(short_run: PretrainConfig, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Trainer:
    finished = Trainer(short_run, corpus, tmp_path_factory.mktemp("run"))
    finished.run()
    return finished


def maps_on(folder: Path, *, corpus: float = 0, **domain: object) -> MapsConfig:
    """Fitted on a folder, and on the training modules by the weight of the ``corpus``."""
    return MapsConfig.from_dict({"corpus": corpus, "domains": [{"folder": str(folder), **domain}]})


def map_of(trainer: Trainer, part: str) -> tuple[np.ndarray, np.ndarray]:
    layer = getattr(trainer.model, f"whiten_{part}")
    return layer.mean.numpy().copy(), layer.matrix.numpy().copy()


def plain(encoder: Encoder, programs: Path, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of the programs and their pairs: O0 and O2 stand one after the other."""
    files = sorted(programs.glob("*.O?.ll"))
    return encoder.embed(files, part=part, whiten=False), np.arange(len(files)).reshape(-1, 2)


def test_a_folder_of_ir_alone_gives_the_map_of_its_vectors(trainer: Trainer, programs: Path, tmp_path: Path) -> None:
    maps = maps_on(programs).model_copy(update={"shrinkage": 0.1})
    fitted = {"name": programs.name, "weight": 1.0, "rows": 48, "pairs": 24, "projects": [programs.name]}
    assert fit_maps(trainer, maps) == [fitted]
    encoder = load(
        package(trainer, tmp_path / "model", name="model", maps=maps), cache=False, options=ReadOptions(form="plain")
    )
    for part in ("text", "graph"):
        mean, matrix = mixed_whitening([(moments_of(*plain(encoder, programs, part)), 1.0)], shrinkage=0.1)
        fitted = map_of(trainer, part)
        np.testing.assert_allclose(fitted[0], mean, atol=1e-4)
        np.testing.assert_allclose(fitted[1], matrix, rtol=0.02, atol=0.02 * np.abs(matrix).max())


def test_domains_stand_beside_the_training_modules(trainer: Trainer, programs: Path, tmp_path: Path) -> None:
    alone = fit_maps(trainer)
    assert [one["name"] for one in alone] == ["training modules"]
    corpus_map = map_of(trainer, "text")
    maps = maps_on(programs, corpus=2.0, level="function", pairs=False, weight=0.5)
    maps = maps.model_copy(update={"between": 0.5})
    folder = package(trainer, tmp_path / "mixed", name="mixed", maps=maps)
    mixed = map_of(trainer, "text")
    assert np.abs(mixed[1] - corpus_map[1]).max() > 0.01 * np.abs(corpus_map[1]).max()
    assert check_golden(folder) < 1e-4
    record = json.loads((tmp_path / "mixed.figures.json").read_text(encoding="utf-8"))["training"]["maps"]
    assert record[0] == {**alone[0], "weight": 2.0}
    assert record[1] == {"name": programs.name, "weight": 0.5, "rows": 48, "pairs": 0, "projects": [programs.name]}
    card = " ".join((folder / "MODEL_CARD.md").read_text(encoding="utf-8").split())
    assert "fitted on several kinds of code: training modules (" in card
    assert f"{programs.name} (48 pieces, 0 pairs of levels, weight 0.5)" in card


def test_a_map_is_not_fitted_on_what_the_run_holds_out(trainer: Trainer, programs: Path, tmp_path: Path) -> None:
    held = trainer.corpus.projects[trainer.held_out[0]]
    for project in (held, "other"):
        for level in ("O0", "O2"):
            (tmp_path / project / level).mkdir(parents=True)
            for file in programs.glob(f"*.{level}.ll"):
                shutil.copy(file, tmp_path / project / level / f"{file.name[:2]}.ll")
    (fitted,) = fit_maps(trainer, maps_on(tmp_path))
    assert (fitted["rows"], fitted["pairs"], fitted["projects"]) == (48, 24, ["other"])
    shutil.rmtree(tmp_path / "other")
    with pytest.raises(ConfigError, match="no module in it is usable"):
        fit_maps(trainer, maps_on(tmp_path))


def test_a_corpus_may_be_a_domain_if_its_tokenizer_is_the_runs(
    trainer: Trainer, corpus: Corpus, ir_folder: Path, programs: Path, tmp_path: Path
) -> None:
    files = sorted(ir_folder.rglob("*.ll"))
    build_corpus(files, ir_folder, tmp_path / "same", tokenizer=corpus.tokenizer)
    build_corpus(files, ir_folder, tmp_path / "other", TokenizerConfig(vocab_size=400))
    (fitted,) = fit_maps(trainer, maps_on(tmp_path / "same"))
    # Figures are measured on what the run holds out: it is no part of a map, whichever corpus it stands in.
    assert fitted["rows"] == len(trainer.train_modules) < len(corpus)
    assert fitted["pairs"] > 0
    assert fit_maps(trainer, maps_on(tmp_path / "same", pairs=False))[0]["pairs"] == 0
    held_out = {corpus.projects[module] for module in trainer.held_out.tolist()}
    files = [file for file in files if file.relative_to(ir_folder).parts[0] in held_out]
    build_corpus(files, ir_folder, tmp_path / "held_out", tokenizer=corpus.tokenizer)
    for wrong, complaint in (
        (tmp_path / "held_out", "the run holds out all of its projects"),
        (tmp_path / "other", "built with another tokenizer than the run's corpus"),
        (tmp_path / "nowhere", "no module in it is usable"),
    ):
        with pytest.raises(ConfigError, match=complaint):
            fit_maps(trainer, maps_on(wrong, corpus=1))


def test_maps_without_corpus_and_domains_are_refused() -> None:
    with pytest.raises(ConfigError, match="nothing to fit maps on"):
        MapsConfig.from_dict({"corpus": 0})
    with pytest.raises(ConfigError, match=r"unknown key 'domains\.0\.levl'; did you mean 'level'\?"):
        MapsConfig.from_dict({"domains": [{"folder": "x", "levl": "function"}]})
